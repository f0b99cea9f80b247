"""Drawings: the DOT text says what the automaton is."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support import compiled
from support.automata import build_automaton
from support.drawing import shown_edges

from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.compiler import Tokenizer
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.drawing import (
    DrawingError,
    View,
    draw_dfa,
    draw_nfa,
    draw_tokenizer,
    draw_tokens,
)
from constrain.compiler.drawing.picture import Size, followable, left_out_sentence
from constrain.compiler.frontend import Automaton


def dfa_of(pattern: str) -> Dfa:
    """The minimal DFA of a regex."""
    return build_automaton(pattern, dialect="regex").dfa


def test_start_and_accepting_states_are_marked() -> None:
    """An arrow from nowhere enters the start; exactly the accepting states are double."""
    dot = draw_dfa(dfa_of("(a|b)*abb").tables(), View("abb")).dot
    assert "\tstart -> s1 " in dot
    doubled = re.findall(r"^\t(s\d+) \[.*peripheries=2", dot, re.M)
    assert doubled == ["s4"]
    assert "s0" not in dot, "the dead state is drawn"


def test_edges_between_two_states_are_one() -> None:
    """All bytes that lead from one state to another share an edge."""
    edges = shown_edges(draw_dfa(dfa_of("[a-z0-9_]x").tables(), View("t")))
    assert edges == {("start", "s1"): "", ("s1", "s2"): "0–9 _ a–z", ("s2", "s3"): "x"}


def test_epsilon_edges_are_dashed(date_automaton: Automaton) -> None:
    """ε edges of an NFA are labelled and dashed, edges that read are neither."""
    drawing = draw_nfa(date_automaton.nfa, View("date"))
    count = 0
    for line in drawing.dot.splitlines():
        if " -> s" in line and "start ->" not in line:
            assert (">ε<" in line) == ("style=dashed" in line)
            count += ">ε<" in line
    assert count == sum(map(len, date_automaton.nfa.epsilon))
    assert '\\nrule month"' in drawing.dot


def test_title_and_legend_name_what_occurs(date_automaton: Automaton) -> None:
    """The title has stage, name and counts; the legend leaves out what does not occur."""
    nfa = draw_nfa(date_automaton.nfa, View("a<b>.ebnf")).dot.replace("&#160;", " ")
    dfa = draw_dfa(date_automaton.dfa.tables(), View("date")).dot.replace("&#160;", " ")
    assert "NFA of a&lt;b&gt;.ebnf" in nfa
    assert "38 states, 16 edges that read, 24 ε edges" in nfa
    assert "14 states, 16 edges" in dfa
    assert "reads nothing" in nfa
    assert "reads nothing" not in dfa
    assert "left out" not in nfa + dfa


def test_the_legend_says_what_accepting_states_are() -> None:
    """Where there are some: also where all are, and not where none is."""
    every = build_automaton('s ::= "a"*;', dialect="kbnf").dfa.tables()
    none = replace(every, accepting=np.zeros_like(every.accepting))

    assert "the text may end here" in draw_dfa(every, View("")).dot.replace("&#160;", " ")
    assert "the text may end here" not in draw_dfa(none, View("")).dot.replace("&#160;", " ")


def test_names_that_no_file_can_hold_are_replaced(date_automaton: Automaton) -> None:
    """A grammar's name with undecodable bytes or control characters still gives UTF-8."""
    dot = draw_dfa(date_automaton.dfa.tables(), View("a\udcff\x00b")).dot
    assert "a\ufffd\ufffdb" in dot
    assert dot.encode("utf-8")


def test_states_beyond_the_cap_are_left_out(date_automaton: Automaton) -> None:
    """The states nearest to the start stay, and the drawing says what is missing."""
    drawing = draw_dfa(date_automaton.dfa.tables(), View("date", size=Size(6)))
    assert drawing.left_out == "8 of 14 states are left out (--draw-states 6)"
    assert drawing.left_out in drawing.dot.replace("&#160;", " ")
    assert re.findall(r"^\t(s\d+) \[", drawing.dot, re.M) == [f"s{i}" for i in range(1, 7)]
    assert shown_edges(drawing)["s6", "more6"] == "0 1"
    assert re.search(r"s6 -> more6 .*style=dashed", drawing.dot)


def test_nothing_is_left_out_at_the_exact_cap(date_automaton: Automaton) -> None:
    """A cap that all states fit under is not mentioned."""
    drawing = draw_dfa(date_automaton.dfa.tables(), View("date", size=Size(14)))
    assert drawing.left_out is None
    assert "more" not in " ".join(target for _, target in shown_edges(drawing))


def test_left_out_sentence_counts() -> None:
    """One state is singular; a drawing that is too dense says so."""
    assert left_out_sentence(41, 40, Size(40)) == "1 of 41 states is left out (--draw-states 40)"
    assert left_out_sentence(40, 40, Size(40)) is None
    assert left_out_sentence(50, 9, Size(40)) == (
        "41 of 50 states are left out (--draw-states 40, more would have too many edges: "
        "--draw-edges N draws up to N)"
    )


def test_dense_automata_keep_fewer_states() -> None:
    """Of a complete graph few states stay, of a chain all, and the start always."""
    complete = [(i, j) for i in range(100) for j in range(100)]
    assert 5 < followable(complete, 100, Size(100)) < 15
    assert followable([(i, i + 1) for i in range(99)], 100, Size(100)) == 100
    assert followable([(0, 0)] * 50, 1, Size(1)) == 1


def test_the_empty_string_can_be_drawn(default_tokenizer: Tokenizer) -> None:
    """One state that starts and accepts, in every stage."""
    automaton = build_automaton('a ::= "";', dialect="kbnf")
    artifact = compiled('a ::= "";', default_tokenizer)
    for drawing in (
        draw_nfa(automaton.nfa, View("a")),
        draw_dfa(automaton.dfa.tables(), View("a")),
        draw_tokens(artifact, View("a")),
        draw_tokenizer(artifact, View("a")),
    ):
        assert len(shown_edges(drawing)) == 1
        assert drawing.dot.count("peripheries=2") == 1


def test_a_dfa_without_members_is_refused() -> None:
    """There is no state to draw; the pipeline never gets here, hand-made tables can."""
    octets = np.zeros(256, np.uint8)
    dead = ByteDfa(np.zeros((1, 1), np.int32), octets, np.zeros(0, np.int32), octets[:1], 0)
    with pytest.raises(DrawingError, match="nothing to draw"):
        draw_dfa(dead, View("none"))
