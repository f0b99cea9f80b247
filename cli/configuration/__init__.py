"""The project file: grammars, their options, tokenizers and tests, so that commands alone do all.

find          the file that holds for a folder
toml_places   where keys and values stand in a TOML text, which tomllib does not tell
keys          what may be said, and of which type
project       what a file says; the options of a grammar, and where each comes from
current       the project of the command at work
"""
