"""The machine in the sections of a product."""

from typing import TypeAlias

from .cuts import whole_pieces
from .manifest import Manifest
from .product import ProductMachine, ProductRows
from .rectangles import ForbiddenPairs
from .requirements import Arrays
from .stable import StableMachine
from .stable_prompts import PromptedMachine
from .stable_texts import StableTexts
from .vocabulary import Vocabulary

AnyProduct: TypeAlias = ProductMachine | StableMachine | PromptedMachine


def product_machine(manifest: Manifest, arrays: Arrays, vocabulary: Vocabulary) -> AnyProduct:
    """The automaton of CartesianMerge, with the stable texts beside it if there are any."""
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
    )
    if "stable.table" not in arrays:
        return product
    table, classes, tokens, unsure = (
        arrays[f"stable.{name}"] for name in ("table", "classes", "tokens", "unsure")
    )
    texts = StableTexts(table, classes, int(arrays["stable.start"][0]), tokens, unsure)
    if "stable.prompts" in arrays:
        return PromptedMachine(product, texts)
    return StableMachine(product, texts)
