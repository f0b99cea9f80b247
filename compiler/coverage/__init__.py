"""Which parts of a grammar its texts use."""
