"""A store of artifacts by what they are made of: compiled once, anywhere, found by key.

store      get, put, entries, collect, verify: what is there, and what may be trusted
places     where files are: a folder, or what an fsspec URL names
keys       names of files, by key and by digest

ab/abcd….cst      the artifact of the key abcd…
tok/1234….tok     the tokenizer's tables of thin artifacts
"""
