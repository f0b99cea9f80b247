"""The rows of all threads on all stacks, before decoding or beside it.

joint_walks       pairs of states in one table; which of them lie on which stacks
pair_walks        where tokens lead from many pairs at once
context_status    which pairs are dead or live, and which tokens that lead to the others
token_liveness    the same of tokens; ``inert_tokens``, ``character_ends``: beside a normal-form DFA
all_rows          all of it, as far as there is room
"""
