"""Cases to results, one after the other.

    case, subject -> verdict -> problems: the verdict is another, an expectation does not hold

What else wants to see the accepted texts, such as coverage, is an ``Observer``.
"""

import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from constrain.artifacts.errors import ConstrainError, visible

from ..diagnostics import Diagnostic, GrammarError, LimitError, Span
from ..explain.report import Status, Verdict
from .cases import Case, CaseFile, CaseFileError, Kind, Setting
from .expectations import CLAIMS, Difference, difference, said
from .notation import NotationError, escaped
from .subject import Outcome, Subject, SubjectError

# Seconds that an external validator may take for a text.
_COMMAND_SECONDS = 60

# Bytes of a text that a message shows.
_SHOWN_BYTES = 60

KINDS = {
    Kind.ACCEPT: (Status.ACCEPTED,),
    Kind.REJECT: (Status.REJECTED,),
    Kind.INCOMPLETE: (Status.INCOMPLETE,),
    Kind.INVALID: (Status.REJECTED, Status.INCOMPLETE),
}


_HELP = {
    (Kind.REJECT, Status.INCOMPLETE): "more text could make it a member: say ':incomplete', or "
    "':invalid' for both",
    (Kind.INCOMPLETE, Status.REJECTED): "no text after it could make it a member: say ':reject'",
}


