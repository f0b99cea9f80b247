"""DirectMerge and CartesianMerge allow the same at every reachable pair of their states."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.canonical import GRAMMARS
from support.cartesian import FINITE, INFINITE, TINY, TOKENIZERS, Case

from constrain.artifacts import Artifact
from constrain.artifacts.cartesian.normalized_machine import NormalizedProduct
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits
from constrain.compiler.diagnostics import LimitError

# Transitions of DirectMerge up to which the two are compared.
_CAP, _SMALL_CAP = 20_000_000, 50_000
_SAMPLED = ("gpt2", "tiny-bpe-1000")
# The others merge characters, or their merges are in no order that DirectMerge can follow.
_FOLLOWED = [name for name in (*TOKENIZERS, *TINY) if name != "mistral-v3"]


class Steps:
    """CartesianMerge's targets of many tokens at once.

    They depend on the product states, on the token, and on whether that may go on with the
    pre-token of the last one. Each such step is taken once.
    """

    def __init__(self, artifact: Artifact) -> None:
        assert artifact.product is not None
        self.machine = artifact.product
        self.size = artifact.vocab_size
        self.last: dict[int, int | None] = {self.machine.start: None}
        self._targets: dict[tuple[tuple[int, ...], int], NDArray[np.int64]] = {}

    def targets(self, state: int, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """The states after each of the tokens."""
        machine = self.machine
        in_normal_form = isinstance(machine, NormalizedProduct) and state % len(machine.texts.table)
        key = machine.members(state), int(in_normal_form)
        if key not in self._targets:
            self._targets[key] = np.full((2, self.size), -1, dtype=np.int64)
        targets = self._targets[key]
        last = self.last[state]
        follows = np.full(self.size, last is not None)
        if last is not None:
            follows[machine.pairs.ids(last)] = False
        goes_on = follows[tokens].astype(np.int64)
        for place in np.flatnonzero(targets[goes_on, tokens] < 0).tolist():
            token = int(tokens[place])
            targets[goes_on[place], token] = target = machine.step(state, token)
            self.last.setdefault(target, token)
        found: NDArray[np.int64] = targets[goes_on, tokens]
        return found


def compared(direct: Artifact, cartesian: Artifact) -> tuple[int, int]:
    """Compare the masks of all reachable pairs; their number and that of the transitions."""
    dfa, steps = direct.token_dfa, Steps(cartesian)
    assert dfa is not None
    eos = np.array(direct.manifest.eos)
    start = dfa.start, steps.machine.start
    seen, pending, transitions = {start}, [start], 0
    for one, other in pending:
        row = direct.rows.row(one)
        assert np.array_equal(row, steps.machine.row(other)), (one, other)
        assert dfa.is_accepting(one) == steps.machine.is_accepting(other)
        flags = tokenset.to_flags(row).copy()
        flags[eos] = False
        tokens, targets = dfa.edges_of(one)
        tokens, targets = tokens[flags[tokens]], targets[flags[tokens]]
        assert len(tokens) == flags.sum()
        transitions += len(tokens)
        others = steps.targets(other, tokens.astype(np.int64))
        for pair in zip(*np.unique(np.stack([targets, others]), axis=1).tolist(), strict=True):
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return len(seen), transitions


LANGUAGES = {
    **GRAMMARS,
    **{f"finite {name}": regex for name, regex in FINITE.items()},
    **{f"infinite {name}": regex for name, regex in INFINITE.items()},
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", _FOLLOWED)
def test_both_methods_allow_the_same(
    name: str,
    language: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Walked side by side, wherever DirectMerge has a table."""
    if not full and name not in _SAMPLED:
        pytest.skip("sampled: --full runs all tokenizers")
    here, regex = case(name), LANGUAGES[language]
    limits = Limits(transitions=_CAP if full else _SMALL_CAP, seconds=60)
    try:
        direct = load_bytes(here.compiled(regex, "direct", limits).to_bytes())
    except LimitError as error:
        pytest.skip(f"DirectMerge needs more than {error.value:,} {error.limit}")
    pairs, transitions = compared(direct, here.of(regex, "cartesian"))
    record_property("pairs", pairs)
    record_property("transitions", transitions)
