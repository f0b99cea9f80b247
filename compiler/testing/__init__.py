"""Cases of grammars, and what becomes of them: the library below ``constrain test``.

paths -> collect -> case files -> runner -> results -> report
                                    |
             subject, expectations -'   update -> case files

cases          what a case is, and its file
format         the text of a case file, read and written
schema_cases   JSON files with a schema and instances
collect        files and folders to case files
subject        what is tested: a grammar or an artifact, with a tokenizer where one is needed
notation       tokens and bytes, as case files write them
expectations   what a case says of its text besides the verdict
runner         cases to results, one after the other
update         expectations rewritten to what is
report         results as text, JSON, JUnit's XML, TAP and GitHub's workflow commands
"""
