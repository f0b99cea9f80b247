"""Coverage in ``constrain test``: what is written of it in each format, and suggested cases."""

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from constrain.artifacts.container.regular import is_stream
from constrain.artifacts.errors import ConstrainError, visible

from .console import UsageError, error, note, status
from .inputs import STDIN
from .quoting import escaped

if TYPE_CHECKING:
    from constrain.compiler.coverage.report import CoverageReport
    from constrain.compiler.testing.cases import Case, CaseFile, Setting
    from constrain.compiler.testing.coverage import Coverages, Covered

    from .configuration.project import Project

# Formats of ``test``; those that are not here have no place for coverage.
TEXT, JSON, TAP, GITHUB, LCOV = "text", "json", "tap", "github", "lcov"

# What a file of cases says of its grammar's place and tokens, which no text depends on.
_NOT_OF_TEXTS = ("grammar", "tokenizer", "tokenization", "unk", "eos", "vocab-size")


@dataclass(frozen=True)
class CoverageOptions:
    """What the command line says. ``suggest``: a file, or - for standard output; ``least``: the
    least percentage of each grammar, by default that of the project file, if one is given."""

    shows: bool
    suggest: str | None
    least: float | None
    format: str
    project: "Project | None" = None

    @property
    def wanted(self) -> bool:
        """Whether coverage is looked at."""
        has_least = self.least is not None or (self.project and self.project.asks_for_coverage)
        return self.shows or self.suggest is not None or bool(has_least) or self.is_lcov

    def least_of(self, grammar: str) -> float | None:
        """The least percentage of a grammar."""
        if self.least is not None or self.project is None:
            return self.least
        return self.project.least_coverage(grammar)

    def untested(self, tested: Iterable[str]) -> "list[str]":
        """The grammars of the project that are to be covered and are none of those that have
        cases."""
        if self.project is None:
            return []
        known = {os.path.realpath(name) for name in tested}
        listed = [name for name in self.project.grammars() if os.path.realpath(name) not in known]
        return [name for name in listed if self.least_of(name)]

    @property
    def is_lcov(self) -> bool:
        """Whether a trace file is written."""
        return self.format == LCOV

    @property
    def is_alone(self) -> bool:
        """Whether results are left to standard error."""
        return self.is_lcov or self.suggest == STDIN

    def check(self) -> None:
        """Raise ``UsageError`` where two things would be one stream, and for no percentage."""
        if self.least is not None and math.isnan(self.least):
            raise UsageError("--min-coverage takes a number from 0 to 100, not nan")
        if self.suggest == STDIN and self.format != TEXT:
            message = (
                f"--suggest - writes cases to standard output, and so does --format {self.format}"
            )
            raise UsageError(f"{message} what it writes; name a file")


