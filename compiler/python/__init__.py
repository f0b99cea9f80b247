"""The library's one call, of what Python has: types, schemas as dicts, tools, patterns.

compiling   compile(Person, tokenizer, whitespace="compact"): the artifact, options by name
types       the text that a type or an object stands for, and its dialect
"""
