"""Subtrees of the token trie are taken whole where states read through them, loops read once."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.maximal_munch import vocabulary_of
from support.network import minimal_tables

from constrain.artifacts.network import few_nodes, loops
from constrain.artifacts.network import summary_walk as module
from constrain.artifacts.network.read_through import ReadThrough, height_steps, inside_calls
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.network.summary_walk import SummaryWalk
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.network.trie_index import TrieIndex
from constrain.artifacts.summaries.node_sets import ROOT
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer

# A free string, strings that count, a name that is not "ag", names that end anywhere, and text
# that nothing is called around.
FREE = r"""s ::= t | '(' s ')'; t ::= '"' #'[^"\\x00-\\x1f]*' '"';"""
COUNTED = r"""s ::= t | '(' s ')' | '<' #'[^>]{2,9}' '>' | '[' #'[a-z ]{1,30}' ']';
t ::= '"' #'[^"\n]{0,6}' '"';"""
EXCEPT = r"""s ::= '"' k '":' s | 'x' | '(' s ')';
k ::= #'[^a"][^"]*' | 'a' | 'a' #'[^g"][^"]*' | #'ag[^"]+';"""
NAMES = "s ::= n | n '(' s ')'; n ::= #'[a-zé]+' | #'[0-9]{1,5}';"
TEXT = "s ::= #'[a-z é\n]+';"
GRAMMARS = {"free": FREE, "counted": COUNTED, "except": EXCEPT, "names": NAMES, "text": TEXT}

# Names, white space and strings; a name that ends anywhere; all text outside ASCII, some of it, and
# parts of its characters; two loops one after the other, of which one may be left out.
LOOPS = {
    "expressions": r"""s ::= v | v #'[ \n]*=[ \n]*' s; v ::= n | '(' s ')';
n ::= #'[a-z_][a-z_0-9]*' | '"' #'[^"]*' '"';""",
    "open": "s ::= n | n '(' s ')'; n ::= #'[ag]+';",
    "others": r"s ::= t | '(' s ')'; t ::= #'([^\x00-\x1f(]|\n)+' '(' | '<' #'[a-zé]*' '>';",
    "parts": r"s ::= #'[a-z0-9é]*' t; t ::= '\xe6\x97' s | '(' s ')' | '>';",
    "called": r"s ::= #'[a-z0-9 é]+' | '(' s ')' | '=' s 'a';",
    "two": r"s ::= #'[ \n]*' #'[a-z]+' #'[ \n]*' | '(' s ')';",
}
PIECES = [b"a", b"g", b"z", b"0", b" ", b"\n", b'"', b"(", b">", b"=", "é".encode(), "日".encode()]
BROKEN = [b"\xe6", b"\x97", b"\xe6\x97", b"\xff", b"\xf0\x9f"]


def random_trie(rng: random.Random) -> Trie:
    """Texts of a few characters, runs of one, and bytes that are no character."""
    texts = {b"".join(rng.choices(PIECES, k=rng.randint(1, 9))) for _ in range(250)}
    texts |= {rng.choice(PIECES) * count for count in range(2, 14)}
    texts |= {text + rng.choice(BROKEN) for text in rng.sample(sorted(texts), 40)}
    texts |= {rng.choice(BROKEN) + text for text in rng.sample(sorted(texts), 10)}
    return Trie.from_vocabulary(vocabulary_of(sorted(texts)))


