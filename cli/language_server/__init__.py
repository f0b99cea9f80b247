"""What an editor asks about grammars, case files, schemas and lists of tools.

text -> texts       offsets and an editor's positions
text -> workspace   documents that are open, their options, names over imports
names -> navigation, outline          definitions, references, renaming; symbols, tokens
text -> findings, rules, cases        what `check`, `explain` and `test` say
jobs                one thread; what is newer goes before
protocol            all of it over the Language Server Protocol 3.17, by pygls
"""
