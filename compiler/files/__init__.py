"""Files that others wrote, read within bounds, and tables that are cached between runs.

bounded      the bytes of a tokenizer's file, and the value of its JSON
gguf         the key-values of a GGUF file, no tensor of which is read
protobuf     the fields of a message
cache        ``Cache``: arrays by what they depend on, written, read, evicted
cache_key    ``CacheKey``: by which a user's own entries are told from all others
"""
