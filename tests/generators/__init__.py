"""Programs that write the data files beside the code; run by hand, not in the wheel.

    make_classes, make_properties    Unicode's classes and properties, for regular expressions
    make_scripts                     by which scripts a pre-tokenizer divides a text
    make_characters                  what BERT's normalizer does to each character
    make_default_tokenizer           trains the default vocabulary on text of ``corpus`` and others
    make_formats                     the patterns of JSON Schema's formats
    make_lalr_tables                 Lark's tables of the dialects
    refetch_assets                   compares the vendored package with what npm has

``README.md`` has the commands and the versions of what they read. Each writes its file byte for
byte as it is committed.
"""
