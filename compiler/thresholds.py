"""The sizes that decide what a grammar becomes: seven, and what follows from them.

On both sides of each the members are the same, and so are the masks, but that canonical ones are
not those of any tokens; what differs is what is made before decoding, and what when texts meet it.
What bounds a search, or makes one of two ways of the same work the quicker, stands where that work
is done; what users set, in ``options`` and ``limits``. Measured with Qwen 2.5.
"""

# A repetition whose copies have more states is counted while decoding, a permutation of more orders
# is a set, and a rule of more copies is called, where masks are precomputed. Of `[a-z ]{1,900}` in
# a list, copies take 2 s to compile, 100 times as long as a count, and masks twice; of `{1,100}`
# they take 0.3 s, and masks an eighth; of an array of up to 100 numbers they are 990 states, and
# take 0.03 s. A schema without calls is one automaton up to here where canonical masks are
# precomputed: an object of three texts takes two fifths of the time, one of eight three quarters.
COPIED_STATES = 1_000

# The same where no masks are precomputed. Of `[a-z ]{1,100}` in a list, masks of copies take 4 to
# 6 times as long as those of a count, canonical or not; of `{1,20}` as long.
SOON_COPIED_STATES = 64

# A rule whose copies have more states is called in a network that is no such automaton, if nothing
# is lost by that: its rows are then found once. Of an object of texts canonical masks that are met
# first take two thirds of the time, and of one of 30 members half.
SHARED_STATES = 20

# The same for canonical masks, which are precomputed where repetitions are copied alone, for rules
# over lexemes, and for a rule that is named once; and terminals by maximal munch and expressions
# that grow are built up to here where first masks are wanted. Strings of 100 characters are copied
# so; of 200 they took 7 s to compile, for masks in 0.8 of the time. A terminal of 3,000 states has
# its first mask in a fifth of the time when it is not built.
LARGE_STATES = 2_000

# An automaton has at most so many states, or transitions over tokens, where there is another way
# but its masks are wanted soon: an operation or an expression that grows, whose states are made
# when they are met else, a terminal in a grammar that may be a table of tokens, and that table, in
# whose place two automata are walked else. `.*a.{13}` has as many and takes 5 s, `.*a.{20}` 2
# million; a host name of up to 253 characters has 24,000, and has all of its masks so.
BUILT_STATES = 50_000

# A rule that may end where it goes on is called where its copies have more states, or more than
# ``LARGE_STATES`` where a whole network of short rules has more than these; and where one rule of
# a network has more, its states are made when they are met. 14 levels of operators have masks in
# a third of the time with the rules that are called so; 16 kB of elements, each of which ends with
# a line or without, have their first one in a fifth.
NETWORK_STATES = 20_000

# Copied rules that overlap with what follows them make dozens of sets for each state of their
# automata, chains of optional parts one or two. Where there are more sets than that, and than
# ``LARGE_STATES``, such rules are called.
SETS_OF_A_STATE = 3

# So many places in a row may make more sets of them than are built.
MANY = BUILT_STATES.bit_length()
