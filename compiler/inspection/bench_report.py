"""A measurement as a table and as JSON: figures of each engine, and beside those of others their
ratio to ours."""

import json
from collections.abc import Iterator

from constrain.artifacts.errors import visible

from .bench import Bench
from .bench_figures import EngineFigures, Latency, Place

# The version of the JSON.
SCHEMA = 1

_LATENCIES = {
    "masks": "mask, the first time",
    "masks_again": "mask, again",
    "steps": "step, the first time",
    "steps_again": "step, again",
}
_RANKS = {"p50": "p50", "p90": "p90", "p99": "p99", "max": "worst"}
_TIMES = ("tokenizer", "compile", "compile_again", "load", "load_again", "first_mask")

# What each row says, the figure's name, its unit in that of the row, and digits.
_ROWS = (
    *((f"{name.replace('_', ' ')}, ms", name, 1e3, 2) for name in _TIMES),
    ("memory, MB", "memory", 1e-6, 1),
    *(
        (f"{said}, µs: {shown}", f"{kind}_{rank}", 1, 1)
        for kind, said in _LATENCIES.items()
        for rank, shown in _RANKS.items()
    ),
)


def as_json(found: Bench) -> str:
    """One object on a line."""
    return json.dumps({"schema": SCHEMA, **found.to_json()}) + "\n"


def as_table(found: Bench) -> str:
    """For people: a column for each engine, then the worst places, and what differs."""
    measured = [text for text in found.texts if text.message is None]
    lines = [
        f"{found.name}: {found.kind}, {found.tokenization}, {found.artifact_bytes:,} bytes",
        f"tokenizer: {found.tokenizer}, {found.vocab_size:,} ids",
        f"texts: {len(measured):,} of {sum(text.bytes for text in measured):,} bytes, "
        f"{sum(text.tokens for text in measured):,} tokens; {found.runs} run"
        + "s"
        * (found.runs > 1),
        *(f"no member: {text.message}" for text in found.texts if text.message is not None),
        *_columns([engine for engine in found.engines if not engine.error]),
        *(line for engine in found.engines for line in _engine(engine)),
        *([f"compared with: {found.compared}"] if found.compared else []),
    ]
    return "".join(f"{visible(line)}\n" for line in lines)


def _columns(engines: list[EngineFigures]) -> Iterator[str]:
    """The figures, aligned."""
    heads = [f"{engine.name} {engine.version}".strip() for engine in engines]
    rows = [["", *heads]]
    for said, name, scale, digits in _ROWS:
        cells = [_cell(engine, name, scale, digits) for engine in engines]
        if any(cells):
            rows.append([said, *cells])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for said, *cells in rows:
        shown = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield f"{said.ljust(widths[0])}  {'  '.join(shown)}".rstrip()


def _cell(engine: EngineFigures, name: str, scale: float, digits: int) -> str:
    value = engine.scalars.get(name)
    if value is None:
        return ""
    ratio, shown = engine.ratios.get(name), f"{value * scale:,.{digits}f}"
    return shown if ratio is None else f"{shown} ({_ratio(ratio)}×)"


def _ratio(ratio: float) -> str:
    """Three digits, or all of a whole number."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _engine(engine: EngineFigures) -> Iterator[str]:
    """The worst places, how the grammar was handed on, what is wrong."""
    if engine.error:
        yield f"{engine.name}: no figures: {engine.error}"
        return
    if engine.given:
        yield f"{engine.name}: the grammar {engine.given}"
    if engine.unread:
        yield f"{engine.name}: read in part: there was no time for {engine.unread:,} masks"
    for kind, said in _LATENCIES.items():
        latency: Latency | None = getattr(engine, kind)
        if latency is not None:
            yield f"{engine.name}: worst {said}: {latency.max:,.1f} µs, {_place(latency.worst)}"
    if engine.differing is not None:
        found = engine.differing
        yield f"{engine.name}: {found.differing:,} of {found.masks:,} masks differ"
        if found.first is not None:
            yield (
                f"{engine.name}: the first one {_place(found.first)}, {found.allowed:,} tokens "
                f"instead of {found.ours:,}"
            )
    for place in engine.refusals:
        yield f"{engine.name}: refuses a member, {_place(place)}"


def _place(place: Place) -> str:
    what = f"before {place.shown!r}" if place.shown else "at the end"
    return f"{place.file}, byte {place.byte:,}, token {place.token:,}, {what}"
