"""Walks by the masks alone: none ends early, and each spells a text that is encoded so."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support import offenders, sampled
from support.canonical import random_walks
from support.corpus.engines import ENGINES, NETWORKS
from support.corpus.languages import MARKED, NESTING, typical
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import SAMPLED, TINY, TOKENIZERS, Case
from support.matcher import Completions

from constrain.artifacts import Artifact
from constrain.artifacts.canonical_network.machine import CanonicalMachine
from constrain.artifacts.kinds.canonical_network import CanonicalRuntime
from constrain.artifacts.tokenizer_steps.normalizer import WithNormalForm
from constrain.artifacts.tokens import tokenset
from constrain.compiler import CompileOptions, Compiler, SchemaOptions

Count = Callable[[str, object], None]

# Of walks in full, so that those of six tokenizers and twelve grammars are 100,000.
_WALKS = 1389
_LONGEST = 12


class Walker:
    """Random tokens of masks, often such as begin or end inside a character."""

    def __init__(self, artifact: Artifact, seed: int) -> None:
        self.vocabulary = artifact.vocabulary
        self.eos = artifact.manifest.eos
        self.machine = artifact.machine()
        self.ways = Completions(artifact)
        self.rng = np.random.default_rng(seed)
        texts = self.vocabulary.text_ids()
        self.texts = texts
        self.odd = np.array([i for i in texts.tolist() if is_odd(self.vocabulary.token(i))])

    def walk(self) -> list[int]:
        """Some random tokens, then the shortest way to the end."""
        state, ids = self.machine.start, list[int]()
        for _ in range(int(self.rng.integers(_LONGEST + 1))):
            mask = self.machine.row(state)
            assert mask.any(), ids
            token = self._pick(mask)
            if token in self.eos and self.machine.is_accepting(state):
                return ids
            after = self.machine.take(state, token)
            assert after is not None
            state = after
            ids.append(token)
        text = b"".join(map(self.vocabulary.token, ids))
        place = self.ways.places.run(self.ways.places.start, text)
        return [*ids, *self.ways.completion(state, place)]

    def _pick(self, mask: NDArray[np.uint32]) -> int:
        """Of a few tokens drawn from all, or else of those of the mask, one by a random wish."""
        pool = self.odd if len(self.odd) and self.rng.random() < 0.3 else self.texts
        drawn = pool[self.rng.integers(len(pool), size=24)]
        found = drawn[(mask[drawn >> 5] >> (drawn & 31).astype(np.uint32) & 1) != 0]
        if len(found) < 2:
            found = self.rng.permutation(tokenset.to_ids(mask))[:24]
        if self.rng.random() < 0.3:
            return int(found[np.argmin(self.vocabulary.lengths[found])])
        return int(found[0])


def is_odd(octets: bytes) -> bool:
    """Whether a token begins or ends inside a character."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return True
    return False


def spelled(here: Case, artifact: Artifact, walks: list[list[int]]) -> None:
    """What some walks spell is encoded so."""
    token = artifact.vocabulary.token
    texts = [b"".join(map(token, ids)).removeprefix(artifact.text_prefix) for ids in walks]
    encoded = here.encode_all([text.decode() for text in texts])
    assert [] == [(a, b) for a, b in zip(walks, encoded, strict=True) if a != b]


