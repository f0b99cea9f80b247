"""The lexer of maximal munch where the automata of some lexemes are too large to be built.

    start: "(" start ")" | HOST     HOST: labels of at most 63 characters, and 253 in all
    "a-b" of HOST  ->  (no other lexeme, state 7 of the labels after 3 characters)

This is the derivative lexer of llguidance: a state is the derivative of all lexemes that were
begun, made when a text or a walk first comes to it, and forgotten with the machine. The lexemes
that have DFAs are together one state of the lexer of ``artifacts/maximal_munch``; of each of the
others there are the threads of a lazy DFA (``artifacts/dfa``). The parser, its heads and how
masks are put together are those of maximal munch.

    lexer            states, and steps by one byte
    configurations   texts, read within a lexeme at once
    exits            the trie nodes at which a lexeme may end and another begin
    reads            what tokens make of a state, by walks of each lexeme
    machine          the one object that a matcher steps
    check            whether the sections fit together
"""
