"""Token terminals in grammars: read, numbered, looked up in a tokenizer, and written."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Sequence

import numpy as np
import pytest
from support.automata import build_automaton
from support.tokens import (
    EOS,
    IDS,
    NAMED,
    TOKENIZER,
    built,
    grammar_of,
)

from constrain.compiler.automata.token_classes import grouped, token_classes
from constrain.compiler.diagnostics import CheckError, Source, Span
from constrain.compiler.grammar.tree import Grammar, Rule, Token, distinct_tokens, walk
from constrain.compiler.lints import lint
from constrain.compiler.lnf.resolve_exclusions import resolve_exclusions
from constrain.compiler.token_ids import token_ids
from constrain.compiler.writers import WRITERS
from constrain.compiler.writers.printer import WriterError

pytestmark = pytest.mark.quick


def tokens_of(text: str) -> tuple[Token, ...]:
    """The distinct token terminals of a GBNF grammar."""
    return build_automaton(text, dialect="gbnf").grammar.tokens


def ids_of(*named: Token) -> list[list[int]]:
    """What tokens stand for."""
    return [ids.tolist() for ids in token_ids(grammar_of(*named), TOKENIZER, (EOS,))]


@pytest.mark.parametrize(
    ("written", "name", "ids", "negated"),
    [
        ("<think>", "<think>", (), False),
        ("<|end of text|>", "<|end of text|>", (), False),
        ("</think>", "</think>", (), False),
        ("!<think>", "<think>", (), True),
        ("<[12]>", None, ((12, 12),), False),
        ("!<[0]>", None, ((0, 0),), True),
    ],
)
def test_tokens_are_read(
    written: str, name: str | None, ids: Sequence[tuple[int, int]], negated: bool
) -> None:
    """Names keep their angle brackets, ids are numbers, ! negates; the span is all of it."""
    grammar = build_automaton(f'root ::= "a" {written}? "b"', dialect="gbnf").grammar
    (token,) = [e for e in walk(grammar.rules[0].body) if isinstance(e, Token)]
    assert (name, ids, negated) == (token.name, token.ids, token.negated)
    assert Span(13, 13 + len(written)) == token.span
    assert written == token.text


def test_tokens_of_one_meaning_are_one_symbol() -> None:
    """The same name or ids in several places is one terminal, numbered as the text has them."""
    text = "root ::= <b> x <[7]> <a>{2}\nx ::= <a> | <[7]> | !<a> | <b>"
    assert ["<b>", "<[7]>", "<a>", "!<a>"] == [t.text for t in tokens_of(text)]
    automaton = build_automaton(text, dialect="gbnf")
    assert 4 == automaton.dfa.token_columns


@pytest.mark.parametrize(
    ("ranges", "text"), [(((7, 9), (1, 1), (8, 12)), "<[1,7-12]>"), (((0, 5),), "<[0-5]>")]
)
def test_ids_print_as_ranges(ranges: tuple[tuple[int, int], ...], text: str) -> None:
    """Ranges ascend and are joined; any token at all is a star."""
    assert text == Token(None, ranges, False, Span(0, 0)).text
    assert f"!{text}" == Token(None, ranges, True, Span(0, 0)).text
    assert "<[*]>" == Token(None, (), True, Span(0, 0)).text


def test_a_token_is_no_text_to_be_excepted() -> None:
    """Exceptions are about texts; a token in one is an error at its place."""
    from constrain.compiler.grammar.tree import Difference, Literal

    token = Token("<t>", (), False, Span(2, 5))
    body = Difference(Literal(b"a", Span(0, 1)), token, Span(0, 5))
    rules = (Rule("s", Span(0, 1), body, Span(0, 5)),)
    grammar = Grammar(Source("a-<t>", "g", "w3c"), rules, "s", distinct_tokens(rules))
    with pytest.raises(CheckError, match=r"g:1:3: error: the token <t> is no text"):
        resolve_exclusions(grammar)


def test_lints_tell_tokens_apart() -> None:
    """A token is not its text, and another token is another alternative."""
    found = lint(build_automaton('root ::= <a> | "<a>" | <b> | !<a>', dialect="gbnf").grammar)
    assert [] == found
    twice = lint(build_automaton("root ::= x | <a> | <b>\nx ::= <a>", dialect="gbnf").grammar)
    assert ["redundant-alternative"] == [finding.lint for finding in twice]


def test_gbnf_is_written_back() -> None:
    """Names, ids and negations stand as they were."""
    text = 'root ::= <think>+ (!<[7]> | "a") !<x>{2,3}\n'
    assert text == WRITERS["gbnf"](build_automaton(text, dialect="gbnf").grammar)


def test_several_ids_are_alternatives_in_gbnf() -> None:
    """GBNF names one token at a time; a set that is negated has no counterpart."""
    ids = Token(None, ((1, 2), (5, 5)), False, Span(0, 1))
    assert "root ::= <[1]> | <[2]> | <[5]>\n" == WRITERS["gbnf"](grammar_of(ids))
    for token in (Token(None, ((1, 2),), True, Span(0, 1)), Token(None, (), True, Span(0, 1))):
        with pytest.raises(WriterError, match="names one token or all tokens but one"):
            WRITERS["gbnf"](grammar_of(token))


@pytest.mark.parametrize("dialect", ["kbnf", "w3c", "iso14977"])
def test_other_dialects_have_no_tokens(dialect: str) -> None:
    """What has no counterpart is an error with its place."""
    grammar = build_automaton('root ::= "a" <t>', dialect="gbnf").grammar
    with pytest.raises(WriterError, match=r":1:14: error: .* no token terminals"):
        WRITERS[dialect](grammar)


def test_names_and_ids_are_looked_up() -> None:
    """Added tokens by name, others by text; a negation leaves the end of text out."""
    span = Span(0, 1)
    others = [i for i in IDS if i != EOS]
    assert ids_of(
        Token("<t>", (), False, span),
        Token("ab", (), False, span),
        Token("<end>", (), False, span),
        Token(None, ((0, 2), (5, 5)), False, span),
    ) == [[NAMED], [3], [EOS], [0, 1, 2, 5]]
    assert [[i for i in others if i != NAMED], others] == ids_of(
        Token("<t>", (), True, span), Token(None, (), True, span)
    )


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("<enf>", "small has no token <enf>", "did you mean <end>?"),
        ("<x1y2z3>", "small has no token <x1y2z3>", "name it by its id, as in <[12]>"),
        ("<[12]>", "<[12]>: there is no token 12", "this tokenizer has the ids 0 to 11"),
        ("!<[7]>", "!<[7]>: there is no token 7", "this tokenizer has the ids 0 to 11"),
    ],
)
def test_tokens_that_are_not_there(written: str, message: str, hint: str) -> None:
    """Unknown names and ids are errors of the grammar, with their places."""
    with pytest.raises(CheckError) as found:
        built(f'root ::= "a" {written}', "any")
    (diagnostic,) = found.value.diagnostics
    assert (message, hint) == (diagnostic.message, diagnostic.help)
    assert Span(13, 13 + len(written)) == diagnostic.span


def test_all_unknown_tokens_are_reported() -> None:
    """One run names every one of them."""
    with pytest.raises(CheckError) as found:
        built("root ::= <x> | <[99]> | <t>", "any")
    assert 2 == len(found.value.diagnostics)


def test_terminals_become_disjoint_classes() -> None:
    """The coarsest partition; each terminal is a union of classes."""
    given = [np.array(ids, dtype=np.int32) for ids in ([1, 2, 8], [2, 3], [2, 3], [], [9])]
    classes, parts = token_classes(given)
    assert [[1, 8], [2], [3], [9]] == [ids.tolist() for ids in classes]
    assert [[0, 1], [1, 2], [1, 2], [], [3]] == parts
    assert ([], []) == token_classes([])


def test_tokens_are_grouped_by_all_they_lead_to() -> None:
    """Pairs in any order, some twice."""
    tokens, states = np.array([7, 8, 7, 9, 7, 9]), np.array([1, 1, 2, 2, 1, 1])
    found = [(ids.tolist(), reached) for ids, reached in grouped(tokens, states)]
    assert [([7, 9], (1, 2)), ([8], (1,))] == found
