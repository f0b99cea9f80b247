"""Tokenizer files that chance has changed, of every format: read and used, or refused."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.fuzzing.calls import LIMITS, called, tried
from support.fuzzing.tokenizer_files import FORMATS, Bundle, mutant
from support.fuzzing.walks import walk

from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.limits import Limits

TEXTS = ("", "a", "low abc  12", '{"a": 12}', "é e\u0301 \u202e\x1b[31m", "a" * 60, "<eos><t> <0>")
LONG = ("a" * 3_000, "ab " * 2_000, " " * 3_000, "xy" * 1_000)
GRAMMARS = ("[ab]{1,3}(,| c)?", '\\{"a": (1|2)+\\}', "low( abc)?|é")

# Trained tokenizers that are small enough to be changed often, and their formats.
REAL = {
    "tiny-bpe-300": "byte-level",
    "tiny-bpe-1000": "gpt2-like",
    "tiny-wordpiece-500": "wordpiece",
}

# As those of the commands, in the library.
_LIMITS = Limits(states=5_000, memory=300_000_000, seconds=2)


@dataclass(frozen=True, slots=True)
class Room:
    """Where files are put: tokenizers in a folder of their own."""

    folder: Path
    tokens: Path


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Room:
    """Folders, and grammars."""
    return furnish(tmp_path_factory.mktemp("tokenizers"))


def furnish(folder: Path) -> Room:
    """Put the grammars of the commands into a folder."""
    for number, pattern in enumerate(GRAMMARS):
        (folder / f"{number}.regex").write_text(pattern, encoding="utf-8")
    (folder / "text").write_text('{"a": 12} low abc', encoding="utf-8")
    (folder / "nested.ebnf").write_text('start ::= "(" start* ")" | "ab";', encoding="utf-8")
    (folder / "tokens").mkdir()
    return Room(folder, folder / "tokens")


def commands(rng: random.Random, room: Room, tokenizer: str) -> list[tuple[str, ...]]:
    """A call of each command that reads a tokenizer, with options by chance."""
    grammar = str(room.folder / rng.choice(("0.regex", "1.regex", "2.regex", "nested.ebnf")))
    out = str(room.folder / "out")
    tokens = ("--tokenizer", tokenizer, "--no-cache")
    how = ("--tokenization", rng.choice(("any", "canonical")))
    eos = rng.choice(((), ("--eos", "#1"), ("--eos", "a"), ("--unk", "allow")))
    return [
        (
            "tokenize",
            rng.choice((*TEXTS, *LONG)),
            *tokens,
            "-f",
            rng.choice(("table", "ids", "json")),
        ),
        ("tokenize", "--file", str(room.folder / "text"), *tokens),
        ("compile", grammar, "-o", out + ".cst", *tokens, *how, *eos, "--stats", *LIMITS),
        ("mask", grammar, "--prefix", rng.choice(TEXTS), *tokens, *how, *LIMITS),
        ("mask", grammar, "--why", "a", *tokens, "--format", "json", *LIMITS),
        ("show", grammar, "--stage", "tokens", *tokens, *LIMITS),
        ("inspect", grammar, "--format", "json", *tokens, *how, *LIMITS),
        ("viz", grammar, "--stage", "tokenizer", "-o", out + ".dot", *tokens, *LIMITS),
        ("bench", grammar, str(room.folder / "text"), *tokens, *LIMITS),
    ]


def used(name: str, rng: random.Random) -> None:
    """Load a tokenizer, encode, decode, compile and walk. Raises ``ConstrainError``, and whatever
    else happens."""
    tokenizer = load_tokenizer(name, cache=None)
    size = tokenizer.vocab_size
    for text in (*rng.sample(TEXTS, 3), rng.choice(LONG)):
        ids = tokenizer.encode(text)
        assert not ids or (min(ids) >= 0 and max(ids) < size), (text, ids, size)
    artifact = compile_grammar(
        rng.choice(GRAMMARS),
        dialect="regex",
        tokenizer=tokenizer,
        tokenization=rng.choice(("any", "canonical")),
        eos=[0],
        limits=_LIMITS,
        cache=None,
    )
    walk(artifact, rng)


def flaws_of(
    format_: str, number: int, room: Room, full: bool, seed: Any = None
) -> tuple[bool, dict[str, str]]:
    """Whether one file of a format was used to the end, and what is wrong with the answers.
    ``seed``: the value that is changed, as of ``mutant``."""
    rng = random.Random(f"{format_} {number}")
    bundle = mutant(format_, rng, seed)
    name = bundle.written(room.tokens)
    calls = commands(rng, room, name)
    ended = tried(lambda: used(name, rng))
    flaws = {ended.flaw: "the library"} if ended.flaw else {}
    for call in rng.sample(calls, 4 if full else 1):
        if flaw := called(*call).flaw:
            flaws[flaw] = str(call)
    return ended.code == 0, {
        flaw: f"{format_} {number}: {where}: {shown(bundle)}" for flaw, where in flaws.items()
    }


def shown(bundle: Bundle) -> str:
    """The beginning of each file."""
    return "; ".join(f"{name}: {data[-1500:]!r}" for name, data in bundle.files.items())


@pytest.mark.parametrize("format_", FORMATS)
def test_every_tokenizer_file_is_read_or_refused(
    format_: str, room: Room, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """No error but those that say so, no id or bit at or beyond V, and an end within 5 s and 1 GB:
    in the library, and by the commands that read a tokenizer."""
    count, flaws, ends = 300 if full else 1, {}, Counter[bool]()
    for number in range(count):
        was_used, found = flaws_of(format_, number, room, full)
        ends[was_used] += 1
        flaws.update(found)
    record_property("tokenizer files", count)

    assert {} == flaws
    # Some of them are read, and used.
    assert format_ == "unigram" or not full or ends[True] > count // 50


@pytest.mark.parametrize(("name", "format_"), REAL.items())
def test_every_changed_real_tokenizer_is_read_or_refused(
    name: str, format_: str, room: Room, full: bool, data: Callable[[str], Path]
) -> None:
    """The same of trained ones."""
    seed, flaws = json.loads(data(f"tokenizers/{name}/tokenizer.json").read_bytes()), {}
    for number in range(100 if full else 1):
        flaws.update(flaws_of(format_, number, room, full, seed)[1])

    assert {} == flaws
