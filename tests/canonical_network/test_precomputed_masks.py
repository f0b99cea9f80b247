"""Precomputed canonical masks, against encodings and against masks computed lazily."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from support.canonical import (
    FINITE,
    PIECES,
    check,
    eos_of,
    finite_languages,
    following,
    machine_and_encode,
    machine_of,
    members,
    random_walks,
)
from support.cartesian import Case
from support.grammars import DYCK, JSON, MARKUP, SAMPLES, STATEMENTS, nullable_lnf_of

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.precomputed_rows import PrecomputedRows
from constrain.artifacts.network.configurations import Stacks
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.canonical_network.liveness import PlainLiveness
from constrain.compiler.canonical_network.precompute import Precomputed, precompute_rows
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.limits import Limits
from constrain.compiler.network import build as networks
from constrain.compiler.pipeline import build_artifact, build_engine

NESTING = {"json": JSON, "dyck": DYCK, "markup": MARKUP, "statements": STATEMENTS}


class CountedRows(PrecomputedRows):
    """Counts the rows that are not precomputed."""

    missing = 0

    def find(
        self, stacks: Stacks, state: int, pre_state: int, node: int, plane: int
    ) -> set[int] | None:
        """As ``PrecomputedRows.find``."""
        found = super().find(stacks, state, pre_state, node, plane)
        self.missing += found is None
        return found


def precompute(machine: CanonicalMasks, most: int = 10**6) -> tuple[Precomputed, CountedRows]:
    """Precompute the rows of a machine, and give them to it."""
    network = machine.pretokenized
    found = precompute_rows(network, PlainLiveness(network), most, 10**9, Limits())
    states = len(network.pretokenizer.table)
    rows = CountedRows(found.arrays, machine.network.tables.states, states)
    machine.precomputed = rows
    return found, rows


def compare(
    ahead: CanonicalMasks, lazy: CanonicalMasks, rng: random.Random, walks: int, longest: int
) -> int:
    """Random walks by the masks of both, which are the same; how many masks."""
    count = 0
    for _ in range(walks):
        one, other = ahead.start, lazy.start
        for _ in range(longest):
            allowed = tokenset.to_ids(lazy.row(other)).tolist()
            assert allowed == tokenset.to_ids(ahead.row(one)).tolist()
            count += 1
            text = [token for token in allowed if lazy.vocabulary.is_text(token)]
            if not text:
                break
            token = min(rng.choices(text, k=rng.choice([1, 3])))
            one, other = ahead.step(one, token), lazy.step(other, token)
    return count


def random_nesting_grammar(rng: random.Random) -> str:
    """Three rules, each of all rules and of texts."""
    names = ["start", "x", "y"]

    def body() -> str:
        parts = [*names, "'a'", "'b'", "'ab'", "'bba'", "''"]
        return " ".join(rng.choice(parts) for _ in range(rng.randint(1, 4)))

    return "".join(
        f"{name} ::= {' | '.join([*(body() for _ in range(rng.randint(1, 3))), text])};"
        for name, text in zip(names, ["'b'", "'a'", "'ab'"], strict=True)
    )


@pytest.mark.parametrize("largest", [0, 200], ids=["calls", "inlined"])
@pytest.mark.parametrize("name", PIECES)
def test_masks_of_random_finite_grammars_are_those_of_all_encodings(
    name: str, largest: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is computed lazily, where all were precomputed."""
    monkeypatch.setattr(networks, "INLINED_STATES", largest)
    rng = random.Random(43)
    tokens = complete = 0
    for tables, texts in finite_languages(rng, 1500 if full else 8):
        machine, encode, eos = machine_and_encode(rng, name, tables)
        found, rows = precompute(machine)
        tokens += check(machine, following(map(encode, texts), [eos]))
        assert not (found.is_complete and rows.missing)
        complete += found.is_complete
    assert tokens > 100
    assert complete > 2


