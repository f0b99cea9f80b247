"""Decode by hand: a mask, a choice, a step. Random numbers stand where a model's logits would."""

import numpy

import constrain
from constrain.compiler import load_tokenizer

tokenizer = load_tokenizer()  # The embedded one; else a file, a folder, or transformers' object.
schema = {"type": "object", "properties": {"age": {"enum": [30, 31, 32]}}}
schema |= {"required": ["age"], "additionalProperties": False}
artifact = constrain.compile(schema, tokenizer, whitespace="compact")
matcher, random, ids = artifact.matcher(), numpy.random.default_rng(1), []
while not matcher.is_finished:
    logits = random.normal(size=artifact.vocab_size).astype(numpy.float32)
    matcher.apply(logits)  # What is not allowed is -inf now.
    ids.append(int(logits.argmax()))
    matcher.advance(ids[-1])
text = b"".join(tokenizer.tokens[token] for token in ids[:-1])  # The last one ends the text.
print(text.decode())
