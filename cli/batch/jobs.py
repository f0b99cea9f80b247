"""Grammars with their options and tokenizers, as jobs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError

from .. import options
from ..console import UsageError
from ..inputs import grammar_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrain.compiler import CompileJob, CompileOptions, JobResult


class Jobs:
    """Jobs as they are found. ``unread``: results of those that cannot be read.

    ``named``: the tokenizers of the command line, for jobs that name none.
    """

    def __init__(self, given: options.Given, named: "Sequence[str]", *, thin: bool) -> None:
        self.given, self._thin = given, thin
        found = options.project()
        self.named = [found.tokenizer(name) or name if found else name for name in named]
        self.jobs: list[CompileJob] = []
        self.unread: list[JobResult] = []
        # Tokenizers by the names that processes elsewhere know them by, as they were said.
        self.shown: dict[str | None, str | None] = {}

    def add(
        self, text: str, wanted: "CompileOptions", tokenizers: "Sequence[str | None]", name: str
    ) -> None:
        """A grammar for some tokenizers."""
        from constrain.compiler import CompileJob

        wanted = replace(wanted, thin=self._thin, limits=replace(wanted.limits, meter=None))
        if wanted.imports is not None:
            wanted = replace(wanted, imports=str(Path(wanted.imports).absolute()))
        include = tuple(str(Path(folder).absolute()) for folder in wanted.include)
        wanted = replace(wanted, include=include)
        if wanted.schema is not None:
            folders = tuple((uri, str(Path(f).absolute())) for uri, f in wanted.schema.schemas)
            wanted = replace(wanted, schema=replace(wanted.schema, schemas=folders))
        for tokenizer in tokenizers:
            self.jobs.append(CompileJob(text, wanted, self._absolute(tokenizer), name))

    def tokenizers(self, path: str | None) -> "list[str | None]":
        """Those of a grammar that names none itself."""
        found = options.project()
        said = None if found is None else found.settings_of(path).get("tokenizer")
        return [*self.named] or [None if said is None else str(said.value)]

    def add_file(self, path: str) -> None:
        """A grammar in a file; one whose text cannot be read is a failure of its own."""
        given = self.given.of(path)
        wanted = given.compile_options(path, given.bounds())
        tokenizers = self.tokenizers(path)
        try:
            text = grammar_text(path)
        except UsageError:
            raise
        except ConstrainError as error:
            self.unread += [_failed(path, name, error) for name in tokenizers]
            return
        self.add(text, wanted, tokenizers, path)

    def _absolute(self, tokenizer: str | None) -> str | None:
        """A name by which processes in other folders find the same."""
        found = tokenizer
        if tokenizer is not None and Path(tokenizer).exists():
            found = str(Path(tokenizer).absolute())
        self.shown.setdefault(found, tokenizer)
        return found


def _failed(path: str, tokenizer: str | None, error: ConstrainError) -> "JobResult":
    from constrain.compiler import JobResult
    from constrain.compiler.batch.job import error_of

    return JobResult(path, tokenizer, None, "failed", error=error_of(error))
