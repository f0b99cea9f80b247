"""Canonical masks of grammars with token terminals: the texts between them are encoded apart."""

# Tests here say `expected == actual`.

import random
from collections.abc import Callable
from functools import cache

import pytest
from support import sampled
from support.corpus.encodings import check_masks, following
from support.corpus.small_tokenizers import SMALL
from support.corpus.token_languages import random_token_language
from support.corpus.tokenizer_case import TOKENIZERS, Case
from support.network import inline_up_to

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.pipeline import build_artifact, build_engine

Count = Callable[[str, object], None]

# Options of a compilation, and whether a network copies rules.
ENGINES: dict[str, tuple[dict[str, object], bool]] = {
    "DFA": ({"engine": "dfa"}, True),
    "CartesianMerge": ({"engine": "dfa", "method": "cartesian"}, True),
    "network": ({"engine": "network"}, True),
    "network, calls": ({"engine": "network"}, False),
    "network, calls, lazily": ({"engine": "network", "prewarm": 0}, False),
}
RUNS = [(engine, name) for engine in ENGINES for name in (*SMALL, *TOKENIZERS)]
SOME = [
    ("DFA", "pieces"),
    ("CartesianMerge", "normalized"),
    ("CartesianMerge", "bytes"),
    ("network", "bytes"),
    ("network, calls", "normalized"),
    ("network, calls, lazily", "pieces"),
]


def compiled(engine: str, text: str, case: Case) -> Artifact:
    """A GBNF grammar, by way of its file."""
    options, copies = ENGINES[engine]
    with pytest.MonkeyPatch.context() as patch:
        if not copies:
            inline_up_to(patch, 0)
        front = build_engine(text, dialect="gbnf", engine=options["engine"])
    made = build_artifact(
        front,
        case.tokenizer,
        tables=case.tables,
        tokenization="canonical",
        eos=case.eos,
        **{name: value for name, value in options.items() if name != "engine"},
    )
    return load_bytes(made.artifact.to_bytes())


@pytest.fixture
def any_case(case: Callable[[str], Case], small: Callable[[str], Case]) -> Callable[[str], Case]:
    """A small tokenizer or a real one."""
    return cache(lambda name: small(name) if name in SMALL else case(name))


@sampled(("engine", "name"), SOME, RUNS)
def test_masks_are_those_of_all_encodings_of_the_texts_between(
    engine: str,
    name: str,
    any_case: Callable[[str], Case],
    full: bool,
    record_property: Count,
) -> None:
    """Random finite grammars of texts and tokens, also tokens that are texts, and all but one."""
    here, rng = any_case(name), random.Random(f"{engine} {name}")
    most = (80 if name in SMALL else 8) if full else 4
    counts = dict.fromkeys(("grammars", "without members", "masks", "tokens"), 0)
    for number in range(most):
        negations = name in SMALL and number % 2 == 0
        language = random_token_language(rng, here, negations=negations)
        encodings = language.encodings(here)
        counts["grammars"] += 1
        if not encodings:
            counts["without members"] += 1
            with pytest.raises(CheckError):
                compiled(engine, language.text, here)
            continue
        expected = following(encodings, here.eos_ids)
        artifact = compiled(engine, language.text, here)
        counts["masks"] += len(expected)
        counts["tokens"] += check_masks(artifact.matcher(), expected)
    assert counts["masks"] > 100
    for kind, count in counts.items():
        record_property(kind, count)
