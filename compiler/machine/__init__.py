"""What the machine of an artifact runs on: sections of its file, or states made when met.

From the tables of all steps to the sections and the manifest of a file, a file for each engine; the
step ``assemble`` adds what was precomputed, names and counts. Rows of masks are computed here,
because whether a file holds them depends on how many bytes its other tables take:

    dfa_sections, parser_sections, maximal_munch_sections, wordpiece_sections
                        tables -> sections, by the names and types of ``artifacts/README.md``
    byte_rows           byte DFA and token trie -> the rows of all states, by what tokens do to them
    row_table           rows, each once: packed, or a list of ids where that is shorter
    mask_rows           byte DFA and token trie, or token DFA -> the rows, if the file may hold them
    unspelled_members   members that no tokens spell, where the vocabulary lacks bytes
    file_size           how many bytes a file takes, before it is written

States of a grammar's network that are made while texts are read:

    grammar_states    rules and the plan of calls -> sets of places, each found when first needed
    deferred_rules    the same of schemas and tools, whose rules are made when they are read
    when_met          which grammars are read so
    spellable         recognisers of the members that a tokenizer has tokens for
    overlaps          which of them may have terminals that are too large to be built
    precompute        the rows that an artifact of positions begins with
    whole_tables      an artifact of positions -> the same with all states, to draw and to count

``network`` has the rules, the plan and the automata, and finds all states beforehand.
``constrain.artifacts.dfa`` looks rows up, and computes them lazily where a file has none.
"""
