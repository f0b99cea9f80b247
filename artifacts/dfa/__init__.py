"""Regular grammars while decoding: a DFA over bytes or tokens, whole or made where texts lead.

A DFA that is small enough is whole in the file:

    byte_dfa        the minimal DFA over bytes, which is a network without calls, too; several
                    tokens run at once (``TokenRuns``)
    token_dfa       the DFA over canonical token sequences that DirectMerge computed, in families
    mask_rows       where a state's mask row comes from: stored, or unpacked
    machine         a DFA and its rows as the one object that a matcher steps
    stacked_dfas    complete DFAs of several terminals in one table, for lexers and for Earley
    check           whether these sections fit together

States of a larger one are made while decoding:

    host name of labels & at most 253 characters      ->  (state of the labels, characters read)
    any text & not (some text, "a", 20 characters)    ->  (state, set of an NFA's states)

A text is a member if it is one of some *conjunction*. A state of a conjunction is the derivative of
its operands by the text so far (Brzozowski 1964): operand by operand, ∂(r & s) = ∂r & ∂s and
∂¬r = ¬∂r. What is small together is one DFA, whose states are all derivatives that there are; of a
bound of the length the derivative keeps the number; other operands have sets of NFA states, which
are made when a walk comes to them.

    conjunctions          the conjunctions as arrays; from sections and to sections
    check_conjunctions    whether these sections fit together
    lengths               how few characters lead to a member, from each state of a DFA
    sets                  derivatives of an operand that has no DFA: sets of the states of its NFA
    emptiness             whether a state is live, by a search with antichains
    cores                 the states of one conjunction by number, and what bytes make of them
    token_walks           what all tokens make of a state: its ends, the characters read to each
    node_walks            what walks from some nodes of the trie come to, for terminals in a grammar
    walked                one conjunction, and what is found of it for any text
    token_rows            mask rows of conjunctions, from ends that are live
    lazy_reader           texts by all conjunctions

Where texts of a grammar are such, it calls them as terminals (``artifacts/machine``).
``compiler/machine/dfa_sections.py`` writes the tables of a whole DFA, ``compiler/merge`` computes
the token DFA, ``compiler/lazy_dfa`` divides expressions into conjunctions.
"""
