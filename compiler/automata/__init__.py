"""Regular languages over bytes and token terminals.

    regex_ir -> assertions, look_around -> thompson -> determinize -> minimize
                                          expression -> minimal DFA
    two DFAs -> boolean, compare          product, difference; equality, inclusion, witnesses
    a DFA -> members                      counts and draws
    a DFA -> eliminate_states             back to an expression
    a DFA -> token_classes                terminals that share tokens -> disjoint classes of tokens
    a DFA, a token trie -> token_functions       what each token does to the states
    a set of characters -> utf8           the minimal automaton of its UTF-8
    \\p{…}, \\d, (?i) -> unicode_properties      sets of characters by name, and their other cases

Symbols are 0 to 255, a byte, and 256 + k, the k-th token terminal (tokens that the grammar names,
whatever their bytes), or once the tokenizer is given the k-th class of tokens. Every NFA arc
carries the rules it came from (its origins), so that a DFA state can name the rules it serves.
"""
