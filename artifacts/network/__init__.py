"""Recursive transition networks with exact masks: what grammars that nest are decoded by.

    tables -> configurations    byte automata that call one another; a text as threads over stacks
    summary_tables -> summaries    F(e, p): which tokens fit inside a call, and where it may end
    read_through, trie_index -> summary_walk, few_nodes    walks of the token trie, whole subtrees
    loops -> summary_walk    what names, numbers, strings, spaces read, once for all grammars
    mask_automaton    the same down a whole stack, one look at a table for each frame
    closure    all that stacks of any height need
    token_steps, lazy_token_effects    what a token does to a thread: precomputed, or lazily
    machine    all of it as the machine that a matcher steps
    check    the sections of an artifact fit together

``compiler/network`` fills the tables; its README has the definitions, an example and the costs.
"""
