"""From a DFA over bytes to the canonical tokens at its states: DirectMerge and CartesianMerge.

DirectMerge makes the DFA of all canonical token sequences (``README.md``):

    families                  the automaton while it is merged, its states in families
    direct_merge              Algorithms 1 and 2, merge after merge, then equal states fused
    direct_with_boundaries    the same for a tokenizer that splits text
    token_edges               symbols of token classes become their tokens
    dump                      the result as text

CartesianMerge, for what DirectMerge would blow up, keeps the DFA over bytes and computes the tokens
at each of its states (``CARTESIAN_MERGE.md``):

    product            byte DFA × pre-tokenizer DFA: members with their pre-tokens marked
    joint_functions    what each token does to all product states
    lift               Algorithm 5, line 2: the tokens that each product state reads
    octet_tokens       which tokens of one byte may follow each token
    relevance          Algorithm 5, line 4: the transitions that lead to an end
    cartesian_merge    these in order, then one row for each distinct set of tokens
    normalized         what of a normalization form cannot be decided before decoding

    methods            which of the two, and why
    merged             what either gives, from the members that have a canonical tokenization

Source: Tran-Thien, "Fast, High-Fidelity LLM Decoding with Regex Constraints: Technical Appendix"
(2024). Algorithm 6, the walk while decoding, is ``artifacts/canonical_network/masks.py``.
"""
