"""Drawings: the DOT text says what the automaton is, and reads the same in the picture."""

import os
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from support import compiled, python, tokenizer_of

from constrain.artifacts import Artifact, tokenset
from constrain.artifacts.byte_dfa import ByteDfa
from constrain.artifacts.vocabulary import Vocabulary
from constrain.compiler import Tokenizer
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.drawing import (
    Drawing,
    DrawingError,
    MissingDotError,
    draw_dfa,
    draw_nfa,
    draw_tokenizer,
    draw_tokens,
    render,
)
from constrain.compiler.drawing.dot import to_dot
from constrain.compiler.drawing.labels import TokenLabels, byte_label
from constrain.compiler.drawing.picture import Edge, Picture, followable, left_out_sentence
from constrain.compiler.merge.tabulate import tabulated
from constrain.compiler.pipeline import Automaton, build_automaton

DATE = """date  ::= year "-" month "-" day;
year  ::= #"[0-9]{4}";
month ::= "0" #"[1-9]" | "1" #"[0-2]";
day   ::= "0" #"[1-9]" | #"[12][0-9]" | "3" #"[01]";"""

# Characters that mean something in DOT, in an escString, in HTML, or in the labels themselves.
AWKWARD = {
    b'"': '‹"›',
    b"\\": "‹\\\\›",
    b"\\N": "‹\\\\N›",
    b"\\n": "‹\\\\n›",
    b"\n": "‹\\n›",
    b"<": "‹<›",
    b"<b>": "‹<b>›",
    b"&": "‹&›",
    b"&amp;": "‹&amp;›",
    b"|": "‹|›",
    b"{}": "‹{}›",
    b" a": "‹␣a›",
    b"\t\x00": "‹\\t\\x00›",
    b"\xe2\x82": "‹\\xE2\\x82›",
    "é€".encode(): "‹é€›",
    "›".encode(): "‹\\u{203A}›",
    "\u0301".encode(): "‹\\u{301}›",
    "\u200b".encode(): "‹\\u{200B}›",
}

needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None, reason="Graphviz's program dot is not installed"
)


@pytest.fixture(scope="module")
def date() -> Automaton:
    """The date grammar's automata."""
    return build_automaton(DATE, dialect="kbnf")


@pytest.fixture(scope="module")
def date_artifact(default_tokenizer: Tokenizer) -> Artifact:
    """The date grammar for the default tokenizer."""
    return compiled(DATE, default_tokenizer)


def dfa_of(pattern: str) -> Dfa:
    """The minimal DFA of a regex."""
    return build_automaton(pattern, dialect="regex").dfa


def shown_edges(drawing: Drawing) -> dict[tuple[str, str], str]:
    """The text on each edge, with plain spaces; empty where there is no label."""
    found = {}
    for source, target, rest in re.findall(r"^\t(\w+) -> (\w+) \[(.*)\]$", drawing.dot, re.M):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", rest)
        found[source, target] = cells[0].replace("&#160;", " ") if cells else ""
    return found


def svg_texts(path: Path) -> list[str]:
    """All text in an SVG, with plain spaces."""
    root = ElementTree.parse(path).getroot()
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    return [text.replace("\u00a0", " ") for text in texts]


def labels_of(*tokens: bytes) -> tuple[TokenLabels, NDArray[np.int64]]:
    """Labels over a vocabulary of just these tokens, and their ids."""
    vocabulary = Vocabulary.from_tokens(dict(enumerate(tokens)), (), len(tokens))
    return TokenLabels(vocabulary, np.arange(len(tokens))), np.arange(len(tokens))


def test_start_and_accepting_states_are_marked() -> None:
    """An arrow from nowhere enters the start; exactly the accepting states are double."""
    dot = draw_dfa(dfa_of("(a|b)*abb").tables(), title="abb").dot
    assert "\tstart -> s1 " in dot
    doubled = re.findall(r"^\t(s\d+) \[.*peripheries=2", dot, re.M)
    assert doubled == ["s4"]
    assert "s0" not in dot, "the dead state is drawn"


