"""Networks whose states are made when a text or a walk of the token trie first meets them.

    states    what a state reads, calls and ends, made when first needed
    walk      what tokens lead to from a set of trie nodes, by states made on the way
    masks     the machine of matchers: configurations, masks and steps of ``network`` over these

A first mask looks at a few states of hundreds; the others cost nothing until a text comes there.
"""
