"""DirectMerge: from the byte DFA of a language to the DFA of its canonical token sequences.

    families                  the automaton while it is merged, its states in families
    direct_merge              Algorithms 1 and 2, merge after merge, then equal states fused
    direct_with_boundaries    the same for a tokenizer that splits text
    token_edges               symbols of token classes become their tokens
    dump                      the result as text

Source: Tran-Thien, "Fast, High-Fidelity LLM Decoding with Regex Constraints: Technical Appendix"
(2024). ``README.md`` has definitions, lemmas, errata and costs.
"""
