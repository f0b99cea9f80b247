"""Artifacts of the kind ``earley``: any grammar under any tokenization, read by its productions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakSet

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..matcher import Begun, Generation
from .check_tokenizer import FIRST_ROW, check_first_row, check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import always
from .parser import NestingGrammar, check_earley, names_of

if TYPE_CHECKING:
    from ..earley.machine import EarleyMasks, EarleyMemo


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_earley(manifest, names_of(manifest), arrays)
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)


class EarleyRuntime(NestingGrammar):
    """An Earley recogniser holds one text, so each matcher has its own. What texts share is in one
    memo; when that is full, all matchers go on with machines of an empty one."""

    _memo: "EarleyMemo | None" = None

    def __init__(self, contents: Contents) -> None:
        super().__init__(contents)
        # Of the matchers' machines that have the memo.
        self._generations: WeakSet[Generation] = WeakSet()

    def machine(self) -> "EarleyMasks":
        """A machine of its own for each matcher."""
        from ..earley.machine import EarleyMasks, EarleyMemo

        c = self.contents
        with c.lock:
            if self._memo is None or self._memo.is_full:
                self._memo = EarleyMemo.of(c.caches, c.lock)
                for generation in self._generations:
                    generation.machine = None
                self._generations.clear()
            m = c.manifest
            machine = EarleyMasks(
                self.recogniser(),
                c.trie,
                c.vocabulary,
                m.eos,
                m.vocab_size,
                self.named,
                memo=self._memo,
            )
            if FIRST_ROW in c.arrays:
                machine.begin_with(c.arrays[FIRST_ROW])
            return machine

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        with self.contents.lock:
            begun = always(self.machine())
            self._generations.add(begun.generation)
        return begun

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self.recogniser().feed(text)


def runtime(contents: Contents) -> EarleyRuntime:
    """What runs the artifact."""
    return EarleyRuntime(contents)
