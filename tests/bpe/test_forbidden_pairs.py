"""Which tokens follow which: Algorithm 3, rectangles, and encoding every pair (Algorithm 4)."""

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from support import sampled
from support.corpus.tokenizer_case import SAMPLED, TOKENIZERS
from support.merge import Derived, derived, random_table
from support.oracles.merge import (
    START,
    allowed_pairs_via_encoding,
    build_tokenizer_dfa,
    tokenize_via_merges,
)

from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs
from constrain.compiler import load_tokenizer
from constrain.compiler.bpe.derivations import by_moments, derive, spelled
from constrain.compiler.bpe.forbidden_pairs import build_forbidden_pairs, without_followers


def table(
    letters: str, merges: Sequence[tuple[str, str]]
) -> tuple[dict[str, int], list[tuple[int, ...]]]:
    """Numbers of the tokens, and the merges as numbers."""
    names = {letter: i for i, letter in enumerate(letters)}
    for a, b in merges:
        names.setdefault(a + b, len(names))
    for a, b in merges:
        names.setdefault(a, len(names))
        names.setdefault(b, len(names))
    return names, [(names[a], names[b], names[a + b]) for a, b in merges]


def allowed_after(letters: str, merges: Sequence[tuple[str, str]]) -> dict[str, set[str]]:
    """Algorithm 3's result in texts; the empty text stands for the start."""
    names, numbers = table(letters, merges)
    texts = {i: text for text, i in names.items()}
    dfa = build_tokenizer_dfa(range(len(letters)), [(a, b, ab) for a, b, ab in numbers])
    found = {"": {texts[t] for t in dfa.allowed(None)}}
    return found | {texts[t]: {texts[u] for u in dfa.allowed(t)} for t in dfa.delta}


@pytest.mark.quick
def test_figure_9() -> None:
    """tokenize({a, b, c}*) with M = ((a, b), (a, a), (a, c)): three states, after a, after aa
    and after all others."""
    every = {"a", "b", "c", "ab", "aa", "ac"}
    found = allowed_after("abc", [("a", "b"), ("a", "a"), ("a", "c")])

    assert {"ab"} == found.pop("a")
    assert every - {"b"} == found.pop("aa")
    assert dict.fromkeys(["", "b", "c", "ab", "ac"], every) == found


@pytest.mark.quick
@pytest.mark.parametrize(
    ("letters", "merges", "last", "expected"),
    [
        ("a", [("a", "a"), ("aa", "a")], "", {"a", "aa", "aaa"}),
        ("a", [("a", "a")], "aa", {"a", "aa"}),
        ("a", [("a", "a"), ("a", "aa"), ("aaa", "a")], "aa", {"a", "aa"}),
        ("a", [("a", "a"), ("a", "aa")], "a", set()),
    ],
    ids=["E2", "E3", "E4", "E5"],
)
def test_errata(letters: str, merges: list[tuple[str, str]], last: str, expected: set[str]) -> None:
    """The counterexamples to the listing as printed."""
    assert expected == allowed_after(letters, merges)[last]


def test_algorithm_3_equals_algorithm_4() -> None:
    """On random tables, of which many are improper: what it says holds for merge after merge."""
    rng = random.Random(1)
    for _ in range(600):
        names, merges = random_table(rng, merges=8)
        dfa = build_tokenizer_dfa([0, 1], merges)
        texts = {i: [names[c] for c in text] for text, i in names.items()}

        def encode(
            ids: Sequence[int],
            texts: dict[int, list[int]] = texts,
            merges: list[tuple[int, int, int]] = merges,
        ) -> list[int]:
            return tokenize_via_merges([c for i in ids for c in texts[i]], merges)

        produced = [t for t in names.values() if encode([t]) == [t]]
        assert sorted(produced) == sorted(dfa.delta)
        assert allowed_pairs_via_encoding(produced, encode) == {t: dfa.allowed(t) for t in produced}
        assert len(set(dfa.disallowed)) == len(dfa.disallowed)
        assert frozenset() == dfa.disallowed[START]


def test_rectangles_equal_encoding_in_any_order(full: bool) -> None:
    """On shuffled lists, where rank order is not the order of building: lowest rank first
    gives the same pairs, also where no order of the merges is exact."""
    rng = random.Random(3)
    without_order = 0
    for _ in range(1500 if full else 66):
        names, merges = random_table(rng, merges=12)
        rng.shuffle(merges)
        found = derived(names, merges)
        without_order += by_moments(found) is None
        check_all_pairs(found, len(names))
    assert without_order > 5


def test_rectangles_of_lists_of_all_decompositions(full: bool) -> None:
    """As SentencePiece's models are written: every split of a token, in the order of the tokens,
    which here is at random; most tokens are made of parts that come later."""
    rng = random.Random(8)
    late = 0
    for _ in range(1500 if full else 55):
        letters = "abc"[: rng.randint(1, 3)]
        texts = [*letters]
        for _ in range(rng.randint(4, 20)):
            text = rng.choice(texts) + rng.choice(texts)
            if text not in texts and len(text) <= 12:
                texts.append(text)
        names = {text: i for i, text in enumerate(texts)}
        ordered = rng.sample(texts, len(texts))
        splits = [(t[:cut], t[cut:]) for t in ordered for cut in range(1, len(t))]
        merges = [(names[a], names[b], names[a + b]) for a, b in splits if {a, b} <= {*names}]
        found = derived(names, merges)
        late += bool(
            (found.last.tau[found.merges[:, 2]] > found.last.merge[found.merges[:, 2]]).any()
        )
        check_all_pairs(found, len(names))
    assert late > 50


