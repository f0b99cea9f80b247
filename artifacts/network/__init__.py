"""Recursive transition networks: what grammars that nest are decoded by.

    tables -> configurations    byte automata that call one another; a text as threads over stacks
    counts, sets -> counted_stacks    the same where frames count items, or hold sets of parts
    prefixed    the members after what a tokenizer puts before them
    first_octets    which bytes states read first, and what may follow their calls
    call_structures    calls that are the same in other networks
    closure    which frames can lie right below a state
    check    the sections of an artifact fit together

``compiler/network`` fills the tables; its README has the definitions, an example and the costs.
``artifacts/walk`` finds masks.
"""
