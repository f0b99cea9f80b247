"""Regular expressions of all syntaxes: one parser, one tree, one translation.

    text -> lexer (tokens with flags) -> parser (nodes of ``automata/regex_ir``), classes (sets)

The syntax is that of Rust's ``regex`` with Python's spellings beside it, or with the flag ``PLAIN``
Python's, with ``ECMA`` that of ECMA-262. compiler/dialects/README.md says where they differ.
"""
