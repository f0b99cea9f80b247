"""Normal forms as automata: which texts a normalizer leaves as they are."""
