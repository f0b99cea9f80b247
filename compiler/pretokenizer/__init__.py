"""From a tokenizer's steps to a DFA over marked bytes: which texts have an encoding, split where.

    boundary_automaton        a pattern -> an ordered program -> the automaton of its boundaries
    character_classes         classes of characters as its symbols, then UTF-8 bytes
    marked_dfa                such automata: composed, intersected, minimized
    prefix_and_replacement    what the tokenizer writes before a text and for spaces
    fixed_points              the texts that added tokens, ``Strip`` and ``Replace`` leave alone
    boundary_tables           all of that as the tables of one tokenizer
    spellable_members         the members of a grammar that have a canonical tokenization

A *pre-token* (also called a piece) is a part of a text that is merged by itself. ``README.md`` has
the definitions and one example carried through; ``artifacts/pretokenizer`` runs the DFA.
"""
