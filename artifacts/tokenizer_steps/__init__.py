"""What a tokenizer does before it merges, while decoding: normal forms and pre-tokens as DFAs.

    normal_form_dfa     the texts that a normalizer leaves as they are (sections ``stable.*``), and
                        what tokens do at its states
    split_characters    tokens that end inside a character only some of whose ends are normal
    normalizer          any machine with that DFA beside it: masks without texts that would change
    pretokenizer        the DFA over bytes that knows where pre-tokens start (sections ``cuts.*``);
                        stepped by whole tokens, to find the states in which a prompt may end
    byte_sets           where sets of bytes lead from sets of its states, and from which: found once
                        for all grammars

A tokenizer splits a text into *pre-tokens* (also called pieces) before it merges, and no merge
crosses their boundaries. Whether a boundary is here may depend on text further on, so that a run of
the DFA guesses *start marks* and only one guess survives. ``compiler/tokenizer_steps`` builds both
DFAs.
"""
