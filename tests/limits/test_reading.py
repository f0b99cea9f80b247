"""Limits of everything that is done before a tokenizer is known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.limits import measured

from constrain.compiler.diagnostics import LimitError
from constrain.compiler.frontend import Parser
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine

MEGABYTE = 1_000_000


COUNTS = [
    ("gbnf", 'root ::= "b" "a"{0,1000000000}', '"a"{0,1000000000}'),
    ("gbnf", "root ::= [a-z]{1,100000}", "[a-z]{1,100000}"),
    ("lark", 'root: "b" "a"~0..1000000000', '"a"~0..1000000000'),
    ("lark", f'root: "a"~{"9" * 5000}', '"a"~9999'),
    ("lark", "root: /a{0,1000000000}/", "a{0,1000000000}"),
    ("kbnf", r'root ::= #"a{0,1000000000}";', "a{0,1000000000}"),
    ("iso14977", 'root = 1000000000 * "a";', '1000000000 * "a"'),
    ("regex", "(a{0,1000000000}){7}", "(a{0,1000000000}){7}"),
]


@pytest.mark.parametrize(("dialect", "text", "part"), COUNTS)
def test_a_count_of_any_size_is_a_limit_of_automata(dialect: str, text: str, part: str) -> None:
    """In every dialect it names the rule and the part. (W3C's EBNF has no counts.)"""
    start = None if dialect == "regex" else "root"

    with pytest.raises(LimitError, match="more than 200,000 states") as found:
        build_engine(text, CompileOptions(dialect=dialect, start=start, engine="dfa"))

    assert found.value.rules == (start or "start",)
    assert found.value.part.startswith(part)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        *((dialect, text) for dialect, text, _ in COUNTS),
        ("gbnf", 'root ::= "b" r{9999999999}\nr ::= "a" r "b" | "c"'),
    ],
)
def test_a_count_of_any_size_is_a_number_in_a_network(dialect: str, text: str) -> None:
    """Where the engine is left open, in every dialect."""
    found = build_engine(
        text, CompileOptions(dialect=dialect, start=None if dialect == "regex" else "root")
    )

    assert isinstance(found, Parser)
    assert found.network is not None
    assert found.network.states < 20


def test_a_long_literal_takes_what_its_text_takes(tmp_path: Path) -> None:
    """Its states are counted before they are built."""
    path = tmp_path / "long.gbnf"
    path.write_text(f'root ::= "{"a" * 15_000_000}"\n', encoding="utf-8")

    found = measured("sample", path)

    assert (found.code, "in rule 'root'" in found.stderr) == (3, True)
    assert found.peak < 150 * MEGABYTE
    found.check(seconds=5)


