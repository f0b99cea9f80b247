"""Artifacts with something wrong, of every kind, are refused, or walked inside their arrays."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded
from support.fuzzing.calls import tried
from support.fuzzing.guards import guarded
from support.fuzzing.mutants import Mutant, Mutants
from support.fuzzing.walks import opened_and_walked, walk

from constrain.artifacts import Artifact
from constrain.artifacts.canonical_network import machine as canonical_machine
from constrain.artifacts.canonical_network import trie_walk
from constrain.artifacts.kinds import token_dfa
from constrain.artifacts.maximal_munch import lexer_walk
from constrain.artifacts.walk import rows_by_frames, summaries
from constrain.artifacts.walk.kernel import Kernel

Numbers: TypeAlias = NDArray[np.integer]

# Mutants by their numbers: without --full so many, and of each kind of change at least one.
FEW, MANY = 250, 200_000

# Of these so many are walked over arrays that say when an index wraps, by other numbers.
GUARDED, FEW_GUARDED, MANY_GUARDED = 10**7, 12, 40_000


@pytest.mark.quick
def test_what_is_mutated_is_sound(originals: dict[str, Artifact], tmp_path: Path) -> None:
    """All kinds are there, and a walk of each ends well."""
    kinds = {"token-dfa", "word-dfa", "network"}
    assert kinds | {"earley", "greedy"} == {
        artifact.manifest.kind for artifact in originals.values()
    }
    for artifact in originals.values():
        walk(artifact, random.Random(1))
        opened_and_walked(Mutant(artifact.to_bytes(), {}, ""), tmp_path, 1)


@pytest.mark.quick
def test_mutated_artifacts_do_no_harm(
    originals: dict[str, Artifact],
    full: bool,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """No error but those that say so, no bit at or beyond V, and an end within 5 s and 1 GB."""
    mutants, flaws, count, walked = Mutants(originals), {}, MANY if full else FEW, 0
    for number in range(count):
        mutant = mutants[number]
        ended = tried(lambda: opened_and_walked(mutant, tmp_path, number))  # noqa: B023
        walked += ended.code == 0
        if ended.flaw:
            flaws[ended.flaw] = mutant.how
    record_property("mutated artifacts", count)
    assert {} == flaws
    # Some of them are read, and used.
    assert walked > count // 10


def _shapes(array: Numbers) -> Iterator[Numbers]:
    """A section with a row or a column less and more, with none, and with a dimension less."""
    yield from (array[:0], array[:-1], np.concatenate([array, array[-1:]]))
    if array.ndim > 1:
        wider = np.concatenate([array, array[:, -1:]], axis=1)
        yield from (array[:, :-1], wider, array[:0, :-1], wider[:0], array.reshape(-1))


def test_sections_of_another_shape_do_no_harm(
    originals: dict[str, Artifact], full: bool, tmp_path: Path
) -> None:
    """Every section of every sample; of kinds alone each name once without --full."""
    seen, flaws = set[str](), {}
    for name, artifact in originals.items():
        for section, array in artifact.arrays.items():
            if section in seen and not full:
                continue
            seen.add(section)
            for changed in _shapes(array):
                data = encoded(artifact, {section: changed})
                ended = tried(lambda: opened_and_walked(Mutant(data, {}, ""), tmp_path, 1))  # noqa: B023
                if ended.flaw:
                    flaws[f"{name}: {section} {array.shape} -> {changed.shape}"] = ended.flaw
    assert {} == flaws


@pytest.mark.quick
def test_walks_of_mutated_artifacts_never_leave_their_arrays(
    originals: dict[str, Artifact], full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor by an index below 0, which numpy takes for one from the end, nor by a slice that ends
    after an array, but where that is so in the sound ones. The walk of the token trie is that in
    Python, which looks at each index."""
    modules = rows_by_frames, summaries, canonical_machine, lexer_walk, trie_walk
    for module in modules:
        monkeypatch.setattr(module, "kernel", lambda: Kernel)
    mutants, wrapped = Mutants(originals), dict[str, str]()
    with guarded() as places:
        for artifact in originals.values():
            for seed in range(3):
                opened_and_walked(Mutant(artifact.to_bytes(), {}, ""), tmp_path, seed)
        meant = set(places)
        for number in range(GUARDED, GUARDED + (MANY_GUARDED if full else FEW_GUARDED)):
            mutant = mutants[number]
            ended = tried(lambda: opened_and_walked(mutant, tmp_path, number))  # noqa: B023
            assert not ended.failed, mutant.how
            wrapped |= dict.fromkeys(places - meant, mutant.how)
            places &= meant
    assert {} == wrapped


