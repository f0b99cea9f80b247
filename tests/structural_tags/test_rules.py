"""Rules of schemas: each has a name of its own, and is the same when it is made on demand."""

# Tests here say `expected == actual`.

import json
import random
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from support.schema import plain_schemas, random_schemas
from workloads import schemas
from workloads.tools import tools

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.diagnostics import CheckError, Source
from constrain.compiler.grammar import tree
from constrain.compiler.grammar.productive import productive_rules, without_dead
from constrain.compiler.limits import Limits
from constrain.compiler.schema import SchemaOptions, convert
from constrain.compiler.schema.convert import deferred_grammar, schema_grammar
from constrain.compiler.schema.rules.deferred import Deferred
from constrain.compiler.structural_tags import STYLES
from constrain.compiler.structural_tags.calls import deferred_grammar as deferred_tools
from constrain.compiler.structural_tags.calls import tools_grammar

# How many random schemas and lists of tools are looked at, in full and else.
SCHEMAS, LISTS = (8_000, 45), (1_000, 8)

# What rules of plain schemas are made of.
PLAIN_PARTS = (tree.Literal, tree.Pattern, tree.Token, tree.Reference)
PLAIN_PARTS += (tree.Sequence, tree.Choice, tree.Repetition, tree.Permutation)

Read = tuple[Deferred | tree.Grammar | str, tree.Grammar | str]


def read(text: str, options: SchemaOptions, *, of_tools: bool = False) -> Read:
    """What is made of a text, rules left for later and all at once, or the errors."""
    source = Source(text, "s", "tools" if of_tools else "json-schema")
    found: list[Any] = []
    for make in (
        deferred_tools if of_tools else deferred_grammar,
        tools_grammar if of_tools else schema_grammar,
    ):
        try:
            found.append(make(source, options, Limits(seconds=20)))
        except CheckError as error:
            found.append(str(error))
    return found[0], found[1]


def options_of(rng: random.Random) -> SchemaOptions:
    """Options that change what rules have inside."""
    return SchemaOptions(
        order=rng.choice(("fixed", "fixed", "fixed", "any")),
        keeps_counts=rng.random() < 0.5,
        integer=rng.choice(("plain", "plain", "decimal")),
        escapes=rng.choice(("usual", "usual", "shortest", "any")),
        whitespace=rng.choice(("flexible", "compact", "one")),
        formats=rng.choice(("assert", "assert", "ignore", "refuse-unknown")),
        ascii=rng.random() < 0.1,
        draft=rng.choice((None, None, None, "4", "7", "2019-09", "2020-12")),
        max_count=rng.choice((None, None, 3)),
    )


def written(grammar: tree.Grammar) -> str:
    """All of a grammar, spans and notes included."""
    with np.printoptions(threshold=10**9):
        return repr((grammar.start, grammar.rules, grammar.notes, grammar.tokens))


def check_alike(first: tree.Expr, second: tree.Expr, names: dict[str, str]) -> None:
    """That two expressions are the same, but for the names of rules; ``names``: what rules of the
    first one are called in the second. What is alike may have one rule there and two here."""
    pending = [(first, second)]
    while pending:
        left, right = pending.pop()
        assert type(left) is type(right)
        if isinstance(left, tree.Reference) and isinstance(right, tree.Reference):
            assert right.name == names.setdefault(left.name, right.name)
        elif isinstance(left, tree.Literal) and isinstance(right, tree.Literal):
            assert right.data == left.data
        elif isinstance(left, tree.Repetition) and isinstance(right, tree.Repetition):
            times = (left.min_times, left.max_times)
            assert (right.min_times, right.max_times) == times
        elif isinstance(left, tree.Permutation) and isinstance(right, tree.Permutation):
            assert (right.least, right.most) == (left.least, left.most)
            flags = [(part.is_required, part.is_repeated) for part in left.parts]
            assert [(part.is_required, part.is_repeated) for part in right.parts] == flags
        elif isinstance(left, tree.Pattern) and isinstance(right, tree.Pattern):
            assert repr(right.node) == repr(left.node)
        pending += zip(tree.children(left), tree.children(right), strict=True)


def check_same(found: tree.Grammar, whole: tree.Grammar) -> None:
    """That two grammars are the same, spans and notes included, but for what is alike."""
    if written(whole) == written(found):
        return
    here = {rule.name: rule for rule in found.rules}
    there = {rule.name: rule for rule in whole.rules}
    names, left = {found.start: whole.start}, [found.start]
    while left:
        name, known = left.pop(), len(names)
        rule, same = here[name], there[names[name]]
        assert same.terminal == rule.terminal
        check_alike(rule.body, same.body, names)
        left += list(names)[known:]
    assert {*names} == here.keys()
    assert {*names.values()} == there.keys()
    assert (whole.notes, whole.tokens) == (found.notes, found.tokens)


