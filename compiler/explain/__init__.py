"""Why a text is or is not a member of a grammar: where it stops, and what could have stood there;
and on which texts two grammars differ.

    explainer      one of the following for a grammar or an artifact, by its engine
    engines        the verdict by what recognises a grammar's texts
    machines       one interface over all engines: states of texts, byte by byte
    authored       Earley's recogniser of a grammar as its author wrote it
    repairs        the smallest edit near the place that makes the text go on
    refusals       why a token may not come next: by the grammar, the tokenization, a dead end
    spellings      what the tokenizer writes in a refused token's place
    token_marks    texts in which tokens are read: a byte stands for each
    sentences      of a schema or tools: what is wrong, in sentences about keys and values
    instance_text, instance_sentences, instance_calls
                   a text as JSON; a value beside a schema; calls beside their tools
    lockstep       two languages read at once: the first text on which they differ
    schema_changes what two schemas say differently, key by key
    report         the verdict that all engines give; a DFA's, state by state
    maximal_munch  lexer and parser of maximal munch: the byte that neither can read
    earley         any grammar: the items of the last column of Earley's recogniser
    network        threads of a network, where repetitions are counted whose copies are too many

The rules that lie inside each other at that place, and the terminals, are named by Earley's
recogniser of the grammar as it is written, but for the largest ones.
"""