@sampled("name", (*SAMPLED, TINY[1]), (*TOKENIZERS, TINY[1]))
def test_walks_end_in_texts_that_are_encoded_so(
    name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """No mask before the end is empty, and from where a walk has come to there is an end: in
    twelve regular grammars."""
    here, counts = case(name), {"walks": 0, "tokens": 0}

    def check(language: Language) -> None:
        artifact = ENGINES["CartesianMerge"].stored(language, here)
        walker = Walker(artifact, 11)
        walks = [walker.walk() for _ in range(_WALKS if full else 20)]
        spelled(here, artifact, walks)
        counts["walks"] += len(walks)
        counts["tokens"] += sum(map(len, walks))

    assert {} == offenders(typical(name, full), check)
    for kind, count in counts.items():
        record_property(kind, count)


AHEAD, LAZILY = "canonical network", "canonical network, lazily"


@sampled(
    ("engine", "name"),
    [(LAZILY, name) for name in (*TINY, "gpt2")] + [(AHEAD, "gpt2")],
    [(engine, name) for engine in NETWORKS for name in (*TINY, *TOKENIZERS)],
)
def test_walks_of_grammars_that_nest(
    engine: str, name: str, case: Callable[[str], Case], full: bool
) -> None:
    """Walks that make for the end after some random tokens."""
    here = case(name)

    def check(language: Language) -> None:
        artifact = ENGINES[engine].stored(language, here)
        rng = random.Random(5)
        walks = random_walks(machine_of(artifact), here.eos_ids, rng, 2_500 if full else 3, 25)
        spelled(here, artifact, list(walks))

    assert {} == offenders(NESTING, check)


@pytest.mark.parametrize("engine", [AHEAD, LAZILY])
def test_walks_beside_a_normalization_form(engine: str, normalizing: Case, full: bool) -> None:
    """With a liking for tokens that the texts in normal form follow: what is spelled is one."""

    def check(language: Language) -> None:
        artifact = ENGINES[engine].stored(language, normalizing)
        machine = machine_of(artifact)
        assert isinstance(machine, WithNormalForm)
        liked = artifact.arrays["stable.tokens"].tolist()
        rng = random.Random(language.name)
        count = 400 if full else 10
        walks = list(random_walks(machine, normalizing.eos_ids, rng, count, 12, liked))
        spelled(normalizing, artifact, walks)
        tokens = [artifact.vocabulary.token(token) for ids in walks for token in ids]
        assert sum(not token.isascii() for token in tokens) > 1

    assert {} == offenders(MARKED, check)


# By dialect and text: what a lexer reads, calls of tools, and keys in any order.
C_LIKE = """
start: stmt*
stmt: "if" "(" expr ")" stmt | "while" "(" expr ")" stmt | "{" stmt* "}" | NAME "=" expr ";"
expr: term (("+" | "-" | "==") term)*
term: NAME | NUMBER | STRING | NAME "(" [expr ("," expr)*] ")" | "(" expr ")"
NAME: /[a-zA-Z_][a-zA-Z_0-9]*/
NUMBER: /[0-9]+(\\.[0-9]+)?/
STRING: /"[^"\\n]*"/
%ignore /[ \\n]+/
%ignore /\\/\\/[^\\n]*\\n/
"""
SQL = """
start: "SELECT"i columns "FROM"i source ["WHERE"i test] ";"
columns: "*" | NAME ("," NAME)*
source: NAME | "(" "SELECT"i columns "FROM"i source ")"
test: side ("=" | "<>" | "<=") side | test "AND"i side "=" side
side: NAME | /'[^']*'/ | /[0-9]+/
NAME: /[a-z_]+/
%ignore /[ \\t\\n]/
"""
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 9},
        "tags": {"type": "array", "items": {"enum": ["é", "日本", "a b"]}},
        "age": {"type": "integer"},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}
FUNCTION = {"name": "save", "parameters": PERSON}
WRITTEN: dict[str, tuple[str, str]] = {
    "C-like": ("lark", C_LIKE),
    "SQL": ("lark", SQL),
    "keys in any order": ("json-schema", json.dumps(PERSON)),
    "calls": (
        "tools",
        json.dumps({"tools": [{"type": "function", "function": FUNCTION}], "style": "hermes"}),
    ),
}


@sampled("name", (TINY[1], "gpt2"), (*TINY, *TOKENIZERS))
@pytest.mark.parametrize("written", WRITTEN)
def test_walks_of_what_people_write(
    written: str, name: str, case: Callable[[str], Case], full: bool
) -> None:
    """By the options that are the default, but for keys in any order."""
    here, (dialect, text) = case(name), WRITTEN[written]
    schema = SchemaOptions(order="any", whitespace="1")
    options = CompileOptions(dialect=dialect, schema=schema, precompute="none")
    artifact = Compiler(here.tokenizer, options=options).compile(text)
    assert artifact.is_canonical
    rng = random.Random(7)
    count = -(-20_000 // (len(WRITTEN) * len((*TINY, *TOKENIZERS)))) if full else 12
    spelled(here, artifact, list(random_walks(machine_of(artifact), here.eos_ids, rng, count, 25)))


def machine_of(artifact: Artifact) -> CanonicalMachine:
    """What the matchers of a network's artifact step."""
    assert isinstance(artifact.runtime, CanonicalRuntime)
    return artifact.runtime.machine()
