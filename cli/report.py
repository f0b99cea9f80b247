"""Findings as text, JSON, GitHub workflow commands and SARIF; and the texts that mend them."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from .console import write_pieces
from .quoting import octets_of

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic, Fix, Source
    from constrain.compiler.lints import Finding

SCHEMA = 1

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


class Place(NamedTuple):
    """Where a part of a text begins and ends; lines and columns from 1, 0 where it has none."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Item:
    """A finding in a source. ``lint``: its name, or ``error``; ``level``: error, warning or
    note."""

    source: "Source"
    lint: str
    level: str
    found: "Diagnostic | Finding"

    @property
    def place(self) -> Place:
        """Where it is."""
        return _place(self.source, self.found.span)

    @property
    def fields(self) -> dict[str, str | int]:
        """Its file, what it says, and where it is."""
        return {
            "file": self.source.name,
            "lint": self.lint,
            "level": self.level,
            "message": self.found.message,
            "help": self.found.help or "",
            **self.place._asdict(),
        }

    @property
    def edits(self) -> list[tuple[Place, str]]:
        """What mends it: places, and the texts that come there."""
        edits = self.found.fix.edits if self.found.fix else ()
        return [(_place(self.source, (e.start, e.end)), e.text) for e in edits]

    def rendered(self) -> str:
        """As a terminal shows it."""
        from constrain.compiler.diagnostics import Diagnostic

        found, name = self.found, "" if self.level == "error" else f" [{self.lint}]"
        said = Diagnostic(f"{found.message}{name}", found.span, found.help)
        return said.render(self.source, self.level)


def _place(source: "Source", span: tuple[int, int] | None) -> Place:
    if span is None:
        return Place(0, 0, 0, 0)
    start, end = (source.position(min(each, len(source.text))) for each in span)
    return Place(*start, *end)


def as_text(found: Sequence[Item]) -> str:
    """As a compiler prints them; of a file's errors the first, and how many more there are, and so
    of its warnings and notes."""
    from constrain.compiler.diagnostics import MOST_SHOWN, more_of

    lines, counts = list[str](), Counter[tuple[str, str]]()
    for i in found:
        counts[i.source.name, i.level] += 1
        if counts[i.source.name, i.level] <= MOST_SHOWN:
            lines.append(i.rendered())
    for (file, level), count in counts.items():
        lines += more_of(file, count, level)
    return "".join(line + "\n" for line in lines)


def as_json(found: Sequence[Item]) -> str:
    """One object with a schema number."""
    listed = [i.fields | ({"fix": _fix(i, i.found.fix)} if i.found.fix else {}) for i in found]
    return json.dumps({"schema": SCHEMA, "findings": listed}) + "\n"


def _fix(found: Item, fix: "Fix") -> dict[str, object]:
    edits = [place._asdict() | {"text": text} for place, text in found.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}


def as_github(found: Sequence[Item]) -> str:
    """Workflow commands that GitHub shows beside the lines of a change."""
    from constrain.compiler.testing.report import workflow_command

    return "".join(
        workflow_command(
            "notice" if i.level == "note" else i.level,
            {**i.fields, "help": ""},
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
            "message": {"text": "; ".join(filter(None, (i.found.message, i.found.help)))},
            "locations": [{"physicalLocation": _location(i)}],
            **({"fixes": [_sarif_fix(i, i.found.fix)]} if i.found.fix else {}),
        }
        for i in found
    ]
    driver = {"name": "constrain", "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}) + "\n"


def _location(found: Item) -> dict[str, object]:
    region = {"region": _region(found.place)} if found.found.span else {}
    return {"artifactLocation": _artifact(found), **region}


def _artifact(found: Item) -> dict[str, str]:
    from urllib.parse import quote

    return {"uri": quote(os.fsencode(found.source.name))}


def _region(place: Place) -> dict[str, int]:
    names = "startLine", "startColumn", "endLine", "endColumn"
    return dict(zip(names, place, strict=True))


def _sarif_fix(found: Item, fix: "Fix") -> dict[str, object]:
    replacements = [
        {"deletedRegion": _region(place), "insertedContent": {"text": text}}
        for place, text in found.edits
    ]
    change = {"artifactLocation": _artifact(found), "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change]}


def difference(path: str, before: str, after: str) -> str:
    """What is new in a text, as ``diff -u`` writes it; empty where nothing is."""
    lines = unified_diff(before.splitlines(True), after.splitlines(True), path, path)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_back(path: str, text: str) -> None:
    """A text into its file, whole or not at all; that of ``-`` to standard output."""
    write_pieces([octets_of(text)], path)
