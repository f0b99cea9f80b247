"""``minProperties`` and ``maxProperties`` beside every kind of key, against two validators.

Named keys that may or must be there, keys of a pattern and free keys, in both orders: instances of
up to six members, and texts that the masks allow, which must be JSON.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support import sampled, tokenizer_of

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.tokens import tokenset
from constrain.compiler import CompileOptions, Compiler, SchemaOptions, Tokenizer
from constrain.compiler.diagnostics import CheckError

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

pytestmark = pytest.mark.quick

NAMES = "abc"
# Keys that begin differently, and such that do not, free ones and those of the pattern.
FREE = (("k", "p", "z", "m", "t", "h"), ("ka", "kb", "kc", "kd", "ke", "kf"))
OF_PATTERN = (("x0", "x1"), ("xa0", "xa1"))

LETTERS = '{}[]",: \\/-+.0123456789' + "abcdefghijklmnopqrstuvwxyz"
# Members that are tokens, so that short texts of these have many members.
MEMBERS = tuple(f'"{key}":1' for key in ("a", "b", "c", "k", "p", "x", "x0"))


@dataclass(frozen=True)
class Case:
    """A schema by its keywords: counts of named keys, what else may be there, and the order."""

    least: int
    most: int | None
    properties: int
    required: int
    additional: str
    has_pattern: bool
    order: str

    @property
    def schema(self) -> dict[str, Any]:
        """The schema."""
        integer = {"type": "integer"}
        found: dict[str, Any] = {"type": "object"}
        found |= {"properties": dict.fromkeys(NAMES[: self.properties], integer)}
        found |= {"required": list(NAMES[: self.required])}
        if self.has_pattern:
            found["patternProperties"] = {"^x": integer}
        if self.additional != "absent":
            found["additionalProperties"] = {"false": False, "typed": integer}[self.additional]
        if self.most is not None:
            found["maxProperties"] = self.most
        return found | ({"minProperties": self.least} if self.least else {})


CASES = [
    Case(*values)
    for values in product(
        range(5),
        (None, *range(6)),
        range(4),
        range(3),
        ("absent", "false", "typed"),
        (False, True),
        ("fixed", "any"),
    )
]


def instances() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Up to six keys: some that schemas may name, and others."""
    for count in range(4):
        for named in combinations(NAMES, count):
            for is_alike in (False, True):
                for pattern in (OF_PATTERN[is_alike][:n] for n in range(3)):
                    for free in (FREE[is_alike][:n] for n in range(7 - count - len(pattern))):
                        yield named, pattern + free


INSTANCES = tuple(dict.fromkeys(instances()))


def kinds_in(note: str) -> list[re.Pattern[str]]:
    """The kinds of keys of which a note says that one each counts, of letters and digits."""
    _, _, listed = note.removesuffix(" [narrowed]").partition("by how they begin: ")
    found = []
    for kind in listed.split(", "):
        begin, _, following = kind.partition("[")
        letters = following.rstrip("]…")
        found.append(re.compile(f"{begin}[{letters}]" if letters else f"{begin.strip(chr(34))}$"))
    return found


