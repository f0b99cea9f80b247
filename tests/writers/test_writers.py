"""Trees back to text: the same tree in the same dialect, the same language in another."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support import ROOT
from support.automata import build_automaton

from constrain.artifacts.errors import ConstrainError
from constrain.cli.app import run
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.dialects import dialect_of, read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.grammar.tree import (
    Difference,
    Excluding,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Permutation,
    Reference,
    Repetition,
    Token,
    children,
    walk,
)
from constrain.compiler.writers import WRITERS
from constrain.compiler.writers.printer import WriterError

GRAMMARS = sorted(
    path
    for folder in (ROOT / "examples", ROOT / "tests" / "cases")
    for path in folder.rglob("*")
    if path.is_file() and not path.parent.name.startswith("error") and dialect_of(path.name)
)
# By the dialect that they are read as, of those that are written. Schemas are converted by
# expressions for their automata: tests/schema.
CASES = {
    dialect: [path for path in GRAMMARS if dialect_of(path.name) == dialect]
    for dialect in WRITERS
    if any(dialect_of(path.name) == dialect for path in GRAMMARS)
}


def shape(grammar: Grammar) -> list[tuple[object, ...]]:
    """The rules as a list of nodes without their places; equal for equal trees."""
    found: list[tuple[object, ...]] = []
    bodies = [
        (("rule", rule.name, rule.terminal, rule.priority, rule.shortest), rule.body)
        for rule in grammar.rules
    ]
    bodies += [(("ignored", "", True, 0, False), expr) for expr in grammar.ignored]
    for head, body in bodies:
        found.append(head)
        pending: list[Expr] = [body]
        while pending:
            expr = pending.pop()
            found.append((type(expr).__name__, len(children(expr)), *content(expr)))
            pending.extend(reversed(children(expr)))
    return found


def content(expr: Expr) -> tuple[object, ...]:
    """What a node holds besides other nodes."""
    match expr:
        case Literal():
            return (expr.data,)
        case Reference():
            return (expr.name,)
        case Repetition():
            return (expr.min_times, expr.max_times)
        case Excluding():
            return (expr.at_most,)
        case Token():
            return expr.meaning
        case Pattern():
            return (expr.kind, *nodes(expr.node)) if expr.kind == "regex" else (expr.text,)
        case _:
            return ()


def nodes(node: regex.Node) -> list[tuple[object, ...]]:
    """The same for a regex."""
    found: list[tuple[object, ...]] = []
    pending = [node]
    while pending:
        current = pending.pop()
        name = type(current).__name__
        match current:
            case regex.Lit():
                found.append((name, current.data))
            case regex.CharClass():
                found.append((name, current.ranges))
            case regex.Repeat():
                found.append((name, current.min_times, current.max_times))
                pending.append(current.node)
            case regex.Optional():
                found.append((name,))
                pending.append(current.node)
            case regex.Seq():
                found.append((name, len(current.parts)))
                pending.extend(current.parts)
            case regex.Alt():
                found.append((name, len(current.options)))
                pending.extend(current.options)
            case _:
                found.append((name,))
    return found


def check_round_trip(text: str, dialect: str) -> None:
    """Parse, write, parse: the same tree; and what is written is written so again."""
    once = read_grammar(text, dialect)
    written = WRITERS[dialect](once)
    again = read_grammar(written, dialect)
    assert shape(again) == shape(once)
    assert again.start == once.start
    assert WRITERS[dialect](again) == written


def used_table(dfa: Dfa) -> NDArray[np.int32]:
    """The table without the columns of tokens that no member holds."""
    used = (dfa.table != DEAD).any(axis=0)
    used[: dfa.byte_columns] = True
    found: NDArray[np.int32] = dfa.table[:, used]
    return found


def every_expr(grammar: Grammar) -> list[Expr]:
    """All nodes of a grammar."""
    return [expr for rule in grammar.rules for expr in walk(rule.body)]


def is_of_regexes(node: regex.Node) -> bool:
    """What only regexes can write: assertions and bytes."""
    if isinstance(node, regex.Lit):
        return "\ufffd" in node.data.decode("utf-8", "replace")
    return isinstance(node, regex.Look | regex.Around | regex.ByteClass)


def is_special(expr: Expr) -> bool:
    """What not every dialect can write."""
    if isinstance(expr, Pattern):
        return expr.kind != "regex" or any(map(is_of_regexes, regex.walk(expr.node)))
    return isinstance(expr, Difference | Excluding | Permutation | Token)


@pytest.mark.quick
@pytest.mark.parametrize("dialect", sorted(CASES))
def test_round_trip_of_own_grammars(dialect: str) -> None:
    """Every grammar of the examples and the cases comes back as it was; but for calls of macros,
    which come back as what they mean, and for counted characters, which no dialect writes."""
    wrong = []
    for path in CASES[dialect]:
        if "macros" in path.parent.name or "few-characters" in path.parent.name:
            continue
        try:
            check_round_trip(path.read_text(encoding="utf-8"), dialect)
        except AssertionError as error:
            wrong.append(f"{path.parent.name}/{path.name}: {error}")

    assert [] == wrong
    assert len(CASES[dialect]) > 15


@pytest.mark.parametrize("target", sorted(WRITERS))
@pytest.mark.parametrize("dialect", sorted(CASES))
def test_conversion_keeps_the_language(dialect: str, target: str, full: bool) -> None:
    """Written in another dialect and read again: the same minimal DFA, byte for byte; without
    --full every third grammar."""
    wrong, converted = [], 0
    for path in CASES[dialect] if full else CASES[dialect][len(target) % 3 :: 3]:
        before = automaton_of(path)
        if before is not None:
            converted += 1
            wrong += [f"{path.parent.name}/{path.name}: {text}" for text in changes(before, target)]

    assert [] == wrong
    assert converted > (15 if full else 3)


@cache
def automaton_of(path: Path) -> Automaton | None:
    """The automata of a grammar; None if it is not regular."""
    try:
        return build_automaton(
            path.read_text(encoding="utf-8"), dialect=dialect_of(path.name) or ""
        )
    except ConstrainError:
        return None


def changes(before: Automaton, target: str) -> Iterator[str]:
    """What another dialect makes of a grammar where the language is another then."""
    try:
        converted = WRITERS[target](before.grammar)
    except WriterError as error:
        # Refused only where the dialect lacks something; another test looks at the message.
        if target != "iso14977" and not any(map(is_special, every_expr(before.grammar))):
            yield str(error)
        return
    after = build_automaton(converted, dialect=target)
    same = all(
        np.array_equal(getattr(after.dfa, name), getattr(before.dfa, name))
        for name in ("classes", "accepting")
    )
    if not same or not np.array_equal(used_table(after.dfa), used_table(before.dfa)):
        yield converted


def test_round_trip_of_real_grammars(data: Callable[[str], Path]) -> None:
    """Every real grammar that a dialect with a writer reads comes back as it was."""
    tried = 0
    for dialect, pattern in (
        ("gbnf", "gbnf/*.gbnf"),
        ("w3c", "w3c/*.*"),
        ("w3c", "ebnf-convert/*"),
    ):
        folder, name = pattern.split("/")
        for path in sorted(data(f"grammars/{folder}").glob(name)):
            tried += round_trips(path.read_text(encoding="utf-8", errors="replace"), dialect)
    for name in ("kbnf_strings", "formatron_strings"):
        rows = data(f"grammars/kbnf/{name}.jsonl").read_text(encoding="utf-8").splitlines()
        tried += sum(round_trips(json.loads(row)["text"], "kbnf") for row in rows)
    assert tried > 60


def round_trips(text: str, dialect: str) -> bool:
    """Check the round trip of a text that can be read."""
    try:
        read_grammar(text, dialect)
    except ConstrainError:
        return False
    check_round_trip(text, dialect)
    return True


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ('a ::= except!("x");', "gbnf", "1:7: error: GBNF has no exclusion"),
        ('a ::= "y" #substrs"xyz";', "w3c", "1:11: error: this part is an automaton"),
    ],
)
def test_what_has_no_counterpart_is_told(text: str, target: str, message: str) -> None:
    """With its place in the source."""
    with pytest.raises(WriterError) as caught:
        WRITERS[target](read_grammar(text, "kbnf", name="g.ebnf"))
    assert f"g.ebnf:{message}" in str(caught.value)


@pytest.mark.quick
def test_convert_command(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """The text goes to stdout; an unknown dialect and a missing counterpart end with 2."""
    path = tmp_path / "g.ebnf"
    path.write_text('number_list ::= #"[0-9]+" {"," #"[0-9]+"};', encoding="utf-8")
    assert run(["convert", str(path), "--to", "gbnf"]) == 0
    assert capsysbinary.readouterr().out == b'root ::= [0-9]+ ("," [0-9]+)*\n'
    assert run(["convert", str(path), "--to", "w3c"]) == 0
    assert capsysbinary.readouterr().out == b'number_list ::= [0-9]+ ("," [0-9]+)*\n'
    assert run(["convert", str(path), "--to", "nonsense"]) == 2


def test_deep_trees_are_written() -> None:
    """Five thousand nested options need no Python stack."""
    depth = 5000
    text = "a ::= " + "[" * depth + '"x" "y"' + "]" * depth + ";"
    assert WRITERS["kbnf"](read_grammar(text, "kbnf")).count("?") == depth
