"""The jobs that files, folders, lines of JSON and the project file mean."""

from collections.abc import Sequence

from .. import options
from ..configuration.current import listed_grammars
from ..inputs import STDIN, grammar_files, tokenizer_at
from .jobs import Jobs
from .jobs_file import add_lines

_SUFFIX = ".jsonl"


def jobs_of(
    paths: Sequence[str] | None, given: options.Given, named: Sequence[str], *, thin: bool
) -> Jobs:
    """The jobs of these files and folders, by default of the project file's grammars.

    Raises ``UsageError``, ``JobsError`` and ``OSError`` for what has to be mended before anything
    is compiled, ``TokenizerError`` for tokenizers that cannot be read.
    """
    jobs = Jobs(given, named, thin=thin)
    for path in paths or listed_grammars(options.project()):
        if path.endswith(_SUFFIX) or path == STDIN:
            add_lines(jobs, path)
        else:
            for file in grammar_files(path):
                jobs.add_file(file)
    for name in jobs.shown.values():
        tokenizer_at(name)
    return jobs
