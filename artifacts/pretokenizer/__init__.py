"""The pre-tokenizer while decoding: a DFA over bytes that knows where pre-tokens may start.

    dfa    the pre-tokenizer DFA (sections ``cuts.*``): stepped by whole tokens, to find the states
           in which a prompt may end
    byte_sets    where sets of bytes lead from sets of its states, and from which: found once for
                 all grammars

A tokenizer splits a text into *pre-tokens* (also called pieces) before it merges, and no merge
crosses their boundaries. Whether a boundary is here may depend on text further on, so that a run of
the DFA guesses *start marks* and only one guess survives. ``compiler/pretokenizer`` builds it.
"""
