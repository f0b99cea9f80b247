"""Masks of grammars with token terminals, against all token sequences of all members."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from support.maximal_munch import tokenizer_over
from support.oracles.merge import tokenize_via_merges
from support.tokens import EOS, IDS, NAMED, TOKENIZER, built

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.distinct import distinct, first_places
from constrain.compiler import compile_grammar

# a part of a grammar: a text, the ids of a token terminal, an option, a sequence or a choice.
Part = str | frozenset[int] | tuple[str, list["Part"]]


def random_part(rng: random.Random, depth: int) -> Part:
    kind = rng.random()
    if depth and kind < 0.1:
        return ("option", [random_part(rng, depth - 1)])
    if depth and kind < 0.7:
        inside = [random_part(rng, depth - 1) for _ in range(rng.randint(2, 3))]
        return ("choice" if kind < 0.35 else "sequence", inside)
    if kind < 0.85:
        return "".join(rng.choice("abc") for _ in range(rng.randint(1, 3)))
    chosen = rng.choice(IDS)
    if rng.random() < 0.5:
        return frozenset(IDS) - {chosen, EOS}
    return frozenset([chosen])


def written(part: Part) -> str:
    """The part as GBNF."""
    if isinstance(part, str):
        return f'"{part}"'
    if isinstance(part, frozenset):
        if len(part) == 1:
            return f"<[{min(part)}]>"
        left_out = [i for i in IDS if i not in part and i != EOS] or [EOS]
        return f"!<[{left_out[0]}]>"
    kind, inside = part
    if kind == "option":
        return f"({written(inside[0])})?"
    return "(" + (" | " if kind == "choice" else " ").join(map(written, inside)) + ")"


def members(part: Part) -> Iterator[tuple[str | frozenset[int], ...]]:
    """All members, as texts and sets of ids one after the other."""
    if isinstance(part, str | frozenset):
        yield (part,)
    elif part[0] == "choice":
        for option in part[1]:
            yield from members(option)
    elif part[0] == "option":
        yield ()
        yield from members(part[1][0])
    else:
        for combined in product(*(list(members(item)) for item in part[1])):
            yield tuple(piece for pieces in combined for piece in pieces)


def canonical(text: str) -> list[tuple[int, ...]]:
    letters = [b"abc".find(octet) for octet in text.encode()]
    return [tuple(tokenize_via_merges(letters, TOKENIZER.merges.tolist()))]


def every(text: str) -> list[tuple[int, ...]]:
    """All token sequences that spell a text."""
    spelled: list[list[tuple[int, ...]]] = [[()]]
    octets = text.encode()
    for end in range(1, len(octets) + 1):
        spelled.append(
            [
                (*before, i)
                for i, token in TOKENIZER.tokens.items()
                if octets[:end].endswith(token)
                for before in spelled[end - len(token)]
            ]
        )
    return spelled[-1]


def sequences(part: Part, tokenization: str) -> set[tuple[int, ...]]:
    """All token sequences of all members: each run of text is tokenized for itself."""
    spell = canonical if tokenization == "canonical" else every
    found: set[tuple[int, ...]] = set()
    for member in members(part):
        pieces: list[str | frozenset[int]] = []
        for piece in member:
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            else:
                pieces.append(piece)
        choices = [
            spell(piece) if isinstance(piece, str) else [(i,) for i in piece] for piece in pieces
        ]
        found.update(tuple(i for ids in way for i in ids) for way in product(*choices))
    return found


def check_masks(artifact: Artifact, wanted: set[tuple[int, ...]]) -> int:
    """Compare the masks after all prefixes; how many there were."""
    # EOS ends a text wherever one may end, so what goes on after it there is never reached.
    wanted = {w for w in wanted if not any(w[i] == EOS and w[:i] in wanted for i in range(len(w)))}
    following: dict[tuple[int, ...], set[int]] = {}
    for word in wanted:
        for length in range(len(word)):
            following.setdefault(word[:length], set()).add(word[length])
        following.setdefault(word, set()).add(EOS)
    for prefix, allowed in following.items():
        matcher = artifact.matcher()
        for token_id in prefix:
            matcher.advance(token_id)
        assert sorted(allowed) == tokenset.to_ids(matcher.mask()).tolist(), prefix
        assert (prefix in wanted) == matcher.is_accepting, prefix
    return len(following)


@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_masks_are_those_of_all_members(tokenization: str, full: bool) -> None:
    """Random grammars whose terminals overlap each other and the texts."""
    rng = random.Random(20)
    compared = 0
    while compared < (200_000 if full else 1_500):
        part = random_part(rng, 3)
        wanted = sequences(part, tokenization)
        if len(wanted) > 3_000:
            continue
        artifact = built(f"root ::= {written(part)}", tokenization)
        again = load_bytes(artifact.to_bytes(), verify=True)
        compared += check_masks(again, wanted)


@pytest.mark.quick
@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_rows_at_run_time_are_the_stored_ones(tokenization: str, full: bool) -> None:
    """Rows that a small artifact leaves out are computed with the tokens in them."""
    rng = random.Random(21)
    for _ in range(60 if full else 20):
        text = f"root ::= {written(random_part(rng, 3))}"
        stored = built(text, tokenization)
        computed = built(text, tokenization, max_artifact_bytes=0)
        assert "rows" not in computed.arrays
        states: Sequence[int] = range(1, len(stored.arrays["row_of"]))
        for state in states:
            assert stored.machine().row(state).tolist() == computed.machine().row(state).tolist()


@pytest.mark.quick
@pytest.mark.parametrize("options", [{}, {"prewarm": 0}, {"max_artifact_bytes": 0}])
def test_rows_without_dead_ends_are_always_in_the_file(options: dict[str, int]) -> None:
    """No token goes on after "ab", though one passes there: a walk would allow "b" after "a"."""
    tokenizer = tokenizer_over([b"a", b"b", b"bzc", b"ac"])
    grammar = {"dialect": "regex", "tokenizer": tokenizer, "tokenization": "any", "engine": "dfa"}
    artifact = compile_grammar("a(bzc|bzb|c)", **grammar, **options)
    matcher = artifact.matcher()

    assert tokenset.to_ids(matcher.mask()).tolist() == [0, 3]
    matcher.advance(0)
    assert tokenset.to_ids(matcher.mask()).tolist() == [2]
    assert not matcher.accept([1])


@pytest.mark.quick
@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_repeated_terminals(tokenization: str) -> None:
    """Any tokens but one up to that one: every state of the loop reads every token."""
    matcher = built("root ::= !<t>* <t> [a-b]+", tokenization).matcher()
    others = [i for i in IDS if i not in (EOS, NAMED)]
    for token_id in (6, 6, 11, 0, 1):
        assert sorted([*others, NAMED]) == tokenset.to_ids(matcher.mask()).tolist()
        matcher.advance(token_id)
    matcher.advance(NAMED)
    assert [0, 1, 3, 5] == tokenset.to_ids(matcher.mask()).tolist()


def test_sets_of_ids_have_the_same_words_however_they_are_made() -> None:
    """Few ids are set one by one, and many by flags: one bit each, in any order, at every word."""
    rng = random.Random(6)
    for count in (0, 1, 2, 16, 17, 40):
        ids = [rng.randrange(100) for _ in range(count)]
        words = tokenset.from_ids(ids, 100)
        assert (np.dtype("uint32"), (4,)) == (words.dtype, words.shape)
        assert sum(1 << i for i in set(ids)) == int.from_bytes(words.tobytes(), "little")
    with pytest.raises(IndexError):
        tokenset.from_ids([128], 100)


def test_different_values_are_those_of_numpy() -> None:
    """Ascending, and where each stands first."""
    chance = np.random.default_rng(1)
    for count in (0, 1, 2, 5, 1_000):
        for _ in range(20):
            values = chance.integers(-5, 60, count).astype(np.int32)
            expected, first = np.unique(values, return_index=True)
            assert expected.tolist() == distinct(values).tolist()
            assert first.tolist() == first_places(values).tolist()
