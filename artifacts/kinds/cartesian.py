"""Artifacts of the kind ``product``: a regular grammar under canonical tokenization, whose token
automaton is the product that CartesianMerge walks."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..cartesian.check import check_product
from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_byte_dfa
from .check_tokenizer import check_normal_form, check_pairs, check_pretokenizer, check_vocabulary
from .contents import BesideTerminals, Contents, over_sentinels
from .generations import SharedMachine
from .regular import RegularGrammar

if TYPE_CHECKING:
    from ..bpe.forbidden_pairs import ForbiddenPairs
    from ..cartesian.from_sections import AnyProduct
    from ..token_terminals.machine import TokenTerminalMachine

    AnyMachine: TypeAlias = AnyProduct | TokenTerminalMachine[AnyProduct]


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    states = check_byte_dfa(manifest, arrays)
    manifest, arrays = over_sentinels(manifest, arrays)
    check_pretokenizer(manifest, arrays)
    check_pairs(manifest, arrays)
    check_normal_form(manifest, arrays)
    check_product(manifest, arrays, states)


class ProductRuntime(SharedMachine["AnyMachine"], RegularGrammar):
    """Steps the product, with texts in normal form beside it if there are any."""

    @property
    def forbidden_pairs(self) -> "ForbiddenPairs":
        """Which tokens may not follow which inside a piece."""
        from ..cartesian.from_sections import forbidden_pairs

        found = forbidden_pairs(self._beside.inner(self.machine()))
        return found.of_first(self.contents.manifest.vocab_size)

    def _start(self, machine: "AnyMachine", prompt: Sequence[int]) -> int:
        # By the boundaries that the prompt may have, and its last token.
        return machine.state_after(prompt) if prompt else machine.start

    def byte_state_of(self, state: int) -> int:
        """The state of the byte DFA that a state stands for (of several, one)."""
        from ..cartesian.from_sections import members

        byte_states = self.contents.arrays["product.byte_state"]
        machine = self.latest()
        state = self._beside.inner_state(machine, state)
        return int(byte_states[members(self._beside.inner(machine), state)[0]])

    @cached_property
    def _beside(self) -> "BesideTerminals[AnyProduct]":
        return BesideTerminals(self.contents)

    def _following(self, full: "AnyMachine | None") -> "AnyMachine":
        from ..cartesian.from_sections import product_machine

        c = self._beside.contents_of_inner
        before = None if full is None else self._beside.inner(full)
        machine = product_machine(c.manifest, c.arrays, c.vocabulary, c.caches, c.lock, before)
        return self._beside.outer(machine)


def runtime(contents: Contents) -> ProductRuntime:
    """What runs the artifact."""
    return ProductRuntime(contents)
