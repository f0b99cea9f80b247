"""Artifacts of the kind ``product``: a regular grammar under canonical tokenization, whose token
automaton is the product that CartesianMerge walks."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..bpe.check import check_pairs
from ..cartesian.check import check_product
from ..container.manifest import Manifest
from ..container.requirements import Arrays
from ..dfa.check import check_byte_dfa
from ..normalizer.check import check_normal_form
from ..pretokenizer.check import check_pretokenizer
from ..tokens.check import check_vocabulary
from .contents import Contents
from .regular import RegularGrammar

if TYPE_CHECKING:
    from ..bpe.forbidden_pairs import ForbiddenPairs
    from ..cartesian.machine import ProductMachine
    from ..normalizer.machine import WithNormalForm

AnyProduct: TypeAlias = "ProductMachine | WithNormalForm[ProductMachine]"


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    states = check_byte_dfa(manifest, arrays)
    check_pretokenizer(manifest, arrays)
    check_pairs(manifest, arrays)
    check_normal_form(manifest, arrays)
    check_product(manifest, arrays, states)


class ProductRuntime(RegularGrammar):
    """Steps the product, with texts in normal form beside it if there are any."""

    def machine(self) -> "AnyProduct":
        """The machine of all matchers."""
        return self._machine

    @property
    def forbidden_pairs(self) -> "ForbiddenPairs":
        """Which tokens may not follow which inside a piece."""
        return self._product.pairs

    def after_prompt(self, prompt: Sequence[int]) -> tuple[AnyProduct, int]:
        """By the boundaries that the prompt may have, and its last token."""
        return self._machine, self._machine.state_after(prompt)

    def byte_state_of(self, state: int) -> int:
        """The state of the byte DFA that a state stands for (of several, one)."""
        from ..normalizer.machine import WithNormalForm

        machine = self._machine
        if isinstance(machine, WithNormalForm):
            state = machine.inner_state(state)
        byte_states = self.contents.arrays["product.byte_state"]
        return int(byte_states[self._product.members(state)[0]])

    @cached_property
    def _product(self) -> "ProductMachine":
        from ..bpe.forbidden_pairs import ForbiddenPairs
        from ..cartesian.machine import ProductMachine, ProductRows
        from ..pretokenizer.dfa import PretokenizerDfa, whole_pieces

        c = self.contents
        a, m = c.arrays, c.manifest
        pretokenizer = PretokenizerDfa(
            a["cuts.table"],
            a["cuts.classes"],
            a["cuts.fallback"],
            int(a["cuts.start"][0]),
            whole_pieces(a),
        )
        return ProductMachine(
            a["product.table"],
            a["product.classes"],
            a["product.accepting"],
            m.token_start,
            ProductRows(
                a["product.row_of"], a["product.rows"], a["product.ids"], a["product.id_offsets"]
            ),
            ForbiddenPairs.from_arrays(a, "pairs."),
            pretokenizer,
            a["product.after_cut"],
            c.vocabulary,
            m.eos,
            m.vocab_size,
            c.caches,
        )

    @cached_property
    def _machine(self) -> AnyProduct:
        c = self.contents
        if "stable.table" not in c.arrays:
            return self._product
        from ..normalizer.machine import WithNormalForm
        from ..normalizer.normal_form_dfa import NormalFormDfa, PromptRuns, Runs

        normal_form = NormalFormDfa.from_arrays(c.arrays)
        runs = PromptRuns if "stable.prompts" in c.arrays else Runs
        return WithNormalForm(self._product, runs(normal_form, c.vocabulary))


def runtime(contents: Contents) -> ProductRuntime:
    """What runs the artifact."""
    return ProductRuntime(contents)
