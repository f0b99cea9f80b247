"""WordPiece (BERT): token sequences that the tokenizer itself would give.

    sections words.*, pieces.* -> check -> dead_ends.WordDfa (canonical text), trie.WordTrie
    row: trie_walk (tokens that the text reads) minus forbidden_tokens (tokens that the tokenizer
         would not give there) minus dead_ends (no text leads on)
    all of it -> machine.WordMachine, which a matcher steps

``constrain.compiler.wordpiece`` fills the sections; its ``README.md`` has terms and lemmas.
"""
