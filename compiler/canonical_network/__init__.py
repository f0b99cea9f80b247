"""Canonical masks of a network, precomputed for all stacks that can come about.

    sections      network and tokenizer -> the sections of an artifact, or why there are none
    precompute    -> summaries: rows by entry, state and suffix of the stack, while there is room
                  (``artifacts/canonical_network/closure``)
    without_calls the same of a network without calls, by CartesianMerge (``compiler/merge``)

Masks are made of these by ``artifacts/canonical_network``. ``README.md`` has definitions, an
example and the lemmas.
"""
