"""Maximal munch with a contextual lexer: the machine of artifacts of the kind ``greedy``.

tables           the network over lexemes and the lexemes' DFAs, as the file holds them
lexer            bytes -> states of the lexer, built by subset construction over the lexemes
parser_heads     configurations of the network, split into a head and the frames below it
parser_transitions, configurations
                 lexemes -> heads and frames; bytes -> configurations of lexer and parser
lexer_trie, lexer_reads
                 token trie -> rows and suspended nodes, by the lexer alone
summaries        heads -> procedure summaries, of which masks are composed (``lazy_masks``:
                 those that were not precomputed, of parts that they share)
closure          the summaries that texts of any depth need, before decoding or beside it
open_rules       a configuration -> the rules around its place, for messages
machine          what a matcher steps: tokens -> configurations -> mask rows
"""
