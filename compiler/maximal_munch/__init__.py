"""What is compiled of a grammar that is read by maximal munch; README.md has the theory.

indentation    INDENT and DEDENT -> rules (``grammar.indented_rules``), blanks (``line_breaks``)
lexemes        grammar tree -> lexemes, and the grammar over their numbers
lalr_states    that grammar -> the LALR states that Lark makes of it, for its contextual lexer
lalr_contexts  those -> the grammar whose rules know the states that they are read in
lexer_tables   lexemes -> the lexer's DFAs and the network over lexemes
to_dfa         tables -> the minimal DFA over bytes, where no rule nests
emptiness      tables -> whether surely no text is a member
precompute     tables, vocabulary -> summaries of all heads, transitions of the parser
worklist       which summaries there are (``frames_below``: what can lie below a head)
found_summaries, row_unions
               equal summaries as one number, and equal rows
dump           lexemes -> text
"""
