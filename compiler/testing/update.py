"""Expectations rewritten to what is, and nothing else: verdicts and claims about masks stay, and so
do comments and all other bytes."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from .cases import CaseFile
from .runner import Result, State


def updated(file: CaseFile, results: Sequence[Result]) -> tuple[str, list[Result]]:
    """The text of a file with the expectations that there are now, and the results with it.

    A line that several cases share (of ``:lines``) is rewritten if they all want the same.
    """
    wanted = dict[tuple[int, int], set[str | None]]()
    for result in results:
        for setting, actual in result.values:
            wanted.setdefault(setting.span, set()).add(actual)
    changes = {
        span: value
        for span, (value, *others) in wanted.items()
        if not others and value is not None and "\n" not in value
    }
    text = file.source.text
    for (start, end), value in sorted(changes.items(), reverse=True):
        space = " " * (start == end and text[start - 1 : start] == ":")
        text = text[:start] + space + value + text[end:]
    return text, [_changed(result, changes.keys()) for result in results]


def _changed(result: Result, spans: Collection[tuple[int, int]]) -> Result:
    """A result without the problems that are no more."""
    if not result.problems:
        return result
    rewritten = {setting.key for setting, _ in result.values if setting.span in spans}
    left = tuple(each for each in result.problems if each.key not in rewritten)
    if len(left) == len(result.problems):
        return result
    if left:
        return replace(result, problems=left)
    return replace(result, problems=(), state=State.UPDATED, code=0)
