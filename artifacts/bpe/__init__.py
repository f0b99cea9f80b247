"""Which tokens may stand side by side: the forbidden pairs of a BPE vocabulary."""
