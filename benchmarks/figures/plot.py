"""The plot of the README, drawn from the figures in ``benchmarks/README.md``.

python benchmarks/figures/plot.py [-o benchmarks/figures/times.svg]

Above: masks of texts that nest and were not read before, from the median to the 99th percentile.
Below: from the text of a new grammar to its first mask. What was measured stands in the README's
tables alone; the same tables give the same bytes.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path

HERE = Path(__file__).parent

# Who is drawn, and in which colour (Okabe and Ito's, which most people can distinguish).
COLOURS = {"constrain": "#0072b2", "llguidance": "#d55e00", "xgrammar": "#009e73"}

WIDTH, LEFT, RIGHT = 760, 150, 48
ROW, LINE = 46, 11

# Rows of the second plot, by their names in the table, and what they are called here.
REQUESTS = {
    "any JSON": "any JSON",
    "person": "schema, 4 fields",
    "100 optional": "schema, 100 optional",
    "maxLength 100": "schema, maxLength",
    "arithmetic.gbnf": "arithmetic (GBNF)",
    "c.gbnf": "C-like (GBNF)",
}


@dataclass(frozen=True)
class Row:
    """One line of a plot: from where to where, by who was measured."""

    name: str
    values: dict[str, tuple[float, float]]


def masks(text: str) -> list[Row]:
    """Rows of the table of ``grammars.py``: masks the first time, copied into a buffer."""
    rows, kinds = list[Row](), {"bytes: filled": "constrain"}
    for line in table(text, "mask, first time"):
        name = line[:33].strip()
        found = re.findall(r"([\d.,]+) /\s*([\d.,]+)", line)
        if not line.startswith(" " * 5) and not re.search(r"\d \d|/", line[33:]):
            rows.append(Row(name, {}))
            continue
        who = kinds.get(name) or next((peer for peer in COLOURS if name.startswith(peer)), "")
        if who and found:
            median, most = (float(number.replace(",", "")) for number in found[0])
            rows[-1].values[who] = median, most
    return rows


def requests(text: str) -> list[Row]:
    """Rows of the table of ``first_mask.py``: medians."""
    found = {}
    for line in table(text, "first mask, ms"):
        name, *cells = re.split(r"\s{2,}", line.strip())
        if name in REQUESTS:
            values = zip(COLOURS, cells[1:4], strict=True)
            found[name] = {w: (float(c), float(c)) for w, c in values if c != "-"}
    return [Row(REQUESTS[name], found[name]) for name in REQUESTS]


def table(text: str, head: str) -> Iterator[str]:
    """The lines of an indented table, its head first, where that has a text."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("    ") and head in line:
            yield line[4:]
            break
    for line in lines:
        if not line.startswith("    "):
            return
        yield line[4:]


def plot(title: str, unit: str, rows: Sequence[Row], top: int) -> tuple[list[str], int]:
    """The elements of one plot, and where it ends."""
    numbers = [n for row in rows for pair in row.values.values() for n in pair]
    low, high = _decade(min(numbers), down=True), _decade(max(numbers), down=False)
    bottom = top + 26 + ROW * len(rows)

    def x(number: float) -> float:
        return LEFT + (log10(number) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    found = [f'<text x="8" y="{top + 12}" font-weight="bold">{title}</text>']
    for power in range(low, high + 1):
        at = f"{x(10**power):.1f}"
        found += [
            f'<line x1="{at}" y1="{top + 22}" x2="{at}" y2="{bottom}" stroke="#dddddd"/>',
            f'<text x="{at}" y="{bottom + 15}" text-anchor="middle" fill="#555555">'
            f"{_number(10.0**power)} {unit}</text>",
        ]
    for number, row in enumerate(rows):
        middle = top + 26 + ROW * number + ROW // 2
        found.append(f'<text x="{LEFT - 10}" y="{middle + 4}" text-anchor="end">{row.name}</text>')
        shown = [who for who in COLOURS if who in row.values]
        for place, who in enumerate(shown):
            y = middle + LINE * (2 * place - len(shown) + 1) // 2
            (first, last), colour = row.values[who], COLOURS[who]
            if last > first:
                found.append(
                    f'<line x1="{x(first):.1f}" y1="{y}" x2="{x(last):.1f}" y2="{y}" '
                    f'stroke="{colour}" stroke-width="3"/>'
                )
                found.append(
                    f'<line x1="{x(last):.1f}" y1="{y - 4}" x2="{x(last):.1f}" y2="{y + 4}" '
                    f'stroke="{colour}" stroke-width="3"/>'
                )
            found.append(f'<circle cx="{x(first):.1f}" cy="{y}" r="5" fill="{colour}"/>')
    return found, bottom + 24


def drawing(text: str) -> str:
    """The whole SVG of the tables in ``text``."""
    x, legend = 150, []
    for who, colour in COLOURS.items():
        legend.append(f'<circle cx="{x}" cy="16" r="5" fill="{colour}"/>')
        legend.append(f'<text x="{x + 10}" y="20">{who}</text>')
        x += 110
    legend.append(f'<text x="{x}" y="20" fill="#555555">further left is better</text>')
    above, end = plot(
        "A mask on a text that was not read before, median (dot) to 99th percentile (bar)",
        "µs",
        masks(text),
        34,
    )
    below, end = plot(
        "From a new grammar to its first mask, median", "ms", requests(text), end + 14
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{end}" '
            f'viewBox="0 0 {WIDTH} {end}" font-family="sans-serif" font-size="12">',
            "<title>Times of masks and of first masks, beside llguidance and xgrammar</title>",
            f'<rect width="{WIDTH}" height="{end}" fill="#ffffff"/>',
            *legend,
            *above,
            *below,
            "</svg>",
            "",
        ]
    )


def _decade(number: float, *, down: bool) -> int:
    power = log10(number)
    return int(power // 1) if down else int(-(-power // 1))


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 1 else f"{number:g}"


def main() -> None:
    """Write the plot."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=HERE / "times.svg")
    given = parser.parse_args()
    text = (HERE.parent / "README.md").read_text(encoding="utf-8")
    given.output.write_text(drawing(text), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
