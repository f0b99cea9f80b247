"""Which parts of a grammar its texts use: items, derivations, and shortest members for the rest.

items       what counts: rules, alternatives, repetitions, keys, edges of patterns
graph       the tree as a network whose jumps say which items they use
matchers    what matches its leaves: patterns, opened, chart
chart       the derivations of a text, forward and backward; lexed by maximal munch
shortest    a shortest member through each item
captures    what rules have read of a text, as spans
coverage    all of it: texts in, how often each item is covered out
report      as text and JSON; lcov
"""
