"""How long masks and steps take along texts, beside other engines.

    given      a grammar as another engine reads it
    child      a program that runs one engine, and knows no other; its input and output are JSON
    run        starts it, holds its time and memory, reads what it found
    figures    percentiles, the worst and where, differing masks
    bench      all of it, of one grammar and its texts
    report     as a table and as JSON
    plot       as a drawing, by matplotlib

No other engine is ever imported by the process that measures: each has a child process.
"""
