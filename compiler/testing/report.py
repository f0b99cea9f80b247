"""Results as text, JSON, JUnit's XML, TAP 14 and GitHub's workflow commands.

No format has times: the same cases and grammars give the same bytes.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from constrain.artifacts.errors import visible

from ..diagnostics import Diagnostic, GrammarError, Source
from ..explain.report import Verdict, expected_texts
from .runner import Problem, Result, State

SCHEMA = 1

_WRONG = (State.FAILED, State.ERROR, State.LIMIT)
_NAMES = {State.ERROR: "not run", State.LIMIT: "beyond a limit"}


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file of cases and what became of them. ``grammar``: what was tested; ``error``: why the
    file, or its grammar, cannot be read."""

    path: str
    grammar: str | None
    results: tuple[Result, ...]
    error: Exception | None = None
    code: int = 0


def exit_code(files: Iterable[FileReport]) -> int:
    """0 if all cases are as they should be, 1 if one is not, 2 for what cannot be read, 3 for
    limits."""
    codes = [0]
    for file in files:
        codes += [file.code, *(result.code for result in file.results)]
    return max(codes)


def summary(files: Sequence[FileReport]) -> str:
    """How many of what, on one line."""
    counts = Counter(result.state for file in files for result in file.results)
    total = sum(counts.values())
    parts = [
        f"{counts[state]:,} {_NAMES.get(state, state.value)}" for state in State if counts[state]
    ]
    wrong = sum(file.error is not None for file in files)
    parts += [f"{wrong:,} file{'s' * (wrong > 1)} with errors"] * (wrong > 0)
    cases = f"{total:,} case{'s' * (total != 1)}"
    return f"{cases}: {', '.join(parts) or 'none was run'}"


# --- text


def as_text(files: Iterable[FileReport]) -> str:
    """Failures as a compiler prints them; nothing where all is as it should be."""
    found = list[str]()
    for file in files:
        for result in file.results:
            source = result.case.source
            if result.state in _WRONG:
                found += [problem.found.render(source) for problem in result.problems]
            elif result.case.todo is not None and result.state is State.PASSED:
                message = f"{visible(result.case.name)}: it is ':todo', and passes"
                found.append(Diagnostic(message, result.case.place).render(source, "note"))
        if file.error is not None:
            found.append(_error_text(file.error))
    return "".join(each + "\n" for each in found)


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, GrammarError) else f"error: {error}"


# --- JSON


def as_json(files: Sequence[FileReport]) -> str:
    """One object with a schema number."""
    counts = Counter(result.state for file in files for result in file.results)
    found = {
        "schema": SCHEMA,
        "summary": {state.value: counts[state] for state in State},
        "files": [
            {
                "file": file.path,
                "grammar": file.grammar,
                "errors": _errors(file.error),
                "cases": [_case(result) for result in file.results],
            }
            for file in files
        ],
    }
    return json.dumps(found) + "\n"


