"""Threads share an artifact, each with matchers of its own: masks are those of one thread."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support import sampled
from support.corpus.tokenizer_case import Case
from support.grammars import JSON
from support.matcher import THREADS, deep_json, json_text, stress, walks_of
from support.maximal_munch import JSON as MUNCH
from support.wordpiece import compiled as compiled_by_words
from support.wordpiece import tokenizer_of

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar

DAY = "[12][0-9]{3}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
DATE = DAY + "( [a-z]{1,9}| é+)*"
# Tokens that a grammar names, between texts that nest.
NAMED = 'root ::= <[5]> root <[6]> | v+ | <[7]> root\nv ::= "[" v? "]" | [a-z] [a-z]?\n'

_NETWORK = {"dialect": "kbnf", "engine": "network"}
_MUNCH = {"dialect": "lark", "engine": "greedy", "tokenization": "any"}
_BYTES = {"dialect": "regex", "tokenization": "any"}
_TOKENS = {"dialect": "regex", "tokenization": "canonical"}
_SPARE: dict[str, Any] = {"max_artifact_bytes": 0}

# By kind the grammar, how it is compiled, and whether texts are JSON.
KINDS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "byte DFA": (DATE, _BYTES, False),
    "byte DFA, no rows": (DATE, _BYTES | _SPARE, False),
    "token-dfa": (DAY, _TOKENS | {"method": "direct"}, False),
    "token-dfa, no rows": (DAY, _TOKENS | {"method": "direct"} | _SPARE, False),
    "canonical DFA": (DATE, _TOKENS | {"method": "cartesian"}, False),
    "network": (JSON, _NETWORK | {"tokenization": "any"}, True),
    "network, lazy": (JSON, _NETWORK | {"tokenization": "any", "prewarm": 0}, True),
    "network, tokens": (NAMED, _NETWORK | {"tokenization": "any", "dialect": "gbnf"}, False),
    "canonical": (JSON, _NETWORK | {"tokenization": "canonical"}, True),
    "canonical, lazy": (JSON, _NETWORK | {"tokenization": "canonical", "prewarm": 0}, True),
    "greedy": (MUNCH, _MUNCH, True),
    "greedy, lazy": (MUNCH, _MUNCH | {"prewarm": 0}, True),
    "earley": (JSON, {"dialect": "kbnf", "engine": "earley", "tokenization": "any"}, True),
}
# Those of which short texts intern enough.
INTERNING = [name for name in KINDS if "dfa" not in name and name != "network, tokens"]
WORDS = ["a", "b", "##a", "##b", "ab", "##bb", "##ab", "c", "##cab", "abc"]

# Masks that are compared at least, of all threads together: with --full, else, and where they take
# long.
FULL, SOME, FEW = 100_000, 10_000, 1_000


@pytest.fixture(scope="module")
def files(default_tokenizer: Tokenizer) -> Callable[[str], bytes]:
    """The file of each kind."""
    known: dict[str, bytes] = {}

    def find(name: str) -> bytes:
        if name not in known:
            text, options, _ = KINDS[name]
            artifact = compile_grammar(text, tokenizer=default_tokenizer, **options)
            known[name] = artifact.to_bytes()
        return known[name]

    return find


def interning(artifact: Artifact) -> object:
    """What the matchers of now share."""
    machine = artifact.machine()
    return getattr(machine, "_memo", machine)


def check_threads(
    data: bytes,
    full: bool,
    ids: Callable[[random.Random], Sequence[int]] | None = None,
    prompts: Sequence[Sequence[int]] = ((),),
    cache_bytes: int | None = None,
    some: int = SOME,
    recomputed: bool = True,
) -> int:
    """No mask is wrong, ``some`` without --full; all is ``recomputed`` again and again, or not."""
    alone, rng = load_bytes(data), random.Random(17)
    options = {} if cache_bytes is None else {"cache_bytes": cache_bytes}
    walks = walks_of(alone, rng, 24 if full else 6, 120 if full else 60, ids, prompts)
    compared = 0
    artifact = load_bytes(data, **options)
    while compared < (FULL if full else some):
        if compared and recomputed:
            artifact = load_bytes(data, **options)
        first = interning(artifact)
        count, wrong = stress(artifact, walks)
        assert not wrong
        # A machine that interns a lot is not the one it began with, where it may hold little.
        assert cache_bytes is None or interning(artifact) is not first
        assert count >= THREADS * sum(len(walk.masks) for walk in walks)
        compared += count
    return compared


@sampled("name", ["canonical DFA", "network, lazy", "canonical, lazy", "greedy, lazy"], KINDS)
def test_threads_find_the_masks_of_one(
    name: str,
    files: Callable[[str], bytes],
    default_tokenizer: Tokenizer,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Eight threads, one artifact, a matcher each; precomputed and not."""

    def ids(rng: random.Random) -> Sequence[int]:
        return default_tokenizer.encode(json_text(rng))

    prompts: list[list[int]] = [[]]
    if name in ("canonical DFA", "token-dfa"):
        prompts += [default_tokenizer.encode(text) for text in (" the", "on:", "\n")]
    given = ids if KINDS[name][2] else None
    some = FEW if "canonical" in name or name == "canonical DFA" else SOME
    count = check_threads(files(name), full, given, prompts, some=some, recomputed=name != "earley")
    record_property("masks", count)


@sampled("name", ["network", "canonical", "greedy"], INTERNING)
def test_threads_go_on_when_a_machine_is_full(
    name: str,
    files: Callable[[str], bytes],
    default_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """The machine is replaced again and again, under all threads that step it."""
    room = "constrain.artifacts"
    for place, value in {
        "tokens.interning.FEWEST_BYTES": 2_000,
        "earley.machine.FEWEST_BYTES": 200_000,
        "machine.masks._BETWEEN_LOOKS": 8,
        "canonical_network.masks._BETWEEN_LOOKS": 8,
        "maximal_munch.machine._STEPS_BETWEEN_LOOKS": 8,
    }.items():
        monkeypatch.setattr(f"{room}.{place}", value)

    def ids(rng: random.Random) -> Sequence[int]:
        return default_tokenizer.encode(deep_json(rng))

    given = ids if KINDS[name][2] else None
    # Earley's rows take long; names are few bytes.
    cache_bytes = 1 << 20 if name == "earley" else 1 << 15
    some = FEW if name == "canonical" and not full else SOME
    count = check_threads(files(name), False, given, cache_bytes=cache_bytes, some=some)
    record_property("masks", count)


def test_threads_on_words(full: bool, record_property: Callable[[str, object], None]) -> None:
    """WordPiece: caches follow from the file alone."""
    words = tokenizer_of(WORDS, max_chars=12)
    artifact = compiled_by_words("[abc]{1,14}( [ab]{1,20})*( c)?", words)
    record_property("masks", check_threads(artifact.to_bytes(), full, some=FEW))


@pytest.mark.parametrize("engine", ["cartesian", "network"])
def test_threads_beside_a_normal_form(
    engine: str,
    normalizing: Case,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """A normal-form DFA runs beside the machine, also after prompts."""
    artifact: Artifact = normalizing.compiled("([a-zéñ \u0300-\u0303]|か|\u3099)*", engine)
    prompts = [normalizing.tokenizer.encode(text) for text in ("", "e", "か")]
    count = check_threads(artifact.to_bytes(), full, prompts=prompts, some=FEW)
    record_property("masks", count)
