"""Grammars that come with a request: networks and automata from the tree allow what those of the
normal form do, bit by bit."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.normal_form.network import network
from workloads import languages, schemas
from workloads.request import Request

from constrain.artifacts import Artifact
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.maximal_munch import lexer_tables
from constrain.compiler.network import from_tree
from constrain.compiler.network.tree_rules import Rules
from constrain.compiler.options import CompileOptions

# By way of the normal form copies are sets of states, many of them.
SLOW = {"100 optional", "100 optional, open", "maxItems 1,000", "maxItems 1,000, objects"}

Real = Callable[[str], Tokenizer]


def by_the_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile without anything that is made of the tree."""

    def of_form(
        rules: Rules,
        limits: Limits,
        most_states: int | None = None,
        counted_from: int | None = None,
        copied_whole: int = 0,
    ) -> NetworkTables:
        del most_states, counted_from, copied_whole  # All is copied.
        return network(normalize(rules.grammar, limits), limits, rules.terminals)

    monkeypatch.setattr(from_tree, "network_of_rules", of_form)
    monkeypatch.setattr(lexer_tables, "network_of_rules", of_form)
    monkeypatch.setattr(CompileOptions, "wants_masks_alone", False)


def walked(
    artifact: Artifact, other: Artifact, start: list[int], steps: int, chance: random.Random
) -> int:
    """Compare masks along some tokens and a random walk after them, so many in all; how many
    there were."""
    mine, theirs = artifact.matcher(), other.matcher()
    for step in range(steps):
        mask = mine.mask()
        assert np.array_equal(mask, theirs.mask()), step
        follows = step < len(start)
        chosen = start[step] if follows else int(chance.choice(tokenset.to_ids(mask)))
        if chosen in artifact.manifest.eos:
            return step + 1
        mine.advance(chosen)
        theirs.advance(chosen)
    return steps


def check(
    tokenizer: Tokenizer,
    asked: list[Request],
    walks: int,
    steps: int,
    monkeypatch: pytest.MonkeyPatch,
) -> int:
    """Compare the masks of grammars, by turns from the tree and from the normal form."""
    compiler, chance, compared = Compiler(tokenizer), random.Random(16), 0
    for request in asked:
        here = {"name": request.name, "dialect": request.dialect, "tokenization": "any"}
        mine = compiler.compile(request.grammar, **here, prewarm=0)
        with monkeypatch.context() as patched:
            by_the_normal_form(patched)
            other = compiler.compile(request.grammar, **here, prewarm=0)
        for _ in range(walks):
            document = tokenizer.encode(chance.choice(request.documents))
            start = document[: chance.randrange(min(len(document), steps))]
            compared += walked(mine, other, start, steps, chance)
    return compared


def requests(gbnf: Path, some: slice | None) -> list[Request]:
    """All of them, or some of those that are built fast."""
    found = [*schemas.requests(), *languages.requests(gbnf)]
    assert len(found) >= 32
    return found if some is None else [one for one in found if one.name not in SLOW][some]


def test_masks_are_those_of_the_normal_form(
    data: Callable[[str], Path],
    default_tokenizer: Tokenizer,
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Along random walks, with the default tokenizer."""
    asked = requests(data("grammars/gbnf"), None if full else slice(0, None, 5))
    assert check(default_tokenizer, asked, 8 if full else 2, 60, monkeypatch) > 2 * len(asked)


def test_masks_are_those_of_the_normal_form_on_a_real_tokenizer(
    data: Callable[[str], Path], real: Real, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with GPT-2's."""
    asked = requests(data("grammars/gbnf"), None if full else slice(2, None, 9))
    assert check(real("gpt2"), asked, 5 if full else 1, 60, monkeypatch) > len(asked)
