"""One table of procedure summaries, for all engines whose masks are put together of parts.

    rows         mask rows as numbers: those of a file, and those that are found; unions
    node_sets    sets of trie nodes at which a token is suspended, as numbers
    results      what is known by a key: those of a file under those that are found

A *procedure summary* says what may follow inside a call, whatever lies below it. An engine says
what its keys are and how a summary is walked: ``network/summaries``, ``maximal_munch/summaries``,
``canonical_network/precomputed_rows`` with ``canonical_network/trie_walk``. What is found is
forgotten when it takes more bytes than it may; what a file has stays.
"""
