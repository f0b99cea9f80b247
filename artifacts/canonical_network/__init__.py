"""Networks whose masks allow the tokenizer's own encoding alone."""
