"""Masks where items of arrays must differ: those of all members, written one by one."""

import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support import spelling_all_bytes

from constrain.artifacts import Artifact, load
from constrain.artifacts.machine.equal_items import MARK, START, EqualItems, events_of
from constrain.artifacts.machine.item_ends import TokensAlong
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.schema import SchemaOptions

_LETTERS = '[]{},:"ab01trueflsn '


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Tokens of several items, and of what stands between them."""
    merges = ("a b", 'ab "', '" ,', '" ]', '", "', '"," a', '"," b', "1 1", "1 ,", "0 ]", "] ]")
    merges += ("[ 0", "[0 ,", "[0, 0", "] ,", ", [", '[ "', '[" a', '", 1')
    return spelling_all_bytes(tmp_path_factory.mktemp("items"), _LETTERS, merges)


def _strings(alphabet: str, most: int) -> list[Any]:
    return ["".join(t) for n in range(1, most + 1) for t in product(alphabet, repeat=n)]


def _arrays(values: list[Any], most: int, *, distinct: bool = True) -> Iterator[list[Any]]:
    for count in range(most + 1):
        for found in product(values, repeat=count):
            if not distinct or len({json.dumps(each) for each in found}) == count:
                yield list(found)


def _fits(value: list[Any], *places: list[Any]) -> bool:
    return all(each in among for each, among in zip(value, places, strict=False))


_AB = {"type": "string", "pattern": "^[ab]{1,2}$"}
_UNIQUE: dict[str, Any] = {"type": "array", "uniqueItems": True}
_MANY, _TEXTS = {"type": "string", "pattern": "^a{1,70}$"}, ["a" * n for n in range(1, 71)]
_SMALL: dict[str, tuple[Any, list[Any]]] = {
    "strings": (
        {**_UNIQUE, "items": _AB, "maxItems": 3},
        list(_arrays(_strings("ab", 2), 3)),
    ),
    "numbers": (
        {**_UNIQUE, "items": {"type": "integer", "minimum": 1, "maximum": 110}, "maxItems": 2},
        list(_arrays(list(range(1, 111)), 2)),
    ),
    "words among numbers": (
        {
            **_UNIQUE,
            "items": {"anyOf": [_AB, {"enum": [True, 0, "aab"]}]},
            "maxItems": 3,
        },
        list(_arrays([*_strings("ab", 2), True, 0, "aab"], 3)),
    ),
    "arrays of arrays": (
        {
            "type": "array",
            "maxItems": 2,
            "items": {**_UNIQUE, "maxItems": 2, "items": {"pattern": "^[ab]$", "type": "string"}},
        },
        list(_arrays(list(_arrays(["a", "b"], 2)), 2, distinct=False)),
    ),
    "beside arrays whose items may be equal": (
        {
            "anyOf": [
                {**_UNIQUE, "items": _AB, "maxItems": 3},
                {"type": "array", "maxItems": 2, "items": {"enum": ["a", "b"]}},
            ]
        },
        [*_arrays(_strings("ab", 2), 3), ["a", "a"], ["b", "b"]],
    ),
    "strings of one length": (
        {
            **_UNIQUE,
            "maxItems": 3,
            "items": {"type": "string", "pattern": "^[ab]{3}$"},
        },
        list(_arrays([text for text in _strings("ab", 3) if len(text) == 3], 3)),
    ),
    "places of different items": (
        {**_UNIQUE, "prefixItems": [_MANY, {"enum": ["a", "b"]}], "items": False},
        [value for value in _arrays([*_TEXTS, "b"], 2) if _fits(value, _TEXTS, ["a", "b"])],
    ),
    "a number after long strings": (
        {
            **_UNIQUE,
            "prefixItems": [{"enum": [1, 0]}, _MANY, {"enum": [1, 0]}],
            "items": False,
        },
        [[], [1], [0]]
        + [[n, text] for n in (0, 1) for text in _TEXTS]
        + [[n, text, 1 - n] for n in (0, 1) for text in _TEXTS],
    ),
    "inside of objects": (
        {
            "type": "object",
            "properties": {
                "a": {**_UNIQUE, "items": _AB, "maxItems": 2},
                "b": {"type": "array", "maxItems": 2, "items": {"enum": [0, 1]}},
            },
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        [
            {"a": a, "b": b}
            for a in _arrays(_strings("ab", 2), 2)
            for b in _arrays([0, 1], 2, distinct=False)
        ],
    ),
}


def _compiled(schema: Any, tokenizer: Tokenizer) -> Artifact:
    options = SchemaOptions(whitespace="compact", escapes="shortest")
    return Compiler(tokenizer).compile(
        json.dumps(schema),
        dialect="json-schema",
        tokenization="any",
        prewarm=0,
        schema=options,
    )


def _check(artifact: Artifact, members: list[bytes], rng: random.Random, walks: int) -> None:
    begun = {text[:i] for text in members for i in range(len(text) + 1)}
    vocabulary, whole = artifact.vocabulary, {*members}
    ids = vocabulary.text_ids().tolist()
    for _ in range(walks):
        matcher, text = artifact.matcher(), b""
        while True:
            allowed = [i for i in ids if text + vocabulary.token(i) in begun]
            found = {*tokenset.to_ids(matcher.mask()).tolist()} - {*artifact.eos}

            assert (text, allowed) == (text, sorted(found))
            assert (text, text in whole) == (text, matcher.is_accepting)
            refused = rng.choice(ids)
            assert (refused in allowed) == bool(matcher.fork().accept([refused]))
            if not allowed:
                break
            chosen = rng.choice(allowed)
            matcher.advance(chosen)
            text += vocabulary.token(chosen)


@pytest.mark.parametrize("name", _SMALL)
def test_masks_are_those_of_all_members(
    name: str, tokenizer: Tokenizer, full: bool, tmp_path: Path
) -> None:
    """Bit by bit along random texts, also of the artifact that was written and read again."""
    schema, values = _SMALL[name]
    members = [json.dumps(value, separators=(",", ":")).encode() for value in values]
    artifact = _compiled(schema, tokenizer)
    _check(artifact, members, random.Random(1), 400 if full else 20)

    path = tmp_path / "items.cst"
    artifact.save(path)
    _check(load(path), members, random.Random(2), 100 if full else 10)


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _marks(value: Any) -> int:
    """How many items are equal to an earlier one of their array."""
    if isinstance(value, dict):
        return sum(map(_marks, value.values()))
    if not isinstance(value, list):
        return 0
    equal = (any(_is_equal(v, w) for w in value[:i]) for i, v in enumerate(value))
    return sum(equal) + sum(map(_marks, value))


def _spelled(value: Any, rng: random.Random) -> str:
    space = rng.choice(("", "", " ", "\n "))
    if isinstance(value, list):
        inside = [_spelled(each, rng) for each in value]
        return f"[{space}" + f"{space},{space}".join(inside) + "]"
    if isinstance(value, dict):
        keys = rng.sample([*value], len(value))
        inside = [f"{_spelled(key, rng)}:{space}{_spelled(value[key], rng)}" for key in keys]
        return "{" + f",{space}".join(inside) + f"{space}}}"
    if isinstance(value, str):
        escaped = "".join(f"\\u{ord(c):04x}" if rng.random() < 0.3 else c for c in value)
        return f'"{escaped}"'
    if type(value) in (int, float) and rng.random() < 0.5:
        return rng.choice((f"{value:.1f}", f"{value:e}", f"{value * 10:g}e-1"))
    return json.dumps(value)


def _value(rng: random.Random, depth: int) -> Any:
    if depth and rng.random() < 0.6:
        if rng.random() < 0.7:
            return [_value(rng, depth - 1) for _ in range(rng.randrange(5))]
        return {key: _value(rng, depth - 1) for key in rng.sample("ab]", rng.randrange(3))}
    return rng.choice((None, True, False, 0, 1, -1, 2.5, "", "a", "é", "[", "1", 100))


def test_items_are_marked_where_an_earlier_one_is_equal_however_it_is_spelled(full: bool) -> None:
    """By the values that Python reads, in pieces of any length."""
    rng = random.Random(3)
    for _ in range(20_000 if full else 1_000):
        value = _value(rng, 4)
        text = _spelled(value, rng).encode()
        items, place, found, at = EqualItems(), START, b"", 0
        while at < len(text):
            piece = text[at : at + rng.randrange(1, 6)]
            at += len(piece)
            place, marked = items.read(place, piece, events_of(place.lexical, piece))
            found += marked

        assert (text, _marks(value)) == (text, found.count(MARK))
        assert text == found.replace(bytes((MARK,)), b"")


def test_tokens_that_texts_go_on_with_are_those_that_they_have(full: bool) -> None:
    """All of some length, each once; of texts and tokens of few letters."""
    rng = random.Random(4)
    for _ in range(2_000 if full else 200):
        some = ["".join(rng.choices("ab", k=rng.randrange(7))).encode() for _ in range(40)]
        tokens, texts = some[:20], sorted(b'"' + each for each in some[20:])
        along, least = TokensAlong((each, i) for i, each in enumerate(tokens)), rng.randrange(1, 5)
        found = [*along(texts, 1, least)]

        assert sorted(found) == [
            i
            for i, each in enumerate(tokens)
            if len(each) >= least and any(text.startswith(each, 1) for text in texts)
        ]


def test_scalars_are_found_by_how_they_begin() -> None:
    """Strings up to their first escape, numbers without exponents."""
    items = EqualItems()
    text = b'["b", "a\\n", 12, 1.5, true, "a", 1e999'
    place, _ = items.read(START, text + b",", events_of(START.lexical, text + b","))
    inside = items.open[place.open].inside

    assert items.begun(inside, b'"a') == [b'"a', b'"a\\']
    assert items.begun(inside, b"1") == [b"1.5", b"12"]
    assert items.others(inside) == [b"1.5", b"12", b"true"]
    assert [items.is_begun(inside, each) for each in (b"tr", b'"c', b"2")] == [True, False, False]
    assert items.count_strings(inside) == 3