def counted(keys: Sequence[str], case: Case, kinds: Sequence[re.Pattern[str]]) -> int:
    """How many keys count by what the note says."""
    named = NAMES[: max(case.properties, case.required)]
    free = [key for key in keys if key not in named]
    return len(keys) - len(free) + sum(any(map(kind.match, free)) for kind in kinds)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Tokens of one character each, and of one member."""
    size = len(LETTERS)
    return tokenizer_of(
        tmp_path_factory.mktemp("letters"),
        LETTERS,
        added=[(size + len(MEMBERS), "<eos>", True)],
        extra={member: size + i for i, member in enumerate(MEMBERS)},
    )


def validity(schema: Any) -> Any:
    """Whether an object is valid, by its keys alone; both validators agree."""
    one = jsonschema.Draft202012Validator(schema)
    other = jsonschema_rs.Draft202012Validator(schema)

    @cache
    def is_valid(keys: frozenset[str]) -> bool:
        value = dict.fromkeys(sorted(keys), 1)
        found = one.is_valid(value)
        assert found == other.is_valid(value)
        return bool(found)

    return is_valid


def read(artifact: Artifact, text: str) -> bool:
    """Whether a text is allowed, a character a token."""
    matcher = artifact.matcher()
    ids = [LETTERS.index(char) for char in text]
    return matcher.accept(ids) == len(ids) and matcher.is_accepting


def short_texts(artifact: Artifact, most: int) -> Iterator[str]:
    """All texts of at most so many members that the masks allow, of whole members."""
    size = len(LETTERS)
    pieces = {LETTERS.index(char): char for char in "{},"}
    pieces |= {size + i: member for i, member in enumerate(MEMBERS)}
    pending: list[tuple[Matcher, str]] = [(artifact.matcher(), "")]
    while pending:
        matcher, text = pending.pop()
        if matcher.is_accepting:
            yield text
        mask = matcher.mask()
        for token, piece in pieces.items():
            if mask[token >> 5] >> (token & 31) & 1 and text.count("1") + (token >= size) <= most:
                following = matcher.fork()
                following.advance(token)
                pending.append((following, text + piece))


def drawn(artifact: Artifact, rng: random.Random, longest: int = 80) -> str | None:
    """A text by random tokens that the masks allow; none where it is not short."""
    pieces = [*LETTERS, *MEMBERS]
    matcher, text = artifact.matcher(), ""
    for _ in range(longest):
        allowed = [each for each in tokenset.to_ids(matcher.mask()).tolist() if each < len(pieces)]
        if matcher.is_accepting and (not allowed or rng.random() < 0.5):
            return text
        # Brackets and quotes more often, so that texts end.
        weights = [5 if pieces[each] in '}]",' else 1 for each in allowed]
        (token,) = rng.choices(allowed, weights)
        matcher.advance(token)
        text += pieces[token]
    return None


# Orders of which none may stand, and some others.
EMPTY = [case for case in CASES if case.most == 0 and case.properties and case.order == "any"]
SOME = [*EMPTY[:3], *random.Random(4).sample(CASES, 40)]


@sampled("case", SOME, CASES)
def test_counted_members_are_those_of_the_validators(case: Case, letters: Tokenizer) -> None:
    """What is accepted is valid JSON, what is refused is invalid or noted by the keys."""
    text = json.dumps(case.schema)
    options = CompileOptions(
        tokenization="any",
        prewarm=0,
        eos=("<eos>",),
        schema=SchemaOptions(order=case.order, whitespace="compact"),
    )
    is_valid = validity(case.schema)
    rng = random.Random(text)
    try:
        compiler = Compiler(letters, options=options, cache=None)
        artifact = compiler.compile(text, dialect="json-schema")
    except CheckError:
        assert not any(is_valid(frozenset(named + others)) for named, others in INSTANCES)
        return
    kinds = [kinds_in(note) for note in artifact.notes if "by how they begin" in note]
    for named, others in INSTANCES:
        if case.order == "fixed":
            keys = [*named, *rng.sample(others, len(others))]
        else:
            keys = rng.sample(named + others, len(named + others))
        written = json.dumps(dict.fromkeys(keys, 1), separators=(",", ":"))
        expected = is_valid(frozenset(keys))
        expected &= all(counted(keys, case, each) >= case.least for each in kinds)
        assert expected == read(artifact, written), written
    for found in short_texts(artifact, 3):
        assert is_valid(frozenset(json.loads(found))), found
    checks = (
        jsonschema.Draft202012Validator(case.schema),
        jsonschema_rs.Draft202012Validator(case.schema),
    )
    for _ in range(10):
        found = drawn(artifact, rng)
        if found is not None:
            value = json.loads(found)
            assert [True, True] == [check.is_valid(value) for check in checks], found
