"""Byte DFAs with canonical masks, and what a tokenizer can do that they refuse or leave out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import compiled, encoded, tokenizer_of
from support.automata import build_automaton

from constrain.artifacts import ArtifactError
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.kinds.check_tokenizer import BOUNDARIES, PAIRS
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.memo import BoundedCache
from constrain.compiler import Tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import CheckError, LimitError, TokenizerError
from constrain.compiler.limits import Limits
from constrain.compiler.merge.dump import tabulated
from constrain.compiler.merge.lift import lift
from constrain.compiler.merge.product import build_product
from constrain.compiler.merge.relevance import Relevance
from constrain.compiler.pipeline import build_artifact
from constrain.compiler.tokenizers.definition import (
    Behaviour,
    ByteLevel,
    Metaspace,
    Prepend,
    Replace,
    Split,
    Strip,
)

pytestmark = pytest.mark.quick

END = 10


@pytest.fixture
def small(tmp_path: Path) -> Tokenizer:
    """Letters, a space, two merges, GPT-2's pre-tokenizer and an added token that is text."""
    added = [(END, "<eos>", True), (11, "aba", False)]
    return tokenizer_of(tmp_path, "ab <eos>", ["a b", "ab b"], added=added, splits=True)


def test_sections_that_do_not_fit_are_refused(small: Tokenizer) -> None:
    """A value outside its array, in every section that holds indices, names the section."""
    artifact = compiled('s ::= #"(a|b| ){1,3}";', small, method="cartesian")
    closed = [name for name in artifact.arrays if name.startswith("closed.")]
    for name in (*closed, *PAIRS, *BOUNDARIES):
        array = artifact.arrays[name]
        if not array.size or name in ("pairs.index", "cuts.prefix", "pairs.bound"):
            continue
        # Keys and contexts are looked up, and sets of entries that none leads to are never read.
        if name in ("closed.keys", "closed.pending", "closed.suffixes"):
            continue
        damaged = array.copy()
        damaged.flat[-1] = np.iinfo(array.dtype).max
        with pytest.raises(ArtifactError, match="section"):
            load_bytes(encoded(artifact, {name: damaged}))
        with pytest.raises(ArtifactError, match=name):
            load_bytes(encoded(artifact, {name: None}))


def test_a_prefix_that_is_put_once_is_checked(small: Tokenizer) -> None:
    """The optional section says so of one byte."""
    once = replace(small, sha256="once", pre_tokenizers=(ByteLevel(add_prefix_space=True),))
    artifact = compiled('s ::= #"(a|b| ){1,3}";', once, method="cartesian")
    flag = artifact.arrays["cuts.unless_begun"]
    longer = np.concatenate([artifact.arrays["cuts.prefix"]] * 2)
    for damaged in ({"cuts.unless_begun": np.repeat(flag, 2)}, {"cuts.prefix": longer}):
        with pytest.raises(ArtifactError, match=r"cuts\.unless_begun"):
            load_bytes(encoded(artifact, damaged))


def test_example_of_the_readme(tmp_path: Path) -> None:
    """ "abc" and "ab c": tokens are taken out whose successors are all forbidden after them."""
    merges = ["a b", "b c", "ab c", "c b", "Ġ c"]
    letters = tokenizer_of(tmp_path, "abc ", merges, added=[(9, "<eos>", True)])
    tokenizer = replace(letters, pre_tokenizers=(Split(" ?[abc]+"), ByteLevel(use_regex=False)))
    names = {i: octets.decode() for i, octets in tokenizer.tokens.items()} | {9: "<eos>"}
    artifact = compiled('s ::= "ab" [" "] "c";', tokenizer, method="cartesian", eos=[9])
    expected = {(): {"ab", "abc"}, ("ab",): {" c"}, ("abc",): {"<eos>"}, ("ab", " c"): {"<eos>"}}
    ids = {name: i for i, name in names.items()}
    for prefix, allowed in expected.items():
        matcher = artifact.matcher()
        for name in prefix:
            matcher.advance(ids[name])
        assert allowed == {names[i] for i in tokenset.to_ids(matcher.mask()).tolist()}

    tables = TokenizerTables(tokenizer)
    dfa = build_automaton('s ::= "ab" [" "] "c";', dialect="kbnf").dfa
    product = build_product(dfa, tables.pretokenizer)
    lifted = lift(product, tables.pretokenizer, tables.pairs)
    relevance = Relevance(product, lifted, tables.pretokenizer, tables.pairs)
    starting = {names[i] for i in lifted.ids(2 * product.start + 1).tolist()}
    assert {"a", "ab", "abc"} == starting
    assert {"a", " "} == {names[i] for i in relevance.dead()[1].tolist()}


