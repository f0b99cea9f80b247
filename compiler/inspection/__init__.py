"""What a compiled grammar is, in numbers, and how long its masks take.

What it is, for a page, a table, a pipeline (``README.md``):

    choices      engine, meaning, tokenization and method, each with its reason; ``--stats``
    sizes        bytes of each section, and whether the grammar or the tokenizer takes them
    density      how many tokens the masks allow
    texts        how many tokens and bytes of a text are forced
    inspection   all of it as one frozen object, of a compilation or of an artifact
    report       that object as JSON and as a table; what ``show`` says of an artifact

How long masks and steps take along texts, beside other engines (``MEASURING.md``):

    bench            all of it, of one grammar and its texts
    bench_grammar    a grammar as another engine reads it
    bench_child      a program that runs one engine, and knows no other; reads and writes JSON
    bench_run        starts it, holds its time and memory, reads what it found
    bench_figures    percentiles, the worst and where, differing masks
    bench_report     as a table and as JSON
    bench_plot       as a drawing, by matplotlib

No other engine is ever imported by the process that measures: each has a child process.
"""

from .inspection import inspection_of

__all__ = ["inspection_of"]
