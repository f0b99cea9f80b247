"""Many grammars at once: stores of artifacts, and what people have."""
