"""The labels of drawings: bytes, tokens, and names of any characters."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.drawing import needs_dot, svg_texts

from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.drawing import render
from constrain.compiler.drawing.dot import to_dot
from constrain.compiler.drawing.graph import Reads
from constrain.compiler.drawing.labels import TokenLabels, byte_label, reads_label
from constrain.compiler.drawing.picture import Edge, Picture

pytestmark = pytest.mark.quick

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


def labels_of(*tokens: bytes) -> tuple[TokenLabels, NDArray[np.int64]]:
    """Labels over a vocabulary of just these tokens, and their ids."""
    vocabulary = Vocabulary.from_tokens(dict(enumerate(tokens)), (), len(tokens))
    return TokenLabels(vocabulary, np.arange(len(tokens))), np.arange(len(tokens))


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


@pytest.mark.parametrize(
    ("ranges", "text", "whole"),
    [
        ([(9, 10), (13, 13), (32, 32)], "white space", "\\t \\n \\r ␣"),
        ([(9, 10), (13, 13), (32, 32), (97, 99)], "white space a–c", "\\t \\n \\r ␣ a–c"),
        ([(9, 10), (32, 32)], "\\t \\n ␣", "\\t \\n ␣"),
    ],
)
def test_white_space_is_one_entry(ranges: list[tuple[int, int]], text: str, whole: str) -> None:
    """That of JSON; a tooltip leaves nothing out."""
    reads = Reads(octets=tuple(ranges))
    assert reads_label(reads).text == text
    assert reads_label(reads, whole=True).text == whole


def test_token_labels_fold_runs_and_count_the_rest() -> None:
    """Neighbouring tokens fold, at most six entries are listed, the count is of all."""
    digits = [str(i).encode() for i in range(10)]
    labels, ids = labels_of(*digits, b"year")
    assert labels.label(ids).text == "‹0›–‹9› ‹year›"
    assert labels.label(ids[[3, 1, 2]]).text == "‹1› ‹2› ‹3›"
    odd, every = labels_of(*(str(i).encode() for i in range(1, 21, 2)))
    assert odd.label(every).text.split("\n") == ["‹1› ‹3› ‹5› ‹7› ‹9› ‹11›", "… 10 tokens"]
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
