"""One self-contained page about a grammar, which a browser opens from a file: ``inspect -o``.

    encoding    arrays as base64, data inside a script element, hashes for the CSP
    walk        the tables that the page reads texts with, or why there are none
    tokens      vocabulary, merges and pre-tokenizer; canonical masks as far as they fit
    graph       the states and edges that `viz` draws, and the states inside each edge
    layout      positions by Graphviz; where it is missing the page computes them
    railroad    diagrams of the rules, in Python: for the page, and as SVG
    grammar     the text with its rules and lints
    program     the program inside, ``js/``: one thought a file
    page        all of these and the template: the file

Of the program ``start.js`` reads as the table of contents; ``js/panes/`` is what is seen.
"""
