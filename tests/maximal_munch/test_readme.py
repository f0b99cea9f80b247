"""The example that compiler/maximal_munch/README.md carries through."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support.maximal_munch import masks_of, read

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.tokens import tokenset

GRAMMAR = """
start: "if" start ["else" start] | NAME | "(" start ")"
NAME: /[a-z]+/
%ignore " "
"""
TOKENS = [b"a", b"i", b"e", b" ", b"(", b")", b"))", b" else", b") e"]
INSIDE_A_NAME = {b"a", b"i", b"e"}


@pytest.fixture
def masks() -> MaximalMunchMasks:
    """The machine of the example."""
    return masks_of(GRAMMAR, TOKENS)


def tokens_of(masks: MaximalMunchMasks, row: int) -> set[bytes]:
    """The tokens of a row by number, but for the one that ends the text."""
    ids = tokenset.to_ids(masks.walks.rows[row]).tolist()
    return {TOKENS[i] for i in ids if i < len(TOKENS)}


def texts_of(masks: MaximalMunchMasks, suspended: int) -> set[bytes]:
    """The texts of suspended trie nodes, their own bytes included."""
    trie = masks.walks.trie()
    parents = {c: n for n in range(len(trie.octets)) for c in range(*trie.first[n : n + 2])}

    def text(node: int) -> bytes:
        return text(parents[node]) + bytes([trie.octets[node]]) if node else b""

    return {text(node) for node in masks.walks.suspended[suspended].tolist()}


def threads_of(masks: MaximalMunchMasks, head: int) -> list[tuple[int, tuple[int, ...]]]:
    """(state, frames above the hole) of a head whose threads have one stack each."""
    heads = masks.configurations.heads

    def frames(node: int) -> tuple[int, ...]:
        ((frame, rest),) = heads.stacks.entries[node]
        return () if frame == -1 else (frame, *frames(rest))

    return [(state, frames(node)) for state, node in heads.threads[head]]


def frames_of(masks: MaximalMunchMasks, node: int) -> list[int]:
    """The frames below a head, the top first; 0 is the bottom."""
    found = [masks.configurations.transitions.frames.entries[node]]
    while found[-1][0]:
        found.append(masks.configurations.transitions.frames.entries[found[-1][1]])
    return [frame for frame, _ in found]


def test_the_network_and_the_lexer(masks: MaximalMunchMasks) -> None:
    """Six states, two calls; `if` is the keyword, `ifs` a name."""
    tables, lexer = masks.configurations.heads.tables, masks.configurations.lexer
    assert (6, 6) == (lexer.tables.lexemes, tables.states - 1)
    assert {2: [(1, 5)], 4: [(1, 6)]} == {n: list(c) for n, c in enumerate(tables.calls) if c}
    for text, lexeme in ((b"(if", '"if"'), (b"(ifs", "NAME")):
        _, _, state = masks.configurations.parts(read(masks, text))
        (accepted,) = lexer.accept_sets[lexer.accept_of[state]]
        assert lexeme == lexer.tables.texts[accepted]


def test_heads_and_frames(masks: MaximalMunchMasks) -> None:
    """After `((a` the head is {(2, hole)} over 5 and the bottom; after the name {(3, 5·hole)}."""
    configurations = masks.configurations
    head, frames, _ = configurations.parts(read(masks, b"((a"))
    assert [(2, ())] == threads_of(masks, head)
    assert [5, 0] == frames_of(masks, frames)
    behind = configurations.head_after(read(masks, b"((a"))
    assert [(3, (5,))] == threads_of(masks, behind)
    assert behind == configurations.head_after(read(masks, b"((a)"))
    assert not configurations.heads.view(behind).needs_frame


def test_runs_of_nullable_frames(masks: MaximalMunchMasks) -> None:
    """A token can observe four frames 6, and no frame 5, which is not nullable."""
    assert (4, 0) == (masks.runs.longest(6), masks.runs.longest(5))


def test_the_walk_and_the_summary(masks: MaximalMunchMasks) -> None:
    """W, and the summary of `((a` before and after frame 5."""
    head, _, state = masks.configurations.parts(read(masks, b"((a"))
    words, ((_, nodes),) = masks.lazy.inside(state)
    assert INSIDE_A_NAME == {TOKENS[i] for i in tokenset.to_ids(words).tolist()}
    assert {b" ", b"(", b")"} == texts_of(masks, nodes)
    first = masks.summaries.first(head, state)
    row, ((waiting, nodes),) = masks.summaries.summary(first)
    assert INSIDE_A_NAME | {b" ", b")"} == tokens_of(masks, row)
    assert [(3, ())] == threads_of(masks, waiting)
    assert {b") ", b"))"} == texts_of(masks, nodes)
    for frame, more in ((5, {b"))"}), (0, set[bytes]())):
        row, pending = masks.summaries.summary(masks.summaries.feed(first, frame))
        assert INSIDE_A_NAME | {b" ", b")"} | more == tokens_of(masks, row)
        assert () == pending
