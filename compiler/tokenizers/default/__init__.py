"""The embedded default tokenizer, and the recipe that makes it."""
