"""Products as they are stored: their tables as kernels and images, within a budget."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import tokenizer_of
from support.automata import REGEXES
from support.corpus.tokenizer_case import Case

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.cartesian.compressed import compressed_table
from constrain.compiler.cartesian.product import build_product
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.pipeline import build_automaton


@pytest.mark.parametrize("regex", [*REGEXES.values(), r'"[^"\\]{0,4}"'])
def test_kernels_and_images_are_the_table(regex: str, case: Callable[[str], Case]) -> None:
    """Each state leads by each mark and byte where the table says, one by one and all at once."""
    tables = case("tiny-bpe-1000").tables
    product = build_product(build_automaton(regex, dialect="regex").dfa, tables.pretokenizer)

    found = compressed_table(product)

    states = np.arange(product.states)
    for mark in range(product.table.shape[1]):
        for column in range(product.table.shape[2]):
            expected = product.table[:, mark, column].tolist()
            assert expected == found.targets(states, mark, np.full(len(states), column)).tolist()
            assert expected == [found.run(state, mark, [column]) for state in states.tolist()]
    starts = (product.table[:, 1] != 0).any(axis=1)
    assert starts.tolist() == found.starts_pretoken().tolist()


def test_kernels_of_any_table(case: Callable[[str], Case]) -> None:
    """Of random tables, too, more states than are compressed at a time."""
    tables = case("tiny-bpe-1000").tables
    product = build_product(build_automaton("a", dialect="regex").dfa, tables.pretokenizer)
    rng = np.random.default_rng(5)
    table = rng.integers(0, 6000, (6000, 2, 7), dtype=np.int32)
    table[rng.random(table.shape) < 0.3] = 0
    made = replace(product, table=table)

    found = compressed_table(made)

    for mark, column in np.ndindex(2, 7):
        targets = found.targets(np.arange(6000), mark, np.full(6000, column))
        assert table[:, mark, column].tolist() == targets.tolist()


def test_lengths_are_stored_in_little(default_tokenizer: Tokenizer) -> None:
    """States that differ in a count alone share a kernel, rows share their blocks."""
    artifact = compile_grammar(
        r'"[^"\\]{0,12}"', dialect="regex", tokenizer=default_tokenizer, method="cartesian"
    )

    arrays = artifact.arrays
    states, (_, planes, columns) = len(arrays["product.kernel_of"]), arrays["product.kernels"].shape
    names = ("kernels", "kernel_of", "images", "image_offsets")
    stored = sum(arrays[f"product.{name}"].nbytes for name in names)
    assert states > 500
    assert 10 * stored < 4 * states * planes * columns
    blocks, rows = arrays["product.blocks"], arrays["product.codes"]
    words = tokenset.word_count(artifact.manifest.vocab_size)
    assert blocks.nbytes + rows.nbytes < 4 * len(rows) * words


def test_a_table_beyond_its_budget_becomes_a_network_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same masks; an engine that is asked for is kept, and so is a table that no network
    can take the place of."""
    tokenizer = tokenizer_of(
        tmp_path, "ab", ["a b", "b ab"], added=[(9, "<eos>", True)], splits=True
    )

    def compiled(engine: str = "auto", method: str = "auto") -> Artifact:
        return compile_grammar(
            "(a|b){0,40}",
            dialect="regex",
            tokenizer=tokenizer,
            eos=[9],
            method=method,
            engine=engine,
        )

    expected = compiled()
    monkeypatch.setattr("constrain.compiler.choose.ROWS_BYTES", 200)
    found = compiled()

    assert (found.manifest.kind, expected.manifest.kind) == ("network", "product")
    note = "the table of the product needs more than 200 bytes"
    assert any(note in said for said in found.notes)
    first, second = found.matcher(), expected.matcher()
    for _ in range(10):
        assert np.array_equal(first.mask(), second.mask())
        token = int(tokenset.to_ids(first.mask())[0])
        first.advance(token)
        second.advance(token)
    assert compiled("dfa").manifest.kind == "product"
    assert compiled(method="cartesian").manifest.kind == "product"

    def refused(*_: object) -> None:
        raise LimitError("the network", "states", 1)

    monkeypatch.setattr("constrain.compiler.pipeline._of_nesting", refused)
    assert compiled().manifest.kind == "product"


def test_progress_of_products_is_shown(default_tokenizer: Tokenizer) -> None:
    """Each of their steps says how far it is."""
    shown: dict[str, list[tuple[int, int]]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        shown.setdefault(stage, []).append((done, total))

    compile_grammar(
        r'"[^"\\]{0,12}"',
        dialect="regex",
        tokenizer=default_tokenizer,
        method="cartesian",
        progress=progress,
    )

    assert {
        "the product with the pre-tokenizer",
        "the table of the product",
        "the table of each state's tokens",
        "the dead ends",
    } <= set(shown)
    for steps in shown.values():
        assert all(0 <= done <= total for done, total in steps)
        assert steps[-1][0] == steps[-1][1]
    assert len(shown["the table of each state's tokens"]) > 2
