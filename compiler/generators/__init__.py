"""Programs that write the data files beside the code; run by hand, not in the wheel.

    make_classes, make_properties    Unicode's classes and properties, for regular expressions
    make_characters                  what BERT's normalizer does to each character
    make_default_tokenizer           trains the default vocabulary on text of ``corpus`` and others

``README.md`` has the commands and the versions of what they read. Each writes its file byte for
byte as it is committed.
"""
