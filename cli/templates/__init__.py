"""Texts that ``constrain new`` writes, with NAME for what the user calls it."""
