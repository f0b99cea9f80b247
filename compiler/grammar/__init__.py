"""Grammars and regexes as their authors wrote them: the tree that every dialect parses to.

    tree -> check            every rule that is used is defined, terminals are terminals
    tree -> weave_ignored    ignored text written into the rules
    tree -> indented_rules   rules with INDENT and DEDENT as copies, ready for each width
    tree -> tree_text        printed, one node a line
    tree -> neighbours       what may stand right before and after parts of it

    a regex -> regex_lexer (tokens with flags) -> regex_parser (a node of ``automata/regex_ir``),
                                                  regex_classes (sets)
    a lazy regex -> preferred_matches     the automaton of what a backtracking search takes

Each node carries the span of its text in the source, for messages and for origins. Regexes of all
syntaxes have one parser: that of Rust's ``regex`` with Python's spellings beside it, or with the
flag ``PLAIN`` Python's, with ``ECMA`` that of ECMA-262; REGEXES.md says where they differ.
"""
