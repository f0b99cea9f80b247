"""Canonical masks of a network, precomputed for all stacks that can come about.

    sections      network and tokenizer -> the sections of an artifact, or why there are none
    trie_walks, pair_walks -> where tokens lead from all pairs
    liveness      -> which of them are live; normalized: what a normal-form DFA beside them adds
    precompute    -> summaries: rows by entry, state and suffix of the stack

Masks are made of these by ``artifacts/canonical_network``. ``README.md`` has definitions, an
example and the lemmas.
"""