class State(StrEnum):
    """What became of a case. ``TODO``: it fails, as it says; ``ERROR``: it cannot be run. In the
    order of summaries."""

    PASSED = "passed"
    UPDATED = "updated"
    FAILED = "failed"
    ERROR = "error"
    LIMIT = "limit"
    TODO = "todo"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is not as it should be. ``key``: of the expectation, or ``verdict``; ``found``: where
    the problem stands."""

    key: str
    expected: str
    actual: str
    found: Diagnostic


@dataclass(frozen=True, slots=True)
class Result:
    """A case and what became of it. ``message``: why it was not run, or may fail. ``values``: of
    expectations that hold None, of others what there is in their place. ``code``: of what it should
    end with."""

    case: Case
    state: State
    verdict: Verdict | None = None
    problems: tuple[Problem, ...] = ()
    message: str = ""
    values: tuple[tuple[Setting, str | None], ...] = field(default=(), repr=False)
    code: int = 0


class Observer(Protocol):
    """What looks at the texts of cases that passed."""

    def accepted(self, subject: Subject, text: bytes, case: Case) -> None:
        """A member was read by ``subject``."""


# Who is tested by a case, by the start that it says.
SubjectOf = Callable[[CaseFile, str | None], Subject]


@dataclass(frozen=True)
class Runner:
    """``allows_commands``: whether commands that cases name are run."""

    subject_of: SubjectOf
    allows_commands: bool = False
    observers: Sequence[Observer] = ()

    def run(self, file: CaseFile, is_wanted: Callable[[str], bool]) -> Iterator[Result]:
        """The results of a file's cases whose names are wanted, in their order. Raises what making
        a subject raises, but for limits, which are results."""
        stopped = ""
        for case in file.cases:
            if not is_wanted(case.name):
                continue
            if stopped:
                yield Result(case, State.SKIPPED, message=stopped)
            elif case.skip is not None:
                yield Result(case, State.SKIPPED, message=case.skip)
            else:
                result = self._result(file, case)
                yield result
                if case.fails_fast and result.state is State.FAILED:
                    stopped = f"'{case.name}' failed, which is ':fail-fast'"

    def _result(self, file: CaseFile, case: Case) -> Result:
        try:
            subject = self.subject_of(file, case.start)
            try:
                if case.samples is not None:
                    return self._of_samples(case, subject, file)
                return self._of_case(case, subject, file)
            except CaseFileError as error:
                return _not_run(case, State.ERROR, error)
        except LimitError as error:
            return _not_run(case, State.LIMIT, error)
        except SubjectError as error:
            return _not_run(case, State.ERROR, error)
        except CaseFileError:
            raise
        except GrammarError as error:
            if case.start is None:
                # It is so of all cases.
                raise
            wrong = case.wrong(f"it starts with '{case.start}': {error.diagnostics[0].message}")
            return _not_run(case, State.ERROR, wrong)

    def _of_case(self, case: Case, subject: Subject, file: CaseFile) -> Result:
        ids = None
        text = case.body
        if case.in_tokens:
            try:
                ids, text = subject.ids(text.decode("utf-8"))
            except NotationError as error:
                at = case.body_start
                span = None if at is None else Span(at, at + 1)
                raise case.wrong(error.message, span, error.help) from None
            verdict = subject.verdict_on_ids(ids)
        else:
            verdict = subject.verdict(text)
        problems, values = list[Problem](), list[tuple[Setting, str | None]]()
        if verdict.status not in KINDS[case.kind]:
            problems.append(_wrong_verdict(case, verdict, text, ids))
        else:
            outcome = Outcome(text, verdict, subject, ids)
            for each in case.expectations:
                found = difference(each.key, each.value, outcome)
                problems += [] if found is None else [_unmet(case, each, found, verdict, text)]
                is_value = each.key not in CLAIMS
                actual = found.actual if found is not None and not found.why else None
                values += [(each, actual)] * is_value
        if case.command is not None and not problems:
            problems += self._asked(case, text, verdict.status is Status.ACCEPTED, file)
        if verdict.status is Status.ACCEPTED and ids is None and not problems:
            for observer in self.observers:
                observer.accepted(subject, text, case)
        return _result(case, verdict, problems, values)

    def _of_samples(self, case: Case, subject: Subject, file: CaseFile) -> Result:
        assert case.samples is not None
        self._check_allowed(case)
        for text in subject.drawn(case.samples.number, case.samples.seed):
            problems = self._asked(case, text, True, file)
            if problems:
                return _result(case, None, problems, [])
            for observer in self.observers:
                observer.accepted(subject, text, case)
        return _result(case, None, [], [])

    def _check_allowed(self, case: Case) -> None:
        if not self.allows_commands:
            raise case.wrong(
                f"the case would run '{case.command}', and commands of cases are run with "
                "--allow-commands alone",
                help_="look at the command first: it is run as you",
            )

    def _asked(self, case: Case, text: bytes, is_member: bool, file: CaseFile) -> list[Problem]:
        """What the external validator says of a text against the verdict."""
        self._check_allowed(case)
        assert case.command is not None
        try:
            words = shlex.split(case.command)
            done = subprocess.run(
                words,
                input=text,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=file.folder,
                timeout=_COMMAND_SECONDS,
                check=False,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise case.wrong(f"the command '{case.command}' cannot be run: {reason}") from None
        except subprocess.TimeoutExpired:
            raise case.wrong(
                f"the command '{case.command}' took more than {_COMMAND_SECONDS} seconds"
            ) from None
        if (done.returncode == 0) == is_member:
            return []
        says = "takes" if done.returncode == 0 else "refuses"
        verdict = "a member" if is_member else "no member"
        message = f"{case.name}: '{case.command}' {says} {_shown(text)}, which is {verdict}"
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        found = _finding(message, case.place, f"it says: {last}" if last else None)
        return [Problem("command", "takes" if is_member else "refuses", says, found)]


def _result(
    case: Case,
    verdict: Verdict | None,
    problems: list[Problem],
    values: list[tuple[Setting, str | None]],
) -> Result:
    state = State.PASSED
    if problems:
        state = State.FAILED if case.todo is None else State.TODO
    message = case.todo or "" if state is State.TODO else ""
    code = int(state is State.FAILED)
    return Result(case, state, verdict, tuple(problems), message, tuple(values), code)


def _not_run(case: Case, state: State, error: ConstrainError) -> Result:
    """The result of a case that has none."""
    found = [Diagnostic(str(error), case.place)]
    if isinstance(error, CaseFileError):
        found = list(error.diagnostics)
    problems = tuple(Problem(state.value, "", "", each) for each in found)
    return Result(case, state, None, problems, found[0].message, code=error.exit_code)


def _wrong_verdict(
    case: Case, verdict: Verdict, text: bytes, ids: tuple[int, ...] | None
) -> Problem:
    """Where a text is not what it should be: at the byte where it stops, or where it stands."""
    if ids is None:
        why = said(verdict, text)
    else:
        why = f"{verdict.status.value} after {verdict.offset} of {len(ids)} tokens"
        why += f"; expected {' or '.join(verdict.tokens) or 'the end'}" * (
            verdict.offset < len(ids)
        )
    span, shown = case.place, ""
    if case.body_start is not None and ids is None and verdict.status is not Status.ACCEPTED:
        # Lines end with one character or two, and columns are characters.
        start = case.body_start + len(text[: verdict.offset].decode("utf-8", "replace"))
        span = Span(start, start + 1)
    elif case.body_start is None:
        shown = f" {_shown(text)}"
    wanted = " or ".join(each.value for each in KINDS[case.kind])
    message = f"{case.name}: should be {wanted}, and{shown} is {why}"
    found = _finding(message, span, _HELP.get((case.kind, verdict.status)))
    return Problem("verdict", wanted, verdict.status.value, found)


def _unmet(
    case: Case, expected: Setting, found: Difference, verdict: Verdict, text: bytes
) -> Problem:
    span = expected.span if expected.value else expected.key_span
    message = f"{case.name}: '{expected.key}' is {found.actual or 'empty'}"
    message += f", not {expected.value}" if expected.value else ", and nothing was said"
    if found.why:
        message = f"{case.name}: {found.why}"
    help_ = None
    if not expected.value:
        help_ = "--update fills it in"
    elif expected.key != "message" and not case.in_tokens:
        help_ = f"the text is {said(verdict, text)}"
    found_there = _finding(message, span, help_)
    return Problem(expected.key, expected.value, found.actual, found_there)


def _finding(message: str, span: Span, help_: str | None) -> Diagnostic:
    """What is wrong, on one line whatever names and texts of others hold."""
    return Diagnostic(visible(message), span, help_ and visible(help_))


def _shown(text: bytes) -> str:
    more = "…" * (len(text) > _SHOWN_BYTES)
    return f'"{escaped(text[:_SHOWN_BYTES])}{more}"'
