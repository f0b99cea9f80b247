"""From a byte DFA and a tokenizer to the DFA over canonical token sequences.

    families (the automaton being merged)  ->  direct (one merge after the other)
    token_edges (classes of tokens that the grammar names become their tokens)
    derivations -> rectangles (which tokens follow which, inside a piece)
    split_pattern -> split_automaton -> split_bytes (where a tokenizer cuts text into pieces)
    product -> lift -> relevance -> cartesian (CartesianMerge); marked_direct (DirectMerge)
    oracle, tokenizer_dfa (the source document's definitions and listings, slow)

Source: Tran-Thien, "Fast, High-Fidelity LLM Decoding with Regex Constraints: Technical
Appendix" (2024). ``README.md`` beside this file has the errata.
"""
