"""A drawing of how times are distributed: for each engine the share that is done within a time."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from xml.sax.saxutils import escape

import numpy as np

_WIDTH, _HEIGHT, _MARGIN, _COLOURS = 640, 300, 48, ("#0a6", "#36c", "#c60", "#a3c", "#777")


def drawing(titles: Sequence[tuple[str, Mapping[str, Sequence[float]]]]) -> str:
    """An SVG with a part for each title, one below the other; times are on a logarithmic scale.

    ``titles``: (what is measured with its unit, times by engine). Engines without times are left
    out.
    """
    parts = [
        f'<g transform="translate(0 {i * (_HEIGHT + _MARGIN)})">{_part(title, times)}</g>'
        for i, (title, times) in enumerate(titles)
    ]
    height = len(titles) * (_HEIGHT + _MARGIN) + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + 3 * _MARGIN} {height}" '
        f'font-family="sans-serif" font-size="12">' + "".join(parts) + "</svg>\n"
    )


def _part(title: str, times: Mapping[str, Sequence[float]]) -> str:
    known = {name: np.sort(np.maximum(each, 1e-2)) for name, each in times.items() if len(each)}
    found = [f'<text x="{_MARGIN}" y="{_MARGIN - 16}">{escape(title)}</text>']
    if not known:
        return "".join(found)
    low = floor(log10(min(each[0] for each in known.values())))
    high = max(ceil(log10(max(each[-1] for each in known.values()))), low + 1)

    def across(time: float) -> float:
        return _MARGIN + (log10(time) - low) / (high - low) * _WIDTH

    def down(share: float) -> float:
        return _MARGIN + (1 - share) * (_HEIGHT - _MARGIN)

    for power in range(low, high + 1):
        x = across(10**power)
        found.append(
            f'<path d="M{x:.1f} {down(1)}V{down(0)}" stroke="#ddd"/>'
            f'<text x="{x:.1f}" y="{down(0) + 16}" text-anchor="middle">{10.0**power:g}</text>'
        )
    for share in (0, 0.5, 0.9, 1):
        y = down(share)
        found.append(
            f'<path d="M{_MARGIN} {y:.1f}H{_MARGIN + _WIDTH}" stroke="#ddd"/>'
            f'<text x="{_MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        )
    for i, (name, each) in enumerate(known.items()):
        shares = np.arange(1, len(each) + 1) / len(each)
        # A few hundred points are as good as all.
        chosen = np.unique(np.linspace(0, len(each) - 1, 300).astype(int))
        points = " ".join(
            f"{across(t):.1f},{down(s):.1f}"
            for t, s in zip(each[chosen].tolist(), shares[chosen].tolist(), strict=True)
        )
        colour = _COLOURS[i % len(_COLOURS)]
        found.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{_MARGIN + _WIDTH + 8}" y="{down(1) + 16 * i + 12}" fill="{colour}">'
            f"{escape(name)}</text>"
        )
    return "".join(found)
