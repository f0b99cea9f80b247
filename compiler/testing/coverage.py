"""What accepted texts cover of the grammars that are tested, and cases for what is left.

Cases that are ``:todo`` cover nothing: suggested ones are, until somebody has looked at them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from constrain.artifacts.container.manifest import MAXIMAL_MUNCH
from constrain.artifacts.errors import ConstrainError, visible

from ..choose import engine_of
from ..coverage.coverage import Coverage, Line
from ..coverage.report import CoverageReport, report_of
from ..frontend import read_checked
from ..options import CompileOptions, options_of
from .cases import Case, CaseFile, CaseFileError
from .format import fence_suffix, parse, write
from .runner import SubjectOf
from .subject import Subject, SubjectError


@dataclass(slots=True, eq=False)
class Covered:
    """A grammar under test. ``texts``: with the rule that each begins with, None for the
    grammar's; ``suggested``: texts of cases that are ``:todo``; ``file``: the first of its
    cases; ``accepts``: what decides what a member is, which options
    such as a depth restrict."""

    name: str
    text: str
    options: CompileOptions
    accepts: Callable[[bytes], bool]
    file: CaseFile | None = None
    texts: list[tuple[bytes, str | None]] = field(default_factory=list)
    suggested: set[bytes] = field(default_factory=set)
    left_out: int = 0
    _coverage: Coverage | None = None

    def coverage(self) -> Coverage:
        """What the texts cover. Raises ``GrammarError`` and ``LimitError``."""
        if self._coverage is None:
            limits = self.options.limits.started()
            grammar = read_checked(self.text, replace(self.options, limits=limits), self.name)
            semantics = engine_of(grammar, self.options).semantics
            found = Coverage(grammar, limits, over_lexemes=semantics == MAXIMAL_MUNCH)
            for text, start in self.texts:
                # Such as a text that WordPiece sees another way.
                self.left_out += not found.add(text, start)
            self._coverage = found
        return self._coverage

    def lines(self) -> list[Line]:
        """All items; a member that the options leave out is none."""
        return [
            replace(line, member=None)
            if line.member is not None and not self.accepts(line.member)
            else line
            for line in self.coverage().lines()
        ]

    def report(self) -> CoverageReport:
        """The same as a report."""
        return replace(report_of(self.coverage()), lines=self.lines())


class Coverages:
    """An observer: one ``Covered`` for each grammar and its options, whatever rule cases begin
    with."""

    def __init__(self) -> None:
        self.found: list[Covered] = []

    def begin(self, subject_of: SubjectOf, file: CaseFile) -> None:
        """Look at a file's grammar, whether or not a case is accepted."""
        with suppress(ConstrainError):  # The results say it.
            covered = self.about(subject_of(file, None))
            covered.file = covered.file or file

    def about(self, subject: Subject) -> Covered:
        """The grammar of a subject, covered or not. Raises ``SubjectError`` for an artifact without
        the text of its grammar."""
        source = subject.source
        text, options = source.text, source.options
        if source.artifact is not None:
            m = source.artifact.manifest
            if m.source is None:
                raise SubjectError(
                    f"{visible(source.name)}: its grammar, which is covered, was stripped"
                )
            text, options = m.source, options_of(m)
        assert text is not None
        assert options is not None
        for each in self.found:
            if (each.name, each.text) == (source.name, text) and _same(each.options, options):
                return each
        self.found.append(Covered(source.name, text, options, subject.accepts))
        return self.found[-1]

    def accepted(self, subject: Subject, text: bytes, case: Case) -> None:
        """See ``Observer``."""
        covered = self.about(subject)
        if case.todo is not None:
            covered.suggested.add(text)
            return
        covered.texts.append((text, case.start))


def _same(one: CompileOptions, other: CompileOptions) -> bool:
    """Whether options differ in the start at most."""
    return replace(one, start=None) == replace(other, start=None)


def suggested(covered: Covered) -> list[Case]:
    """Cases that cover all that is not covered and has a member, each for something that those
    before it do not cover; none that is suggested already."""
    coverage = covered.coverage()
    left = [(n, line) for n, line in enumerate(covered.lines()) if line.member is not None]
    known = set[int]()
    for text in covered.suggested:
        known |= coverage.covered_by(text) or frozenset()
    chosen: list[tuple[int, Line]] = []
    # Longer members cover more.
    for number, line in sorted(left, key=lambda each: -len(each[1].member or b"")):
        if number not in known:
            assert line.member is not None
            known |= coverage.covered_by(line.member) or frozenset()
            chosen.append((number, line))
    return [
        Case(visible(f"covers {line.item.said}"), line.member or b"", todo="")
        for _, line in sorted(chosen, key=lambda each: each[0])
    ]


def appended(file: CaseFile, cases: Sequence[Case]) -> str:
    """The text of a case file with more cases after its own. Raises ``CaseFileError`` where they
    cannot stand there."""
    text = file.source.text
    text += "" if text.endswith("\n") else "\n"
    more = "\n" + write(cases, suffix=fence_suffix(text))
    found = parse(text + more, file.path)
    if found.cases != (*file.cases, *cases):
        raise CaseFileError(file.source, [])
    return text + more


def lines_of(report: CoverageReport) -> Iterator[tuple[int, int, str]]:
    """Line, column and what is said of what is not covered."""
    for line in report.uncovered:
        yield (*report.place(line.item), f"not covered: {line.item.said}")
