"""What states of a grammar's network are made of while texts are read.

    grammar_states    rules and the plan of calls -> sets of places, each found when first needed
    when_met          which grammars are read so

``network`` has the rules, the plan and the automata, and finds all states beforehand.
"""
