"""Grammars with terminals whose automata are too large to be built: networks that call lazy DFAs.

    tree -> terminals    the tree with a symbol for each such terminal, and their conjunctions

``constrain.artifacts.machine`` runs them.
"""
