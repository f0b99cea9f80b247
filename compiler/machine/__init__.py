"""What states of a grammar's network are made of while texts are read.

    grammar_states    rules and the plan of calls -> sets of places, each found when first needed
    deferred_rules    the same of schemas and tools, whose rules are made when they are read
    when_met          which grammars are read so
    spellable         recognisers of the members that a tokenizer has tokens for
    overlaps          which of them may have terminals that are too large to be built
    precompute       the rows that an artifact of positions begins with
    whole_tables      an artifact of positions -> the same with all states, to draw and to count

``network`` has the rules, the plan and the automata, and finds all states beforehand.
"""
