"""Earley's recogniser with Leo items, and masks by it: the machine of the kind ``earley``.

    tables      productions without ε and the terminals' DFAs, as the file holds them recogniser
    symbols (bytes and token terminals) -> columns of items, one a symbol machine     what a matcher
    steps: tokens -> configurations -> mask rows, by walks of the token trie

It takes any context-free grammar, and nothing is precomputed; the network engine is faster where
its tables are not too large. compiler/earley/README.md has the theory and the costs.
"""
