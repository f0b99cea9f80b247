"""Artifacts that chance has changed, through every command that reads one."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fuzzing.calls import LIMITS, called
from support.fuzzing.mutants import Mutants

from constrain.artifacts import Artifact

# Mutants by their numbers; under --full each goes through all commands.
FIRST, FEW, MANY = 10**8, 7, 2_000

BESIDE = {
    "text": b"(ab,a)",
    "other": b"[a-c]+",
    "cases.test": b"====\none\n====\nab\n---\n\n====\nno\n:reject\n====\n)\n---\n",
}
PREFIXES = ("", "a", "(a", "ab,", "e\u0301", "\x1b[31m", '{"ab"')
STAGES, MASKS = ("tree", "tokens", "network", "lexemes"), ("table", "ids", "bits", "json")
DRAWN = ("nfa", "dfa", "tokens", "tokenizer", "rules", "parser", "lexer")


@pytest.fixture
def room(tmp_path: Path, originals: dict[str, Artifact]) -> Path:
    """A folder with what commands need besides."""
    for name, content in BESIDE.items():
        (tmp_path / name).write_bytes(content)
    originals["byte DFA"].save(tmp_path / "sound.cst")
    return tmp_path


def commands(rng: random.Random, room: Path) -> list[tuple[str, ...]]:
    """A call of every command on an artifact, each with options by chance."""
    file, out, store = str(room / "a.cst"), str(room / "out"), ("--store", str(room / "store"))
    text = str(room / "text")
    key = f"{rng.getrandbits(256):064x}"
    return [
        ("show", file),
        ("show", file, "--stage", rng.choice(STAGES), *LIMITS),
        ("mask", file, "--prefix", rng.choice(PREFIXES), "--format", rng.choice(MASKS)),
        ("mask", file, "--why", rng.choice(("a", "3", "ab")), "--format", "json"),
        ("mask", file, "--prefix-ids", rng.choice(("0", "0,1", "5,999999"))),
        ("explain", file, text, "--format", rng.choice(("text", "json"))),
        ("diff", file, str(room / "sound.cst"), *LIMITS),
        ("diff", str(room / "other"), file, "--dialect", "regex", *LIMITS),
        ("sample", file, rng.choice(("--shortest", "--all", "--seed=3", "--number=3")), *LIMITS),
        ("inspect", file, *LIMITS),
        ("inspect", file, "--text", text, "--format", "json", *LIMITS),
        ("inspect", file, "-o", out + ".html", "--max-page-bytes", "300000", *LIMITS),
        ("viz", file, "--stage", rng.choice(DRAWN), "-o", out + ".dot", *LIMITS),
        ("test", file, str(room / "cases.test")),
        ("bench", file, text, "--runs", "1", "--format", "json", *LIMITS),
        ("store", "put", file, "--key", key, *store, *rng.choice(((), ("--thin",)))),
        ("store", "get", key, *store, "-o", out + ".cst"),
    ]


def test_every_command_answers_whatever_the_artifact_is(
    originals: dict[str, Artifact],
    room: Path,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Yes, no or a message: never an exception, nothing endless, nothing raw, nothing half."""
    mutants, flaws = Mutants(originals), dict[str, str]()
    codes = dict[str, set[int]]()
    for number in range(FIRST, FIRST + (MANY if full else FEW)):
        rng, mutant = random.Random(number), mutants[number]
        (room / "a.cst").write_bytes(mutant.data)
        for name, data in mutant.tables.items():
            (room / name).write_bytes(data)
        calls = commands(rng, room)
        for call in calls if full else rng.sample(calls, 3):
            ended = called(*call)
            codes.setdefault(call[0], set()).add(ended.code)
            if ended.flaw:
                flaws[ended.flaw] = f"{mutant.how}: {call}"
        for name in mutant.tables:
            (room / name).unlink()
        assert not list(room.rglob("*.tmp"))
    record_property("mutated artifacts through commands", MANY if full else FEW)
    assert {} == flaws
    # No command refuses all of them, nor its own options.
    assert not full or all(0 in found for found in codes.values()), codes
