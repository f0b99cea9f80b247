"""From a grammar to a recursive transition network and all that is precomputed of it.

    from_tree        a grammar's tree -> the network: byte automata that call one another, by
                     tree_rules, tree_counts, tree_plan, tree_layout, components,
                     component_tables, counter_tables
    nesting          whether a grammar's tree is regular
    minimal_network  the same network with the fewest states

    goal_automata    normal form -> one automaton a nonterminal
    plan             those -> which calls need frames, and which goals stay procedures
    build            those -> the network, for indirect left recursion, and as the oracle

    precompute       network, token trie -> procedure summaries, mask automaton
    token_effects    network, vocabulary -> what each token does in each state
    members, dump    its members counted, drawn and enumerated; the network as text

``constrain.artifacts.network`` runs what this room fills. README.md has definitions and costs.
"""
