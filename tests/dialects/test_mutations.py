"""Damaged grammars: an answer and an exit code, never a traceback or a hang."""

import random
from pathlib import Path

import pytest
from support import ROOT

from constrain.cli.app import run
from constrain.compiler.dialects import DIALECTS, dialect_of

HERE = ROOT / "tests"

GRAMMARS = sorted(
    path
    for folder in (HERE.parent / "examples", HERE / "cases")
    for path in folder.rglob("*")
    if path.is_file() and dialect_of(path.name) is not None
)


def mutated(rng: random.Random, text: bytes) -> bytes:
    """A few bytes flipped, a part cut, a part doubled, or a part of it moved."""
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.randrange(1, 20))
        kind = rng.randrange(4)
        if kind == 0 and text:
            place = rng.randrange(len(text))
            text = text[:place] + bytes([text[place] ^ 1 << rng.randrange(8)]) + text[place + 1 :]
        elif kind == 1:
            text = text[:start] + text[end:]
        elif kind == 2:
            text = text[:end] + text[start:end] + text[end:]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[:other] + text[start:end] + text[other:]
    return text


def test_mutated_grammars(
    tmp_path: Path, full: bool, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Every mutation of a grammar is checked with exit code 0, 1, 2 or 3."""
    rng = random.Random(31)
    seen = set()
    for number in range(1000 if full else 45):
        path = rng.choice(GRAMMARS)
        file = tmp_path / f"{number}{path.suffix}"
        file.write_bytes(mutated(rng, path.read_bytes()))
        code = run(["check", str(file), "--max-seconds", "20"])
        printed = capsysbinary.readouterr()
        assert code in (0, 1, 2, 3), (path, file.read_bytes(), printed.err)
        assert b"Traceback" not in printed.err
        seen.add(code)
    assert {0, 2} <= seen


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_bytes_in_any_dialect(
    dialect: str, tmp_path: Path, full: bool, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A grammar of one dialect read as another is an error like any other."""
    rng = random.Random(37)
    file = tmp_path / "grammar"
    for _ in range(200 if full else 8):
        file.write_bytes(mutated(rng, rng.choice(GRAMMARS).read_bytes()))
        code = run(["check", str(file), "--dialect", dialect, "--max-seconds", "20"])
        assert code in (0, 1, 2, 3), (file.read_bytes(), capsysbinary.readouterr().err)