def reads_through(
    tables: NetworkTables, stops: np.ndarray, trie: Trie, node: int, state: int
) -> bool:
    """Whether all texts below a node are read, and nothing stops in front of their last byte."""
    if trie.first[node] == trie.first[node + 1]:
        return True
    if stops[state] or state == DEAD:
        return False
    for child in range(int(trie.first[node]), int(trie.first[node + 1])):
        target = int(tables.table[state, tables.classes[trie.octets[child]]])
        if target == DEAD or not reads_through(tables, stops, trie, child, target):
            return False
    return True


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_taken_whole_is_read(name: str, full: bool) -> None:
    """Below such a node no text is refused, and no call begins or ends inside one."""
    rng = random.Random(5)
    tables = minimal_tables(GRAMMARS[name])
    stops = (tables.accepting != 0) & inside_calls(tables) | (np.diff(tables.call_offsets) > 0)
    taken = 0
    for _ in range(20 if full else 3):
        trie = random_trie(rng)
        subtrees = module.subtrees_of(trie)
        through = ReadThrough.of(tables, stops, trie)
        nodes = np.flatnonzero(np.diff(trie.first)).astype(np.int32)
        for state in range(1, tables.states):
            states = np.full(len(nodes), state, dtype=np.int32)
            fits = through.fits(subtrees.below, nodes, states)
            taken += int(fits.sum())
            for node in nodes[fits].tolist():
                assert reads_through(tables, stops, trie, node, state)
            children = np.arange(trie.first[0], trie.first[1], dtype=np.int32)
            fits = through.fits(
                subtrees.within, children, np.full(len(children), state, np.int32), within=True
            )
            for child in children[fits].tolist():
                target = int(tables.table[state, tables.classes[trie.octets[child]]])
                assert target != DEAD
                assert not stops[state]
                assert reads_through(tables, stops, trie, child, target)
    # All states of names are such that a call ends.
    assert (taken == 0) == (name == "names")


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("few", [0, 3, 24])
def test_walks_are_those_node_by_node(
    monkeypatch: pytest.MonkeyPatch, full: bool, name: str, few: int
) -> None:
    """From the root, and from sets of nodes of which some are below others."""
    monkeypatch.setattr(module, "FEW", few)
    monkeypatch.setattr(few_nodes, "FEW", few)
    monkeypatch.setattr(module, "_WORTH_PATCHING", 2)
    rng = random.Random(11)
    tables = minimal_tables(GRAMMARS[name])
    for many in (0, 40, 1 << 30):
        monkeypatch.setattr(module, "_MANY", many)
        for _ in range(6 if full else 1):
            trie = random_trie(rng)
            walk = SummaryWalk(tables, trie, len(trie.ids))
            inner = np.flatnonzero(np.diff(trie.first)).tolist()
            sets = [[0], *([node] for node in rng.sample(inner, 3))]
            sets += [sorted(rng.sample(inner, size)) for size in (5, len(inner) // 2)]
            for number, nodes in enumerate(sets):
                for state in range(1, tables.states):
                    suspended = np.array(nodes, dtype=np.int32)
                    found = walk.walk(number, suspended, state)
                    plain = walk.walk_via_levels(suspended, state)
                    assert np.array_equal(found.row, plain.row)
                    assert [q for q, _ in found.stopped] == [q for q, _ in plain.stopped]
                    for (_, one), (_, other) in zip(found.stopped, plain.stopped, strict=True):
                        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", GRAMMARS)
def test_few_nodes_are_met_where_a_state_reads_through(name: str, gpt2: Tokenizer) -> None:
    """And the walk gives what one of all nodes gives, on a real tokenizer."""
    tables = minimal_tables(GRAMMARS[name])
    trie = gpt2.vocabulary(gpt2.vocab_size)
    walk = SummaryWalk(tables, Trie.from_vocabulary(trie), gpt2.vocab_size)
    root = np.zeros(1, dtype=np.int32)
    saved = 0
    for _ in range(2):  # The second time it is known from the start what can be taken.
        for state in range(1, tables.states):
            found = walk.walk(1, root, state)
            plain = walk.walk_via_levels(root, state)
            assert np.array_equal(found.row, plain.row)
            for (_, one), (_, other) in zip(found.stopped, plain.stopped, strict=True):
                assert np.array_equal(one, other)
            saved += plain.met > 10_000 and found.met < plain.met / 4
    assert saved > 0


def test_a_name_that_is_not_one_of_these_is_a_string_patched(gpt2: Tokenizer) -> None:
    """The tokens that fit are found by what differs, which a few nodes show."""
    tables = minimal_tables(EXCEPT)
    trie = Trie.from_vocabulary(gpt2.vocabulary(gpt2.vocab_size))
    walk = SummaryWalk(tables, trie, gpt2.vocab_size)
    root = np.zeros(1, dtype=np.int32)
    met = {}
    for _ in range(2):
        for state in range(1, tables.states):
            found = walk.walk(1, root, state)
            plain = walk.walk_via_levels(root, state)
            assert np.array_equal(found.row, plain.row)
            assert [q for q, _ in found.stopped] == [q for q, _ in plain.stopped]
            for (_, one), (_, other) in zip(found.stopped, plain.stopped, strict=True):
                assert np.array_equal(one, other)
            if plain.met > 20_000:
                met[state] = found.met
    assert sum(count < 100 for count in met.values()) >= 2


def test_heights_are_told_apart_by_steps() -> None:
    """Each is at most the double of the one before, and the last is no less than the highest."""
    assert height_steps(1) == [1]
    assert height_steps(7) == [1, 2, 3, 4, 6, 8]
    for most in range(1, 300):
        steps = height_steps(most)
        assert steps == sorted(set(steps))
        assert steps[-1] >= most
        assert all(after <= 2 * step for step, after in pairwise(steps))


@pytest.mark.quick
def test_any_depth_of_the_trie(full: bool) -> None:
    """Texts of up to 130 letters are taken whole only where they are read, shorter ones often."""
    tables = minimal_tables("s ::= '<' #'[a-z]{1,40}' '>' | '(' s ')';")
    stops = (tables.accepting != 0) & inside_calls(tables) | (np.diff(tables.call_offsets) > 0)
    root = np.zeros(1, dtype=np.int32)
    for depth in range(1, 131, 1 if full else 4):
        texts = [letter * count for letter in (b"a", b"z") for count in range(1, depth + 1)]
        trie = Trie.from_vocabulary(vocabulary_of(sorted(texts)))
        through = ReadThrough.of(tables, stops, trie)
        below = module.subtrees_of(trie).below
        taken = [
            state
            for state in range(1, tables.states)
            if through.fits(below, root, np.array([state], dtype=np.int32))[0]
        ]
        assert all(reads_through(tables, stops, trie, 0, state) for state in taken)
        assert taken or depth > 30


@pytest.mark.parametrize("kept", [1 << 24, 0])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_read_as_node_by_node(
    monkeypatch: pytest.MonkeyPatch, name: str, kept: int, full: bool
) -> None:
    """From the root, a node and sets of them, however much is kept, and subtrees whole or not."""
    monkeypatch.setattr(loops, "_MOST_BYTES", kept)
    monkeypatch.setattr(module, "_WORTH_LOOPING", 0)
    monkeypatch.setattr(module, "_WORTH_PATCHING", 0)
    monkeypatch.setattr(module, "FEW", 1)
    rng = random.Random(9)
    tables = minimal_tables(LOOPS[name])
    looped: list[int] = []
    walked = loops.LoopWalk.following

    def noted(self: loops.LoopWalk, *given: Any) -> Any:
        looped.append(len(self.single))
        return walked(self, *given)

    monkeypatch.setattr(loops.LoopWalk, "following", noted)
    for many in (1 << 40, 0) * (8 if full else 1):
        monkeypatch.setattr(module, "_MANY", many)
        trie = random_trie(rng)
        walk = SummaryWalk(tables, trie, len(trie.ids))
        inner = np.flatnonzero(np.diff(trie.first)).tolist()
        for number in range(5):
            count = (1, 1, 3, 40, len(inner))[number]
            nodes = [0] if not number else sorted(rng.sample(inner, count))
            suspended = np.array(nodes, dtype=np.int32)
            # The dead state, too, which leads to itself, but reads nothing.
            for state in range(tables.states):
                found = walk.walk(number, suspended, state)
                expected = walk.walk_via_levels(suspended, state)
                assert expected.row.tolist() == found.row.tolist()
                left, right = dict(expected.stopped), dict(found.stopped)
                assert {s: at.tolist() for s, at in left.items()} == {
                    s: at.tolist() for s, at in right.items()
                }
    assert sum(looped) > 100


@pytest.mark.parametrize(
    "text",
    [
        r"""s ::= k | '(' s ')'; k ::= #'[^a"()][^"()]*' | 'a' #'[^g"()][^"()]*';""",
        r"""s ::= k | '(' s ')'; k ::= #'[a-z][a-z]*' | '"' #'[a-fh-z]' #'[a-z]*';""",
    ],
)
def test_patched_walks_have_compact_sets(
    monkeypatch: pytest.MonkeyPatch, text: str, gpt2: Tokenizer
) -> None:
    """What a patch cuts out of a subtree, or passes over in it, is not read there."""
    monkeypatch.setattr(module, "_WORTH_PATCHING", 2)
    monkeypatch.setattr(module, "_MANY", 0)
    tables = minimal_tables(text)
    trie = Trie.from_vocabulary(gpt2.vocabulary(gpt2.vocab_size))
    cut = []
    without = TrieIndex.without_subtree

    def noted(self: TrieIndex, nodes: np.ndarray, upper: int) -> np.ndarray:
        cut.append(nodes[-1] >= len(trie.octets))
        return without(self, nodes, upper)

    monkeypatch.setattr(TrieIndex, "without_subtree", noted)
    walk = SummaryWalk(tables, trie, gpt2.vocab_size, compact=True)
    for number, node in enumerate([0, *range(1, 257, 3)]):
        suspended = np.array([node], dtype=np.int32)
        for state in range(1, tables.states):
            found = walk.walk(number, suspended, state)
            plain = walk.walk_via_levels(suspended, state)
            assert plain.row.tolist() == found.row.tolist()
            assert {s: at.tolist() for s, at in plain.stopped} == {
                s: walk.flat(at).tolist() for s, at in found.stopped
            }
    assert sum(cut) > 1


def test_nodes_are_taken_out_of_compact_sets(full: bool) -> None:
    """Single ones, and all at and below one, which may be below roots of the set or above them."""
    rng = random.Random(12)
    for _ in range(20 if full else 3):
        trie = random_trie(rng)
        index = TrieIndex(trie)
        inner = index.flat(index.whole(np.zeros(1, dtype=np.int32))).tolist()
        for _ in range(60):
            roots = index.whole(np.array(rng.sample(inner, rng.randint(0, 5)), dtype=np.int32))
            single = np.array(sorted(rng.sample(inner, rng.randint(0, 9))), dtype=np.int32)
            nodes = np.concatenate((single, roots))
            flat = set(index.flat(nodes).tolist())
            upper = rng.choice(inner)
            below = set(index.flat(index.whole(np.array([upper], dtype=np.int32))).tolist())
            assert flat - below == set(index.flat(index.without_subtree(nodes, upper)).tolist())
            dropped = set(rng.sample(sorted(flat), min(2, len(flat))))
            assert flat - dropped == set(index.flat(index.without(nodes, dropped)).tolist())


@pytest.mark.parametrize("name", ["expressions", "two", "called"])
def test_compact_sets_are_read_as_their_nodes(
    monkeypatch: pytest.MonkeyPatch, name: str, full: bool
) -> None:
    """Where a state may read on below roots of subtrees, and where it is not looked at them."""
    monkeypatch.setattr(module, "_WORTH_LOOPING", 0)
    monkeypatch.setattr(module, "_WORTH_PATCHING", 0)
    monkeypatch.setattr(module, "_MANY", 0)
    monkeypatch.setattr(module, "FEW", 1)
    rng = random.Random(10)
    tables = minimal_tables(LOOPS[name])
    compact = 0
    for _ in range(20 if full else 3):
        trie = random_trie(rng)
        walk = SummaryWalk(tables, trie, len(trie.ids), compact=True)
        sets = [np.zeros(1, dtype=np.int32)]
        for number, nodes in enumerate(sets):
            flat = walk.flat(nodes)
            compact += len(flat) > len(nodes)
            for state in range(tables.states):
                found = walk.walk(number, nodes, state)
                expected = walk.walk_via_levels(flat, state)
                assert expected.row.tolist() == found.row.tolist()
                assert {s: at.tolist() for s, at in expected.stopped} == {
                    s: walk.flat(at).tolist() for s, at in found.stopped
                }
                new = [at for _, at in found.stopped if at is not nodes]
                if len(sets) < 12 and new:
                    sets += [*new, walk.merged(new)]
    assert compact > 2


def test_loops_are_read_once_for_all_grammars(
    monkeypatch: pytest.MonkeyPatch, gpt2: Tokenizer
) -> None:
    """A name is read as it was for another grammar, where something else follows it."""
    made: list[int] = []
    walked = loops.LoopWalks._walked

    def counted(self: loops.LoopWalks, *given: Any) -> loops.LoopWalk:
        made.append(1)
        return walked(self, *given)

    monkeypatch.setattr(loops.LoopWalks, "_walked", counted)
    trie = Trie.from_vocabulary(gpt2.vocabulary(gpt2.vocab_size))
    for end in (";", ".", "()"):
        tables = minimal_tables(f"s ::= n '{end}' | '(' s ')'; n ::= #'[a-z_][a-z_0-9]*';")
        Summaries(tables, lambda: trie, gpt2.vocab_size).summary(ROOT, tables.start)
    assert len(made) == 1
