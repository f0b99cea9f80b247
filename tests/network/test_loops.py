"""What a state of a network loops on is read once, for all states and grammars that do the same."""

import random
from typing import Any

import numpy as np
import pytest
from support.grammars import lnf_of, nullable_lnf_of
from support.maximal_munch import vocabulary_of

from constrain.artifacts.network import loops
from constrain.artifacts.network import summary_walk as module
from constrain.artifacts.network.summaries import ROOT, Summaries
from constrain.artifacts.network.summary_walk import SummaryWalk
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.network.build import network

# Names, white space and strings; a name that ends anywhere; all text outside ASCII, some of it, and
# parts of its characters; two loops one after the other, of which one may be left out.
GRAMMARS = {
    "expressions": r"""s ::= v | v #'[ \n]*=[ \n]*' s; v ::= n | '(' s ')';
n ::= #'[a-z_][a-z_0-9]*' | '"' #'[^"]*' '"';""",
    "open": "s ::= n | n '(' s ')'; n ::= #'[ag]+';",
    "others": r"s ::= t | '(' s ')'; t ::= #'([^\x00-\x1f(]|\n)+' '(' | '<' #'[a-zé]*' '>';",
    "parts": r"s ::= #'[a-z0-9é]*' t; t ::= '\xe6\x97' s | '(' s ')' | '>';",
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


def network_of(text: str) -> NetworkTables:
    """By way of the normal form."""
    return network(nullable_lnf_of(text))


@pytest.mark.parametrize("kept", [1 << 24, 0])
@pytest.mark.parametrize("name", GRAMMARS)
def test_loops_are_read_as_node_by_node(
    monkeypatch: pytest.MonkeyPatch, name: str, kept: int, full: bool
) -> None:
    """From the root, a node and sets of them, however much is kept, and subtrees whole or not."""
    monkeypatch.setattr(loops, "_MOST_BYTES", kept)
    monkeypatch.setattr(module, "_WORTH_LOOPING", 0)
    monkeypatch.setattr(module, "_WORTH_PATCHING", 0)
    monkeypatch.setattr(module, "FEW", 1)
    rng = random.Random(9)
    tables = network_of(GRAMMARS[name])
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
            for state in range(1, tables.states):
                found = walk.walk(number, suspended, state)
                expected = walk.walk_via_levels(suspended, state)
                assert expected.row.tolist() == found.row.tolist()
                left, right = dict(expected.stopped), dict(found.stopped)
                assert {s: at.tolist() for s, at in left.items()} == {
                    s: at.tolist() for s, at in right.items()
                }
    assert sum(looped) > 100


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
        tables = network(lnf_of(f"s ::= n '{end}' | '(' s ')'; n ::= #'[a-z_][a-z_0-9]*';"))
        Summaries(tables, lambda: trie, gpt2.vocab_size).summary(ROOT, tables.start)
    assert len(made) == 1
