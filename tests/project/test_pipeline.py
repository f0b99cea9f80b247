"""The driver: its steps are those of the map, its options are spelled once, its choices say why."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import re
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
from support import EXAMPLES, ROOT
from support.automata import build_automaton

from constrain.compiler import CompileOptions, Tokenizer, compile_grammar, thresholds
from constrain.compiler.choose import (
    EngineChoice,
    engine_of,
    may_be_met,
    met_instead,
    next_engine,
    tokenization_of,
)
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, Parser, read_checked
from constrain.compiler.pipeline import build_artifact, build_engine

NESTED = 'l ::= "[" [l {"," l}] "]";'


# --- the steps


def rows() -> dict[str, list[str]]:
    """The steps of the table in ``compiler/README.md``, and the calls that each names."""
    text = (ROOT / "compiler" / "README.md").read_text(encoding="utf-8")
    table = text.split("| step | call |")[1].split("\n\n")[0]
    cells = [line.split("|")[1:3] for line in table.split("\n")[2:]]
    return {step.strip(): re.findall(r"`(\w+)`", calls) for step, calls in cells}


def calls() -> dict[str, list[str]]:
    """The functions that each function of ``pipeline.py`` calls, in the order of its text."""
    tree = ast.parse((ROOT / "compiler" / "pipeline.py").read_text(encoding="utf-8"))
    return {
        function.name: [
            node.func.id
            for node in sorted(
                (node for node in ast.walk(function) if isinstance(node, ast.Call)),
                key=lambda node: (node.lineno, node.col_offset),
            )
            if isinstance(node.func, ast.Name)
        ]
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
    }


def steps_of(function: str) -> list[str]:
    """The steps that a function of the driver takes."""
    step = {call: step for step, names in rows().items() for call in names}
    return [step[name] for name in calls()[function] if name in step]


def test_the_driver_takes_the_steps_of_the_map() -> None:
    """Each row of the table is called, and nothing in another order than the rows have."""
    order = list(rows())
    taken = {function: steps_of(function) for function in calls()}
    named = {name for names in calls().values() for name in names}

    assert [] == [name for names in rows().values() for name in names if name not in named]
    for function, steps in taken.items():
        assert sorted(steps, key=order.index) == steps, function
    assert order[:4] == taken["build_engine"]


def test_every_engine_takes_the_steps_behind_the_choice() -> None:
    """What needs a tokenizer ends with encoded, precomputed and assembled tables, once each."""
    of_engines = {name: steps for name in calls() if "encode" in (steps := steps_of(name))}

    assert 7 == len(of_engines)
    for name, steps in of_engines.items():
        assert len(set(steps)) == len(steps), name
        assert {"encode", "assemble"} <= set(steps), name
    assert ["merge", "encode", "precompute", "assemble"] == of_engines["_of_canonical_tokens"]


def test_packaging_computes_nothing() -> None:
    """What makes sections and rows imports no function that merges or precomputes."""
    heavy = re.compile(
        r"from \.\.(dfa|network|merge|canonical_network|maximal_munch)\S* import (.*)"
    )
    machine = ROOT / "compiler" / "machine"
    rows = (machine / f"{name}.py" for name in ("byte_rows", "mask_rows", "row_table", "file_size"))
    for file in (*sorted(machine.glob("*_sections.py")), *rows):
        for _, names in heavy.findall(file.read_text(encoding="utf-8")):
            assert all(name[0].isupper() for name in re.split(r",\s*", names)), f"{file}: {names}"


# --- the options


def test_options_are_frozen() -> None:
    """One object says what is wanted, and nobody changes it on the way."""
    with pytest.raises(FrozenInstanceError):
        CompileOptions().start = "s"


@pytest.mark.parametrize("name", ["tokenisation", "max_states", "tokenizer_path"])
def test_unknown_options_are_refused(name: str, default_tokenizer: Tokenizer) -> None:
    """A misspelled option is an error, and no silent default."""
    automaton = build_automaton('s ::= "a";', dialect="kbnf")
    for compiled in (
        lambda: build_engine('s ::= "a";', dialect="kbnf", **{name: 1}),
        lambda: build_artifact(automaton, default_tokenizer, **{name: 1}),
        lambda: compile_grammar('s ::= "a";', tokenizer=default_tokenizer, **{name: 1}),
    ):
        with pytest.raises(TypeError, match=name):
            compiled()


BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"tokenization": "all"}, "tokenization must be 'canonical' or 'any', not 'all'"),
    ({"engine": "lalr"}, "engine must be one of auto, dfa, network, earley, greedy, not 'lalr'"),
    ({"parser": "dfa"}, "parser must be 'auto', 'network' or 'earley', not 'dfa'"),
    ({"meaning": "greedy"}, "meaning must be one of exact, maximal-munch, not 'greedy'"),
    ({"method": "fast"}, "method must be 'auto', 'direct' or 'cartesian', not 'fast'"),
    ({"max_depth": -1}, "max_depth must be at least 0, not -1"),
    ({"prewarm": -1}, "prewarm must be at least 0, not -1"),
    ({"max_artifact_bytes": -1}, "max_artifact_bytes must be at least 0, not -1"),
]


@pytest.mark.parametrize(("bad", "expected"), BAD_VALUES, ids=lambda value: str(value)[:20])
def test_bad_values_are_refused(bad: dict[str, Any], expected: str) -> None:
    """The constructor checks every field, and says what it can have."""
    with pytest.raises(ValueError, match=re.escape(expected)):
        CompileOptions(**bad)


def test_changes_go_before_options(default_tokenizer: Tokenizer) -> None:
    """An object of options, or single ones, or both: the same artifact."""
    text = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")
    options = CompileOptions(dialect="kbnf", tokenization="any", strip=True)
    by_object = compile_grammar(text, tokenizer=default_tokenizer, options=options)
    by_name = compile_grammar(
        text, tokenizer=default_tokenizer, dialect="kbnf", tokenization="any", strip=True
    )
    unstripped = compile_grammar(text, tokenizer=default_tokenizer, options=options, strip=False)

    assert by_object.to_bytes() == by_name.to_bytes()
    assert (None, text) == (by_object.manifest.source, unstripped.manifest.source)
    assert options.strip


def test_every_option_is_explained() -> None:
    """The docstring of the class is the one place that explains options, and explains all."""
    explained = re.findall(r"- ``(\w+)``", CompileOptions.__doc__ or "")

    assert sorted(field.name for field in fields(CompileOptions)) == sorted(explained)


def test_a_text_needs_a_dialect() -> None:
    """A grammar is not read as a dialect that nobody named."""
    with pytest.raises(TypeError, match="dialect"):
        build_engine('s ::= "a";')


# --- the choices


def chosen(text: str, **options: Any) -> EngineChoice:
    """The choice that a recogniser ends with."""
    return build_engine(text, dialect="kbnf", **options).choice


def test_engines_say_why() -> None:
    """Each recogniser has the choice that led to it, with its reason."""
    assert ("dfa", "the grammar is regular") == reason(chosen('s ::= "a";'))
    assert ("dfa", "as asked for") == reason(chosen('s ::= "a";', engine="dfa"))
    assert ("dfa", "the nesting is bounded") == reason(chosen(NESTED, max_depth=1))
    assert ("earley", "as asked for") == reason(chosen(NESTED, engine="earley"))
    assert ("network", "as asked for") == reason(chosen('s ::= "a";', engine="network"))
    engine, why = reason(chosen(NESTED))
    assert "network" == engine
    assert "is not known to be regular" in why


def reason(choice: EngineChoice) -> tuple[str, str]:
    """The engine and why."""
    return choice.engine, choice.reason


def test_each_engine_has_its_recogniser() -> None:
    """Automata, parsers and grammars over lexemes, by the choice that they carry."""
    lark = (EXAMPLES / "code.lark").read_text(encoding="utf-8")
    found = build_engine(lark, dialect="lark")

    assert isinstance(build_engine('s ::= "a";', dialect="kbnf"), Automaton)
    assert isinstance(build_engine(NESTED, dialect="kbnf"), Parser)
    assert isinstance(found, MaximalMunchGrammar)
    assert ("greedy", "maximal-munch") == (found.choice.engine, found.choice.semantics)


def test_what_is_tried_next() -> None:
    """A failed DFA is followed by a network, whose states are made when they are met where all are
    too many; time ends it all."""
    options = CompileOptions(dialect="kbnf")
    grammar = read_checked(NESTED, options, "<grammar>")
    first = engine_of(grammar, options)
    large = LimitError("the network", "states", 7)
    second = next_engine(first, large)
    third = met_instead(second, large)

    assert ["dfa", "network", "network"] == [first.engine, second.engine, third.engine]
    assert "the network needs more than 7 states" == second.reason
    assert f"{second.reason}, and {second.reason}" == third.reason
    assert [False, False, True] == [each.is_lazy for each in (first, second, third)]
    # What the network may grow to is bounded while its states may be made when they are met.
    assert thresholds.NETWORK_STATES == second.most_states
    assert may_be_met(second, options)
    asked = replace(options, tokenization="canonical")
    assert engine_of(grammar, asked).most_states is None
    assert not may_be_met(second, asked)
    with pytest.raises(LimitError):
        next_engine(second, large)
    with pytest.raises(LimitError):
        next_engine(first, LimitError("the network", "seconds", 1.0))


def test_tokenizations_say_why(default_tokenizer: Tokenizer) -> None:
    """Where canonical masks cannot be had, the choice is a note, or the error if they are asked
    for."""
    options = CompileOptions(dialect="kbnf")
    grammar = read_checked(NESTED, options, "<grammar>")
    earley = EngineChoice("exact", "earley", "as asked for")
    network = EngineChoice("exact", "network", "as asked for")

    assert tokenization_of(grammar, network, default_tokenizer, options).is_canonical
    fallen = tokenization_of(grammar, earley, default_tokenizer, options)
    assert not fallen.is_canonical
    assert fallen.note.endswith(fallen.reason)
    with pytest.raises(CheckError, match="canonical masks need the engine dfa or network"):
        asked = CompileOptions(dialect="kbnf", tokenization="canonical")
        tokenization_of(grammar, earley, default_tokenizer, asked)
