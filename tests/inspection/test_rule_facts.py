"""What is said of a rule against its automaton, its explanations and its members."""

# Tests here say `expected == actual`.

from itertools import islice

import pytest
from support import EXAMPLES
from support.automata import build_automaton

from constrain.compiler.automata.dump import class_text, ranges
from constrain.compiler.automata.members import Members, shortest
from constrain.compiler.dialects import read_grammar
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.inspection.rule_facts import edges_of, facts_of
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions

REGULAR = [
    ("kbnf", (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")),
    ("kbnf", 'start ::= "" | a b?; a ::= #"x?y*" | ""; b ::= except!("end", 3) "é";'),
    ("kbnf", 'start ::= permute!(x, y?, z) | #"[^a-z]{2}"; x ::= "1"; y ::= "2"; z ::= "3";'),
    ("gbnf", 'root ::= [a-c]{0,2} ("q" | root2)\nroot2 ::= "" | "zz" [0-9]+\n'),
    ("iso14977", "a = 2 * b, [c]; b = 'x' | 'yy'; c = {b} - 'x';"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("dialect", "text"), REGULAR)
def test_facts_of_regular_rules_are_those_of_the_automaton(dialect: str, text: str) -> None:
    """Of each rule: the bytes that its members begin and end with, and the shortest."""
    for rule in {each.name for each in read_grammar(text, dialect).rules}:
        options = CompileOptions(dialect=dialect, start=rule)
        dfa = build_automaton(text, options).dfa
        members = [m for m in islice(Members(dfa).up_to(100), 1_000) if m]
        facts = facts_of(text, options, "-")

        assert facts.is_regular
        assert facts.example is not None
        assert len(facts.example) == len(shortest(dfa) or b"")
        assert dfa.accepts(facts.example)
        edges = edges_of(read_grammar(text, dialect, start=rule), Limits())
        for bits, place in ((edges.first, 0), (edges.last, -1)):
            found = {byte for byte in range(256) if bits >> byte & 1}
            met = {member[place] for member in members}
            assert met <= found
            assert met == found or len(members) > 900


@pytest.mark.parametrize("name", ["json.ebnf", "words.ebnf", "person.ebnf"])
def test_what_texts_begin_with_is_what_may_stand_first(name: str) -> None:
    """As `explain` says it of the empty text; the member is one, and no shorter one is."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    grammar = read_grammar(text, "kbnf")
    for rule in {each.name for each in grammar.rules}:
        options = CompileOptions(dialect="kbnf", start=rule)
        facts, explainer = facts_of(text, options, name), explainer_of_grammar(text, options)

        first = explainer.verdict(b"").following or explainer.verdict(b"").expected
        assert (
            class_text(ranges(b for low, high in first for b in range(low, high + 1)))
            == facts.first
        )
        assert facts.example is not None
        assert explainer.verdict(facts.example).status.value == "accepted"
