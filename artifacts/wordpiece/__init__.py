"""WordPiece (BERT): token sequences that the tokenizer itself would give."""
