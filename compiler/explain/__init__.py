"""Why a text is or is not a member of a grammar: where it stops, and what could have stood there.

    explainer      one of the following for a grammar or an artifact, by its engine
    report         the verdict that all engines give; a DFA's, state by state
    maximal_munch  lexer and parser of maximal munch: the byte that neither can read
    earley         any grammar: the items of the last column of Earley's recogniser
    network        threads of a network, where repetitions are counted whose copies are too many

The rules that lie inside each other at that place are named by Earley's recogniser in all but
DFAs and those.
"""
