"""Many grammars: which jobs the command line means, and what became of them.

jobs_of      files, folders, a project's grammars and lines of JSON -> jobs
jobs_file    lines of JSON, each a job
jobs         grammars with their options and tokenizers, as jobs
results      progress, and the report
"""
