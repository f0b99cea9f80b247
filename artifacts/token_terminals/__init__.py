"""Token terminals beside canonical masks: the texts between them are tokenized apart.

    sentinels   a byte that no text has stands for each terminal; it is the text of a token of its
                own, after the vocabulary
    machine     masks over these tokens, as masks over those that the terminals name

So the machines of canonical masks need not know of terminals: a sentinel is read where a text may
end, and after it another text begins.
"""
