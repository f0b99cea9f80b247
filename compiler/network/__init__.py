"""From a grammar to a recursive transition network and all that is precomputed of it.

    from_tree        a grammar's tree -> the network: byte automata that call one another, by
                     tree_rules, left_recursion, tree_counts, tree_plan, tree_layout, components,
                     counter_tables
    laid_out         all positions of a grammar, as its file has them
    nesting          whether a grammar's tree is regular
    minimal_network  the same network with the fewest states

    precompute       network, token trie -> procedure summaries
    members, dump    its members counted, drawn and enumerated; the network as text

``constrain.artifacts.network`` runs what this room fills. README.md has definitions and costs.
"""
