"""What a decoder may rely on: masks, steps, and the way back."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import compiled, tokenizer_of

from constrain.artifacts import Artifact, ArtifactError, Matcher, TokenRefusedError, tokenset
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.vocabulary import HOLE, SPECIAL
from constrain.compiler import Tokenizer
from constrain.compiler.merge.oracle import tokenize_via_merges

KINDS = ("canonical", "any")

GRAMMARS = (
    's ::= "";',
    's ::= "a" | "bc";',
    's ::= #"[a-c]{1,4}";',
    's ::= "the " ("cat" | "dog") (" and " ("cat" | "dog"))*;',
    's ::= #"\\\\d{4}-\\\\d\\\\d";',
    's ::= "é" | "日本" | #"[à-ü]+";',
)

Compile = Callable[..., Artifact]


@pytest.fixture(scope="module")
def artifacts(default_tokenizer: Tokenizer) -> Compile:
    """Compiles a grammar for the default tokenizer, once."""
    known: dict[tuple[Any, ...], Artifact] = {}

    def find(text: str, kind: str, **options: Any) -> Artifact:
        key = (text, kind, *options.items())
        if key not in known:
            known[key] = compiled(text, default_tokenizer, kind, **options)
        return known[key]

    return find


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A vocabulary with all that is not text: holes, an empty token, special ones."""
    return tokenizer_of(
        tmp_path_factory.mktemp("odd"),
        "abc",
        ["a b", "ab c"],
        extra={"": 7, "語": 31},
        added=[(9, "<eos>", True), (10, "abc<end>", True), (33, "<b>", False)],
    )


def after(artifact: Artifact, *tokens: int) -> Matcher:
    """A matcher that has taken some tokens."""
    matcher = artifact.matcher()
    for token_id in tokens:
        matcher.advance(token_id)
    return matcher


def allowed(matcher: Matcher) -> list[int]:
    """The ids in the mask."""
    return [int(token_id) for token_id in tokenset.to_ids(matcher.mask())]


def paths(artifact: Artifact, longest: int) -> Iterator[tuple[int, ...]]:
    """All token sequences, of at most so many tokens, that a matcher lets end."""
    eos = set(artifact.manifest.eos)
    pending: list[tuple[int, ...]] = [()]
    for path in pending:
        matcher = after(artifact, *path)
        if matcher.is_accepting:
            yield path
        if len(path) < longest:
            pending.extend((*path, t) for t in allowed(matcher) if t not in eos)


def spelled(artifact: Artifact, token: bytes) -> int:
    """The id of a text token."""
    found = [i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == token]
    return found[0]


# --- masks


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
    artifact = artifacts('s ::= "the " a | "the " a " and " a; a ::= "cat" | "dog";', "any")
    vocabulary = artifact.vocabulary
    for path in paths(artifact, 4):
        text = b"".join(vocabulary.token(i) for i in path).decode()
        assert text in members
        expected = [
            i
            for i in vocabulary.text_ids().tolist()
            if any(m.encode().startswith(text.encode() + vocabulary.token(i)) for m in members)
        ]
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
    for state in range(len(stored.arrays["row_of"])):
        row = computed.rows.row(state)
        assert stored.rows.row(state).tolist() == row.tolist()
        assert np.dtype("uint32") == row.dtype
        assert row.flags.writeable is False


@pytest.mark.parametrize("kind", KINDS)
def test_computed_rows_equal_stored_rows_for_odd_tokens(odd: Tokenizer, kind: str) -> None:
    """So they do where a vocabulary has holes and lacks bytes."""
    text = 's ::= #"[a-d]*";'
    stored = compiled(text, odd, kind)
    computed = compiled(text, odd, kind, max_artifact_bytes=0)
    for state in range(len(stored.arrays["row_of"])):
        assert stored.rows.row(state).tolist() == computed.rows.row(state).tolist()


def test_more_rows_than_are_kept_are_still_right(artifacts: Compile) -> None:
    """A state asked for again after many others gets its row again."""
    text = 's ::= #"[a-z]+";'
    stored, computed = (
        artifacts(text, "canonical", method="direct"),
        artifacts(text, "canonical", method="direct", max_artifact_bytes=0),
    )
    states = len(stored.arrays["row_of"])
    assert states > 512
    for state in [*range(states), *range(0, states, 50)]:
        assert np.array_equal(stored.rows.row(state), computed.rows.row(state))


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


