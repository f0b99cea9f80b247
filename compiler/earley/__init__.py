"""The tables of Earley's recogniser, and the textbook's version as the oracle."""
