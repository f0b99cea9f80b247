"""What canonical masks need of a BPE tokenizer, whatever the grammar: pairs and boundaries.

    last_merges         the merge that makes each token last, for all tokens at once
    derivations         these merges in a proper order
    forbidden_pairs     which tokens cannot be adjacent inside a pre-token, as rectangles
    special_in_merges   the pre-tokenizer DFA without texts that are encoded with a special token
    tokenizer_tables    all tables of a tokenizer, computed lazily and cached: forbidden pairs,
                        pre-tokenizer and texts in normal form (``tokenizer_steps``);
                        and as sections of an artifact

Grammars that name tokens have a *sentinel* for each: a byte that no text has. A text ends before a
sentinel, and another one begins after it (``TOKEN_TERMINALS.md``):

    token_terminals     what an artifact is made for, with a token for each sentinel
    sentinel_tables     a tokenizer's tables -> the same with these tokens
    sentinel_steps      a pre-tokenizer's tables -> the same for texts with sentinels between them
    not_followed        beside which token terminals masks do not follow the texts, and why

``README.md`` has the definitions, the lemma about rectangles and its proof.
"""
