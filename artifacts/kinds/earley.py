"""Artifacts of the kind ``earley``: any grammar under any tokenization, read by its productions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .parser import NestingGrammar, check_earley, names_of

if TYPE_CHECKING:
    from ..earley.machine import EarleyMasks, EarleyMemo


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_earley(manifest, names_of(manifest), arrays)


class EarleyRuntime(NestingGrammar):
    """An Earley recogniser holds one text, so each matcher has its own. What texts share is in one
    memo; when that has grown too large it is left to the matchers that use it."""

    _memo: "EarleyMemo | None" = None

    def machine(self) -> "EarleyMasks":
        """A machine of its own for each matcher."""
        from ..earley.machine import EarleyMasks, EarleyMemo

        c = self.contents
        if self._memo is None or self._memo.is_full:
            self._memo = EarleyMemo.of(c.caches)
        m = c.manifest
        return EarleyMasks(
            self.recogniser(),
            c.trie,
            c.vocabulary,
            m.eos,
            m.vocab_size,
            self.named,
            memo=self._memo,
        )

    def after_prompt(self, prompt: Sequence[int]) -> "tuple[EarleyMasks, int]":
        """Under any tokenization a prompt changes nothing."""
        machine = self.machine()
        return machine, machine.start

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self.recogniser().feed(text)


def runtime(contents: Contents) -> EarleyRuntime:
    """What runs the artifact."""
    return EarleyRuntime(contents)
