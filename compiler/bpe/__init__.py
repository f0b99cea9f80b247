"""What of a BPE tokenizer canonical masks need, whatever the grammar: pairs and boundaries."""
