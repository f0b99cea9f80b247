"""Files of a grammar's positions: the machine of the grammar, the same bytes, and no harm."""

# Tests here say `expected == actual`.

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support import EXAMPLES, encoded, sampled, tokenizer_of
from support.container import (
    Arrays,
    Change,
    changed,
    check_every_bit_counts,
    check_flipped_bits_do_no_harm,
    refused,
    walk_two_deep,
)
from support.grammars import COUNTED, JSON, SAMPLES, random_grammars
from support.matcher import check_random_texts, whole_of
from support.network import made

from constrain.artifacts import Artifact
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.kinds.met_states import MetStates
from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.machine.positions import Positions
from constrain.artifacts.machine.stored_fronts import StoredFronts
from constrain.artifacts.machine.stored_positions import StoredPositions
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer, compile_grammar
from constrain.compiler.explain.explainer import explainer_of_artifact, explainer_of_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.machine.whole_tables import network_in, with_dfa
from constrain.compiler.options import with_changes
from constrain.compiler.pipeline import build_artifact, build_engine

ANY = {"tokenization": "any", "prewarm": 0}
LIMITS = Limits()

# Grammars in this repository and its samples, some regular and some that nest.
OWN = ["date.ebnf", "json.ebnf", "person.ebnf", "tool_call.schema.json", "csv/rfc4180.gbnf"]


def texts() -> Iterator[tuple[str, str]]:
    """Grammars with their dialects."""
    for text in SAMPLES:
        yield text, "kbnf"
    yield from COUNTED
    for name in OWN:
        dialect = {"ebnf": "kbnf", "json": "json-schema"}.get(name.rsplit(".")[-1], "gbnf")
        yield (EXAMPLES / name).read_text(encoding="utf-8"), dialect


@sampled("seed", range(4), range(100))
def test_all_states_of_a_file_are_those_that_are_met(
    seed: int, default_tokenizer: Tokenizer
) -> None:
    """A network that reads the same short texts, or a DFA of the same masks where nothing is
    called."""
    compiler, kinds = Compiler(default_tokenizer), set()
    for text, _ in random_grammars(4, seed):
        found = compiler.compile(text, dialect="kbnf", **ANY)
        if not isinstance(found, GrowingArtifact):
            continue
        loaded = load_bytes(found.to_bytes())
        whole = with_dfa(loaded, LIMITS)
        kinds.add(whole.is_regular)
        if whole.is_regular:
            check_random_texts([loaded, whole], 3, 30, seed=seed, short=0.5)
            continue
        assert isinstance(loaded.runtime, MetStates)
        mine, other = loaded.runtime.texts(), Network(network_in(loaded, LIMITS))
        pending = [(mine.start, other.start, 0)]
        for first, second, length in pending:
            assert other.may_end(second) == mine.may_end(first)
            for octet in b"abc" if length < 5 else b"":
                ways = mine.read(first, [octet]), other.read(second, [octet])
                assert (ways[0] == REFUSED) == (ways[1] == REFUSED)
                if REFUSED not in ways:
                    pending.append((*ways, length + 1))
    assert {True, False} >= kinds > set()


@pytest.mark.parametrize(("text", "dialect"), [*texts()])
def test_bytes_do_not_depend_on_what_was_met(
    text: str, dialect: str, default_tokenizer: Tokenizer
) -> None:
    """Nor on how the artifact is made: by a compiler, whole or not, or step by step."""
    compiler = Compiler(default_tokenizer)
    expected = compiler.compile(text, dialect=dialect, **ANY).to_bytes()
    assert expected == compiler.compile_whole(text, dialect=dialect, **ANY).to_bytes()
    for seed in range(2):
        found = compiler.compile(text, dialect=dialect, **ANY)
        check_random_texts([found], 2, 30, seed=seed, short=0.5)
        assert expected == found.to_bytes()
    recogniser = build_engine(text, dialect=dialect, **ANY)
    assert expected == build_artifact(recogniser, default_tokenizer, **ANY).artifact.to_bytes()
    assert expected == load_bytes(expected).to_bytes()


def test_members_that_a_tokenizer_cannot_spell_are_left_out(tmp_path: Path) -> None:
    """With the note, and the masks of the network."""
    text = 'root ::= "(" root ")" | x\nx ::= [a-d] x | [01]'
    tokenizer = tokenizer_of(tmp_path, "abc0()", ["a b"], added=[(9, "<eos>", True)])
    given = {"dialect": "gbnf", "tokenizer": tokenizer, "eos": ["<eos>"]}
    found = compile_grammar(text, **given, **ANY)
    whole = whole_of(tokenizer, text, "gbnf")
    assert "positions.arcs" in found.arrays
    assert any("0x64" in note for note in found.notes)
    check_random_texts([found, load_bytes(found.to_bytes()), whole], 20, 12, seed=1, short=0.5)