def check_deferred(found: Deferred, whole: tree.Grammar, rng: random.Random) -> None:
    """That rules which are asked for in any order are those of the whole grammar that have a text;
    and that the grammar is that one, whatever was asked for before."""
    assert len(whole.rules) == len({rule.name for rule in whole.rules})
    with_text = without_dead(whole.rules, productive_rules(whole.rules))
    rules = {rule.name: rule for rule in with_text}
    parts = [part for rule in whole.rules for part in rule.expressions]
    assert all(isinstance(part, PLAIN_PARTS) for part in parts)
    nodes = (node for p in parts if isinstance(p, tree.Pattern) for node in regex.walk(p.node))
    assert not any(isinstance(node, regex.And | regex.Not | regex.Look) for node in nodes)
    names, left = {found.start: whole.start}, [found.start]
    met = 0
    with np.printoptions(threshold=10**9):
        while left:
            name = left.pop(rng.randrange(len(left)))
            rule, same = found.rule(name), rules[names[name]]
            assert same.terminal == rule.terminal
            assert rule is found.rule(name)
            known = len(names)
            check_alike(rule.body, same.body, names)
            left += list(names)[known:]
            met += 1
            if met == 3 and rng.random() < 0.5:
                check_same(found.complete(), whole)
    check_same(found.complete(), whole)
    assert [each.meaning for each in whole.tokens] == [each.meaning for each in found.tokens]


def test_rules_have_names_of_their_own_where_keys_end_as_names_of_rules_do(full: bool) -> None:
    """A rule of two definitions would be either of them."""
    for number in range(10_000 if full else 11):
        text = json.dumps(plain_schemas.document(random.Random(number), 0))
        whole = read(text, SchemaOptions(order="any"))[1]
        if isinstance(whole, tree.Grammar):
            assert len(whole.rules) == len({rule.name for rule in whole.rules}), text


def random_texts(count: int) -> Iterator[tuple[random.Random, str, bool]]:
    """Random schemas, and whether programs write such."""
    for number in range(count):
        rng = random.Random(number)
        is_usual = number % 3 > 0
        odd = 0.0 if number % 3 == 1 else 0.03
        made = plain_schemas.document(rng, odd) if is_usual else random_schemas.document(rng)
        yield rng, json.dumps(made), is_usual and not odd


def test_rules_that_are_asked_for_are_those_of_the_whole_grammar(full: bool) -> None:
    """Whatever raises something, or has a rule without a text, is written at once."""
    count, usual, plain = SCHEMAS[not full], 0, 0
    for rng, text, is_usual in random_texts(count):
        options = options_of(rng)
        found, whole = read(text, options)
        if isinstance(found, Deferred):
            assert isinstance(whole, tree.Grammar), (text, whole)
            check_deferred(found, whole, rng)
        elif isinstance(found, str):
            assert whole == found, text
        elif isinstance(whole, tree.Grammar):
            assert written(whole) == written(found), text
        if is_usual and options.order == "fixed" and options.draft != "4" and not options.max_count:
            usual += 1
            plain += isinstance(found, Deferred)
    # What programs write is nearly always plain.
    assert plain > 0.6 * usual > 0.05 * count


def test_plain_schemas_have_the_same_grammar_and_errors_as_if_that_was_not_known(
    full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many strange values, of which most are errors."""
    monkeypatch.setattr(convert, "are_plain", are_plain := Mock(wraps=convert.are_plain))
    for number in range(6_000 if full else 33):
        rng = random.Random(number)
        made = plain_schemas.document(rng, rng.choice((0.1, 0.3)), rng.choice((1, 2, 3)))
        text, options = json.dumps(made), options_of(rng)
        known = read(text, options)[1]
        are_plain.side_effect = lambda *_, **__: False
        unknown = read(text, options)[1]
        are_plain.side_effect = None
        if isinstance(known, str) or isinstance(unknown, str):
            assert unknown == known, text
        else:
            assert written(unknown) == written(known), text


def test_rules_of_tools_are_made_when_they_are_asked_for(full: bool) -> None:
    """Also where schemas of several tools are alike."""
    plain, styles = 0, [style.name for style in STYLES.values() if style.tags is None]
    for number in range(LISTS[not full]):
        rng = random.Random(number)
        options, style = options_of(rng), rng.choice(styles)
        if number % 2:
            listed: Any = tools(rng.choice((1, 3, 8)), 6, seed=number)
        else:
            made = (plain_schemas.document(rng, 0.01) for _ in range(rng.randint(1, 4)))
            listed = [{"name": f"f{i}", "parameters": each} for i, each in enumerate(made)]
            listed = [{"type": "function", "function": each} for each in listed]
        choice = rng.choice(("auto", "required", "none"))
        asked = {"tools": listed, "tool_choice": choice, "style": style}
        found, whole = read(json.dumps(asked), options, of_tools=True)
        if isinstance(found, Deferred):
            assert isinstance(whole, tree.Grammar), (asked, whole)
            check_deferred(found, whole, rng)
            plain += 1
        elif isinstance(found, str):
            assert whole == found
    assert plain > LISTS[not full] // 4


@pytest.mark.parametrize("count", [1, 16, 128, 256])
def test_lists_of_tools_in_use_have_rules_that_are_asked_for(count: int) -> None:
    """So many as servers get; of the calls alone a rule is there at once."""
    source = Source(json.dumps(tools(count, 6)), "t", "tools")
    found = deferred_tools(source, SchemaOptions(keeps_counts=True))
    assert isinstance(found, Deferred)
    assert found.start == "texts"
    assert isinstance(found.rule("texts").body, tree.Sequence)


@pytest.mark.parametrize("name", [request.name for request in schemas.requests()])
def test_schemas_in_use_have_rules_that_are_asked_for(name: str) -> None:
    """The shapes of the benchmarks."""
    texts = {request.name: request.schema or request.grammar for request in schemas.requests()}
    options = SchemaOptions(keeps_counts=True)
    found, whole = read(texts[name], options)
    assert isinstance(whole, tree.Grammar)
    assert isinstance(found, Deferred)
    check_deferred(found, whole, random.Random(1))
