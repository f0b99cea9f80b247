"""Lark's contextual lexer: it reads what the state of an LALR parser allows, after whatever stack.

states     a grammar over lexemes -> the LALR states that Lark makes of it
contexts   those -> a grammar over lexemes whose rules know the states that they are read in
"""