def test_loaded_files_do_all_that_others_do(default_tokenizer: Tokenizer) -> None:
    """Viable texts, boundaries, explanations, masks."""
    found = load_bytes(Compiler(default_tokenizer).compile(JSON, dialect="kbnf", **ANY).to_bytes())
    whole, earley = whole_of(default_tokenizer, JSON), made(JSON, default_tokenizer, "earley")
    assert isinstance(found.machine(), MetMasks)
    of_grammar = explainer_of_grammar(JSON, with_changes(None, {"dialect": "kbnf"}))
    for text in (b'{"a": [1, tru', b"{]", b"", b"[[1]]"):
        assert whole.network.viable(text) == found.viable_bytes(text)
        lengths = [[b.length for b in boundaries(each, text)] for each in (earley, found)]
        assert lengths[0] == lengths[1]
        assert of_grammar.verdict(text) == explainer_of_artifact(found).verdict(text)
    check_random_texts([found, whole], 3, 30, seed=2)


# --- damage


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """Small enough to try much with: a call, what is gone over without reading, a run of bytes."""
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = tokenizer_of(folder, "ab", ["a b", "b b"], added=[(4, "<eos>", True)])
    text = 'root ::= "a" root "b" opt | [ab] "b"\nopt ::= "a"?'
    given = {"dialect": "gbnf", "tokenizer": tokenizer, "eos": ["<eos>"]}
    return compile_grammar(text, **given, **ANY).completed


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep; and what reads texts."""
    walk_two_deep(artifact)
    boundaries(artifact, b"aabb")
    with_dfa(artifact, LIMITS)
    network_in(artifact, LIMITS)


def calling_itself(arrays: Arrays, name: str) -> NDArray[np.integer]:
    """The procedure starts where it is called."""
    starts, arcs = arrays[name].copy(), arrays["positions.arcs"]
    calling = np.repeat(
        np.arange(len(arrays["positions.arc_offsets"]) - 1),
        np.diff(arrays["positions.arc_offsets"]),
    )[arcs[:, 0] >= 256]
    starts[0] = calling[0]
    return starts


DAMAGE: list[tuple[str, Change]] = [
    ("positions.arcs", changed((0, 0), 255)),
    ("positions.arcs", changed((0, 1), 256)),
    ("positions.arcs", changed((0, 2), 99)),
    ("positions.arcs", lambda a, n: a[n][:, :2]),
    ("positions.arcs", lambda a, n: a[n][:-1]),
    ("positions.arcs", lambda a, n: a[n].astype(np.uint8)),
    ("positions.arcs", lambda a, n: a[n].astype(np.int32)),
    ("positions.arc_offsets", changed(1, 1)),
    ("positions.arc_offsets", changed(-1, 99)),
    ("positions.arc_offsets", changed(2, 60_000)),
    ("positions.arc_offsets", lambda a, n: a[n][:1]),
    ("positions.arc_offsets", lambda a, n: a[n][:0]),
    ("positions.skip_offsets", changed(1, 1)),
    ("positions.skip_offsets", lambda a, n: np.append(a[n], a[n][-1:])),
    ("positions.skips", changed(0, 99)),
    ("positions.skips", lambda a, n: a[n][1:]),
    ("positions.starts", changed(0, 99)),
    ("positions.starts", calling_itself),
    ("positions.starts", lambda a, n: a[n][1:]),
    ("positions.starts", lambda a, n: np.append(a[n], a[n][:1])),
    ("first.row", lambda a, n: a[n] | np.uint32(1 << 31)),
    ("vocab.kinds", changed(0, 9)),
]


@pytest.mark.quick
@pytest.mark.parametrize(("name", "change"), DAMAGE)
def test_values_that_do_not_fit_are_refused(tiny: Artifact, name: str, change: Change) -> None:
    """Right checksums, wrong contents: the section is named, also without verifying."""
    arrays = dict(tiny.arrays)
    assert name.split(".")[0] in refused(encoded(tiny, {name: change(arrays, name)}), False)


@pytest.mark.quick
def test_bits_count(tiny: Artifact, full: bool) -> None:
    """A flipped one is found; unverified it does no harm."""
    exercise(load_bytes(tiny.to_bytes()))
    check_every_bit_counts(tiny, None if full else 80)
    check_flipped_bits_do_no_harm(tiny, exercise, 3000 if full else 60)


@sampled("seed", range(1), range(20))
def test_random_positions_are_refused_or_end(seed: int, tiny: Artifact) -> None:
    """Whatever stands there: no walk goes on for ever."""
    rng = random.Random(seed)
    walked = 0
    for _ in range(60):
        count, procedures = rng.randint(2, 6), rng.randint(1, 3)
        positions = Positions([[] for _ in range(count)], [() for _ in range(count)])
        for position in range(1, count):
            for _ in range(rng.randint(0, 2)):
                symbol = rng.choice([97, 98, *range(256, 256 + procedures)])
                positions.arcs[position] += (symbol, symbol, rng.randrange(count))
            skips = [rng.randrange(count) for _ in range(rng.randint(0, 2))]
            positions.epsilon[position] = skips
        starts = [rng.randrange(count) for _ in range(procedures)]
        none = StoredFronts.of([], [], [])
        stored = StoredPositions.of(positions, starts, none, 256, nullable_start=False)
        names = {**tiny.manifest.to_json()["parser"], "called": ["x"] * procedures}
        try:
            found = load_bytes(encoded(tiny, stored.arrays(), {"parser": names}))
        except Exception as error:
            assert "positions" in str(error)
            continue
        walked += 1
        walk_two_deep(found)
    assert walked > 5
