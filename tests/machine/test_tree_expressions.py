"""What holds of expressions, found out in turn and inferred in one go."""

import random
from collections.abc import Iterator

import pytest

from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.productive import nullable_rules, productive_rules
from constrain.compiler.limits import Limits
from constrain.compiler.network import tree_expressions
from constrain.compiler.network.tree_rules import Rules

LEAVES = ('"a"', '"b"', '""', '#"[a-c]"')


def grammars(count: int) -> Iterator[str]:
    """Random rules that name each other, themselves and what comes before: many match no text, or
    the empty one alone."""
    rng = random.Random("expressions")
    for _ in range(count):
        names = ["root", *(f"r{i}" for i in range(rng.randrange(12)))]

        def expression(depth: int, names: list[str] = names) -> str:
            kind = rng.random()
            if not depth or kind < 0.3:
                return rng.choice([*LEAVES, *names, *names])
            if kind < 0.55:
                return f"({expression(depth - 1)} {expression(depth - 1)})"
            if kind < 0.75:
                return f"({expression(depth - 1)} | {expression(depth - 1)})"
            return f"({expression(depth - 1)}){rng.choice('?*+')}"

        # Some have several definitions.
        defined = [*names, *rng.choices(names, k=rng.randrange(3))]
        yield "".join(f"{name} ::= {expression(3)};\n" for name in defined)


def chain(length: int) -> str:
    """Rules that have members as those before them have, and name those after them: no order is
    good."""
    order = [i * 7 % length for i in range(length)]
    rules = [f'r{i} ::= r{i - 1} "x" | r{i + 1} "y";' for i in order if i]
    return "\n".join(["root ::= r0;", *rules, f'r0 ::= "" | r1; r{length} ::= r{length - 1};'])


def test_what_is_inferred_in_one_go_is_what_is_found_in_turn(
    monkeypatch: pytest.MonkeyPatch, *, full: bool
) -> None:
    """Kinds, parts and what may be empty are the same; and so are the rules that have members, and
    ε, by another least fixed point."""
    for text in [*grammars(10_000 if full else 69), chain(50)]:
        grammar = read_grammar(text, "kbnf", start="root")
        found = []
        for turns in (1, 1_000):
            monkeypatch.setattr(tree_expressions, "_MOST_TURNS", turns)
            rules = Rules(grammar, Limits())
            found.append((rules.is_empty, rules.kinds, rules.parts, bytes(rules.nullable)))
        assert found[0] == found[1], text
        assert rules.is_empty == ("root" not in productive_rules(grammar.rules)), text
        empty = {name for i, name in enumerate(rules.names) if rules.is_nullable(i)}
        assert empty == nullable_rules(grammar.rules), text


def test_rules_in_a_bad_order_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long chain is looked at a few times, and then inferred."""
    looked_at = []
    inferred = tree_expressions.derivable

    def counted(clauses: Iterator[tuple[int, set[int]]]) -> set[int]:
        given = list(clauses)
        looked_at.extend(given)
        return inferred(given)

    monkeypatch.setattr(tree_expressions, "derivable", counted)
    rules = Rules(read_grammar(chain(1_000), "kbnf", start="root"), Limits())
    assert looked_at
    assert len(looked_at) <= 6 * len(rules.kinds)
