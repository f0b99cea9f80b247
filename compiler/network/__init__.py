"""From a grammar to the tables of recognisers that run while decoding.

From Loup's normal form, over bytes:

tables       productions laid end to end, the terminals' automata stacked
lazy         the same automata built while they are used
plain        the textbook's recogniser, the oracle
goals        one automaton a nonterminal, over terminals and calls
calls        tail calls, and the goals that stay calls
network      automata that call each other
prewarm      masks worked out before a text is read
thread_sets  those of several threads at once
lexer        all terminals in one automaton, for drawings
paths        in which of the author's rules a production lies
text         a network, for people

From the tree, over lexemes that are as long as possible:

lexemes      the lexemes, and the grammar over them
contextual_lexer   their automata, stacked, and the network over their numbers
greedy_closure   masks worked out before a text is read
slices       tokens that a walk can take whole
greedy_plain     the meaning by definition, the oracle
"""
