"""Where models run: matchers in the servers that people have.

    texts         the texts of a batch: a matcher for each, found by its tokens
    bitmask       mask rows into logits, of NumPy or by a host's kernel
    transformers, llama_cpp, mlx, tensorrt
                  one host each: ``processor(artifact)`` is what it takes

Hosts are imported when a processor is made or called, and never by importing a module of this room.
"""
