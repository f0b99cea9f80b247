"""Every command holds its limits before it reads anything, and takes no value amiss.

The commands and their options are those of the program itself, so that a new one is tried, too.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path
from typing import Any

import pytest
from support import sampled
from support.cli import Cli, Leaf, content, leaves

from constrain.compiler import compile_grammar, load_tokenizer

GRAMMAR = 's ::= "a" s | "b";'

# What commands are about: what follows their names. SUBJECT: a grammar, or an artifact of it.
ARGUMENTS = {
    "bench": ["SUBJECT", "a.txt", "--peers", "none"],
    "check": ["g.kbnf"],
    "compile": ["g.kbnf", "-o", "out.cst"],
    "compile-many": ["g.kbnf", "--store", "store", "-j", "1"],
    "convert": ["g.kbnf", "--to", "regex"],
    "diff": ["SUBJECT", "g.kbnf"],
    "explain": ["SUBJECT", "a.txt"],
    "inspect": ["SUBJECT", "-o", "page.html"],
    "mask": ["SUBJECT"],
    "sample": ["SUBJECT"],
    "show": ["SUBJECT"],
    "store key": ["g.kbnf"],
    "test": ["SUBJECT", "a.test"],
    "viz": ["SUBJECT", "-o", "out.dot"],
}

# Commands whose limits are those of each job; they say how many failed.
OF_EACH_JOB = {"compile-many"}

# What a command refuses without limits: it compares automata that do not nest.
REFUSED = {("diff", "network.cst"), ("diff", "earley.cst")}

# What no option means, and what is far too large or small.
ABSURD = ("9" * 400, "-" + "9" * 400, "9" * 19, "9" * 5_000, "1e400", "-1e400", "nan", "0x10", "")


def name_of(leaf: Leaf) -> str:
    """A command as it is called."""
    return " ".join(leaf.words)


def is_limited(leaf: Leaf) -> bool:
    """Whether a command takes limits."""
    return any(each.name == "max_seconds" for each in leaf.parameters)


def numbers(leaf: Leaf) -> list[Any]:
    """The options of a command that take numbers."""
    return [
        each for each in leaf.parameters if "int" in each.type.name or "float" in each.type.name
    ]


LEAVES = {name_of(leaf): leaf for leaf in leaves()}
LIMITED = sorted(name for name, leaf in LEAVES.items() if is_limited(leaf))
OF_ARTIFACTS = [name for name in LIMITED if "SUBJECT" in ARGUMENTS.get(name, ())]

# A command, one of its options that take a number, and a number.
NUMBERS = [
    (name, each.opts[0], value)
    for name, leaf in LEAVES.items()
    for each in numbers(leaf)
    for value in ABSURD
]
# Each option once, with the largest number.
SOME_NUMBERS = list({option: (name, option, ABSURD[0]) for name, option, _ in NUMBERS}.values())
SOME_NUMBERS += random.Random(7).sample(NUMBERS, 20)


@pytest.fixture
def files(cli: Cli) -> Path:
    """A folder with a grammar, an artifact of each engine, a text and cases, which is where
    commands run."""
    content(Path("g.kbnf"), GRAMMAR)
    content(Path("a.txt"), "aab")
    content(Path("a.test"), "===\na\n===\naab\n---\n")
    tokenizer = load_tokenizer()
    for engine in ("dfa", "network", "earley"):
        made = compile_grammar(
            GRAMMAR, dialect="kbnf", tokenizer=tokenizer, tokenization="any", engine=engine
        )
        made.save(f"{engine}.cst")
    return Path.cwd()


def called(cli: Cli, name: str, subject: str, *more: str) -> Any:
    """Run a command about a subject."""
    words = [subject if word == "SUBJECT" else word for word in ARGUMENTS.get(name, ())]
    return cli(*name.split(), *words, *more)


def test_every_command_with_limits_is_tried() -> None:
    """The table has a line for each."""
    assert set(LIMITED) == {*ARGUMENTS}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize(
    "limit", [("--max-seconds", "0"), ("--max-memory", "1")], ids=lambda limit: limit[0]
)
def test_limits_hold_before_anything_is_read(
    cli: Cli, name: str, limit: tuple[str, str], full: bool
) -> None:
    """Of grammars and of artifacts of each engine: code 3; without the limit there is none."""
    subjects = ["g.kbnf", "dfa.cst", "network.cst", "earley.cst"]
    for subject in subjects if name in OF_ARTIFACTS else ["g.kbnf"]:
        found = called(cli, name, subject, *limit)
        if full:
            without = called(cli, name, subject)
            assert (2 if (name, subject) in REFUSED else 0) == without.code, (subject, without.err)

        assert (1 if name in OF_EACH_JOB else 3) == found.code, (subject, found.err)
        assert f"raise {limit[0]}" in found.err + found.out.decode(), subject


@pytest.mark.usefixtures("files")
@sampled(("name", "option", "value"), SOME_NUMBERS, NUMBERS)
def test_no_number_is_a_defect(cli: Cli, name: str, option: str, value: str) -> None:
    """It is refused, or a limit like any other."""
    within = ["--max-seconds", "0.5"] if name in LIMITED else []
    found = called(cli, name, "g.kbnf", *within, option, value)

    assert found.code in (0, 1, 2, 3), found.err
    assert "Traceback" not in found.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", LEAVES)
def test_no_name_has_a_nul(cli: Cli, name: str) -> None:
    """No system hands it on, but programs that run a command in their own process may."""
    leaf = LEAVES[name]
    arguments = [each for each in leaf.parameters if each.param_type_name == "argument"]
    tried = [["a\0b"] * len(arguments)] * bool(arguments)
    words = ["g.kbnf" if word == "SUBJECT" else word for word in ARGUMENTS.get(name, ())]
    options = [each for each in leaf.parameters if each.param_type_name == "option"]
    tried += [[*words, each.opts[0], "a\0b"] for each in options if not each.is_flag]
    for more in tried:
        found = cli(*leaf.words, *more)

        assert 2 == found.code, (more, found.err)
        assert "Traceback" not in found.err
