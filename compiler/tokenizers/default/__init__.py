"""The embedded default tokenizer; ``generators.make_default_tokenizer`` trains it."""