def test_edges_between_two_states_are_one() -> None:
    """All bytes that lead from one state to another share an edge."""
    edges = shown_edges(draw_dfa(dfa_of("[a-z0-9_]x").tables(), title="t"))
    assert edges == {("start", "s1"): "", ("s1", "s2"): "0–9 _ a–z", ("s2", "s3"): "x"}


def test_epsilon_edges_are_dashed(date: Automaton) -> None:
    """ε edges of an NFA are labelled and dashed, edges that read are neither."""
    drawing = draw_nfa(date.nfa, title="date")
    count = 0
    for line in drawing.dot.splitlines():
        if " -> s" in line and "start ->" not in line:
            assert (">ε<" in line) == ("style=dashed" in line)
            count += ">ε<" in line
    assert count == sum(map(len, date.nfa.epsilon))
    assert 'tooltip="rule month"' in drawing.dot


def test_title_and_legend_name_what_occurs(date: Automaton) -> None:
    """The title has stage, name and counts; the legend leaves out what does not occur."""
    nfa = draw_nfa(date.nfa, title="a<b>.ebnf").dot.replace("&#160;", " ")
    dfa = draw_dfa(date.dfa.tables(), title="date").dot.replace("&#160;", " ")
    assert "NFA of a&lt;b&gt;.ebnf" in nfa
    assert "38 states, 16 edges that read, 24 ε edges" in nfa
    assert "14 states, 16 edges" in dfa
    assert "reads nothing" in nfa
    assert "reads nothing" not in dfa
    assert "left out" not in nfa + dfa


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        ([(97, 122)], "a–z"),
        ([(48, 57), (97, 97), (98, 122)], "0–9 a–z"),
        ([(48, 49)], "0 1"),
        ([(32, 32), (34, 34), (92, 92)], '␣ " \\'),
        ([(9, 10), (13, 13), (127, 127)], "\\t \\n \\r \\x7F"),
        ([(0xE2, 0xE4)], "\\xE2–\\xE4"),
        ([(0, 255)], "any byte"),
        ([(2 * i, 2 * i) for i in range(33, 40)], "B D F H J … (2 more)"),
    ],
)
def test_byte_labels(ranges: list[tuple[int, int]], text: str) -> None:
    """Touching ranges are joined, printable bytes are characters, long lists are cut."""
    assert byte_label(ranges).text == text


def test_token_labels_fold_runs_and_count_the_rest() -> None:
    """Neighbouring tokens fold, at most six entries are listed, the count is of all."""
    digits = [str(i).encode() for i in range(10)]
    labels, ids = labels_of(*digits, b"year")
    assert labels.label(ids).text == "‹0›–‹9› ‹year›"
    assert labels.label(ids[[3, 1, 2]]).text == "‹1› ‹2› ‹3›"
    odd, every = labels_of(*(str(i).encode() for i in range(1, 21, 2)))
    assert odd.label(every).text.split("\n") == ["‹1› ‹3› ‹5› ‹7› ‹9› ‹11› … 10 tokens"]
    assert odd.count(every).text == "10 tokens"


def test_long_tokens_are_cut_and_tell_their_length() -> None:
    """A long token shows its beginning and how many bytes it has."""
    labels, ids = labels_of(b"=" * 64)
    assert labels.label(ids).text == f"‹{'=' * 20}… 64 bytes›"


@pytest.mark.parametrize("token", AWKWARD, ids=repr)
def test_awkward_tokens_have_readable_names(token: bytes) -> None:
    """Control characters, marks of the notation and broken UTF-8 are escaped."""
    labels, ids = labels_of(token)
    assert labels.label(ids).text == AWKWARD[token]


