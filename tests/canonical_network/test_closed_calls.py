"""What calls add to rows is the same for all grammars of a tokenizer, and is found once."""

import random
from dataclasses import replace

import pytest
from support.canonical import PIECES, check, finite_languages, machine_and_encode, masks_of
from support.corpus.encodings import following
from support.network import inline_up_to

from constrain.artifacts.canonical_network import trie_walk
from constrain.artifacts.canonical_network.check import MERGED_TRIE
from constrain.artifacts.canonical_network.closed_calls import CallRow, ClosedCalls, Key
from constrain.artifacts.network import call_structures, first_octets
from constrain.artifacts.network.call_structures import CallStructures
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens.trie import trie_of
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.pipeline import build_engine

STRING = r'string ::= "\"" ([^"\\] | "\\" ["n])* "\""'


def structures(text: str, monkeypatch: pytest.MonkeyPatch) -> set[bytes]:
    """Of all states of a grammar whose rules are called."""
    inline_up_to(monkeypatch, 0)
    found = build_engine(text, dialect="gbnf").network
    assert isinstance(found, NetworkTables)
    targets = [[(target, b"") for target in {*row.tolist()} - {0}] for row in found.table]
    known = CallStructures(found, targets)
    return {digest for state in range(1, found.states) if (digest := known.of(state)) is not None}


def test_structures_are_the_same_in_other_grammars(monkeypatch: pytest.MonkeyPatch) -> None:
    """However states and bytes are numbered there; those of other calls differ."""
    one = structures(f'root ::= "[" root "]" | string\n{STRING}', monkeypatch)
    other = structures(f'root ::= [x-z] (string string root) "+" | "-"\n{STRING}', monkeypatch)
    assert one
    assert one & other
    escapes = STRING.replace('["n]', '["m]')
    assert not one & structures(f'root ::= "[" root "]" | string\n{escapes}', monkeypatch)
    # Few bytes are read by digits alone.
    assert not structures('root ::= "(" root ")" | digits\ndigits ::= [0-9]+', monkeypatch)


def test_artifacts_share_the_trie_of_their_tokenizer(default_tokenizer: Tokenizer) -> None:
    """With what was made of it: to lay it out takes longer than any mask."""
    compiler = Compiler(default_tokenizer)
    text = f'root ::= "[" root "]" | string\n{STRING}'
    found = [compiler.compile(text, dialect="gbnf", prewarm=0).arrays for _ in range(2)]
    one, other = (trie_of(arrays, MERGED_TRIE) for arrays in found)
    assert one is other
    assert any(one is trie for made in trie_walk._MADE.values() for trie in made.values())


@pytest.mark.parametrize("largest", [0, 200], ids=["calls", "inlined"])
@pytest.mark.parametrize("name", PIECES)
def test_masks_are_those_of_all_encodings(
    name: str, largest: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all bytes with which tokens begin are walked by themselves, and all calls are shared:
    by several random grammars over the same merges, each twice."""
    inline_up_to(monkeypatch, largest)
    for module in (first_octets, call_structures):
        monkeypatch.setattr(module, "WIDE", 1)
    monkeypatch.setattr(trie_walk, "_LARGE", 0)
    hits = kept = 0

    class Counted(ClosedCalls):
        def find(self, key: Key | None) -> CallRow | None:
            nonlocal hits, kept
            found = ClosedCalls.find(self, key)
            hits, kept = hits + (found is not None), kept + (key is not None)
            return found

    monkeypatch.setattr("constrain.artifacts.canonical_network.lazy_rows.ClosedCalls", Counted)
    rng = random.Random(58)
    for _ in range(15 if full else 2):
        languages = list(finite_languages(rng, 20 if full else 6))
        begun, encode, eos = machine_and_encode(rng, name, languages[0][0])
        for tables, texts in languages * 2:
            network = replace(begun.pretokenized, network=Network(tables))
            check(masks_of(network, [eos]), following(map(encode, texts), [eos]))
    assert 0 < hits < kept
