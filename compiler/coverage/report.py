"""What is covered, as text and as JSON.

date.ebnf: rules 4/4, alternatives 4/5, edges 7/8: 88 % by 3 texts
date.ebnf:3:9: not covered: alternative "0" #"[1-9]" in month; 0000-01-10 covers it
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from constrain.artifacts.errors import visible

from ..diagnostics import Source
from .coverage import Coverage, Line
from .items import EDGE, KINDS, RULE, Item

# Edges of one pattern that are listed.
_EDGES = 5

# Characters of a member that are shown.
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """``lines``: of all items in the order of the grammar, and of how many ``texts``. What no
    member can use does not count."""

    source: Source
    texts: int
    lines: Sequence[Line]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Of each kind of item how many are covered, and how many there are."""
        counted = [line for line in self.lines if not line.is_unreachable]
        totals = Counter(line.item.kind for line in counted)
        covered = Counter(line.item.kind for line in counted if line.hits)
        return {kind: (covered[kind], totals[kind]) for kind in KINDS if totals[kind]}

    @property
    def percent(self) -> float:
        """Of all items that members can use, those that are covered, rounded down to a tenth."""
        found = self.counts().values()
        covered, total = sum(c for c, _ in found), sum(t for _, t in found)
        return 1000 * covered // total / 10 if total else 100.0

    @property
    def uncovered(self) -> list[Line]:
        """What no text has covered, though some may."""
        return [line for line in self.lines if not line.hits and not line.is_unreachable]

    def place(self, item: Item) -> tuple[int, int]:
        """Line and column of an item, from 1."""
        return self.source.position(item.span.start)


def report_of(coverage: Coverage) -> CoverageReport:
    """What texts have covered so far. Raises ``LimitError``."""
    return CoverageReport(coverage.grammar.source, coverage.texts, coverage.lines())


def summary(report: CoverageReport) -> str:
    """The counts on one line."""
    parts = [
        f"{_name(kind, report)} {covered:,}/{total:,}"
        for kind, (covered, total) in report.counts().items()
    ]
    texts = f"{report.texts:,} text{'s' * (report.texts != 1)}"
    return f"{visible(report.source.name)}: {', '.join(parts)}: {report.percent:g} % by {texts}"


def _name(kind: str, report: CoverageReport) -> str:
    is_schema = kind == RULE and report.source.dialect in ("json-schema", "tools", "structural-tag")
    return "schemas" if is_schema else f"{kind}s"


def as_text(report: CoverageReport, shown: Callable[[bytes], str]) -> str:
    """The counts, what is not covered, and what no member can use, a line each. Of a rule that no
    member uses all parts are such; of edges those are left out that a member before them covers,
    and all but the first of a pattern. ``shown``: writes bytes on one line."""
    found = [summary(report)]
    is_unused = {
        line.item.rule for line in report.lines if line.is_unreachable and line.item.kind == RULE
    }
    named: set[bytes | None] = set()
    edges = Counter[int]()
    for line in report.lines:
        is_edge = line.item.kind == EDGE
        if line.hits or (is_edge and line.member in named):
            continue
        if line.is_unreachable and line.item.kind != RULE and line.item.rule in is_unused:
            continue
        edges[line.item.group] += is_edge
        if edges[line.item.group] > _EDGES:
            continue
        named |= {line.member} if line.member is not None else set()
        row, column = report.place(line.item)
        found.append(f"{visible(report.source.name)}:{row}:{column}: {_said(line, shown)}")
    more = sum(max(count - _EDGES, 0) for count in edges.values())
    if more:
        found.append(f"{visible(report.source.name)}: and {more:,} more edge{'s' * (more > 1)}")
    return "".join(each + "\n" for each in found)


def _said(line: Line, shown: Callable[[bytes], str]) -> str:
    if line.is_unreachable:
        return f"no member uses {line.item.said}"
    if line.member is None:
        return f"not covered: {line.item.said}; no member was found"
    member = shown(line.member[:_SHOWN]) + "…" * (len(line.member) > _SHOWN)
    return f"not covered: {line.item.said}; {member or 'the empty text'} covers it"


def as_json(report: CoverageReport) -> dict[str, Any]:
    """One object; members are text, or pairs of hexadecimal digits where they are not UTF-8."""
    return {
        "grammar": report.source.name,
        "texts": report.texts,
        "percent": report.percent,
        "counts": {
            kind: {"covered": covered, "total": total}
            for kind, (covered, total) in report.counts().items()
        },
        "items": [_item(line, report) for line in report.lines],
    }


def _item(line: Line, report: CoverageReport) -> dict[str, Any]:
    row, column = report.place(line.item)
    found: dict[str, Any] = {
        "kind": line.item.kind,
        "rule": line.item.rule,
        "line": row,
        "column": column,
        "text": line.item.text,
        "case": line.item.case,
        "hits": line.hits,
        "unreachable": line.is_unreachable,
    }
    if not line.hits:
        found |= {"member": None, "member_hex": None}
        if line.member is not None:
            try:
                found["member"] = line.member.decode("utf-8")
            except UnicodeDecodeError:
                found["member_hex"] = line.member.hex()
    return found