def check_all_pairs(found: Derived, size: int) -> None:
    """Rows and columns of every produced token, against encoding every pair."""
    tables = build_forbidden_pairs(found, size)
    produced = [*found.letters, *found.merges[:, 2].tolist()]
    for first in produced:
        expected = sorted(u for u in produced if found.encode((first, u)) != [first, u])
        assert expected == sorted(tables.rows.ids(first).tolist())
        rows = tables.rows
        places = [range(low, high) for low, high in rows.slices(first)]
        intervals = sorted((rows.begin[i], rows.end[i]) for part in places for i in part)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(intervals))
        for second in produced:
            assert tables.rows.forbids(first, second) == (second in expected)
            assert tables.columns.forbids(second, first) == (second in expected)
    check_classes(tables.rows, produced)
    check_preceding(tables.rows, produced)


def check_preceding(rows: ForbiddenPairs, tokens: Sequence[int]) -> None:
    """Many first tokens at once are what each is alone."""
    many = np.array([*tokens, *tokens])
    for second in tokens:
        expected = [rows.forbids(first, second) for first in many.tolist()]
        assert expected == rows.forbidden_before(many, [second]).tolist()
    for count in (2, len(tokens)):
        some = tokens[-count:]
        expected = [all(rows.forbids(first, each) for each in some) for first in many.tolist()]
        assert expected == rows.forbidden_before(many, some).tolist()


def check_classes(rows: ForbiddenPairs, tokens: Sequence[int]) -> None:
    """Tokens of one class have one row."""
    known: dict[int, list[int]] = {}
    for token in tokens:
        ids = sorted(rows.ids(token).tolist())
        assert known.setdefault(int(rows.row_class[token]), ids) == ids


def test_example_of_the_readme() -> None:
    """Orders, rectangles and encodings of a list of four merges."""
    names, merges = table("abc", [("a", "b"), ("b", "c"), ("ab", "c"), ("c", "b")])
    texts = {i: text for text, i in names.items()}
    found = derived(names, merges)
    tables = build_forbidden_pairs(found, len(names))
    rows, columns = tables.rows, tables.columns

    assert [texts[t] for t in rows.order.tolist()] == ["a", "ab", "abc", "b", "bc", "c", "cb"]
    assert [texts[t] for t in columns.order.tolist()] == ["a", "b", "cb", "ab", "c", "abc", "bc"]
    rectangles = [({"a"}, {"b", "bc"}), ({"b", "cb"}, {"c", "cb"})]
    rectangles += [({"ab"}, {"c", "cb"}), ({"c"}, {"b"})]
    expected = {(t, u) for first, second in rectangles for t in first for u in second}
    pairs = {(texts[t], texts[u]) for t in texts for u in rows.ids(t).tolist()}
    assert expected == pairs
    for text, tokens in (("abcb", ["abc", "b"]), ("cbc", ["c", "bc"])):
        assert tokens == [texts[t] for t in found.encode([names[letter] for letter in text])]


@pytest.mark.quick
def test_no_order_is_exact() -> None:
    """M = ((aa, a), (a, a)) on aaaa: the token aaa is made from a part of higher rank, which
    begins another token that is made at the same moment."""
    names, merges = table("a", [("aa", "a"), ("a", "a")])
    found = derived(names, merges)

    assert by_moments(found) is None
    assert [names["aaa"], names["a"]] == found.encode([names["a"]] * 4)
    check_all_pairs(found, len(names))


@sampled("name", SAMPLED, TOKENIZERS)
def test_real_tables(data: Callable[[str], Path], name: str, full: bool) -> None:
    """Sampled pairs, half of them forbidden, against the library without a pre-tokenizer."""
    path = data(f"tokenizers/{name}/tokenizer.json")
    tokenizer = load_tokenizer(path)
    found = derive(spelled(tokenizer), tokenizer.merges)
    tables = build_forbidden_pairs(found, tokenizer.vocab_size)
    read = json.loads(path.read_bytes())
    bare = {"pre_tokenizer": None, "normalizer": None, "post_processor": None, "added_tokens": []}
    library = tokenizers.Tokenizer.from_str(json.dumps({**read, **bare}))
    names = {i: text for text, i in read["model"]["vocab"].items()}
    tokens = [*found.letters, *found.merges[:, 2].tolist()]
    rng = random.Random(5)
    pairs = [(rng.choice(tokens), rng.choice(tokens)) for _ in range(60_000 if full else 375)]
    for first, _ in list(pairs):
        ids = tables.rows.ids(first)
        pairs += [(first, int(rng.choice(ids)))] if len(ids) else []
    # Runs of one character are what SentencePiece's lists make out of order.
    runs = [i for i, text in names.items() if set(text) == {"▁"}]
    pairs += [(a, b) for a in runs for b in (*runs, *rng.sample(tokens, 50))]
    encoded = library.encode_batch([names[a] + names[b] for a, b in pairs])
    chosen = rng.sample(tokens, 60)
    check_preceding(tables.rows, chosen)
    used = np.zeros(tokenizer.vocab_size, dtype=np.bool_)
    used[chosen] = True
    check_preceding(tables.rows.followed_by(used), chosen)
    check_preceding(without_followers(tables, chosen[:1]).rows, chosen)
    wrong = [
        (a, b)
        for (a, b), encoding in zip(pairs, encoded, strict=True)
        if tables.rows.forbids(a, b) == (encoding.ids == [a, b])
    ]

    assert wrong == []
