"""Grammars that chance has changed, of all dialects, through every command that reads one."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fuzzing import mutations, seeds, small_tokenizer
from support.fuzzing.calls import LIMITS, called

STAGES = ("tree", "lnf", "nfa", "dfa", "tokens", "network", "lexemes")
DRAWN = ("nfa", "dfa", "tokens", "tokenizer", "rules", "parser", "lexer")
BESIDE = {
    "text": b'{"a": 12}',
    "other": b"[a-z]+",
    "cases.test": b"====\none\n====\na\n---\n\n====\nno\n:reject\n====\nb\n---\n",
}
PREFIXES = ("", "a", '{"', "2024-", "é", "\x1b[31m", "(((")


GROUPS = seeds.TEXTS


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small tokenizer, which grammars are written to."""
    return furnish(tmp_path_factory.mktemp("grammars"))


def furnish(folder: Path) -> Path:
    """Put a small tokenizer and what commands need besides into a folder."""
    small_tokenizer(folder)
    for name, content in BESIDE.items():
        (folder / name).write_bytes(content)
    return folder


def commands(rng: random.Random, file: str, room: Path, dialect: str) -> list[tuple[str, ...]]:
    """A call of every command on a file, each with options by chance."""
    tokens = ("--tokenizer", str(room / "tokenizer.json"), "--no-cache")
    out = str(room / "out")
    tokenization = ("--tokenization", rng.choice(("any", "canonical")))
    calls: list[tuple[str, ...]] = [
        ("check", file, "--format", rng.choice(("text", "json", "github", "sarif"))),
        ("show", file, "--stage", rng.choice(STAGES), *tokens),
        ("compile", file, "-o", out + ".cst", *tokens, "--tokenization", "any"),
        ("compile", file, "-o", out + ".cst", *tokens, "--tokenization", "canonical", "--stats"),
        ("mask", file, "--prefix", rng.choice(PREFIXES), *tokens, *tokenization),
        ("mask", file, "--why", "a", *tokens, "--format", "json"),
        ("explain", file, str(room / "text")),
        ("convert", file, "--to", rng.choice(tuple(seeds.SUFFIXES)), "--loosen"),
        ("diff", file, str(room / "other"), "--dialect", dialect, "--dialect", "regex"),
        ("sample", file, "--number", "2", rng.choice(("--shortest", "--all", "--seed=3"))),
        ("inspect", file, "--format", rng.choice(("table", "json")), *tokens, *tokenization),
        ("inspect", file, "-o", out + ".html", *tokens, "--max-page-bytes", "300000"),
        ("viz", file, "--stage", rng.choice(DRAWN), "-o", out + ".dot", *tokens),
        ("test", file, str(room / "cases.test"), *tokens),
    ]
    return [
        (*call, *(() if call[0] == "diff" else ("--dialect", dialect)), *LIMITS) for call in calls
    ]


def flaws_of(dialect: str, number: int, room: Path, full: bool) -> dict[str, str]:
    """What is wrong with the answers to one grammar, and the grammar."""
    rng = random.Random(f"{dialect} {number}")
    texts = seeds.grammars()[dialect]
    others = seeds.grammars()[rng.choice(GROUPS)] if rng.random() < 0.2 else texts
    grammar = mutations.text(rng, rng.choice(texts), others)
    if rng.random() < 0.02:
        grammar = rng.randbytes(rng.choice((0, 1, 10, 1000)))
    file = room / "grammar.txt"
    file.write_bytes(grammar)
    calls = commands(rng, str(file), room, dialect)
    found = {}
    for call in calls if full else rng.sample(calls, 3):
        if flaw := called(*call).flaw:
            found[flaw] = f"{number}: {call}: {grammar[:2000]!r}"
    return found


@pytest.mark.parametrize("dialect", GROUPS)
def test_every_command_answers_whatever_the_grammar_is(
    dialect: str, room: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Yes, no, a message or a limit: never an exception, nothing endless, nothing raw."""
    count, flaws = 715 if full else 2, {}
    for number in range(count):
        flaws.update(flaws_of(dialect, number, room, full))
    record_property("grammars", count)

    assert {} == flaws