@needs_dot
def test_awkward_tokens_reach_the_picture(tmp_path: Path) -> None:
    """Graphviz shows each label, state name and title exactly as it is meant."""
    labels, ids = labels_of(*AWKWARD)
    names = {i: labels.label(ids[i : i + 1]) for i in ids.tolist()}
    title = r'<any> "t\N" &amp; {|}'
    picture = Picture(
        heading=title,
        counts="18 states",
        states=list(names),
        start=0,
        accepting=(),
        edges=[Edge(i, i, label, tooltip=label.text) for i, label in names.items()],
        names=names,
        tooltips=dict.fromkeys(names, title),
    )
    texts = svg_texts(render(to_dot(picture), tmp_path / "t.svg"))
    for name in AWKWARD.values():
        assert texts.count(name) == 2, name
    assert title in texts


def test_names_that_no_file_can_hold_are_replaced(date: Automaton) -> None:
    """A grammar's name with undecodable bytes or control characters still gives UTF-8."""
    dot = draw_dfa(date.dfa.tables(), title="a\udcff\x00b").dot
    assert "a\ufffd\ufffdb" in dot
    assert dot.encode("utf-8")


def test_states_beyond_the_cap_are_left_out(date: Automaton) -> None:
    """The states nearest to the start stay, and the drawing says what is missing."""
    drawing = draw_dfa(date.dfa.tables(), title="date", max_states=6)
    assert drawing.left_out == "8 of 14 states are left out (--max-states 6)"
    assert drawing.left_out in drawing.dot.replace("&#160;", " ")
    assert re.findall(r"^\t(s\d+) \[", drawing.dot, re.M) == [f"s{i}" for i in range(1, 7)]
    assert shown_edges(drawing)["s6", "more6"] == "0 1"
    assert re.search(r"s6 -> more6 .*style=dashed", drawing.dot)


def test_nothing_is_left_out_at_the_exact_cap(date: Automaton) -> None:
    """A cap that all states fit under is not mentioned."""
    drawing = draw_dfa(date.dfa.tables(), title="date", max_states=14)
    assert drawing.left_out is None
    assert "more" not in " ".join(target for _, target in shown_edges(drawing))


def test_left_out_sentence_counts() -> None:
    """One state is singular; a drawing that is too dense says so."""
    assert left_out_sentence(41, 40, 40) == "1 of 41 states is left out (--max-states 40)"
    assert left_out_sentence(40, 40, 40) is None
    assert left_out_sentence(50, 9, 40) == (
        "41 of 50 states are left out (--max-states 40, more would have too many edges)"
    )


def test_dense_automata_keep_fewer_states() -> None:
    """Of a complete graph few states stay, of a chain all, and the start always."""
    complete = [(i, j) for i in range(100) for j in range(100)]
    assert 5 < followable(complete, 100, 100) < 15
    assert followable([(i, i + 1) for i in range(99)], 100, 100) == 100
    assert followable([(0, 0)] * 50, 1, 1) == 1


@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_token_edges_are_what_the_masks_allow(
    tokenization: str, default_tokenizer: Tokenizer
) -> None:
    """The drawn transitions are the bits of all mask rows but those that end the text."""
    artifact = compiled("(a|b)*abb", default_tokenizer, tokenization, dialect="regex")
    drawing = draw_tokens(artifact, title="abb")
    artifact = tabulated(artifact)
    dfa = artifact.token_dfa
    states = range(dfa.states) if dfa else range(1, artifact.byte_dfa.states)
    rows = [set(tokenset.to_ids(artifact.rows.row(s)).tolist()) for s in states]
    expected = sum(len(row.difference(artifact.manifest.eos)) for row in rows)
    assert drawing.left_out is None
    assert f"{len(states)} states, {expected} transitions" in drawing.dot.replace("&#160;", " ")


