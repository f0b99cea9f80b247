"""A measurement as a table and as JSON: figures of each engine, and beside those of others their
ratio to ours."""

import json
from collections.abc import Callable, Iterator

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
_RANKS = ("p50", "p90", "p99", "max")


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
    for said, name, unit in _rows():
        cells = [_cell(engine, name, unit) for engine in engines]
        if any(cells):
            rows.append([said, *cells])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for said, *cells in rows:
        shown = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield f"{said.ljust(widths[0])}  {'  '.join(shown)}".rstrip()


def _rows() -> Iterator[tuple[str, str, Callable[[float], str]]]:
    """What each row says, the figure's name, and how it is written."""
    yield "tokenizer, ms", "tokenizer", _milliseconds
    yield "compile, ms", "compile", _milliseconds
    yield "compile again, ms", "compile_again", _milliseconds
    yield "load, ms", "load", _milliseconds
    yield "load again, ms", "load_again", _milliseconds
    yield "first mask, ms", "first_mask", _milliseconds
    yield "memory, MB", "memory", lambda octets: f"{octets / 1e6:,.1f}"
    for kind, said in _LATENCIES.items():
        for rank in _RANKS:
            shown = "worst" if rank == "max" else rank
            yield f"{said}, µs: {shown}", f"{kind}_{rank}", lambda time: f"{time:,.1f}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.2f}"


def _cell(engine: EngineFigures, name: str, unit: Callable[[float], str]) -> str:
    value = engine.scalars.get(name)
    if value is None:
        return ""
    ratio = engine.ratios.get(name)
    return unit(value) if ratio is None else f"{unit(value)} ({_ratio(ratio)}×)"


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
