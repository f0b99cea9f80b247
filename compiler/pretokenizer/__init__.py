"""Pre-tokenizers as automata: where they cut any text, over characters and over bytes."""
