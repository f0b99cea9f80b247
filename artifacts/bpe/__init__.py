"""What of a BPE tokenizer's merges decoding needs: which tokens may not follow which.

    forbidden_pairs    the forbidden pairs of adjacent tokens, a row computed from the token's right
                       spine in microseconds; sections ``pairs.*`` of an artifact

A token sequence is canonical inside a pre-token iff each of its adjacent pairs is (the bigram
property), so "the last token's row" is all that a mask depends on besides the automaton's state.
``compiler/bpe`` fills the tables; its README has the definitions, the lemma and the proof.
"""
