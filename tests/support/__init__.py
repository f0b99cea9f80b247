"""Helpers that several test files share."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import pytest

from constrain.artifacts import Artifact
from constrain.artifacts.container import sections as layout
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.dialects import dialect_of
from constrain.compiler.frontend import Automaton
from constrain.compiler.tokenizers import byte_alphabet
from support.automata import build_automaton

from . import forked

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("artifacts", "cli", "compiler")

# What is installed as the package ``constrain`` itself.
PUBLIC = Path("compiler", "public")
EXAMPLES = ROOT / "examples"

Case = TypeVar("Case")

# The start rules of real Lark grammars without a rule ``start``, whose users name it.
LARK_STARTS = {
    "lark/lark/grammars/common.lark": "NUMBER",
    "lark/lark/grammars/python.lark": "file_input",
    "lark/lark/grammars/unicode.lark": "WS",
    "lark/examples/advanced/python2.lark": "file_input",
    "lark/tests/grammars/ab.lark": "startab",
    "lark/tests/grammars/leading_underscore_grammar.lark": "c",
    "lark/tests/grammars/templates.lark": "sep",
    "lark/tests/grammars/test.lark": "NUMBER",
    "lark/tests/grammars/test_relative_import_of_nested_grammar__grammar_to_import.lark": (
        "rule_to_import"
    ),
    "lark/tests/grammars/test_relative_import_of_nested_grammar__nested_grammar.lark": (
        "NESTED_TERMINAL"
    ),
    "lark/tests/grammars/test_unicode.lark": "UNICODE",
    "lark/tests/grammars/three_rules_using_same_token.lark": "b",
}


def compiled(
    text: str, tokenizer: Tokenizer, tokenization: str = "canonical", **options: Any
) -> Artifact:
    """The artifact of a kbnf grammar (or of another ``dialect``)."""
    return compile_grammar(
        text, **{"dialect": "kbnf", **options}, tokenizer=tokenizer, tokenization=tokenization
    )


def built(path: Path) -> Automaton:
    """The automaton of a file, which errors call by its base name."""
    text = path.read_bytes().decode("utf-8")
    dialect = dialect_of(path.name)
    assert dialect is not None
    return build_automaton(text, dialect=dialect, name=path.name)


def tokenizer_json(
    letters: str,
    merges: Iterable[str] = (),
    *,
    added: Iterable[tuple[int, str, bool]] = (),
    extra: Mapping[str, int] | None = None,
    splits: bool = False,
) -> dict[str, Any]:
    """A byte-level BPE ``tokenizer.json``.

    Ids count up over ``letters``, then over the results of ``merges`` ("a b"). ``extra``
    names further entries of the vocabulary, ``added`` is (id, name, special).
    """
    alphabet = byte_alphabet.characters()
    vocab = {alphabet[octet]: i for i, octet in enumerate(letters.encode())}
    for merge in merges:
        vocab[merge.replace(" ", "")] = len(vocab)
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": i, "content": name, "special": special} for i, name, special in added
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": splits},
        "model": {"type": "BPE", "vocab": {**vocab, **(extra or {})}, "merges": list(merges)},
    }


def written(path: Path, value: Any) -> Path:
    """``value`` as a JSON file; a folder gets a ``tokenizer.json``."""
    file = path / "tokenizer.json" if path.is_dir() else path
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def tokenizer_of(folder: Path, *arguments: Any, **options: Any) -> Tokenizer:
    """The tokenizer of ``tokenizer_json(…)``, by way of a file in ``folder``."""
    return load_tokenizer(written(folder, tokenizer_json(*arguments, **options)))


def spelling_all_bytes(
    folder: Path, letters: str, merges: Sequence[str], special: Sequence[str] = ("<eos>",)
) -> Tokenizer:
    """A small tokenizer whose last tokens are the bytes that no letter has, and ``special``."""
    octets = {byte_alphabet.characters()[octet] for octet in letters.encode()}
    first = len(octets) + len(merges)
    others = [each for each in byte_alphabet.characters() if each not in octets]
    extra = {each: first + i for i, each in enumerate(others)}
    added = [(first + len(others) + i, name, True) for i, name in enumerate(special)]
    return tokenizer_of(folder, letters, merges, added=added, extra=extra)


def grows(artifact: Artifact) -> bool:
    """Whether an artifact has terminals whose states are made while decoding."""
    return "lazy.terminals" in artifact.completed.arrays


def encoded(
    artifact: Artifact,
    arrays: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> bytes:
    """The artifact's file with some sections replaced (None: left out) and checksums right."""
    whole = artifact.completed
    merged = {**whole.arrays, **(arrays or {})}
    kept = {name: array for name, array in merged.items() if array is not None}
    return b"".join(layout.encode({**whole.manifest.to_json(), **(manifest or {})}, kept))


def opened(data: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """A file taken apart by its description: manifest, section descriptions, data."""
    end = 8 + int.from_bytes(data[:8], "little")
    described = json.loads(data[8:end])
    manifest = json.loads(described.pop("__metadata__")["constrain"])
    return manifest, described, data[end:]


def sealed(manifest: Any, described: Mapping[str, Any], body: bytes) -> bytes:
    """Put a file together, with a right header checksum whatever it says; see ``opened``."""
    text = manifest if isinstance(manifest, str) else _canonical(manifest)
    digest = sha256(f"{text}\n{_canonical(described)}".encode()).hexdigest()
    metadata = {"constrain": text, "header_sha256": digest}
    header = _canonical({"__metadata__": metadata, **described}).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + body


def python(
    *arguments: str,
    stdin: bytes = b"",
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run this Python in a child process."""
    return _ran([sys.executable, *arguments], stdin, folder, variables)


def constrain(
    *arguments: str,
    stdin: bytes = b"",
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a child process (``forked``)."""
    return _ran([*forked.program(variables or ()), *arguments], stdin, folder, variables)


def _ran(
    command: list[str], stdin: bytes, folder: Path | None, variables: Mapping[str, str] | None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={**os.environ, **(variables or {})},
        timeout=120,
        check=False,
    )


def reasons(ratchet: Path) -> dict[str, str]:
    """What is known to fail, with the reason; a line of the file is name, tab, reason."""
    lines = ratchet.read_text(encoding="utf-8").splitlines()
    return {name: reason for name, _, reason in (line.partition("\t") for line in lines)}


def assert_in_order(ratchet: Path) -> None:
    """The lines are sorted, each name stands once, and each has a reason."""
    lines = ratchet.read_text(encoding="utf-8").splitlines()
    known = reasons(ratchet)
    assert sorted(known) == [line.partition("\t")[0] for line in lines]
    assert all(known.values())


def without_places(text: str) -> str:
    """The lines of a tree without spans and without the way that patterns were written."""
    return re.sub(r"(?m)(^ *pattern .*|  \[\d+, \d+\))$", "", text)


def offenders(cases: Mapping[str, Case], check: Callable[[Case], None]) -> dict[str, str]:
    """The names of those cases whose check fails, and how: one test counts them all."""
    found = {}
    for name, case in cases.items():
        try:
            check(case)
        except AssertionError as error:
            found[name] = str(error) or repr(error)
    return found


def sampled(
    names: Sequence[str] | str, some: Iterable[Any], every: Iterable[Any]
) -> pytest.MarkDecorator:
    """Parameters of a test: some of them, or with --full all."""
    return pytest.mark.sampled(names, list(some), list(every))


def python_files(folders: Sequence[str] = FOLDERS) -> list[Path]:
    """The project's own ``.py`` files, as paths below ``ROOT``."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path.relative_to(ROOT) for path in found)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
