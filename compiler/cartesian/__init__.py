"""CartesianMerge before decoding: a grammar × a pre-tokenizer, and the tokens at each state.

    product            byte DFA × pre-tokenizer DFA: members with their pre-tokens marked
    joint_functions    what each token does to all product states
    lift               Algorithm 5, line 2: the tokens that each product state reads
    octet_tokens       which tokens of one byte may follow each token
    relevance          Algorithm 5, line 4: the transitions that lead to an end
    cartesian_merge    these in order, then one row for each distinct set of tokens
    normalized         what of a normalization form cannot be decided before decoding

Algorithm 6, the walk while decoding, is ``artifacts/canonical_network/masks.py``; ``README.md`` has
the theory.
"""
