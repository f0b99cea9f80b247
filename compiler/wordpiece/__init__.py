"""WordPiece: text to tokens, the longest first; and grammars over such tokens.

    file   -> load -> tokenizer: normalizer -> words (and tokens by prefix_search) -> ids
    grammar's DFA -> image (of each code point) -> normalized_language, unknown_words (canon(L))
           -> trie_layout, word_ends -> tokenizer_dfa (the sections that artifacts/wordpiece runs)

Source: Song, Salcianu, Song, Dopson, Zhou, "Fast WordPiece Tokenization" (2021).
``README.md`` has terms, lemmas and costs.
"""