def _case(result: Result) -> dict[str, object]:
    case = result.case
    return {
        "name": case.name,
        "file": case.source.name,
        "line": case.line,
        "kind": case.kind.value,
        "start": case.start,
        "status": result.state.value,
        "message": result.message,
        "verdict": None if result.verdict is None else _verdict(result.verdict),
        "problems": [_problem(each, case.source) for each in result.problems],
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    found: dict[str, object] = {
        "status": verdict.status.value,
        "line": verdict.line,
        "column": verdict.column,
        "byte": verdict.offset,
        "rules": list(verdict.rules),
        "path": list(verdict.path),
        "expected": expected_texts(verdict),
        "may_end": verdict.may_end,
    }
    if verdict.instance is not None:
        found |= {"instance": verdict.instance, "schemas": list(verdict.schemas)}
        found["is_for_order"] = verdict.is_for_order
    return found


def _problem(problem: Problem, source: Source) -> dict[str, object]:
    return {
        "key": problem.key,
        "expected": problem.expected,
        "actual": problem.actual,
        **_diagnostic(problem.found, source),
    }


def _errors(error: Exception | None) -> list[dict[str, object]]:
    if error is None:
        return []
    if isinstance(error, GrammarError):
        return [_diagnostic(each, error.source) for each in error.diagnostics]
    return [{"file": None, "message": str(error), "help": "", "line": 0, "column": 0}]


def _diagnostic(found: Diagnostic, source: Source) -> dict[str, object]:
    line, column = _position(found, source)
    place = {"file": source.name, "line": line, "column": column}
    return {"message": found.message, "help": found.help or "", **place}


def _position(found: Diagnostic, source: Source) -> tuple[int, int]:
    """0, 0 where a finding has no place."""
    if found.span is None:
        return 0, 0
    return source.position(min(found.span.start, len(source.text)))


# --- JUnit


def as_junit(files: Sequence[FileReport]) -> str:
    """XML as the servers of CI read it: a suite a file, a case a case."""
    root = Element("testsuites")
    root.extend([_suite(file) for file in files])
    _count(root)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _count(element: Element) -> None:
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for name, tag in tags.items():
        element.set(name, str(len(element.findall(f".//{tag}"))))


def _suite(file: FileReport) -> Element:
    suite = Element("testsuite", name=_xml(file.path))
    for result in file.results:
        case, place = result.case, {"classname": _xml(file.path)}
        place |= {"file": _xml(case.source.name), "line": str(case.line)}
        found = SubElement(suite, "testcase", {"name": _xml(case.name), **place})
        match result.state:
            case State.FAILED:
                _failure(found, "failure", result)
            case State.ERROR | State.LIMIT:
                _failure(found, "error", result)
            case State.SKIPPED | State.TODO:
                why = f"todo: {result.message}" if result.state is State.TODO else result.message
                SubElement(found, "skipped", message=_xml(why))
    if file.error is not None:
        text = _xml(_error_text(file.error))
        found = SubElement(suite, "testcase", name="this file", classname=_xml(file.path))
        SubElement(found, "error", message=text.partition("\n")[0]).text = text
    _count(suite)
    return suite


def _failure(found: Element, tag: str, result: Result) -> None:
    """All problems of a case: a case has one failure."""
    texts = [each.found.render(result.case.source) for each in result.problems]
    message = "; ".join(each.found.message for each in result.problems)
    kinds = " ".join(dict.fromkeys(each.key for each in result.problems))
    said = {"message": _xml(message), "type": _xml(kinds)}
    SubElement(found, tag, said).text = _xml("\n".join(texts))


# What XML 1.0 has no way to write.
_NO_XML = re.compile("[\ufffe\uffff]")


def _xml(text: str) -> str:
    return "\n".join(_NO_XML.sub("\ufffd", visible(line)) for line in text.split("\n"))


# --- TAP


def as_tap(files: Sequence[FileReport]) -> str:
    """Version 14 of the Test Anything Protocol."""
    points = list[str]()
    for file in files:
        for result in file.results:
            points.append(_case_point(len(points) + 1, result))
        if file.error is not None:
            found = _errors(file.error)
            points.append(
                _point(len(points) + 1, False, f"{visible(file.path)}: this file", "", found)
            )
    return "".join(["TAP version 14\n", f"1..{len(points)}\n", *points])


_SAID = ("message", "file", "line", "column", "key", "expected", "actual")


def _case_point(number: int, result: Result) -> str:
    case, is_ok, directive = result.case, True, ""
    problems = [_problem(each, case.source) for each in result.problems]
    match result.state:
        case State.FAILED | State.ERROR | State.LIMIT:
            is_ok = False
        case State.TODO:
            is_ok, directive = False, f" # TODO {_plain(result.message)}".rstrip()
        case State.SKIPPED:
            directive = f" # SKIP {_plain(result.message)}".rstrip()
        case _ if case.todo is not None:
            directive = f" # TODO {_plain(case.todo)}".rstrip()
    name = f"{case.source.name}:{case.line}: {case.name}"
    return _point(number, is_ok, name, directive, problems)


def _point(
    number: int, is_ok: bool, name: str, directive: str, problems: list[dict[str, object]]
) -> str:
    lines = [f"{'ok' if is_ok else 'not ok'} {number} - {_plain(name)}{directive}"]
    if problems:
        # JSON is YAML, whatever a message holds.
        lines += ["  ---", "  problems:"]
        for each in problems:
            said = {key: each[key] for key in _SAID if key in each}
            lines.append(f"    - {json.dumps(said)}")
        lines.append("  ...")
    return "".join(line + "\n" for line in lines)


def _plain(text: str) -> str:
    """A description on one line: ``#`` and backslashes escaped, as TAP asks."""
    return visible(text).replace("\t", " ").replace("\\", "\\\\").replace("#", "\\#")


# --- GitHub


def as_github(files: Iterable[FileReport]) -> str:
    """Workflow commands that GitHub shows beside the lines of a change."""
    lines = list[str]()
    for file in files:
        for result in file.results:
            for problem in result.problems if result.state in _WRONG else ():
                found = _problem(problem, result.case.source)
                lines.append(workflow_command("error", found, result.case.name))
        for each in _errors(file.error):
            lines.append(workflow_command("error", each, "constrain test"))
    return "".join(lines)


def notice(file: str, line: int, column: int, message: str) -> str:
    """The workflow command of something that is no failure."""
    found: dict[str, object] = {"file": file, "line": line, "column": column}
    return workflow_command("notice", found | {"message": message, "help": ""}, "coverage")


def workflow_command(level: str, found: Mapping[str, object], title: str) -> str:
    """What GitHub shows of a finding beside its line. ``found``: ``file``, ``line`` (0 for none),
    ``column``, ``message`` and ``help``, and where it ends, if that is known."""
    places = {"line": "line", "col": "column", "endLine": "end_line", "endColumn": "end_column"}
    said = [f"file={_property(str(found['file']))}"] if found["file"] else []
    if found["line"]:
        said += [f"{name}={found[key]}" for name, key in places.items() if key in found]
    said += [f"title={_property(visible(title))}"] if title else []
    text = "\n".join(str(found[key]) for key in ("message", "help") if found[key])
    return f"::{level} {','.join(said)}::{_data(text)}\n"


def _data(text: str) -> str:
    lines = text.replace("%", "%25").split("\n")
    return "%0A".join(visible(line.replace("\r", "%0D")) for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
