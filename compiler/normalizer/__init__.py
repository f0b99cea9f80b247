"""Normal forms as automata: which texts a tokenizer's normalizers leave as they are.

    character_properties   normalizers -> classes of characters, and what composes with what
    normalized_members     -> the normal-form automaton, over characters, then over bytes; the
                              members of a grammar that it accepts, or a DFA to follow beside them
    inert_tokens           -> tokens that are in normal form after any text, and what may end the
                              character that a token ends in

Masks follow the DFA by ``artifacts/normalizer``. ``README.md`` has the lemma and its costs.
"""