def test_lifted_edges_follow_the_bytes(tmp_path: Path) -> None:
    """Under ``any`` a token leads to where its bytes lead."""
    tokenizer = tokenizer_of(tmp_path, "ab", ["a b"], added=[(3, "<eos>", True)])
    artifact = compiled("ab", tokenizer, "any", dialect="regex", eos=["<eos>"])
    assert shown_edges(draw_tokens(artifact, title="ab")) == {
        ("start", "s1"): "",
        ("s1", "s2"): "‹a›",
        ("s1", "s3"): "‹ab›",
        ("s2", "s3"): "‹b›",
    }


def test_tokens_that_end_the_text_are_no_edges(tmp_path: Path) -> None:
    """Where a text token is declared to end the text, accepting states have no edge for it."""
    tokenizer = tokenizer_of(tmp_path, "ab")
    for tokenization in ("canonical", "any"):
        artifact = compiled("[ab]*", tokenizer, tokenization, dialect="regex", eos=["b"])
        edges = shown_edges(draw_tokens(artifact, title="t"))
        assert [text for text in edges.values() if text] == ["‹a›"]


def test_tokenizer_states_are_classes_of_equal_successors(tmp_path: Path) -> None:
    """With the one merge ``a b`` only ‹b› after ‹a› is no canonical pair."""
    tokenizer = tokenizer_of(tmp_path, "ab", ["a b"], added=[(3, "<eos>", True)])
    artifact = compiled("[ab]*", tokenizer, dialect="regex", eos=["<eos>"])
    drawing = draw_tokenizer(artifact, title="t")
    assert shown_edges(drawing) == {
        ("start", "s0"): "",
        ("s0", "s1"): "‹b› ‹ab›",
        ("s0", "s2"): "‹a›",
        ("s1", "s1"): "‹b› ‹ab›",
        ("s1", "s2"): "‹a›",
        ("s2", "s1"): "‹ab›",
        ("s2", "s2"): "‹a›",
    }
    assert drawing.dot.count("peripheries=2") == 3, "all states accept"


def test_crowded_tokenizers_keep_their_largest_classes(date_artifact: Artifact) -> None:
    """Edges of a whole class lose their label, and the sentence says why states are missing."""
    drawing = draw_tokenizer(date_artifact, title="date")
    assert drawing.left_out is not None
    assert drawing.left_out.endswith("more would have too many edges)")
    assert "without a label: all tokens" in drawing.dot.replace("&#160;", " ")


def test_tokenizer_of_an_any_artifact_is_refused(default_tokenizer: Tokenizer) -> None:
    """Such an artifact has no merges; the message says what to do."""
    artifact = compiled(DATE, default_tokenizer, "any")
    with pytest.raises(DrawingError, match="--tokenization canonical") as caught:
        draw_tokenizer(artifact, title="date")
    assert caught.value.exit_code == 2


def test_the_empty_string_can_be_drawn(default_tokenizer: Tokenizer) -> None:
    """One state that starts and accepts, in every stage."""
    automaton = build_automaton('a ::= "";', dialect="kbnf")
    artifact = compiled('a ::= "";', default_tokenizer)
    for drawing in (
        draw_nfa(automaton.nfa, title="a"),
        draw_dfa(automaton.dfa.tables(), title="a"),
        draw_tokens(artifact, title="a"),
        draw_tokenizer(artifact, title="a"),
    ):
        assert len(shown_edges(drawing)) == 1
        assert drawing.dot.count("peripheries=2") == 1


