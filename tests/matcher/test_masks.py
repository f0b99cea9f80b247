"""What a decoder may rely on: masks, rows and boundaries."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import itertools
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from support import compiled, tokenizer_of
from support.matcher import GRAMMARS, KINDS, Compile, after, allowed, paths

from constrain.artifacts.prefix import boundaries
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import HOLE, SPECIAL
from constrain.compiler import Tokenizer, compile_grammar


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", GRAMMARS)
def test_masks_are_words_of_32_bits(artifacts: Compile, text: str, kind: str) -> None:
    """A mask is uint32, one bit a token, token i at bit i % 32 of word i // 32."""
    artifact = artifacts(text, kind)
    mask = artifact.matcher().mask()

    assert np.dtype("uint32") == mask.dtype
    assert ((artifact.vocab_size + 31) // 32,) == mask.shape
    by_hand = [i for i in range(32 * len(mask)) if int(mask[i // 32]) >> (i % 32) & 1]
    assert by_hand == allowed(artifact.matcher())
    assert all(i < artifact.vocab_size for i in by_hand)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [None, 0], ids=["stored", "computed"])
def test_masks_never_change(artifacts: Compile, kind: str, limit: int | None) -> None:
    """A mask is read-only, and stays what it was while the matcher goes on."""
    options = {} if limit is None else {"max_artifact_bytes": limit}
    artifact = artifacts(GRAMMARS[3], kind, **options)
    matcher = artifact.matcher()
    seen = []
    while not matcher.is_finished:
        mask = matcher.mask()
        seen.append((mask, mask.copy()))
        assert mask.flags.writeable is False
        with pytest.raises(ValueError, match="read-only"):
            mask[0] = 1
        matcher.advance(allowed(matcher)[-1 if len(seen) < 9 else 0])
    for mask, copy in seen:
        assert copy.tolist() == mask.tolist()


def test_the_mask_is_what_spells_a_member(artifacts: Compile) -> None:
    """Under ``any``: exactly the tokens that some member continues with."""
    members = [f"the {a}" for a in ("cat", "dog")]
    members += [f"the {a} and {b}" for a in ("cat", "dog") for b in ("cat", "dog")]
    begun = {member[:end].encode() for member in members for end in range(len(member) + 1)}
    artifact = artifacts('s ::= "the " a | "the " a " and " a; a ::= "cat" | "dog";', "any")
    vocabulary = artifact.vocabulary
    for path in paths(artifact, 4):
        text = b"".join(vocabulary.token(i) for i in path)
        assert text.decode() in members
        ids = vocabulary.text_ids().tolist()
        expected = [i for i in ids if text + vocabulary.token(i) in begun]
        assert sorted({*expected, *artifact.manifest.eos}) == allowed(after(artifact, *path))


def test_the_paths_are_what_the_merges_give(odd: Tokenizer) -> None:
    """Under ``canonical``: for each member the tokenizer's own tokens and nothing else."""
    artifact = compiled('s ::= #"[a-c]{0,5}";', odd)
    texts = [""]
    for _ in range(5):
        texts.extend({t + letter for t in texts for letter in "abc"} - set(texts))

    assert sorted(tuple(odd.encode(t)) for t in texts) == sorted(paths(artifact, 5))


def test_every_tokenization_is_a_path(odd: Tokenizer) -> None:
    """Under ``any``: all sequences of text tokens that spell a member."""
    artifact = compiled('s ::= "abc" | "ab<b>";', odd, "any")

    a, b, c, ab, abc, named = 0, 1, 2, 3, 4, 33
    expected = {(a, b, c), (ab, c), (abc,), (a, b, named), (ab, named)}
    assert expected == set(paths(artifact, 5))


@pytest.mark.parametrize("kind", KINDS)
def test_only_text_is_ever_allowed(odd: Tokenizer, kind: str) -> None:
    """Holes, empty tokens and special ones are in no mask, whatever the grammar."""
    artifact = compiled('s ::= #"(.|\\\\n)*";', odd, kind, vocab_size=100, eos=["<eos>"])
    kinds = artifact.vocabulary.kinds

    assert [9, 10] == np.flatnonzero(kinds == SPECIAL).tolist()
    assert {5, 6, 8, 31, 99} <= set(np.flatnonzero(kinds == HOLE).tolist())
    assert b"" == artifact.vocabulary.token(7)
    text = [0, 1, 2, 3, 4] + ([33] if kind == "any" else [])
    for path in paths(artifact, 2):
        assert {*text, 9} >= set(allowed(after(artifact, *path)))
    assert [*text[:5], 9, *text[5:]] == allowed(artifact.matcher())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [8192, 8193, 8224, 9000])
def test_bits_of_the_padding_are_clear(artifacts: Compile, kind: str, size: int) -> None:
    """A padded vocabulary makes masks longer and allows nothing more."""
    text = 's ::= #"[a-z]*";'
    plain, padded = artifacts(text, kind), artifacts(text, kind, vocab_size=size)

    assert size == padded.vocab_size
    assert ((size + 31) // 32,) == padded.matcher().mask().shape
    assert allowed(plain.matcher()) == allowed(padded.matcher())
    assert [] == [i for i in allowed(padded.matcher()) if i >= 8192]


@pytest.mark.parametrize("kind", KINDS)
def test_no_mask_leads_into_a_dead_end(tmp_path: Path, kind: str) -> None:
    """A member that the tokenizer cannot spell to its end is not begun."""
    tokenizer = tokenizer_of(tmp_path, "ac", added=[(2, "<eos>", True)])
    artifact = compiled('s ::= "ab" | "cc";', tokenizer, kind)

    assert [1] == allowed(artifact.matcher())
    assert [(1, 1)] == list(paths(artifact, 4))


def test_the_highest_id_counts_whatever_it_is(tmp_path: Path) -> None:
    """A vocabulary that ends in a token that no text gives still has that many logits."""
    tokenizer = tokenizer_of(tmp_path, "ab", extra={"語": 40}, added=[(9, "<eos>", True)])

    assert 41 == compiled('s ::= "a";', tokenizer, "any").vocab_size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", GRAMMARS)
def test_computed_rows_equal_stored_rows(artifacts: Compile, text: str, kind: str) -> None:
    """An artifact without rows gives the same row for every state."""
    stored = artifacts(text, kind, method="direct")
    computed = artifacts(text, kind, method="direct", max_artifact_bytes=0)

    assert "rows" in stored.arrays
    assert "rows" not in computed.arrays
    for state in range(1, len(stored.arrays["row_of"])):
        row = computed.machine().row(state)
        assert stored.machine().row(state).tolist() == row.tolist()
        assert np.dtype("uint32") == row.dtype
        assert row.flags.writeable is False


@pytest.mark.parametrize("kind", KINDS)
def test_computed_rows_equal_stored_rows_for_odd_tokens(odd: Tokenizer, kind: str) -> None:
    """So they do where a vocabulary has holes and lacks bytes."""
    text = 's ::= #"[a-d]*";'
    stored = compiled(text, odd, kind)
    computed = compiled(text, odd, kind, max_artifact_bytes=0)
    for state in range(1, len(stored.arrays["row_of"])):
        assert stored.machine().row(state).tolist() == computed.machine().row(state).tolist()


def test_more_rows_than_are_kept_are_still_right(artifacts: Compile) -> None:
    """A state that is met again after many others has the same row."""
    text = 's ::= #"[a-z]+";'
    stored, computed = (
        artifacts(text, "canonical", method="direct"),
        artifacts(text, "canonical", method="direct", max_artifact_bytes=0),
    )
    states = len(stored.arrays["row_of"])
    assert states > 512
    for state in [*range(states), *range(0, states, 50)]:
        assert np.array_equal(stored.machine().row(state), computed.machine().row(state))


@pytest.mark.parametrize("kind", KINDS)
def test_boundaries_are_all_ways_to_cut_a_prefix(odd: Tokenizer, kind: str) -> None:
    """The same places and masks as trying every sequence of tokens gives."""
    artifact = compiled('s ::= #"[ab]{1,3}" "c"?;', odd, kind)
    vocabulary = artifact.vocabulary

    def spelled_by(ids: Iterable[int]) -> bytes:
        return b"".join(vocabulary.token(i) for i in ids)

    begun: list[tuple[int, ...]] = [()]
    for path in begun:
        begun.extend((*path, t) for t in allowed(after(artifact, *path)) if t != 9)
    for text in ("".join(t) for n in range(5) for t in itertools.product("abc", repeat=n)):
        prefix, expected = text.encode(), set()
        for path in begun:
            start = spelled_by(path)
            rest = prefix[len(start) :]
            if prefix.startswith(start):
                ids = allowed(after(artifact, *path))
                if rest:
                    longer = (t for t in ids if t != 9 and len(vocabulary.token(t)) > len(rest))
                    ids = [t for t in longer if vocabulary.token(t).startswith(rest)]
                if ids:
                    expected.add((len(start), tuple(ids)))
        found = boundaries(artifact, prefix)

        assert expected == {(b.length, tuple(tokenset.to_ids(b.allowed).tolist())) for b in found}
        assert sorted(found, key=lambda b: -b.length) == found
        for boundary in found:
            assert prefix == spelled_by(boundary.ids) + boundary.pending
            if not boundary.pending:
                assert after(artifact, *boundary.ids).is_accepting == boundary.accepting


@pytest.mark.parametrize("method", ["any", "direct", "cartesian"])
def test_a_token_that_ends_the_text_spells_no_prefix(
    default_tokenizer: Tokenizer, method: str
) -> None:
    """Where EOS is a token of text and the text may end, its bytes are no way on."""
    [end] = default_tokenizer.encode("c")
    options = {"tokenization": "any"} if method == "any" else {"method": method}
    artifact = compile_grammar(
        "[ab]+", dialect="regex", tokenizer=default_tokenizer, eos=[end], **options
    )

    assert [] == boundaries(artifact, b"ac")
    assert [True] == [b.accepting for b in boundaries(artifact, b"a") if not b.pending]