# --- rows and logits of others


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("extra", [0, 1, 7])
def test_fill_copies_the_mask(artifacts: Compile, dtype: str, extra: int) -> None:
    """A row of either type gets the mask's bits; a longer row's tail is cleared."""
    matcher = artifacts(GRAMMARS[2], "canonical").matcher()
    mask = matcher.mask()
    row = np.full(len(mask) + extra, -1, dtype="int32").view(dtype)

    matcher.fill(row)

    assert [*mask.tolist(), *[0] * extra] == row.view("uint32").tolist()


def test_fill_takes_rows_of_a_batch(artifacts: Compile) -> None:
    """A row of a matrix is filled in place, contiguous or not."""
    matcher = artifacts(GRAMMARS[2], "any").matcher()
    words = len(matcher.mask())
    batch = np.zeros((3, words), dtype=np.int32)

    matcher.fill(batch[1])
    matcher.fill(batch.repeat(2, axis=1)[0, ::2])

    assert matcher.mask().tolist() == batch[1].view(np.uint32).tolist()
    assert not batch[[0, 2]].any()


@pytest.mark.parametrize(
    "row",
    [
        np.zeros(256, dtype=np.int64),
        np.zeros(256, dtype=np.uint8),
        np.zeros(256, dtype=np.float32),
        np.zeros(256, dtype=np.bool_),
        np.zeros(256, dtype=">u4"),
        np.zeros(255, dtype=np.uint32),
        np.zeros(0, dtype=np.uint32),
        np.zeros((1, 256), dtype=np.uint32),
        np.zeros((), dtype=np.uint32),
    ],
    ids=lambda row: f"{row.dtype}{row.shape}",
)
def test_fill_refuses_other_rows(artifacts: Compile, row: np.ndarray[Any, Any]) -> None:
    """Another type or shape is named, and the row is left alone."""
    with pytest.raises(ValueError, match=r"at least 256 words"):
        artifacts(GRAMMARS[2], "any").matcher().fill(row)
    assert not row.any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(8192,), (8200,), (3, 8192), (2, 2, 8193)])
def test_apply_leaves_what_is_allowed(
    artifacts: Compile, dtype: str, shape: tuple[int, ...]
) -> None:
    """Logits of allowed tokens stay, all others become -inf, those past the vocabulary too."""
    matcher = artifacts(GRAMMARS[1], "any").matcher()
    logits = np.arange(np.prod(shape), dtype=dtype).reshape(shape) % 100
    before = logits.copy()

    matcher.apply(logits)

    kept = allowed(matcher)
    assert kept
    assert before[..., kept].tolist() == logits[..., kept].tolist()
    assert np.isneginf(np.delete(logits, kept, axis=-1)).all()


def test_apply_works_in_place_on_views(artifacts: Compile) -> None:
    """A row of a batch is changed in the batch, its neighbours are not."""
    matcher = artifacts(GRAMMARS[1], "any").matcher()
    batch = np.zeros((2, 8192), dtype=np.float32)

    matcher.apply(batch[0])

    assert len(allowed(matcher)) == int(np.isfinite(batch[0]).sum())
    assert not batch[1].any()


