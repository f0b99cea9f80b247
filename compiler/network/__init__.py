"""From a grammar's normal form to a recursive transition network and all that is precomputed of it.

    goal_automata    normal form -> one automaton a nonterminal
    plan             those -> which calls need frames, and which goals stay procedures
    build            those -> the network: byte automata that call one another
    precompute       network, token trie -> procedure summaries, mask automaton
    token_effects    network, vocabulary -> what each token does in each state
    members, dump    its members counted, drawn and enumerated; the network as text

``constrain.artifacts.network`` runs what this room fills. README.md has definitions and costs.
"""
