"""A regular grammar whose automaton is too large to be built: its states are made while decoding.

    host name of labels & at most 253 characters      ->  (state of the labels, characters read)
    any text & not (some text, "a", 20 characters)    ->  (state, set of an NFA's states)

A text is a member if it is one of some *conjunction*. A state of a conjunction is the derivative of
its operands by the text so far (Brzozowski 1964): operand by operand, ∂(r & s) = ∂r & ∂s and
∂¬r = ¬∂r. What is small together is one DFA, whose states are all derivatives that there are; of a
bound of the length the derivative keeps the number; other operands have sets of NFA states, which
are made when a walk comes to them.

    tables        the conjunctions as arrays; from sections and to sections
    check         whether these sections fit together
    lengths       how few characters lead to a member, from each state of a DFA
    sets          derivatives of an operand that has no DFA: sets of the states of its NFA
    emptiness     whether a state is live, by a search with antichains
    cores         the states of one conjunction by number, and what bytes make of them
    token_walks   what all tokens make of a state: its ends, the characters read to each
    node_walks    what walks from some nodes of the trie come to, for terminals in a grammar
    walked        one conjunction, and what is found of it for any text
    token_rows    mask rows of conjunctions, from ends that are live
    reader        texts by all conjunctions

Where texts of a grammar are such, it calls them as terminals (``artifacts/machine``).
``compiler/lazy_dfa`` divides expressions into conjunctions and writes the tables.
"""