@pytest.mark.parametrize(
    "logits",
    [
        np.zeros(8192, dtype=np.int32),
        np.zeros(8191, dtype=np.float32),
        np.zeros((8192, 1), dtype=np.float32),
        np.zeros((), dtype=np.float32),
        np.zeros(8192, dtype=np.complex64),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_apply_refuses_other_logits(artifacts: Compile, logits: np.ndarray[Any, Any]) -> None:
    """Logits are floating and at least as long as the vocabulary."""
    with pytest.raises(ValueError, match="at least 8192 entries"):
        artifacts(GRAMMARS[1], "any").matcher().apply(logits)
    assert not logits.any()


# --- steps


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_token_changes_nothing(artifacts: Compile, kind: str) -> None:
    """A token that the mask lacks is named in an error; the matcher stays where it is."""
    artifact = artifacts(GRAMMARS[1], kind)
    b, c = spelled(artifact, b"b"), spelled(artifact, b"c")
    matcher = after(artifact, b) if kind == "any" else artifact.matcher()
    before = matcher.mask()
    refused = [*set(range(artifact.vocab_size)) - set(allowed(matcher))]
    for token_id in [*refused[::97], -1, -32, artifact.vocab_size, 10**9]:
        with pytest.raises(TokenRefusedError, match=f"^token {token_id} is refused: ") as error:
            matcher.advance(token_id)
        assert token_id == error.value.token_id
        assert before is matcher.mask() or before.tolist() == matcher.mask().tolist()
    if kind == "any":
        matcher.advance(c)
        assert matcher.is_accepting


def test_a_refusal_says_why(artifacts: Compile) -> None:
    """In words: how far the text is, or that it has ended."""
    artifact = artifacts('s ::= "a";', "any")
    a, eos = spelled(artifact, b"a"), artifact.manifest.eos[0]
    for tokens, reason in (
        ((), "after 0 tokens"),
        ((a,), "after 1 token$"),
        ((a, eos), "the match has ended"),
    ):
        with pytest.raises(TokenRefusedError, match=reason):
            after(artifact, *tokens).advance(spelled(artifact, b"b"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", GRAMMARS)
def test_rollback_is_the_way_back(artifacts: Compile, text: str, kind: str) -> None:
    """After taking tokens back the matcher answers as it did before them."""
    artifact = artifacts(text, kind)
    chance = random.Random(11)
    matcher = artifact.matcher()
    seen = [(matcher.mask(), matcher.is_accepting, matcher.is_finished)]
    while not matcher.is_finished and len(seen) < 12:
        matcher.advance(chance.choice(allowed(matcher)))
        seen.append((matcher.mask(), matcher.is_accepting, matcher.is_finished))
    states = iter(seen[::-1])
    assert next(states)[0].tolist() == matcher.mask().tolist()
    for mask, *flags in states:
        matcher.rollback(1)
        assert mask.tolist() == matcher.mask().tolist()
        assert flags == [matcher.is_accepting, matcher.is_finished]


def test_rollback_of_several_tokens_at_once(artifacts: Compile) -> None:
    """Counts from none to all of what was taken."""
    artifact = artifacts(GRAMMARS[4], "any")
    two = spelled(artifact, b"2")
    for count in range(5):
        matcher = after(artifact, two, two, two, two)
        matcher.rollback(count)
        assert allowed(after(artifact, *[two] * (4 - count))) == allowed(matcher)


def test_rollback_of_more_than_was_taken_is_refused(artifacts: Compile) -> None:
    """As is a negative count; nothing changes then."""
    artifact = artifacts(GRAMMARS[1], "any")
    matcher = after(artifact, spelled(artifact, b"b"))
    before = allowed(matcher)
    for count in (2, 99, -1):
        with pytest.raises(ValueError, match=f"cannot take back {count} tokens: 1 were taken"):
            matcher.rollback(count)
        assert before == allowed(matcher)
    matcher.rollback(1)
    assert allowed(artifact.matcher()) == allowed(matcher)


def test_matchers_of_one_artifact_are_independent(artifacts: Compile) -> None:
    """Each follows its own text."""
    artifact = artifacts(GRAMMARS[1], "any")
    first, second = artifact.matcher(), artifact.matcher()

    first.advance(spelled(artifact, b"b"))

    assert [spelled(artifact, b"c")] == allowed(first)
    assert allowed(artifact.matcher()) == allowed(second)


# --- the end


@pytest.mark.parametrize("kind", KINDS)
def test_eos_is_allowed_where_the_match_may_end(artifacts: Compile, kind: str) -> None:
    """Its bit is set in accepting states only."""
    artifact = artifacts('s ::= "a" "b"?;', kind)
    (eos,) = artifact.manifest.eos
    a = spelled(artifact, b"a")

    assert eos not in allowed(artifact.matcher())
    assert not artifact.matcher().is_accepting
    ended = after(artifact, a)
    assert ended.is_accepting
    assert eos in allowed(ended)


@pytest.mark.parametrize("kind", KINDS)
def test_after_eos_only_eos_is_left(artifacts: Compile, kind: str) -> None:
    """The mask then holds EOS alone; taking it again is allowed and changes nothing."""
    artifact = artifacts('s ::= "a"*;', kind)
    (eos,) = artifact.manifest.eos
    matcher = after(artifact, eos)

    for _ in range(3):
        assert matcher.is_finished
        assert matcher.is_accepting
        assert [eos] == allowed(matcher)
        assert [] == matcher.forced_tokens()
        with pytest.raises(TokenRefusedError):
            matcher.advance(spelled(artifact, b"a"))
        matcher.advance(eos)
    matcher.rollback(4)
    assert not matcher.is_finished
    assert allowed(artifact.matcher()) == allowed(matcher)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [1_000_000, 0])
def test_several_tokens_can_end_a_text(odd: Tokenizer, kind: str, limit: int) -> None:
    """All of them are set and clear together, and each ends the match."""
    artifact = compiled('s ::= "a" "b"?;', odd, kind, eos=["<eos>", "10"], max_artifact_bytes=limit)
    assert (9, 10) == artifact.manifest.eos
    assert not {9, 10} & set(allowed(artifact.matcher()))
    for eos in (9, 10):
        matcher = after(artifact, 0)
        assert {9, 10} <= set(allowed(matcher))
        matcher.advance(eos)
        assert matcher.is_finished
        assert [9, 10] == allowed(matcher)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_token_that_is_eos_ends_only_members(odd: Tokenizer, kind: str) -> None:
    """A match is finished by EOS in accepting states, never in the middle of a member."""
    artifact = compiled('s ::= "a" "c" "b";', odd, kind, eos=["c"])
    matcher = after(artifact, 0)

    assert not matcher.is_accepting
    if 2 in allowed(matcher):
        matcher.advance(2)
        assert not matcher.is_finished


# --- forced tokens


@pytest.mark.parametrize("kind", KINDS)
def test_forced_tokens_are_the_only_way(odd: Tokenizer, kind: str) -> None:
    """They are listed up to the first choice or the end, and not taken."""
    artifact = compiled('s ::= "c" "c" "b" ("c" | "b") "c";', odd, kind)
    matcher = artifact.matcher()

    assert [2, 2, 1] == matcher.forced_tokens()
    assert [2] == allowed(matcher)
    for token_id in (2, 2, 1, 1):
        matcher.advance(token_id)
    assert [2] == matcher.forced_tokens()
    matcher.advance(2)
    assert [] == matcher.forced_tokens()


def test_forced_tokens_stop_at_a_limit(odd: Tokenizer) -> None:
    """At most ``limit`` of them are listed."""
    artifact = compiled(f's ::= "{"c" * 2000}";', odd, "canonical")
    matcher = artifact.matcher()

    assert [2] * 1024 == matcher.forced_tokens()
    assert [2] * 7 == matcher.forced_tokens(7)
    assert [] == matcher.forced_tokens(0)
    assert [2] * 2000 == matcher.forced_tokens(5000)


def test_forced_tokens_under_any_stop_where_tokens_overlap(odd: Tokenizer) -> None:
    """Where a longer token would do as well there is a choice."""
    assert [] == compiled('s ::= "ab";', odd, "any").matcher().forced_tokens()
    assert [3] == compiled('s ::= "ab";', odd, "canonical").matcher().forced_tokens()


# --- after a prompt


def random_merges(chance: random.Random, letters: str, count: int) -> list[str]:
    """A merge list in which every part is a letter or made before."""
    tokens = [*letters]
    merges: list[str] = []
    while len(merges) < count:
        left, right = chance.choice(tokens), chance.choice(tokens)
        if left + right not in tokens and len(left + right) < 12:
            tokens.append(left + right)
            merges.append(f"{left} {right}")
    return merges


@pytest.mark.parametrize("seed", range(12))
def test_after_a_token_only_what_the_merges_leave_apart(tmp_path: Path, seed: int) -> None:
    """The first mask after a token holds t exactly if merging their letters gives both back."""
    chance = random.Random(seed)
    letters = "ab" if seed % 2 else "abc"
    tokenizer = tokenizer_of(
        tmp_path, letters, random_merges(chance, letters, 14), added=[(90, "<eos>", True)]
    )
    artifact = compiled(f's ::= #"[{letters}]*";', tokenizer, eos=["<eos>"])
    merges = [tuple(row) for row in tokenizer.merges.tolist()]
    ids = {octets: i for i, octets in tokenizer.tokens.items()}
    start = allowed(artifact.matcher())

    def merged(octets: bytes) -> list[int]:
        return tokenize_via_merges([ids[bytes([octet])] for octet in octets], merges)

    for last, octets in tokenizer.tokens.items():
        if merged(octets) != [last]:
            continue  # No text ends in this token.
        expected = [90]
        for token_id in start:
            if merged(octets + tokenizer.tokens.get(token_id, b"")) == [last, token_id]:
                expected.append(token_id)

        assert sorted(expected) == allowed(artifact.matcher(after=[last]))


def test_after_a_token_of_a_large_vocabulary(
    artifacts: Compile, default_tokenizer: Tokenizer
) -> None:
    """The same for pairs of the default tokenizer, drawn at random."""
    chance = random.Random(5)
    artifact = artifacts('s ::= #"[a-z ]+";', "canonical")
    merges = [tuple(row) for row in default_tokenizer.merges.tolist()]
    tokens, base = default_tokenizer.tokens, default_tokenizer.base
    start = allowed(artifact.matcher())
    seen = set()
    for last in chance.sample(start, 12):
        kept = set(allowed(artifact.matcher(after=[last])))
        joined = sorted(set(start) - kept)
        for token_id in [*chance.sample(start, 8), *chance.sample(joined, min(4, len(joined)))]:
            letters = [base[octet] for octet in tokens[last] + tokens[token_id]]
            apart = tokenize_via_merges(letters, merges) == [last, token_id]
            seen.add(apart)
            assert apart == (token_id in kept)
    assert {True, False} == seen


def test_after_concerns_the_first_token_alone(odd: Tokenizer) -> None:
    """Once a token is taken, or taken back, the masks are the grammar's own."""
    artifact = compiled('s ::= #"[a-c]+";', odd)
    a, b, eos = 0, 1, 9
    matcher = artifact.matcher(after=[2, a])

    assert b not in allowed(matcher)
    assert b in allowed(artifact.matcher())
    assert eos not in allowed(matcher)
    first = matcher.mask()
    assert first.flags.writeable is False
    with pytest.raises(TokenRefusedError):
        matcher.advance(b)
    matcher.advance(2)
    assert allowed(after(artifact, 2)) == allowed(matcher)
    matcher.rollback(1)
    assert first.tolist() == matcher.mask().tolist()


@pytest.mark.parametrize("ids", [None, [], [9], [31], [7], [33], [1, 9]], ids=str)
def test_after_what_is_no_text_anything_may_begin(odd: Tokenizer, ids: list[int] | None) -> None:
    """No prompt, or one that ends in a special token, a hole or a token of its own."""
    artifact = compiled('s ::= #"[a-c]+";', odd)

    assert allowed(artifact.matcher()) == allowed(artifact.matcher(after=ids))


@pytest.mark.parametrize("ids", [[0], [3], [9], [1, 2]], ids=str)
def test_after_says_nothing_under_any(odd: Tokenizer, ids: list[int]) -> None:
    """Every tokenization is allowed, across the prompt's end too."""
    artifact = compiled('s ::= #"[a-c]+";', odd, "any")

    assert allowed(artifact.matcher()) == allowed(artifact.matcher(after=ids))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", [[-1], [34], [10**9], [34, 0]], ids=str)
def test_after_an_unknown_token_is_refused(odd: Tokenizer, kind: str, ids: list[int]) -> None:
    """Ids outside the vocabulary are named, wherever they stand."""
    artifact = compiled('s ::= "a";', odd, kind)
    assert 34 == artifact.vocab_size

    with pytest.raises(ValueError, match=f"token {ids[0]} is outside the vocabulary"):
        artifact.matcher(after=ids)


def test_after_a_token_that_leaves_nothing_is_an_error(odd: Tokenizer) -> None:
    """If the merges join every first token to the prompt, the error says so."""
    artifact = compiled('s ::= "b";', odd)

    with pytest.raises(ArtifactError, match="no member of the grammar continues token 0"):
        artifact.matcher(after=[0])


def test_after_keeps_the_end(odd: Tokenizer) -> None:
    """A grammar that has the empty text may end at once after any token."""
    artifact = compiled('s ::= "b"?;', odd)

    assert [9] == allowed(artifact.matcher(after=[0]))
