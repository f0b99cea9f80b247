"""From what a tokenizer does before it merges to automata: which texts it keeps, and splits where.

Normalizers (``NORMAL_FORMS.md``):

    character_properties   normalizers -> classes of characters, and what composes with what
    normalized_members     -> the normal-form automaton, over characters, then over bytes; the
                              members of a grammar that it accepts, or a DFA to follow beside them
    inert_tokens           -> tokens that are in normal form after any text, and what may end the
                              character that a token ends in

Pre-tokenizers and the steps around them (``README.md``). A *pre-token* (also called a piece) is a
part of a text that is merged by itself:

    boundary_automaton        a pattern -> an ordered program -> the automaton of its boundaries
    character_classes         classes of characters as its symbols, then UTF-8 bytes
    marked_dfa                such automata: composed, intersected, minimized
    prefix_and_replacement    what the tokenizer writes before a text and for spaces
    fixed_points              the texts that added tokens, ``Strip`` and ``Replace`` leave alone
    boundary_tables           all of that as the tables of one tokenizer
    spellable_members         the members of a grammar that have a canonical tokenization

``artifacts/tokenizer_steps`` runs both DFAs.
"""
