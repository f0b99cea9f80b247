"""What is covered as a trace file of lcov, for the viewers and services that read those.

A rule is a function (``FN``), what a derivation chooses from at one place a block of branches
(``BRDA``), and a line is hit as often as what stands on it most often is (``DA``).
Source: the manual page geninfo(1) of lcov 2, "TRACEFILE FORMAT".
"""

from collections.abc import Iterable

from constrain.artifacts.errors import visible

from .coverage import Line
from .items import RULE
from .report import CoverageReport


def as_lcov(reports: Iterable[CoverageReport]) -> str:
    """One record a grammar. What no member can use is left out."""
    return "".join(line + "\n" for report in reports for line in _record(report))


def _record(report: CoverageReport) -> Iterable[str]:
    yield "TN:"
    yield f"SF:{visible(report.source.name)}"
    lines = [line for line in report.lines if not line.is_unreachable]
    yield from _functions(report, [line for line in lines if line.item.kind == RULE])
    yield from _branches(report, [line for line in lines if line.item.kind != RULE])
    rows: dict[int, int] = {}
    for line in lines:
        row, _ = report.place(line.item)
        rows[row] = max(rows.get(row, 0), line.hits)
    yield from (f"DA:{row},{hits}" for row, hits in sorted(rows.items()))
    yield f"LF:{len(rows)}"
    yield f"LH:{sum(map(bool, rows.values()))}"
    yield "end_of_record"


def _functions(report: CoverageReport, lines: list[Line]) -> Iterable[str]:
    for line in lines:
        yield f"FN:{report.place(line.item)[0]},{_name(line)}"
    for line in lines:
        yield f"FNDA:{line.hits},{_name(line)}"
    yield f"FNF:{len(lines)}"
    yield f"FNH:{sum(bool(line.hits) for line in lines)}"


def _name(line: Line) -> str:
    """A rule's name, on one line."""
    return visible(" ".join(line.item.rule.split()))


def _branches(report: CoverageReport, lines: list[Line]) -> Iterable[str]:
    groups: dict[int, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.item.group, []).append(line)
    ordered = sorted(groups.values(), key=lambda group: report.place(group[0].item))
    for block, group in enumerate(ordered):
        row, _ = report.place(group[0].item)
        is_met = any(line.hits for line in group)
        for branch, line in enumerate(group):
            yield f"BRDA:{row},{block},{branch},{line.hits if is_met else '-'}"
    yield f"BRF:{len(lines)}"
    yield f"BRH:{sum(bool(line.hits) for line in lines)}"