class Found:
    """The coverage of all grammars of a run, and those without a case. Raises ``LimitError``."""

    def __init__(
        self, coverages: "Coverages", wanted: CoverageOptions, untested: Sequence[str] = ()
    ) -> None:
        from constrain.compiler.diagnostics import GrammarError

        self._wanted, self._untested = wanted, untested
        self._covered: list[Covered] = []
        self._reports: list[CoverageReport] = []
        for covered in coverages.found:
            try:
                self._reports.append(covered.report())
            except GrammarError:
                continue  # The results say it.
            self._covered.append(covered)
            if covered.left_out:
                note(
                    f"{visible(covered.name)}: {covered.left_out} accepted texts cover nothing: "
                    "they are members of what the tokenizer sees, and not of the grammar as it is "
                    "written"
                )

    @property
    def is_enough(self) -> bool:
        """Whether each grammar is covered as far as it must be."""
        return not self._untested and not any(map(self._is_too_little, self._reports))

    def written(self, results: str) -> str:
        """The results of a run with their coverage, in the same format."""
        from constrain.compiler.coverage.lcov import as_lcov
        from constrain.compiler.coverage.report import as_json, as_text, summary
        from constrain.compiler.testing.coverage import lines_of
        from constrain.compiler.testing.report import notice

        match self._wanted.format:
            case "text" if self._wanted.suggest == STDIN:
                return ""
            case "text":
                listed = (as_text(r, escaped) for r in self._reports if self._is_listed(r))
                return results + "".join(listed)
            case "json":
                found = json.loads(results)
                found["coverage"] = [as_json(report) for report in self._reports]
                return json.dumps(found) + "\n"
            case "lcov":
                return as_lcov(self._reports)
            case "tap":
                lines = (f"# {summary(report)}\n" for report in self._reports)
                return results + "".join(lines)
            case "github":
                return results + "".join(
                    notice(report.source.name, *line)
                    for report in self._reports
                    for line in lines_of(report)
                )
            case _:
                return results

    def _is_too_little(self, report: "CoverageReport") -> bool:
        least = self._wanted.least_of(report.source.name)
        return least is not None and report.percent < least

    def _is_listed(self, report: "CoverageReport") -> bool:
        return self._wanted.shows or self._is_too_little(report)

    def say(self) -> None:
        """The counts, and what is too little."""
        from constrain.compiler.coverage.report import summary

        for report in self._reports:
            if self._wanted.format != TEXT or self._wanted.is_alone or not self._is_listed(report):
                status(summary(report))
            if self._is_too_little(report):
                error(
                    f"{visible(report.source.name)}: {report.percent:g} % is covered, less than "
                    f"{self._wanted.least_of(report.source.name):g} %"
                )
        for name in self._untested:
            least = self._wanted.least_of(name)
            error(f"{visible(name)}: no case is about it, and {least:g} % are to be covered")

    def suggestions(self) -> str:
        """Cases for what is not covered: their text where they are for standard output; else they
        are written to the file. Raises ``UsageError`` and ``CaseFileError``."""
        from constrain.compiler.testing.coverage import suggested
        from constrain.compiler.testing.format import write

        found = [(covered, cases) for covered in self._covered if (cases := suggested(covered))]
        if self._wanted.suggest is None:
            return ""
        if not found:
            status("no case is suggested")
            return ""
        if len(found) > 1:
            names = ", ".join(visible(covered.name) for covered, _ in found)
            raise UsageError(f"--suggest is for one grammar, and these are several: {names}")
        ((covered, cases),) = found
        if self._wanted.suggest == STDIN:
            return write(cases)
        _write(Path(self._wanted.suggest), covered, cases)
        count = f"{len(cases):,} case{'s' * (len(cases) > 1)}"
        status(f"{visible(self._wanted.suggest)}: {count} suggested")
        return ""


def _write(path: Path, covered: "Covered", cases: Sequence["Case"]) -> None:
    from constrain.artifacts.container.write import write_atomically
    from constrain.compiler.testing.cases import Setting
    from constrain.compiler.testing.coverage import appended
    from constrain.compiler.testing.format import parse, write

    if path.exists() and not is_stream(path):
        try:
            text = appended(parse(path.read_bytes().decode("utf-8"), str(path)), cases)
        except (ConstrainError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{visible(path)}: no cases can be appended to this file: {error}"
            ) from None
    else:
        named, grammar = [], covered.name
        if grammar != STDIN and path.stem != Path(grammar).name.partition(".")[0]:
            named = [Setting("grammar", _relative(grammar, path))]
        named += _settings(covered.file, path) if covered.file is not None else []
        text = write(cases, named)
    try:
        octets = text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            f"{visible(grammar)}: a file of cases says names in UTF-8, and this is none; one of "
            "the grammar's name beside it need not say it"
        ) from None
    write_atomically(str(path), [octets])


def _relative(file: str, to: Path) -> str:
    """A path from the folder of another file."""
    return Path(os.path.relpath(file, to.parent)).as_posix()


def _settings(file: "CaseFile", to: Path) -> "list[Setting]":
    """What the head of a file of cases says of the texts of its grammar, as another file does."""
    folder = Path(file.path).parent
    found = [each for each in file.settings if each.key not in _NOT_OF_TEXTS]
    for place, each in enumerate(found):
        if each.key == "schemas":
            parts = (part.rpartition("=") for part in each.value.split())
            said = (f"{uri}{eq}{_relative(str(folder / path), to)}" for uri, eq, path in parts)
            found[place] = replace(each, value=" ".join(said))
    return found