# Grammars of brackets inside brackets, by their depth.
SHAPES: dict[str, Callable[[int], str]] = {
    "repetitions.gbnf": lambda n: "root ::= " + "(" * n + '"a"' + ' "b")*' * n + "\n",
    "choices.gbnf": lambda n: "root ::= " + '("a" | ' * n + '"z"' + ")" * n + "\n",
    "regex.regex": lambda n: "(" * n + "a" + "b)*" * n,
    "uses.gbnf": lambda n: "\n".join(
        (
            "root ::= " + "".join(f"(r{i} | " for i in range(n)) + '"z"' + ")" * n,
            *(f'r{i} ::= "x{i}" root' for i in range(n)),
            "",
        )
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_check_is_not_quadratic_in_nesting(
    name: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Brackets deeper than any stack (with --full sixty thousand) are checked, not given up."""
    depth = 60_000 if pytestconfig.getoption("full") else 1_200
    path = tmp_path / name
    path.write_text(SHAPES[name](depth), encoding="utf-8")

    found = measured("check", path)

    assert found.code in (0, 1), found.stderr
    found.check(seconds=6 if depth == 1_200 else 60, memory=500 * MEGABYTE)


def test_check_ends_within_its_limits(tmp_path: Path) -> None:
    """Of time and of memory, in each of its steps; a rule is named."""
    text = "".join(
        f'a{i} ::= a{(i + 1) % 3000} "x" | a{(i + 7) % 3000} | "w{i}"\n' for i in range(3000)
    )
    path = tmp_path / "circles.gbnf"
    path.write_text(f"root ::= a0\n{text}", encoding="utf-8")

    late = measured("check", path, "--max-seconds", 0.5)
    large = measured("check", path, "--max-memory", 12 * MEGABYTE)

    assert [(f.code, "(most of it in rule '" in f.stdout.decode()) for f in (late, large)] == [
        (3, True)
    ] * 2
    late.check(seconds=0.5)
    large.check(memory=50 * MEGABYTE)


def test_long_lines_are_shown_in_part(tmp_path: Path) -> None:
    """A message about a line of a megabyte is no megabyte."""
    path = tmp_path / "line.gbnf"
    path.write_text(f'root ::= "{"a" * 1_000_000}" nothing "{"b" * 1_000}"\n', encoding="utf-8")

    shown = measured("check", path).stdout.decode()

    assert 'aaaa" nothing "bbb' in shown
    assert max(map(len, shown.splitlines())) < 250
    assert shown.splitlines()[2].index("nothing") == shown.splitlines()[3].index("^")


# What ends with a limit in each step: a grammar, options, and what is done with it.
STEPS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "a terminal by maximal munch": (
        "lark",
        'start: A "b"\nA: /([a-z]*x[a-z]{14})+/\n%ignore " "',
        {},
        {"states": 50},
    ),
    "the network": ("gbnf", f'root ::= "a" root "b" | "{"xyz" * 100}"', {}, {"states": 200}),
    "Earley": (
        "gbnf",
        'root ::= "a" root "b" | [a-z]{1,300} "x"',
        {"engine": "earley"},
        {"states": 200},
    ),
    "the table of a DFA": ("regex", "[a-zA-Z0-9]{1,900}x", {"engine": "dfa"}, {"memory": 400_000}),
    "assertions": ("regex", r"(\b\w+\b ?){1,20}", {}, {"states": 3_000}),
    "an intersection": ("regex-extended", "(.*a.{8}.*)&(.*b.{8}.*)", {}, {"states": 1_000}),
    "an exception": ("iso14977", 'root = {"a"|"b"}, "a", 9 * ("a"|"b") - "b";', {}, {"states": 50}),
    "nesting": ("gbnf", f'root ::= {"(" * 50}"a"{")" * 50}', {}, {"nesting": 20}),
    "depth": (
        "gbnf",
        'root ::= "a" root "b" root | "x"',
        {"max_depth": 50, "engine": "dfa"},
        {"states": 100},
    ),
    "no time": ("gbnf", 'root ::= "a" root "b" | "c"', {}, {"seconds": 0}),
}


@pytest.mark.parametrize("step", STEPS)
def test_every_limit_names_a_rule(step: str) -> None:
    """Whichever step it ends."""
    dialect, text, options, limits = STEPS[step]

    with pytest.raises(LimitError) as found:
        build_engine(text, CompileOptions(dialect=dialect, limits=Limits(**limits), **options))

    assert found.value.rules, found.value


# Grammars that take gigabytes or minutes where nothing bounds them, by file.
RUNAWAYS: dict[str, Callable[[], str]] = {
    "subsets.regex": lambda: "(a|b)*a(a|b){25}",
    "operators.regex": lambda: "(.*a.{14}.*)&~(.*b.{13}.*)&(.*c.{12}.*)",
    "alternatives.gbnf": lambda: "root ::= " + " | ".join(f'"k{i}"' for i in range(300_000)),
    "rules.gbnf": lambda: (
        "root ::= r0\n" + "".join(f'r{i} ::= "a" r{(i + 1) % 100_000}\n' for i in range(100_000))
    ),
    "circles.gbnf": lambda: (
        "root ::= a0\n"
        + "".join(
            f'a{i} ::= a{(i + 1) % 3000} "x" | a{(i + 7) % 3000} | "w{i}"\n' for i in range(3000)
        )
    ),
    "regex.regex": lambda: "(" * 20_000 + "a" + "b)*" * 20_000,
}


# Those that are measured without --full.
QUICK_RUNAWAYS = ("subsets.regex",)


@pytest.mark.parametrize("name", RUNAWAYS)
def test_what_runs_away_is_ended_by_time_and_by_memory(
    name: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """An answer, or exit code 3 with a rule's name, within the limits."""
    if name not in QUICK_RUNAWAYS and not pytestconfig.getoption("full"):
        pytest.skip("each takes some seconds: --full")
    path = tmp_path / name
    path.write_text(RUNAWAYS[name](), encoding="utf-8")
    extended = ("--extended",) if name.endswith(".regex") else ()

    late = measured("sample", path, *extended, "--max-seconds", 0.5)
    large = measured("sample", path, *extended, "--max-memory", 40 * MEGABYTE, "--max-seconds", 9)

    late.check(seconds=0.5)
    large.check(seconds=9, memory=40 * MEGABYTE)
    for found in (late, large):
        assert found.code == 3, found.stderr
        assert "in rule" in found.stderr
