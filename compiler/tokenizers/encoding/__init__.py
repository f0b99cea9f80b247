"""From text to token ids, step by step, exactly as the reference implementations do it.

added_tokens    find added tokens in the text
steps           normalize, then split into pre-tokens (pieces)
patterns        by which steps split: Oniguruma's regexes, and its version of Unicode
rust_patterns   Rust's as Oniguruma's; pattern_program: one as an ordered program
scripts         by which one of these steps divides a text (scripts.json)
symbols         the bytes or characters of a pre-token that merging begins with
bpe             merge the symbols of one pre-token, or of many at once
seams           where a text without pre-tokens can be split all the same
encode          all of these in order, with a cache of pre-tokens
stream          the same for a text of any length, in bounded memory
"""
