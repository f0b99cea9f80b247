"""Artifacts with something wrong, of every kind, are refused, or walked inside their arrays."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fuzzing.calls import tried
from support.fuzzing.mutants import Mutant, Mutants
from support.fuzzing.samples import samples
from support.fuzzing.walks import opened_and_walked, walk

from constrain.artifacts import Artifact

# Mutants by their numbers: without --full so many, and of each kind of change at least one.
FEW, MANY = 450, 200_000


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory, full: bool) -> dict[str, Artifact]:
    """What is mutated."""
    return samples(tmp_path_factory.mktemp("tokenizers"), large=full)


@pytest.mark.quick
def test_what_is_mutated_is_sound(originals: dict[str, Artifact], tmp_path: Path) -> None:
    """All kinds are there, and a walk of each ends well."""
    kinds = {"byte-dfa", "token-dfa", "product", "word-dfa", "lazy-dfa", "lazy-network", "network"}
    assert kinds | {"earley", "greedy", "lazy-greedy"} == {
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
    assert walked > count // 20
