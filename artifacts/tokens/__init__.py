"""What every machine reads and gives: tokens, sets of them, their trie, and caches.

sections vocab.* -> check -> vocabulary.Vocabulary (the bytes of each token) -> trie.Trie
trie -> subtrees (what an automaton reads without leaving a state)
masks: tokenset (one bit a token)
level_walk: all nodes of a trie that a state of a DFA reads
forbidden_pairs: which tokens may not follow a token inside a pre-token (sections pairs.*)
memo: caches within one limit in bytes, results that are kept, numbers of values, what lies below
    keys, recursion without Python's own stack
"""