@pytest.mark.parametrize("name", PIECES)
def test_masks_of_random_nesting_grammars_are_those_computed_lazily(
    name: str, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them precomputed, some of them, and none."""
    monkeypatch.setattr(networks, "INLINED_STATES", 0)
    rng = random.Random(44)
    masks = 0
    for _ in range(60 if full else 4):
        try:
            tables = networks.network(nullable_lnf_of(random_nesting_grammar(rng)))
        except CheckError:
            continue
        seed = rng.randrange(1 << 30)
        lazy, _, _ = machine_and_encode(random.Random(seed), name, tables)
        for most in (10_000, 20):
            ahead, _, _ = machine_and_encode(random.Random(seed), name, tables)
            found, rows = precompute(ahead, most)
            try:
                masks += compare(ahead, lazy, random.Random(seed), 10, 20)
            except ArtifactError as error:
                assert "not decided" in str(error)
            assert not (found.is_complete and rows.missing)
    assert masks > 200


def artifact_of(case: Case, grammar: str) -> Artifact:
    """A grammar's artifact, by way of the file."""
    eos = [] if case.tokenizer.eos else [0]
    found = compile_grammar(
        grammar, dialect="kbnf", tokenizer=case.tokenizer, tables=case.tables, eos=eos
    )
    return load_bytes(found.to_bytes())


@pytest.mark.parametrize("grammar", FINITE.values(), ids=FINITE)
@pytest.mark.parametrize("name", ["tiny-bpe-1000", "gpt2"])
def test_masks_of_finite_grammars_are_those_of_all_encodings(
    name: str, grammar: str, case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules as calls; nothing is left to be computed lazily."""
    monkeypatch.setattr(networks, "INLINED_STATES", 0)
    tables = networks.network(nullable_lnf_of(grammar))
    here = case(name)
    machine = machine_of(tables, here.tokenizer, here.tables)
    found, rows = precompute(machine)
    texts = [text.decode() for text in members(tables)]
    expected = following(map(here.encode, texts), eos_of(here.tokenizer))
    assert check(machine, expected) > 10
    assert (found.is_complete, rows.missing) == (True, 0)


@pytest.mark.parametrize("grammar", NESTING.values(), ids=NESTING)
@pytest.mark.parametrize("name", ["tiny-bpe-1000", "gpt2"])
def test_masks_of_nesting_grammars_are_those_computed_lazily(
    name: str, grammar: str, case: Callable[[str], Case], full: bool
) -> None:
    """Along random walks."""
    here = case(name)
    tables = networks.network(nullable_lnf_of(grammar))
    ahead = machine_of(tables, here.tokenizer, here.tables)
    found, rows = precompute(ahead)
    lazy = machine_of(tables, here.tokenizer, here.tables)
    assert compare(ahead, lazy, random.Random(45), 100 if full else 4, 20) > 30
    assert not (found.is_complete and rows.missing)


def test_masks_behind_a_prefix_are_lazy_ones(case: Callable[[str], Case], full: bool) -> None:
    """With tokens of bytes, and no pre-tokenizer: most is left to decoding."""
    here = case("mistral-v3")
    machines = []
    for prewarm in (10**6, 0):
        artifact = build_artifact(
            build_engine(STATEMENTS, dialect="kbnf"),
            here.tokenizer,
            tables=here.tables,
            prewarm=prewarm,
        ).artifact
        machine = artifact.machine()
        assert machine is not None
        machines.append(machine)
    assert compare(*machines, random.Random(46), 50 if full else 1, 8) > 5


@pytest.mark.parametrize("name", ["gpt2", "tiny-bpe-4000"])
def test_nothing_is_computed_lazily_for_json(name: str, case: Callable[[str], Case]) -> None:
    """At the start of a text and behind prompts."""
    here = case(name)
    artifact = artifact_of(here, JSON)
    for prompt in ("", "Answer:\n", "Yes"):
        own = here.encode(prompt)
        whole = here.encode(prompt + SAMPLES[JSON].decode())
        assert whole[: len(own)] == own
        matcher = artifact.matcher(after=own)
        for token in whole[len(own) :]:
            matcher.advance(token)
        assert matcher.is_accepting
    machine = artifact.machine()
    assert isinstance(machine, CanonicalMasks)
    assert "lazy_rows" not in vars(machine)
    assert "contexts" not in vars(machine.pretokenized)


@pytest.mark.parametrize("grammar", NESTING.values(), ids=NESTING)
def test_no_walk_by_masks_meets_a_dead_end(
    grammar: str, case: Callable[[str], Case], full: bool
) -> None:
    """What they spell is encoded so."""
    here = case("gpt2")
    artifact = artifact_of(here, grammar)
    machine = artifact.machine()
    assert machine is not None
    walks = random_walks(
        machine, artifact.manifest.eos, random.Random(6), 10_000 if full else 5, 25
    )
    for ids in walks:
        text = b"".join(here.tokenizer.decode_bytes([i]) for i in ids).decode()
        assert ids == here.encode(text)


def test_damaged_sections_are_refused(default_tokenizer: Tokenizer) -> None:
    """Each section of precomputed rows is checked."""
    artifact = compile_grammar(DYCK, dialect="kbnf", tokenizer=default_tokenizer)
    sections = artifact.arrays
    damaged = {
        "closed.all": sections["closed.all"] + np.uint8(2),
        "closed.answers": sections["closed.answers"] + np.int32(1_000_000),
        "closed.contexts": sections["closed.contexts"] - np.int32(1_000_000),
        "closed.id_offsets": sections["closed.id_offsets"][::-1].copy(),
        "closed.ids": sections["closed.ids"] + np.int32(1_000_000),
        "closed.keys": sections["closed.keys"][::-1].copy(),
        "closed.pending_offsets": sections["closed.pending_offsets"] + 1,
        "closed.rows": sections["closed.rows"][:, :-1].copy(),
        "closed.suffixes": sections["closed.suffixes"] + np.int32(1),
    }
    for name, section in damaged.items():
        with pytest.raises(ArtifactError, match=name):
            Artifact(artifact.manifest, {**sections, name: section})


def test_the_number_of_summaries_is_bounded(default_tokenizer: Tokenizer) -> None:
    """None where none are wanted; where some are left out, a note says so."""
    engine = build_engine(DYCK, dialect="kbnf")
    none = build_artifact(engine, default_tokenizer, prewarm=0)
    assert "closed.keys" not in none.artifact.arrays
    assert "answers" not in none.artifact.manifest.counts
    some = build_artifact(engine, default_tokenizer, prewarm=1)
    assert some.artifact.manifest.counts["answers"] > 0
    assert not some.artifact.arrays["closed.all"][0]
    assert "--prewarm" in some.notes[-1]
