"""DirectMerge for a tokenizer that cuts text: letters that start a piece are letters of their own.

    product with the cuts  ->  each merge, twice  ->  marks erased (subset construction)

A token that starts a piece is written with a mark: t + V for V tokens. It is never a right
part, so the merge (a, b) is made as (a + V, b) first, which is always the leftmost pair, then
as (a, b). Erasing the marks leaves at most a few states in each subset, because each text has
one marking.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.token_dfa import TokenDfa

from ..automata.dfa import Dfa
from ..limits import Limits
from ..progress import Progress, silent
from ..tokenizers import Tokenizer
from .canonical import CanonicalDfa, merge_families
from .families import with_letters
from .marked_dfa import DEAD
from .product import Product
from .proper import proper_merges

_STAGE = "erasing the marks of cuts"


def direct_with_cuts(
    product: Product,
    dfa: Dfa,
    tokenizer: Tokenizer,
    limits: Limits | None = None,
    progress: Progress = silent,
    rules: Sequence[str] = (),
) -> CanonicalDfa:
    """The DFA of the tokenizer's sequences for the texts of ``product``; ``dfa`` is the
    grammar's. Raises ``TokenizerError`` and ``LimitError``.
    """
    limits = (limits or Limits()).started()
    size = tokenizer.vocab_size
    reached = _reached(product)
    finals = [s for s in reached if product.accepting[s]]
    # Behind a prompt other states begin; here they would be irrelevant.
    number = {DEAD: 0, **{s: i for i, s in enumerate(reached, start=1)}}
    letters = ((number[a], t, number[b]) for a, t, b in _letters(product, reached, tokenizer))
    automaton = with_letters(
        len(number), number[product.start], [number[s] for s in finals], letters
    )
    # What reads a prefix is beyond the states of the grammar.
    known = np.where(product.byte_state < dfa.states, product.byte_state, dfa.start)
    byte_states = known[[DEAD, *reached]].tolist()
    names = [sorted({rules[o] for o in dfa.origins[q] if o < len(rules)}) for q in byte_states]
    plain = proper_merges(tokenizer)
    twice = np.repeat(plain, 2, axis=0)
    twice[::2, 0] += size
    twice[::2, 2] += size
    marked = merge_families(automaton, twice, names, limits, progress)
    return _erased(marked, size, np.array(byte_states, dtype=np.int32), limits)


def _reached(product: Product) -> list[int]:
    seen = {product.start: None}
    pending = [product.start]
    for state in pending:
        for target in np.unique(product.table[state]).tolist():
            if target != DEAD and target not in seen:
                seen[target] = None
                pending.append(target)
    return pending


def _letters(
    product: Product, states: Sequence[int], tokenizer: Tokenizer
) -> Iterator[tuple[int, int, int]]:
    for state in states:
        for plane in (0, 1):
            targets = product.table[state, plane, product.classes]
            for octet in np.flatnonzero(targets).tolist():
                letter = tokenizer.base[octet] + plane * tokenizer.vocab_size
                yield state, letter, int(targets[octet])


def _erased(
    marked: CanonicalDfa, size: int, byte_states: NDArray[np.int32], limits: Limits
) -> CanonicalDfa:
    """The subset construction over t and t + V alike; each subset is a family of its own."""
    dfa = marked.dfa
    number: dict[tuple[int, ...], int] = {(dfa.start,): 0}
    pending: list[tuple[int, ...]] = [(dfa.start,)]
    tokens: list[int] = []
    targets: list[int] = []
    offsets, accepting, states = [0], [], []
    for subset in pending:
        reached: dict[int, set[int]] = {}
        for state in subset:
            edges, ends = dfa.edges_of(state)
            kept = marked.flags(state)
            for token, target in zip(
                (edges[kept] % size).tolist(), ends[kept].tolist(), strict=True
            ):
                reached.setdefault(token, set()).add(target)
        for token in sorted(reached):
            target_set = tuple(sorted(reached[token]))
            if target_set not in number:
                number[target_set] = len(number)
                pending.append(target_set)
            tokens.append(token)
            targets.append(number[target_set])
        offsets.append(len(tokens))
        accepting.append(any(dfa.accepting[state] for state in subset))
        states.append(byte_states[dfa.family[subset[0]]])
        limits.check_states(len(number), _STAGE)
        limits.check_transitions(len(tokens), _STAGE)
    counts = np.diff(offsets)
    octets = (counts + 7) // 8
    bits = [np.packbits(np.ones(n, np.uint8), bitorder="little") for n in counts.tolist()]
    table = TokenDfa(
        family=np.arange(len(pending), dtype=np.int32),
        accepting=np.array(accepting, dtype=np.uint8),
        edge_offsets=np.array(offsets, dtype=np.int64),
        edge_tokens=np.array(tokens, dtype=np.int32),
        edge_targets=np.array(targets, dtype=np.int32),
        start=0,
    )
    return CanonicalDfa(
        table,
        np.concatenate(bits) if bits else np.zeros(0, np.uint8),
        np.concatenate([[0], np.cumsum(octets)]).astype(np.int64),
        marked.growth,
        len(tokens),
        np.array(states, dtype=np.int32),
    )
