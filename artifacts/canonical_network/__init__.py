"""Canonical masks of recursive transition networks: the tokens with which encodings go on.

sections network.*, cuts.*, pairs.*   pretokenized.PretokenizedNetwork
  -> byte_edges       where states lead, and by which bytes; which come together
  -> live_sets        from which pre-tokenizer states texts go on to their end
  -> contexts         what a stack leaves possible
  -> settled_sets     the same of sets of parts, whose order does not matter
  -> trie_walk        where each token leads from a place, by the one walk over ``pair_states``
  -> stack_walks      the same down the stacks of a place
  -> closed_calls     what calls add that other grammars of the tokenizer make, too
  -> splits           which of them are live for sure, by ``live_octets``, and which are left
  -> liveness         which of those are live: ``certificates``, then an exact search
  -> closure          rows that need none of that, for all stacks; before decoding or beside it
sections closed.*   -> precomputed_rows   such rows
  -> usual_counts     masks that need not know how far a count is
  -> lazy_rows        rows that no file has, made when met
  -> masks            rows to masks; machine: beside a normal-form DFA, if there is one
"""
