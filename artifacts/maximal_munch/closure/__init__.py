"""The summaries that texts of any depth need, found together, before decoding or beside it.

lexer_walks -> compose -> feeding    results of many heads and frames at a time, of shared parts
row_unions, shared_unions    their rows: disjoint unions, packed as blocks at the end
frames_below -> worklist    which heads and frames there are, without a stack
precomputation    all that beside matchers, as far as a call may go
"""
