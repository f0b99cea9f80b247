"""The machine of a product, from the sections of an artifact."""

from typing import TypeAlias

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..container.manifest import Manifest
from ..container.requirements import Arrays
from ..normalizer.normal_form_dfa import NormalFormDfa
from ..pretokenizer.dfa import whole_pieces
from ..tokens.memo import CacheBudget
from ..tokens.vocabulary import Vocabulary
from .machine import ProductMachine, ProductRows
from .normalized_machine import NormalizedAfterPrompt, NormalizedProduct

AnyProduct: TypeAlias = ProductMachine | NormalizedProduct | NormalizedAfterPrompt


def product_machine(
    manifest: Manifest, arrays: Arrays, vocabulary: Vocabulary, caches: CacheBudget
) -> AnyProduct:
    """The automaton of CartesianMerge, with texts in normal form beside it if there are any."""
    product = ProductMachine(
        arrays["product.table"],
        arrays["product.classes"],
        arrays["product.accepting"],
        manifest.token_start,
        arrays["cuts.fallback"],
        ProductRows(
            arrays["product.row_of"],
            arrays["product.rows"],
            arrays["product.ids"],
            arrays["product.id_offsets"],
        ),
        ForbiddenPairs.from_arrays(arrays, "pairs."),
        vocabulary,
        manifest.eos,
        manifest.vocab_size,
        whole_pieces(arrays),
        caches,
    )
    if "stable.table" not in arrays:
        return product
    table, classes, tokens, unsure = (
        arrays[f"stable.{name}"] for name in ("table", "classes", "tokens", "unsure")
    )
    texts = NormalFormDfa(table, classes, int(arrays["stable.start"][0]), tokens, unsure)
    if "stable.prompts" in arrays:
        return NormalizedAfterPrompt(product, texts)
    return NormalizedProduct(product, texts)
