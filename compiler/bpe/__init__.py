"""What canonical masks need of a BPE tokenizer, whatever the grammar: pairs and boundaries.

    last_merges         the merge that makes each token last, for all tokens at once
    derivations         these merges in a proper order
    forbidden_pairs     which tokens cannot be adjacent inside a pre-token, as rectangles
    special_in_merges   the pre-tokenizer DFA without texts that are encoded with a special token
    tokenizer_tables    all tables of a tokenizer, computed lazily and cached: forbidden pairs,
                        pre-tokenizer (``pretokenizer``), texts in normal form (``normalizer``);
                        and as sections of an artifact

``README.md`` has the definitions, the lemma about rectangles and its proof.
"""