def test_a_section_of_sets_alone_does_no_harm(
    originals: dict[str, Artifact], tmp_path: Path
) -> None:
    """Where there are no sets, a section of that name is not looked at, or refused."""
    without = [a for a in originals.values() if "count.items" in a.arrays]
    without = [artifact for artifact in without if "set.parts" not in artifact.arrays]
    for artifact in without:
        data = encoded(artifact, {"set.offsets": np.zeros(1, dtype=np.int64)})
        assert not tried(lambda: opened_and_walked(Mutant(data, {}, ""), tmp_path, 1)).flaw  # noqa: B023
    assert len(without) > 1


def test_an_index_that_wraps_is_noticed(
    originals: dict[str, Artifact], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the arrays of the test above, where no check has refused the file."""
    artifact = originals["token-dfa"]
    families = np.full_like(artifact.arrays["tokens.family"], -1)
    data = encoded(artifact, {"tokens.family": families})
    monkeypatch.setattr(token_dfa, "check", lambda manifest, arrays: None)
    with guarded() as places:
        tried(lambda: opened_and_walked(Mutant(data, {}, ""), tmp_path, 1))
        assert [place for place in places if place.startswith("dfa/token_dfa.py")]


def _chain(count: int) -> Numbers:
    """Nodes of a trie with one child each: their children."""
    return np.minimum(np.arange(1, count + 2), count).astype(np.int32)


def _deep_trie(artifact: Artifact, prefix: str, levels: int) -> bytes:
    """A trie with one node a level."""
    held = np.zeros(levels + 1, dtype=np.int32)
    held[-1] = 1
    sections = {
        "octets": np.full(levels, 97, dtype=np.uint8),
        "first": _chain(levels),
        "held": held,
        "ids": np.zeros(1, dtype=np.int32),
    }
    return encoded(artifact, {prefix + name: array for name, array in sections.items()})


def _calls_in_calls(artifact: Artifact, count: int, called: Numbers | None = None) -> bytes:
    """States each of which begins with a call of the next one, or with calls of those that are
    ``called``, (count - 1, n)."""
    next_ones = np.arange(1, count)[:, None] if called is None else called
    arrays = artifact.arrays
    table, offsets = arrays["network.table"], arrays["network.call_offsets"]
    live = int(np.flatnonzero(arrays["network.accepting"])[0])
    more = np.zeros((count, table.shape[1]), dtype=np.int32)
    more[-1] = live
    calls = np.minimum(np.arange(1, count + 1), count - 1) * next_ones.shape[1]
    changed = {
        "network.table": (table, more),
        "network.accepting": (arrays["network.accepting"], np.zeros(count)),
        "network.call_offsets": (offsets, offsets[-1] + calls),
        "network.call_starts": (
            arrays["network.call_starts"],
            len(table) + next_ones.reshape(-1),
        ),
        "network.call_returns": (
            arrays["network.call_returns"],
            np.full(next_ones.size, arrays["network.call_returns"][0]),
        ),
    }
    sections = {
        name: np.concatenate([before, after.astype(before.dtype)])
        for name, (before, after) in changed.items()
    }
    return encoded(artifact, sections, {"byte_start": len(table)})


def _long_lexeme(artifact: Artifact, count: int) -> bytes:
    """A lexeme of so many bytes of any kind."""
    table, starts = artifact.arrays["lexer.table"], artifact.arrays["lexer.starts"].copy()
    behind = np.append(np.arange(len(table) + 1, len(table) + count), 0).astype(np.int32)
    starts[-1] = len(table)
    accepting = np.append(artifact.arrays["lexer.accepting"], np.arange(count) == count - 1)
    sections = {
        "lexer.table": np.concatenate([table, np.tile(behind[:, None], table.shape[1])]),
        "lexer.accepting": accepting.astype(np.uint8),
        "lexer.starts": starts,
    }
    return encoded(artifact, sections)


@pytest.mark.quick
@pytest.mark.parametrize("levels", [4_000, 20_000])
def test_tables_of_many_levels_are_refused_or_walked_in_time(
    originals: dict[str, Artifact], tmp_path: Path, levels: int
) -> None:
    """Tries deeper than any token, calls that begin in calls, and productions of one symbol."""
    tokenwise, bytewise = originals["earley, tokens"], originals["canonical network, bytes"]
    found = {
        "trie": _deep_trie(tokenwise, "trie.", levels),
        "trie of merged tokens": _deep_trie(bytewise, "merged_trie.", levels),
        "calls": _calls_in_calls(originals["canonical network, nothing known"], levels),
    }
    three = np.minimum(np.arange(1, 61)[:, None] + np.arange(3), 60)
    found["calls in three ways"] = _calls_in_calls(originals["network"], 61, three)
    arrays = originals["earley"].arrays
    rules, bodies = len(arrays["earley.first"]) - 1, len(arrays["earley.bodies"])
    symbols = np.stack([np.arange(rules + 1, rules + levels + 1), np.full(levels, 2**31 - 1)], 1)
    symbols[-1, 0] = -1
    numbers = np.arange(levels)
    more = {
        "earley.symbols": symbols.reshape(-1),
        "earley.bodies": len(arrays["earley.symbols"]) + 2 * numbers,
        "earley.first": bodies + 1 + numbers,
        "earley.rests": 0 * numbers,
        "earley.path_offsets": 0 * numbers + arrays["earley.path_offsets"][-1],
    }
    sections = {
        name: np.concatenate([arrays[name], after.astype(arrays[name].dtype)])
        for name, after in more.items()
    }
    found["productions"] = encoded(originals["earley"], sections)
    found["a lexeme"] = _long_lexeme(originals["greedy, nothing known"], levels // 4)
    for name, data in found.items():
        ended = tried(lambda: opened_and_walked(Mutant(data, {}, ""), tmp_path, 1))  # noqa: B023
        assert not ended.flaw, name
        # More levels than tokens have bytes, and more calls than may begin in each other.
        is_refused = "calls" in name or ("trie" in name and levels > 4096)
        assert is_refused <= (ended.code == 2), name


def test_a_search_for_an_end_farther_than_anyone_looks_does_no_harm(
    originals: dict[str, Artifact], tmp_path: Path
) -> None:
    """After 40 items in each of 30: nothing but loops, and no end near. What is live says so, or it
    is given up."""
    artifact = originals["canonical counters"]
    table = (artifact.arrays["network.table"] == 0).astype(np.int32)
    table[0] = 0
    data = encoded(artifact, {"network.table": table})
    ended = tried(lambda: opened_and_walked(Mutant(data, {}, ""), tmp_path, 1))
    assert "" == ended.flaw
    assert ended.code in (0, 2)


def _full(array: Numbers, value: int, begin: int = 0, end: int | None = None) -> Numbers:
    changed = array.copy()
    changed[begin:end] = value
    return changed


# What chance has found: the artifact, a section, and what it became.
FOUND: dict[str, tuple[str, str, Callable[[Numbers], Numbers]]] = {
    "spans after all tokens": ("word-dfa", "pieces.spans", lambda spans: _full(spans, 4)),
    "leaves without a token": (
        "greedy, counters",
        "trie.held",
        lambda held: _full(held, int(held[-1]), 1),
    ),
    "no text but whole pieces": (
        "canonical DFA, whole",
        "vocab.kinds",
        lambda kinds: _full(np.ones_like(kinds), 0, 40),
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", FOUND)
def test_what_mutations_have_found_does_no_harm(
    originals: dict[str, Artifact], tmp_path: Path, name: str
) -> None:
    """Some of it is refused, and some is walked."""
    of, section, changed = FOUND[name]
    data = encoded(originals[of], {section: changed(originals[of].arrays[section])})
    for seed in range(5):
        assert not tried(lambda: opened_and_walked(Mutant(data, {}, ""), tmp_path, seed)).flaw  # noqa: B023
