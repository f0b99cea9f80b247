"""How long the longest token is changes no mask: every engine, and schemas, over tokenizers whose
longest token has 2 to 130 characters.

Masks of schemas are held against brute force: the same schema for a tokenizer of bytes alone,
which reads each token byte by byte. Masks of grammars are as ``support.corpus.agreement`` defines
them.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import tokenizers
from support import sampled
from support.corpus.agreement import offences
from support.corpus.engines import ENGINES
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import Case
from support.library_steps import bpe
from tokenizers import pre_tokenizers

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar
from constrain.compiler.tokenizers import byte_alphabet

Count = Callable[[str, object], None]

LENGTHS = range(2, 131)
# Without --full a few lengths, and of each this share of all that is tried.
SOME, SHARE = sorted(random.Random(31).sample(LENGTHS, 4)), 20

# Tokenization, and how many answers are precomputed.
WAYS = (("any", None), ("any", 0), ("canonical", None), ("canonical", 0))

# Each is repeated up to the longest token, so that all of its beginnings are tokens, too.
PERIODS = ("a", " ", "7", "ab cd", "x.y@", 'k":"', "é")

# A schema and two instances of it that many tokens lie inside.
SCHEMAS: dict[str, tuple[object, object, object]] = {
    "any string": ({"type": "string"}, "a" * 140, "ab cd" * 20),
    "at most 40": ({"type": "string", "maxLength": 40}, "a" * 40, "ab cd" * 3),
    "60 to 90": ({"type": "string", "minLength": 60, "maxLength": 90}, "a" * 77, "ab cd" * 18),
    "email": ({"type": "string", "format": "email"}, f"{'a' * 30}@x.y", "x@xab.cd"),
    "a long email": (
        {"type": "string", "format": "email", "minLength": 9},
        "aaaa@aa.a",
        "x@x.yx.yx",
    ),
    "time": ({"type": "string", "format": "time"}, "17:07:07Z", "07:17:27.7777777+07:17"),
    "pattern": ({"type": "string", "pattern": "^x*[a-z]{20}$"}, "a" * 20, "x" * 9 + "a" * 20),
    "inside": ({"type": "string", "pattern": "77", "minLength": 3}, "ab cd77", "7" * 50),
    "enum": ({"enum": ["a" * 64, "a" * 100, "ab cd", 7777777]}, "a" * 100, 7777777),
    "numbers": ({"type": "array", "items": {"type": "integer"}}, [7, 77777777777777, -7], []),
    "object": (
        {
            "type": "object",
            "properties": {"a": {"type": "string", "maxLength": 20}, "k": {"$ref": "#"}},
            "additionalProperties": False,
        },
        {"a": "a" * 20, "k": {"k": {}}},
        {"k": {"a": "ab cdab cd"}},
    ),
    "keys": (
        {
            "type": "object",
            "patternProperties": {"^a{3,30}$": {"type": "string", "maxLength": 12}},
            "additionalProperties": False,
        },
        {"aaaa": "aaaa", "a" * 30: "é"},
        {"aaa": ""},
    ),
}

LANGUAGES = (
    Language("run", 's ::= #"a{1,130}( |7)?";', accepted=(b"a" * 129,), rejected=(b"a" * 131,)),
    Language("words", 's ::= #"x*[a-z ]{20}";', accepted=(b"ab cd" * 4,), rejected=(b"a" * 19,)),
    Language(
        "nested",
        "s ::= '(' s ')' | t; t ::= #'[a-z ]{1,40}' | '7' t '\"';",
        accepted=(b"((ab cdab))", b"7" * 20 + b"a" + b'"' * 20),
        rejected=(b"a" * 41, b"(a"),
    ),
)


def case_of(length: int, folder: Path) -> Case:
    """All bytes, and the beginnings of each period repeated, up to ``length`` bytes."""
    alphabet = byte_alphabet.characters()
    pairs: list[tuple[str, str]] = []
    for period in PERIODS:
        spelled = "".join(alphabet[octet] for octet in (period * length).encode()[:length])
        pairs += [(spelled[:end], spelled[end]) for end in range(1, len(spelled))]
    library = tokenizers.Tokenizer(bpe({char: i for i, char in enumerate(alphabet)}, pairs))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.add_special_tokens(["<eos>"])
    path = folder / f"longest-{length}.json"
    library.save(str(path))
    return Case(path)


def of_schema(
    schema: object, case: Case, tokenization: str, prewarm: int | None = None
) -> Artifact:
    """The artifact of a JSON Schema."""
    return compile_grammar(
        json.dumps(schema),
        dialect="json-schema",
        tokenizer=case.tokenizer,
        tables=case.tables,
        tokenization=tokenization,
        prewarm=prewarm,
    )


def by_bytes(matcher: Matcher, case: Case) -> set[int]:
    """The mask of ``case`` after what a matcher of bytes has read. Of tokens that others begin
    with, these tell."""
    read: dict[bytes, bool] = {}
    for text in sorted(case.ids_by_text, key=len, reverse=True):
        if text not in read:
            taken = matcher.validate(list(text))
            read |= {text[:end]: end <= taken for end in range(1, len(text) + 1)}
    found = {i for text, ids in case.ids_by_text.items() if read[text] for i in ids}
    return found | set(case.eos_ids) if matcher.is_accepting else found


def walked(
    artifact: Artifact, plain: Artifact, case: Case, text: str, rng: random.Random
) -> Iterator[str]:
    """Where masks are others than by bytes: along the library's tokens of a text, which are all
    that stays of it under ``canonical``, and after random ones."""
    is_canonical = artifact.manifest.tokenization == "canonical"
    matcher, reads = artifact.matcher(), plain.matcher()
    own = case.encode(text)
    leaves = len(own) if is_canonical else rng.randrange(len(own) + 1)
    for place in range(leaves + 6):
        mask = set(tokenset.to_ids(matcher.mask()).tolist())
        expected = by_bytes(reads, case)
        if mask - expected or (expected - mask and not is_canonical):
            yield f"{matcher.taken}: {sorted(mask ^ expected)[:9]}"
            return
        some = sorted(mask - set(case.eos_ids))
        if place < leaves and own[place] not in mask:
            yield f"{matcher.taken}: without {own[place]}, which the library writes"
            return
        if not some:
            return
        token = own[place] if place < leaves else rng.choice(some)
        matcher.advance(token)
        assert reads.accept(list(case.tokenizer.tokens[token])) == len(case.tokenizer.tokens[token])


@sampled("length", SOME, LENGTHS)
def test_engines(length: int, tmp_path: Path, full: bool, record_property: Count) -> None:
    """Of each language, by each engine that takes it."""
    case = case_of(length, tmp_path)
    # Two languages by each engine: neighbours leave out others.
    runs = [run for i, run in enumerate(product(ENGINES, LANGUAGES)) if (i + i // 3 + length) % 3]
    if not full:
        runs = random.Random(length).sample(runs, len(runs) // SHARE)
    found = {(name, given.name): list(offences(name, case, given)) for name, given in runs}

    assert {} == {key: wrong for key, wrong in found.items() if wrong}
    record_property("artifacts", len(found))


@sampled("length", SOME, LENGTHS)
def test_schemas(length: int, tmp_path: Path, full: bool, record_property: Count) -> None:
    """Masks precomputed and not, of any tokens and of the tokenizer's own."""
    case, plain = case_of(length, tmp_path), case_of(1, tmp_path)
    rng = random.Random(length)
    # Those of the tokenizer's own take longest: of neighbours one has them precomputed.
    runs = list(product(SCHEMAS, (*WAYS[:2], WAYS[2 + length % 2])))
    if not full:
        runs = rng.sample(runs, len(runs) // SHARE)
    found = {}
    for name, way in runs:
        schema, *instances = SCHEMAS[name]
        artifact, reads = of_schema(schema, case, *way), of_schema(schema, plain, "any", 0)
        texts = [json.dumps(instance, ensure_ascii=False) for instance in instances]
        found[name, way] = [
            line for text in texts for line in walked(artifact, reads, case, text, rng)
        ]

    assert {} == {key: wrong for key, wrong in found.items() if wrong}
    record_property("artifacts", len(found))
