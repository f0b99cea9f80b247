"""The machine of a product, from the sections of an artifact."""

import dataclasses
from typing import TYPE_CHECKING, TypeAlias, Union

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.block_rows import BlockRows
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.vocabulary import Vocabulary
from .machine import ProductMachine, ProductRows
from .transitions import Transitions

if TYPE_CHECKING:
    from ..normalizer.machine import WithNormalForm

AnyProduct: TypeAlias = Union[ProductMachine, "WithNormalForm[ProductMachine]"]

# Marks of a pre-tokenizer DFA in which no token is read apart.
_MARKS = 2

# How a budget is divided beside a normal-form DFA: the product, the DFA, and both together.
_PRODUCT, _NORMAL_FORM, _BOTH = 4, 1, 2


def product_machine(
    manifest: Manifest,
    arrays: Arrays,
    vocabulary: Vocabulary,
    caches: CacheBudget | None = None,
    lock: Lock | None = None,
    full: AnyProduct | None = None,
) -> AnyProduct:
    """The automaton of CartesianMerge, beside a normal-form DFA if the file has one.

    ``full``: the machine of these sections whose place it takes.
    """
    before = full if full is None or isinstance(full, ProductMachine) else full.inner
    budget = caches or CacheBudget()
    own, effects, both = budget.divide(_PRODUCT, _NORMAL_FORM, _BOTH)
    is_alone = "stable.table" not in arrays
    pretokenizer = PretokenizerDfa.from_arrays(arrays)
    machine = ProductMachine
    # Beside a DFA of two marks they are followed apart.
    if pretokenizer.whole and pretokenizer.table.shape[1] == _MARKS:
        from ..pretokenizer.whole_pieces import PretokenizerBesidePieces, WholePieces
        from .beside_pieces import ProductBesidePieces

        if isinstance(before, ProductBesidePieces):
            pieces = before.pieces
        else:
            pieces = WholePieces(arrays["cuts.whole"], vocabulary)
        fields = {f.name: getattr(pretokenizer, f.name) for f in dataclasses.fields(pretokenizer)}
        pretokenizer = PretokenizerBesidePieces(**fields, pieces=pieces)
        machine = ProductBesidePieces
    product = machine(
        Transitions(
            arrays["product.kernels"],
            arrays["product.kernel_of"],
            arrays["product.images"],
            arrays["product.image_offsets"],
        ),
        arrays["product.classes"],
        arrays["product.accepting"],
        manifest.token_start,
        ProductRows(
            arrays["product.row_of"],
            BlockRows(
                arrays["product.codes"],
                arrays["product.blocks"],
                arrays["product.block_offsets"],
                "product",
            ),
            arrays["product.ids"],
            arrays["product.id_offsets"],
        ),
        ForbiddenPairs.from_arrays(arrays, "pairs."),
        pretokenizer,
        arrays["product.after_cut"],
        vocabulary,
        manifest.eos,
        manifest.vocab_size,
        budget if is_alone else own,
        lock,
    )
    if before is not None:
        product.take_over(before)
    if is_alone:
        return product
    from ..normalizer.machine import WithNormalForm
    from ..normalizer.normal_form_dfa import NormalFormDfa, PromptRuns, Runs

    normal_form = NormalFormDfa.from_arrays(arrays)
    runs = PromptRuns if "stable.prompts" in arrays else Runs
    return WithNormalForm(
        product, runs(normal_form, vocabulary, effects), product.finds, caches=both
    )


def members(machine: AnyProduct, state: int) -> tuple[int, ...]:
    """The product states that the text so far may be in."""
    if isinstance(machine, ProductMachine):
        return machine.members(state)
    return machine.inner.members(machine.inner_state(state))


def forbidden_pairs(machine: AnyProduct) -> ForbiddenPairs:
    """The pairs of tokens that no encoding holds."""
    return machine.pairs if isinstance(machine, ProductMachine) else machine.inner.pairs
