"""The machine in the sections of a product."""

from typing import TypeAlias

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..cartesian.machine import ProductMachine, ProductRows
from ..container.manifest import Manifest
from ..container.requirements import Arrays
from ..normalizer.machine import WithNormalForm
from ..normalizer.normal_form_dfa import NormalFormDfa, PromptRuns, Runs
from ..pretokenizer.dfa import PretokenizerDfa, whole_pieces
from ..tokens.vocabulary import Vocabulary

AnyProduct: TypeAlias = ProductMachine | WithNormalForm[ProductMachine]


def product_machine(manifest: Manifest, arrays: Arrays, vocabulary: Vocabulary) -> AnyProduct:
    """The automaton of CartesianMerge, beside a normal-form DFA if the file has one."""
    pretokenizer = PretokenizerDfa(
        arrays["cuts.table"],
        arrays["cuts.classes"],
        arrays["cuts.fallback"],
        int(arrays["cuts.start"][0]),
        whole_pieces(arrays),
    )
    product = ProductMachine(
        arrays["product.table"],
        arrays["product.classes"],
        arrays["product.accepting"],
        manifest.token_start,
        ProductRows(
            arrays["product.row_of"],
            arrays["product.rows"],
            arrays["product.ids"],
            arrays["product.id_offsets"],
        ),
        ForbiddenPairs.from_arrays(arrays, "pairs."),
        pretokenizer,
        arrays["product.after_cut"],
        vocabulary,
        manifest.eos,
        manifest.vocab_size,
    )
    if "stable.table" not in arrays:
        return product
    normal_form = NormalFormDfa.from_arrays(arrays)
    if "stable.prompts" in arrays:
        return WithNormalForm(product, PromptRuns(normal_form, vocabulary))
    return WithNormalForm(product, Runs(normal_form, vocabulary))


def members(machine: AnyProduct, state: int) -> tuple[int, ...]:
    """The product states that the text so far may be in."""
    if isinstance(machine, WithNormalForm):
        return machine.inner.members(machine.inner_state(state))
    return machine.members(state)


def forbidden_pairs(machine: AnyProduct) -> ForbiddenPairs:
    """The pairs of tokens that no encoding holds."""
    return machine.inner.pairs if isinstance(machine, WithNormalForm) else machine.pairs
