"""Networks whose states are made when a text or a walk of the token trie first meets them.

    positions        automata of the rules that call one another, written as far as texts come
    state_lists      sets of positions, each a state, and what they read
    stored_positions the same in a file, read as far as texts come
    repetitions      copies of what is repeated, written one by one, and their twins without bounds
    permutations     sets of parts that have begun, written one by one
    position_states  what states are made of: these
    states           a state: what it reads, calls and ends, made when first needed
    named_rows       rows of a file, by what it calls the states that have them
    table_states     the same where a file has the tables of all
    masks            the machine of matchers: configurations, masks and steps over these
    terminal_states  terminals whose automata are too large to be built, as calls
    terminal_walks   what tokens make of states inside these: rows and exits
    exits            which nodes are exits, and to which of them tokens lead
    terminal_masks   the machine where there are such terminals
    equal_items      which items of JSON's arrays are equal to an earlier one
    item_ends        which tokens end items
    distinct_masks   the machine where items must differ
    distinct_texts   the same of texts

A first mask looks at a few states of hundreds; the others cost nothing until a text comes there.
"""
