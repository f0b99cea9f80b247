"""A second construction of recursive transition networks, from a grammar's normal form.

    normal form -> goal_automata   one automaton a nonterminal, left corners being loops
                -> network         all of them in one, which call each other

No stage of the compiler runs it: it is the oracle of the networks that are made of the tree. All
nonterminals are called, and none is copied, so that nothing needs a plan.
"""
