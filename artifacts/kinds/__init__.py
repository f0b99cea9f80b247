"""The kinds of artifact: for each what its sections must hold, and the machine made of them."""
