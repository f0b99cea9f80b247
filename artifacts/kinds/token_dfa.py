"""Artifacts of the kind ``token-dfa``: a regular grammar under canonical tokenization, all of
whose token sequences DirectMerge has put into one table."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_allowed_edges, check_byte_dfa, check_stored_rows, check_token_dfa
from ..dfa.token_dfa import TokenDfa
from ..errors import ArtifactError
from ..matcher import Begun
from ..tokens import tokenset
from .check_tokenizer import check_pairs, check_vocabulary
from .contents import Contents
from .generations import always
from .regular import RegularGrammar

if TYPE_CHECKING:
    from ..dfa.machine import DfaMachine
    from ..dfa.mask_rows import Rows
    from ..tokens.forbidden_pairs import ForbiddenPairs


# How the budget of a machine is divided: packed or computed rows, and steps.
ROWS_AND_STEPS = 7, 1


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    states = check_token_dfa(manifest, arrays, check_byte_dfa(manifest, arrays))
    check_pairs(manifest, arrays)
    if "rows" in arrays:
        check_stored_rows(manifest, arrays, states)
    else:
        check_allowed_edges(arrays)


class TokenDfaRuntime(RegularGrammar):
    """Steps the token DFA."""

    @cached_property
    def token_dfa(self) -> TokenDfa:
        """The automaton over canonical token sequences."""
        return TokenDfa.from_sections(self.contents.arrays, self.contents.manifest.token_start)

    @cached_property
    def rows(self) -> "Rows":
        """Where its mask rows come from."""
        from ..dfa.mask_rows import FamilyRows, StoredRows

        c = self.contents
        a, m = c.arrays, c.manifest
        cache = c.caches.divide(*ROWS_AND_STEPS)[0].cache()
        if "rows" in a:
            return StoredRows(a, m.vocab_size, cache)
        bits, offsets = a["tokens.allowed"], a["tokens.allowed_offsets"]
        return FamilyRows(self.token_dfa, bits, offsets, m.eos, m.vocab_size, cache)

    @cached_property
    def forbidden_pairs(self) -> "ForbiddenPairs":
        """Which tokens may not follow which inside a pre-token."""
        from ..tokens.forbidden_pairs import ForbiddenPairs

        return ForbiddenPairs.from_arrays(self.contents.arrays, "pairs.")

    def machine(self) -> "DfaMachine":
        """The machine of all matchers."""
        with self.contents.lock:
            return self._machine

    def begun(self, prompt: Sequence[int]) -> Begun:
        """The start takes no token that the tokenizer would join to the prompt's last one."""
        from ..dfa.machine import DfaBehindPrompt

        c = self.contents
        if not prompt or not c.vocabulary.is_text(prompt[-1]):
            return always(self.machine())
        ids = tokenset.to_ids(self.rows.row(self.token_dfa.start)).tolist()
        joined = self.forbidden_pairs.forbidden([prompt[-1]], ids)[0]
        # What is read as a token is no text that could be joined to the prompt.
        live = self.byte_dfa.token_targets(self.byte_dfa.start)
        apart = {*c.manifest.eos, *self.byte_dfa.terminals.select(live)[0].tolist()}
        left = [i for i, bad in zip(ids, joined, strict=True) if not bad or i in apart]
        if not left:
            raise ArtifactError(
                f"no member of the grammar continues token {prompt[-1]}: the tokenizer would join "
                f"each first token to it"
            )
        first_row = tokenset.from_ids(left, c.manifest.vocab_size)
        first_row.flags.writeable = False
        return always(DfaBehindPrompt(self.token_dfa, self.rows, first_row))

    def byte_state_of(self, state: int) -> int:
        """The state of the byte DFA that a state was split off (of several, one)."""
        arrays = self.contents.arrays
        family = int(arrays["tokens.family"][state])
        states = arrays.get("tokens.family_states")
        return family if states is None else int(states[family])

    @cached_property
    def _machine(self) -> "DfaMachine":
        from ..dfa.machine import DfaMachine

        steps = self.contents.caches.divide(*ROWS_AND_STEPS)[1]
        return DfaMachine(self.token_dfa, self.rows, steps)


def runtime(contents: Contents) -> TokenDfaRuntime:
    """What runs the artifact."""
    return TokenDfaRuntime(contents)
