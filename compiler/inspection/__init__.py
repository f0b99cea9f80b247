"""What a compiled grammar is, in numbers: for a page, a table, a pipeline.

choices      engine, meaning, tokenization and method, each with its reason; ``--stats``
sizes        bytes of each section, and whether the grammar or the tokenizer takes them
density      how many tokens the masks allow
texts        how many tokens and bytes of a text are forced
inspection   all of it as one frozen object, of a compilation or of an artifact
report       that object as JSON and as a table; what ``show`` says of an artifact
"""

from .inspection import inspection_of

__all__ = ["inspection_of"]
