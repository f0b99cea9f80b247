"""From text to token ids, step by step, as the reference implementations do it."""
