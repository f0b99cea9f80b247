"""Findings as text, JSON, GitHub workflow commands and SARIF; and the texts that mend them."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING

from constrain.artifacts.errors import visible

from .console import write_pieces
from .quoting import octets_of

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic, Fix, Source
    from constrain.compiler.lints import Finding

SCHEMA = 1

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` in place of what stands from one place to another."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """A finding with its place resolved; lines and columns from 1, 0 where it has none.

    ``level``: error, warning or note. ``rendered``: as a terminal shows it. ``fix``: what mends it,
    and ``edits``: the same by lines and columns.
    """

    file: str
    lint: str
    level: str
    message: str
    help: str
    line: int
    column: int
    end_line: int
    end_column: int
    rendered: str
    fix: "Fix | None" = None
    edits: tuple[Edit, ...] = ()


def item(source: "Source", lint: str, level: str, found: "Diagnostic | Finding") -> Item:
    """Resolve the place of what was found."""
    from constrain.compiler.diagnostics import Diagnostic

    span, help_text, fix = found.span, found.help or "", found.fix
    rendered = Diagnostic(found.message, span, help_text or None).render(source)
    if level != "error":
        said = visible(found.message)
        rendered = rendered.replace(": error: ", f": {level}: ", 1).replace(
            said, f"{said} [{lint}]", 1
        )
    line, column = source.position(min(span.start, len(source.text))) if span else (0, 0)
    end_line, end_column = source.position(min(span.end, len(source.text))) if span else (0, 0)
    edits = tuple(
        Edit(*source.position(each.start), *source.position(each.end), each.text)
        for each in (fix.edits if fix else ())
    )
    places = line, column, end_line, end_column
    return Item(source.name, lint, level, found.message, help_text, *places, rendered, fix, edits)


def as_text(found: Sequence[Item]) -> str:
    """As a compiler prints them; of a file's errors the first, and how many more there are, and so
    of its warnings and notes."""
    from constrain.compiler.diagnostics import MOST_SHOWN, more_of

    lines, counts = list[str](), Counter[tuple[str, str]]()
    for i in found:
        counts[i.file, i.level] += 1
        if counts[i.file, i.level] <= MOST_SHOWN:
            lines.append(i.rendered)
    for (file, level), count in counts.items():
        lines += more_of(file, count, level)
    return "".join(line + "\n" for line in lines)


def as_json(found: Sequence[Item]) -> str:
    """One object with a schema number."""
    listed = [
        {k: v for k, v in asdict(i).items() if k not in ("rendered", "fix", "edits")}
        | ({"fix": _fix(i)} if i.fix else {})
        for i in found
    ]
    return json.dumps({"schema": SCHEMA, "findings": listed}) + "\n"


def _fix(found: Item) -> dict[str, object] | None:
    if found.fix is None:
        return None
    edits = [asdict(each) for each in found.edits]
    return {"title": found.fix.title, "safe": found.fix.safe, "edits": edits}


def as_github(found: Sequence[Item]) -> str:
    """Workflow commands that GitHub shows beside the lines of a change."""
    from constrain.compiler.testing.report import workflow_command

    return "".join(
        workflow_command(
            "notice" if i.level == "note" else i.level,
            {**asdict(i), "help": ""},
            "" if i.lint == "error" else i.lint,
        )
        for i in found
    )


def as_sarif(found: Sequence[Item], lints: Mapping[str, str]) -> str:
    """A SARIF 2.1.0 log."""
    rules = [
        {"id": name, "shortDescription": {"text": text}}
        for name, text in {"error": "the grammar cannot be compiled", **lints}.items()
    ]
    results = [
        {
            "ruleId": i.lint,
            "level": i.level,
            "message": {"text": f"{i.message}; {i.help}" if i.help else i.message},
            "locations": [{"physicalLocation": _location(i)}],
            **({"fixes": [_sarif_fix(i)]} if i.fix else {}),
        }
        for i in found
    ]
    driver = {"name": "constrain", "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}) + "\n"


def _location(found: Item) -> dict[str, object]:
    location: dict[str, object] = {"artifactLocation": _artifact(found)}
    if found.line:
        location["region"] = _region(found)
    return location


def _artifact(found: Item) -> dict[str, str]:
    from urllib.parse import quote

    return {"uri": quote(os.fsencode(found.file))}


def _region(place: Item | Edit) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _sarif_fix(found: Item) -> dict[str, object]:
    replacements = [
        {"deletedRegion": _region(each), "insertedContent": {"text": each.text}}
        for each in found.edits
    ]
    change = {"artifactLocation": _artifact(found), "replacements": replacements}
    title = found.fix.title if found.fix else ""
    return {"description": {"text": title}, "artifactChanges": [change]}


def difference(path: str, before: str, after: str) -> str:
    """What is new in a text, as ``diff -u`` writes it; empty where nothing is."""
    lines = unified_diff(before.splitlines(True), after.splitlines(True), path, path)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_back(path: str, text: str) -> None:
    """A text into its file, whole or not at all; that of ``-`` to standard output."""
    write_pieces([octets_of(text)], path)
