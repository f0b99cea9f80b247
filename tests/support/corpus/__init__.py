"""Languages, tokenizers and engines that tests hold against each other.

recorded, languages             ->  Language       a grammar, members and texts that are none
tokenizer_case (and small ones) ->  Case           a tokenizer beside its own library
engines                         ->  Engine         a row of the table of engines and options
encodings                       ->  masks          of a finite language, by the definition
agreement                       ->  offences       what an engine makes of a language, if wrong
"""
