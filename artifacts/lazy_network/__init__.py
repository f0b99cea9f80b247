"""Networks that call lazy DFAs: grammars with terminals whose automata are too large to be built.

    '"' host '"'        the network reads the quotes, and calls the lazy DFA of host names

A called lazy DFA, a *terminal*, is a procedure like others: its summary for a set of trie nodes is
the tokens that end inside it, and its exits, the nodes at which it may end and behind which what
follows it reads on. Its states have numbers behind those of the network, given when a text comes to
them.

    terminals        states of lazy DFAs by number, and their steps
    configurations   the network with its terminals, as it reads texts
    exits            which nodes are exits, and to which of them tokens lead
    terminal_walks   what tokens make of states inside terminals: rows and exits
    summaries        procedure summaries of the network and its terminals
    machine          the one object that a matcher steps
    check            whether the sections fit together

``artifacts/lazy_dfa`` has the lazy DFAs, ``artifacts/network`` the network.
"""
