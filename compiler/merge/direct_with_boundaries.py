"""DirectMerge for a tokenizer that splits text: letters with a start mark are letters of their own.

    product with the pre-tokenizer  ->  each merge, twice  ->  marks erased (subset construction)

A token that starts a pre-token is written with a mark, t + V for V tokens. It is never a right
part, so the merge (a, b) is applied as (a + V, b) first, which is always the leftmost pair, then as
(a, b). Erasing the marks unites at most a few states in each subset, as each text has exactly one
marking.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..automata.dfa import Dfa
from ..bpe.derivations import proper_merges
from ..limits import Limits
from ..progress import Progress, silent
from ..tokenizers import Tokenizer
from .direct_merge import CanonicalDfa, merge_families
from .families import with_letters
from .product import Product
from .token_edges import with_token_edges


def direct_with_boundaries(
    product: Product,
    dfa: Dfa,
    tokenizer: Tokenizer,
    limits: Limits | None = None,
    progress: Progress = silent,
    rules: Sequence[str] = (),
) -> CanonicalDfa:
    """The DFA of the tokenizer's own token sequences for the texts of ``product``.

    ``dfa``: the grammar's byte DFA. ``rules``: the grammar rule after each atomic origin. Raises
    ``TokenizerError`` and ``LimitError``.
    """
    limits = (limits or Limits()).started()
    size = tokenizer.vocab_size

    finals = np.flatnonzero(product.accepting).tolist()
    letters = _letters(product, tokenizer)
    automaton = with_letters(product.states, product.start, finals, letters)
    # States that read a prefix have numbers beyond those of the grammar's DFA.
    own = np.where(product.byte_state < dfa.states, product.byte_state, dfa.start)
    byte_states = own.tolist()
    names = [sorted({rules[o] for o in dfa.origins[q] if o < len(rules)}) for q in byte_states]
    twice = np.repeat(proper_merges(tokenizer), 2, axis=0)
    twice[::2, 0] += size
    twice[::2, 2] += size
    marked = merge_families(automaton, twice, names, limits, progress)
    # A mark is erased as a token class is replaced: t + V stands for the class of t alone.
    alone = list(np.arange(size, dtype=np.int32).reshape(-1, 1))
    erased = with_token_edges(marked, size, alone, limits, names)
    families = slice(None) if erased.family_states is None else erased.family_states
    return replace(erased, family_states=np.array(byte_states, dtype=np.int32)[families])


def _letters(product: Product, tokenizer: Tokenizer) -> Iterator[tuple[int, int, int]]:
    """The edges over letters, those with a start mark shifted by V: (source, letter, target)."""
    for state in range(1, product.states):
        for mark in (0, 1):
            targets = product.table[state, mark, product.classes]
            for octet in np.flatnonzero(targets).tolist():
                letter = tokenizer.base[octet] + mark * tokenizer.vocab_size
                yield state, letter, int(targets[octet])
