"""Where a pre-tokenizer cuts text, as a DFA over bytes that is followed while decoding."""
