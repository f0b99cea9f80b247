"""Canonical masks of a network, precomputed for all stacks that can come about.

    sections      network and tokenizer -> the sections of an artifact, or why there are none
    trie_walks    -> pairs of states in one table; which of them lie on which stacks
    pair_walks    -> where tokens lead from all pairs, in blocks
    liveness      -> which of them are live, by what context_status says of pairs; normalized: what
                  a normal-form DFA beside them adds
    precompute    -> summaries: rows by entry, state and suffix of the stack

Masks are made of these by ``artifacts/canonical_network``. ``README.md`` has definitions, an
example and the lemmas.
"""
