"""Pages for tests: their data, and what Node and Chromium make of them."""

import base64
import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from constrain.artifacts import Artifact
from constrain.cli.page.examples import Example
from constrain.cli.page.page import page_data
from constrain.cli.page.program import KNOWING
from constrain.compiler import Tokenizer
from support import ROOT

SCRIPTS = ROOT / "cli" / "page" / "js"
_TESTS = ROOT / "tests" / "page"

# What texts are changed by.
_OTHERS = [bytes([octet]) for octet in b'0123456789abcxyz"{}[],:.- \n\\'] + ["é".encode(), b"\xc3"]


def data_of(
    artifact: Artifact, tokenizer: Tokenizer | None = None, *texts: bytes, **options: Any
) -> dict[str, Any]:
    """The data of a page that begins with some texts."""
    examples = [Example(f"text {i}", text) for i, text in enumerate(texts)]
    return page_data(artifact, "a grammar", tokenizer=tokenizer, examples=examples, **options)


def changed(members: Sequence[bytes], count: int, seed: int = 1) -> list[bytes]:
    """Members, beginnings of them, and what becomes of them by other bytes at random places."""
    rng = random.Random(seed)
    texts = list(members)
    while len(texts) < count:
        text = bytearray(rng.choice(members))
        place = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                del text[place:]
            case 1:
                text[place : place + 1] = rng.choice(_OTHERS)
            case 2:
                text[place:place] = rng.choice(_OTHERS)
            case _:
                text += rng.choice(_OTHERS)
        texts.append(bytes(text))
    return texts[:count]


def node() -> str:
    """The program; the test skips without it."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is not installed")
    return found


def said_by_page(data: dict[str, Any], texts: Sequence[bytes], **asked: Any) -> Any:
    """What the page's program says of texts: one answer each."""
    given = {"data": data, "texts": [base64.b64encode(t).decode("ascii") for t in texts], **asked}
    scripts = [str(SCRIPTS / f"{name}.js") for name in KNOWING]
    command = [node(), str(_TESTS / "drive.cjs"), *scripts]
    done = subprocess.run(command, input=json.dumps(given).encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def browsed(files: Sequence[Path], expression: str) -> list[dict[str, Any]]:
    """What an expression gives inside each file in Chromium, and the dialogs, requests and errors;
    the test skips without it."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("Chromium is not installed")
    command = [node(), str(_TESTS / "open.cjs"), browser, expression]
    paths = json.dumps([str(file) for file in files]).encode()
    done = subprocess.run(command, input=paths, capture_output=True, timeout=120 + 2 * len(files))
    assert done.returncode == 0, done.stderr.decode()
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
