"""Grammars inside Lark's grammars, and several in a request, against llguidance."""

import json
from itertools import product
from typing import Any

import pytest
from support.oracles.llguidance_members import members_by_llguidance

from constrain.compiler.frontend import Automaton, MaximalMunchGrammar
from constrain.compiler.maximal_munch.to_dfa import accepts, text_machine
from constrain.compiler.pipeline import build_engine
from constrain.compiler.serving.requests import RequestError, request_of

TEXTS = ["".join(letters) for n in range(5) for letters in product("<>, 0", repeat=n)]

NUMBERS = """
  start: NUM ("," NUM)*
  NUM: /[0-9]+/
  %ignore " "
"""


def members(grammar: str) -> set[str]:
    """Of ``TEXTS``, those that a grammar has."""
    found = build_engine(grammar, dialect="lark")
    if isinstance(found, Automaton):
        return {text for text in TEXTS if found.dfa.accepts(text.encode())}
    assert isinstance(found, MaximalMunchGrammar)
    machine = text_machine(found.tables)
    return {text for text in TEXTS if accepts(machine, text.encode())}


@pytest.mark.parametrize(
    "grammar",
    [
        f'start: "<" inner ">"\ninner: %lark {{{NUMBERS}}}\n',
        f'start: "<" inner* ">" | %lark {{{NUMBERS}}}\ninner: %lark {{{NUMBERS}}} "<" ","\n',
        'start: "<" %lark {\n start: "," x\n x: %lark {\n start: "0"+\n%ignore " "\n}\n} ">"\n',
        'start: "<" a ">"\na: %lark {\n start: "0" | "<" start ">"\n}\n',
    ],
)
def test_grammars_inside_are_those_of_llguidance(grammar: str) -> None:
    """With names and ignored text of their own."""
    grammar = "%llguidance {}\n" + grammar
    ours = members(grammar)
    assert members_by_llguidance(grammar, TEXTS) == ours
    assert ours


def listed(*grammars: dict[str, Any]) -> str:
    """Some grammars as llguidance has them."""
    return json.dumps({"grammars": grammars})


def test_several_grammars_are_those_of_llguidance() -> None:
    """Called by their names, from each other, too."""
    both = listed(
        {"name": "first", "lark_grammar": 'start: "<" @other ">" | @js\n'},
        {"name": "other", "lark_grammar": 'start: /[0-9]/ ("," (@other | @js))?\n%ignore " "'},
        {"name": "js", "json_schema": {"const": 0}},
    )
    request = request_of({"structured_outputs": {"grammar": both}})
    assert request is not None
    ours = members(request.text)
    assert members_by_llguidance(both, TEXTS) == ours
    assert ours >= {"0", "<0>", "<0 >"}


@pytest.mark.parametrize(
    ("grammars", "message"),
    [
        ([], "there must be a grammar"),
        ([{"lark_grammar": 'start: "a"'}, {"lark_grammar": 'start: "b"'}], "/1/name"),
        ([{"lark_grammar": 'start: "a"'}, {"name": "a b", "json_schema": {}}], "as @name"),
        ([{"lark_grammar": 'start: "a"', "json_schema": {}}], "a lark_grammar or a json_schema"),
    ],
)
def test_what_is_refused(grammars: list[dict[str, Any]], message: str) -> None:
    """Grammars without a name, and with two contents."""
    with pytest.raises(RequestError, match=message):
        request_of({"structured_outputs": {"grammar": listed(*grammars)}})
