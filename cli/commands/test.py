"""``constrain test``: cases of grammars."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from constrain.artifacts.errors import ConstrainError, visible

from .. import options
from ..console import UsageError, progress, status, write_pieces, write_text
from ..coverage import CoverageOptions, Found
from ..everywhere.again import Again, Mark, Watched, marked, opened
from ..inputs import STDIN
from ..quoting import octets_of
from ..testing import Subjects, runs_of, single_runs
from ..watch import Watch

if TYPE_CHECKING:
    from constrain.compiler.testing.cases import CaseFile, CaseFileError
    from constrain.compiler.testing.report import FileReport
    from constrain.compiler.testing.runner import Runner


# How results are written.
Format = Literal["text", "json", "junit", "tap", "github", "lcov"]


@options.compile_options(
    *options.TOKENIZER, *options.SOURCE, "engine", *options.OF_MASKS, *options.LIMITS
)
def test(
    given: options.Given,
    paths: Annotated[list[str] | None, typer.Argument(metavar="[GRAMMAR] [CASES…]")] = None,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "text",
    output: options.Output = None,
    filter_: Annotated[str | None, typer.Option("--filter", metavar="REGEX")] = None,
    update: Annotated[bool, typer.Option("--update")] = False,
    allow_commands: Annotated[bool, typer.Option("--allow-commands")] = False,
    shows_coverage: Annotated[bool, typer.Option("--coverage")] = False,
    min_coverage: Annotated[float | None, typer.Option(min=0, max=100, metavar="PERCENT")] = None,
    suggest: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    watch: Watched = False,
) -> int:
    """Test grammars: say which texts are members, which are not, and where and why they stop.

    Exit code 0 if all cases are as they should be, 1 if one is not, 2 for cases or grammars that
    cannot be read, and where there is no case; 3 where a limit was hit. compiler/testing/README.md
    says how cases are written.

    \b
    Examples:
      constrain test
      constrain test date.ebnf
      constrain test date.ebnf cases/ --format junit -o results.xml
      constrain test tests/ --filter leap
      constrain test date.ebnf --coverage --min-coverage 90
      constrain test --watch

    - ``paths``: A grammar or an artifact, and cases: files *.test, folders of them, folders accept/
      and reject/, JSON files with a schema and tests. Cases that name their grammar need none here;
      a grammar alone has those of the project file, or of its name beside it.  [default: all of the
      project file]
    - ``format_``: text: what is wrong, as a compiler prints it; json; junit: XML; tap: version 14;
      github: workflow commands; lcov: coverage, as lcov's trace files have it.
    - ``filter_``: Run the cases alone in whose name REGEX is found.
    - ``update``: Rewrite expectations to what is: all but accept, reject, allowed and refused.
    - ``allow_commands``: Run the commands that cases name.
    - ``shows_coverage``: Say which rules, alternatives, repetitions and edges of patterns the
      accepted texts use, and for each that none uses a shortest member that does.
    - ``min_coverage``: End with 1 where less of a grammar is covered.  [default: the project
      file's]
    - ``suggest``: Append cases for what is not covered to FILE, as ':todo'; - for standard output.
    """
    from constrain.compiler.testing import report
    from constrain.compiler.testing.coverage import Coverages
    from constrain.compiler.testing.runner import Runner

    is_wanted = _filter(filter_)
    # Some of the cases cover less than what all are to cover.
    runs_all = filter_ is None and len(paths or ()) < 2
    least_of = options.project() if runs_all else None
    wanted = CoverageOptions(shows_coverage, suggest, min_coverage, format_, least_of)
    wanted.check()
    if watch:
        if update or wanted.wanted or output is not None or format_ != "text":
            raise UsageError("--watch shows results to people: it takes none of --update, --output")
        return _watching(given, paths, is_wanted, allow_commands)
    coverages = Coverages() if wanted.wanted else None
    runs = runs_of(given, paths)
    if update:
        _check_files(file.source.name for _, file in runs)
    _check_output(output, [*(paths or ()), *(file.source.name for _, file in runs)])
    total = sum(len(f.cases) for _, f in runs if not isinstance(f, ConstrainError))
    done, reports, tested = 0, list[report.FileReport](), list[str]()
    for subjects, file in runs:
        if isinstance(file, ConstrainError):
            reports.append(report.FileReport(file.source.name, None, (), file, file.exit_code))
            continue

        def tell(count: int, before: int = done) -> None:
            progress("cases", before + count, total)

        if coverages is not None:
            coverages.begin(subjects.subject_of, file)
        observers = () if coverages is None else (coverages,)
        runner = Runner(subjects.subject_of, allow_commands, observers)
        reports.append(_of_file(file, runner, subjects, is_wanted, update, tell))
        tested += [subjects.name_of(file) or ""]
        done += len(file.cases)
    if not any(found.results or found.error for found in reports):
        names = "" if filter_ is None else f" whose name has '{visible(filter_)}'"
        raise UsageError(
            f"{visible(' '.join(paths or ['the project file']))}: there is no case{names}"
        )
    text = {
        "text": report.as_text,
        "json": report.as_json,
        "junit": report.as_junit,
        "tap": report.as_tap,
        "github": report.as_github,
        "lcov": report.as_text,
    }[format_](reports)
    untested = [] if paths else wanted.untested(tested)
    found = None if coverages is None else Found(coverages, wanted, untested)
    if found is not None:
        if wanted.is_alone and text:
            status(text.removesuffix("\n"))
        text = found.written(text) + found.suggestions()
    if format_ == "text" and output in (None, STDIN):
        write_text(text, in_colour=True)
    else:
        write_pieces([octets_of(text)], output, paths[0] if paths else STDIN)
    status(report.summary(reports))
    if found is not None:
        found.say()
    return max(report.exit_code(reports), int(found is not None and not found.is_enough))


def _watching(
    given: options.Given, paths: list[str] | None, is_wanted: Callable[[str], bool], commands: bool
) -> int:
    """Run again the cases that a changed file is of, until somebody interrupts."""
    from constrain.compiler.testing import report
    from constrain.compiler.testing.runner import Runner

    if STDIN in (paths or ()):
        raise UsageError("--watch is of files")
    runs = dict[str, list[str]]()

    def listed() -> list[str]:
        options.project()
        runs.clear()
        runs.update(single_runs(given, paths))
        return list(runs)

    # What cases are about, while the files that it was made of are as they were.
    made = dict[str, tuple[Subjects, dict[str, Mark]]]()

    def work(name: str) -> list[report.FileReport]:
        before, marks = made.pop(name, (None, dict[str, Mark]()))
        with Watch() as clock, opened() as files:
            try:
                if before is not None and marked(marks) == marks:
                    subjects = before
                else:
                    subjects, marks = Subjects(replace(given, watch=clock)), {}
                found = [one(subjects, file) for file in subjects.divided(runs[name])]
            except ConstrainError as error:
                return [report.FileReport(name, None, (), error, error.exit_code)]
        if subjects.has_time:
            made[name] = subjects, marks | marked({*files} - {str(Path(runs[name][-1]).absolute())})
        return found

    def one(subjects: Subjects, file: "CaseFile | CaseFileError") -> report.FileReport:
        if isinstance(file, ConstrainError):
            return report.FileReport(file.source.name, None, (), file, file.exit_code)
        runner = Runner(subjects.subject_of, commands)
        return _of_file(file, runner, subjects, is_wanted, False, lambda _: None)

    def shown(each: list[list[report.FileReport]]) -> tuple[str, str]:
        found = [one for several in each for one in several]
        return report.as_text(found), f"{report.summary(found)}; watching"

    return Again(listed, work, shown).run()


def _check_files(cases: Iterable[str]) -> None:
    """Raise ``UsageError`` for cases that cannot be rewritten where they are."""
    from constrain.artifacts.container.regular import is_stream

    for name in cases:
        if name == "<stdin>" or is_stream(name):
            raise UsageError(f"{visible(name)}: --update rewrites files, and this is none")


def _check_output(output: str | None, read: Iterable[str]) -> None:
    """Raise ``UsageError`` before a file that is read would be overwritten."""
    target = Path(output) if output not in (None, STDIN) else None
    if target is None or not target.exists():
        return
    for path in {*read} - {STDIN, ""}:
        if Path(path).exists() and target.samefile(path):
            raise UsageError(
                f"{visible(output)}: this would overwrite what is tested; name another file"
            )


def _filter(pattern: str | None) -> Callable[[str], bool]:
    if pattern is None:
        return lambda _: True
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--filter takes a regular expression, and {pattern!r}: {error}") from None
    return lambda name: wanted.search(name) is not None


def _of_file(
    file: "CaseFile",
    runner: "Runner",
    subjects: Subjects,
    is_wanted: Callable[[str], bool],
    update: bool,
    tell: Callable[[int], None],
) -> "FileReport":
    """The results of a file; with ``update`` its expectations are rewritten."""
    from constrain.artifacts.container.write import write_atomically
    from constrain.compiler.testing.report import FileReport
    from constrain.compiler.testing.runner import Result
    from constrain.compiler.testing.update import updated

    found = list[Result]()
    try:
        for result in runner.run(file, is_wanted):
            found.append(result)
            tell(len(found))
    except ConstrainError as error:
        return FileReport(file.path, subjects.name_of(file), tuple(found), error, error.exit_code)
    if update and file.is_written:
        text, found = updated(file, found)
        if text != file.source.text:
            write_atomically(file.path, [text.encode()])
    return FileReport(file.path, subjects.name_of(file), tuple(found))