def test_the_same_input_gives_the_same_dot() -> None:
    """No stage depends on the order of sets, and so not on the hash seed."""
    script = (
        "import sys\n"
        "from constrain.compiler.drawing import *\n"
        "from constrain.compiler.pipeline import build_artifact, build_automaton\n"
        "from constrain.compiler.tokenizers import default_path, load_tokenizer\n"
        "automaton = build_automaton(sys.argv[1], dialect='kbnf')\n"
        "artifact = build_artifact(automaton, load_tokenizer(default_path())).artifact\n"
        "drawings = [draw_nfa(automaton.nfa, title='t'),\n"
        "            draw_dfa(automaton.dfa.tables(), title='t', max_states=7),\n"
        "            draw_tokens(artifact, title='t'), draw_tokenizer(artifact, title='t')]\n"
        "sys.stdout.buffer.write('\\n'.join(d.dot for d in drawings).encode())\n"
    )
    outputs = set()
    for seed in ("0", "1", "2024"):
        done = python("-c", script, DATE, variables={"PYTHONHASHSEED": seed})
        assert done.returncode == 0, done.stderr.decode()
        outputs.add(done.stdout)
    assert len(outputs) == 1


@needs_dot
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_rendering_depends_on_nothing_else(
    suffix: str, date: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two renders to two places in two time zones are the same bytes, without a date."""
    drawing = draw_dfa(date.dfa.tables(), title="date")
    first = render(drawing, tmp_path / f"one{suffix}").read_bytes()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    (tmp_path / "folder").mkdir()
    second = render(drawing, tmp_path / "folder" / f"two{suffix.upper()}").read_bytes()
    assert first == second
    dates = re.findall(rb"CreationDate \(D:(\d{4})", first)
    assert dates in ([], [b"1970"])


@needs_dot
def test_svg_shows_title_states_and_labels(date: Automaton, tmp_path: Path) -> None:
    """The picture has what the DOT text says."""
    texts = svg_texts(render(draw_dfa(date.dfa.tables(), title="date"), tmp_path / "t.svg"))
    assert {"DFA of date", "start", "1", "14", "0–9", "1–9"} <= set(texts)


@pytest.mark.parametrize("suffix", [".dot", ".gv"])
def test_dot_text_needs_no_graphviz(
    suffix: str, date: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DOT files are written as they are, even where ``dot`` is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    drawing = draw_dfa(date.dfa.tables(), title="date")
    path = render(drawing, tmp_path / f"t{suffix}")
    assert path.read_text(encoding="utf-8") == drawing.dot


def test_without_dot_the_text_is_written_instead(
    date: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what is missing, how to get it, and where the DOT text is."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    drawing = draw_dfa(date.dfa.tables(), title="date")
    with pytest.raises(MissingDotError) as caught:
        render(drawing, tmp_path / "t.svg")
    written = tmp_path / "t.dot"
    assert written.read_text(encoding="utf-8") == drawing.dot
    assert not (tmp_path / "t.svg").exists()
    for part in ("'dot'", "apt install graphviz", "brew", "choco", str(written)):
        assert part in str(caught.value)


def test_unknown_suffixes_are_refused(date: Automaton, tmp_path: Path) -> None:
    """The message lists the known ones, and nothing is written."""
    for name in ("t.jpeg", "t"):
        with pytest.raises(DrawingError, match=re.escape(".dot, .gv, .pdf, .png, .svg")):
            render(draw_dfa(date.dfa.tables(), title="date"), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for dot is a shell script")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'no such plugin' >&2; echo more >&2; exit 3", "no such plugin"),
        ("kill -SEGV $$", "code -11"),
    ],
)
def test_a_failing_dot_is_reported(
    script: str, reason: str, date: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of what Graphviz says, or how it ended if it says nothing."""
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(DrawingError, match=reason) as caught:
        render(draw_dfa(date.dfa.tables(), title="date"), tmp_path / "t.svg")
    assert "more" not in str(caught.value)
    assert not (tmp_path / "t.svg").exists()


def test_a_dfa_without_members_is_refused() -> None:
    """There is no state to draw; the pipeline never gets here, hand-made tables can."""
    octets = np.zeros(256, np.uint8)
    dead = ByteDfa(np.zeros((1, 1), np.int32), octets, np.zeros(0, np.int32), octets[:1], 0)
    with pytest.raises(DrawingError, match="nothing to draw"):
        draw_dfa(dead, title="none")
