"""Networks with counters: repetitions that are counted while decoding, under any tokenization.

    network/counts    what a frame that counts does where a call on it ends
    configurations    a text as threads over stacks, the counts of one stack beside it
    relative_steps    what a token does to one stack, for all counts with the same effect
    summaries         which tokens fit in front of a counter, by the few levels that tokens tell
    first_octets      which parts of a set read what follows suspended trie nodes
    item_walk         all those levels by one walk of the trie, where a token is read in one way
    stored_items      what a file has of these walks: a byte a token
    closure           what stacks of any height need of them, for a few of all counts
    machine           all of it as the machine that a matcher steps

``compiler/network`` fills the tables; its README has the definitions, the lemmas and the costs.
"""
