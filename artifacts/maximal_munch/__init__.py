"""Maximal munch with a contextual lexer: the machine of artifacts of the kind ``greedy``.

tables           the network over lexemes and the lexemes' DFAs, as the file holds them
lexer            bytes -> states of the lexer, built by subset construction over the lexemes
parser_heads     configurations of the network, split into a head and the frames below it
parser_transitions, configurations
                 lexemes -> heads and frames; bytes -> configurations of lexer and parser
lexer_trie       numbers of rows and of sets of suspended nodes
lexer_walk       the walk of the token trie by the lexer, which asks the parser at lexemes' ends
summaries        heads -> procedure summaries, of which masks are composed (``lazy_masks``:
                 those that were not precomputed, by walks; ``lexer_reads``: where a lexer has no
                 rows to walk by)
open_rules       a configuration -> the rules around its place, for messages
machine          what a matcher steps: tokens -> configurations -> mask rows
"""