def test_a_table_has_the_same_masks(small: Tokenizer) -> None:
    """Walked side by side, whatever the numbers of their states."""
    artifact = compiled('s ::= #"(a|b| ){1,4}";', small, method="cartesian")
    table = tabulated(artifact)
    pending = [(artifact.machine().start, table.machine().start)]
    seen = set(pending)
    for one, other in pending:
        row = artifact.machine().row(one)
        assert row.tolist() == table.machine().row(other).tolist()
        assert artifact.machine().is_accepting(one) == table.machine().is_accepting(other)
        for token in set(tokenset.to_ids(row).tolist()) - {END}:
            pair = artifact.machine().take(one, token), table.machine().take(other, token)
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    assert len(seen) > 5
    assert tabulated(table) is table


def test_what_is_evicted_is_recomputed(small: Tokenizer) -> None:
    """Masks are the same where nothing that they are made of is cached but the last."""
    data = compiled('s ::= #"(a|b| ){1,4}";', small, method="cartesian").to_bytes()
    artifact = load_bytes(data)
    other = load_bytes(data, cache_bytes=8)
    machine = other.machine()
    assert isinstance(machine, CanonicalMasks)
    machine._masks = BoundedCache(1)
    states = [artifact.machine().start]
    assert states == [machine.start]
    seen = set(states)
    for state in states:
        row = artifact.machine().row(state)
        assert row.tolist() == machine.row(state).tolist()
        assert len(machine._masks) == 1
        for token in set(tokenset.to_ids(row).tolist()) - {END}:
            reached = artifact.machine().take(state, token)
            assert reached is not None
            assert reached == machine.take(state, token)
            if reached not in seen:
                seen.add(reached)
                states.append(reached)
    assert len(states) > 3


@pytest.mark.parametrize("method", ["cartesian", "direct"])
def test_members_with_added_tokens_are_left_out(small: Tokenizer, method: str) -> None:
    """The shortest is named; the others keep their tokens."""
    automaton = build_automaton("(a|b){1,4}", dialect="regex")
    found = build_artifact(automaton, small, method=method)

    assert any("the shortest is 'aba'" in note for note in found.notes)
    matcher = found.artifact.matcher()
    matcher.advance(small.encode("ab")[0])
    # "ab" goes on with "ab" alone: "abb" is one token, "aba…" is another's name.
    assert tokenset.to_ids(matcher.mask()).tolist() == [END]


def test_a_grammar_whose_members_all_change_is_refused(small: Tokenizer) -> None:
    """There would be no mask to begin with."""
    with pytest.raises(CheckError, match="can spell no member"):
        compiled('s ::= "b aba";', small)


def test_what_cannot_be_followed_is_refused(small: Tokenizer) -> None:
    """By name, with the way out."""
    spaces = Replace(" ", "_"), Replace("_", "-")
    for changed in (
        replace(small, normalizers=spaces),
        replace(small, normalizers=(Prepend(" "), Strip())),
        replace(small, normalizers=(Replace("a|", "-", is_regex=True),)),
        replace(small, normalizers=(Replace("(?:ab)++", "-", is_regex=True),)),
        replace(small, normalizers=(Replace("a", "-", is_regex=True), Replace("-", "a"))),
        replace(small, pre_tokenizers=(Split("b"), ByteLevel(add_prefix_space=True))),
        replace(small, pre_tokenizers=(ByteLevel(), ByteLevel())),
        replace(small, pre_tokenizers=(ByteLevel(), Split("b", Behaviour.REMOVED))),
        replace(small, pre_tokenizers=(Metaspace(),)),
    ):
        with pytest.raises(TokenizerError, match="use --tokenization any"):
            TokenizerTables(changed).pretokenizer  # noqa: B018


def test_a_table_has_the_transitions_that_the_limits_allow(
    small: Tokenizer,
) -> None:
    """``show --stage tokens`` lists as much as --max-transitions says, which its error names."""
    artifact = compiled('s ::= #"(a|b| ){1,4}";', small, method="cartesian")

    assert tabulated(artifact, Limits(transitions=1_000)).manifest.kind == "token-dfa"
    with pytest.raises(LimitError, match="raise --max-transitions"):
        tabulated(artifact, Limits(transitions=10))
