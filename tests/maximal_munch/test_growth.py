"""Precomputing by maximal munch: what is the same for many summaries is found once."""

# Tests here say `expected == actual`.

from collections import Counter
from pathlib import Path

import pytest
from support.maximal_munch import masks_of

from constrain.artifacts.maximal_munch.summaries import HeadSummaries
from constrain.compiler.maximal_munch.precompute import precompute

CODE = (Path(__file__).parents[2] / "examples" / "code.lark").read_text(encoding="utf-8")
TOKENS = [
    *(bytes([i]) for i in range(32, 127)),
    b"while",
    b"if (",
    b"))",
    b") {",
    b"x = ",
    b'";',
    b"()",
]


def test_pending_heads_are_fed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads that are pending beside many rows are fed a frame once, not once for each row; the
    results are those of feeding each summary by itself."""
    counts: Counter[str] = Counter()
    fed = HeadSummaries._fed

    def counting(self: HeadSummaries, number: int, frame: int) -> object:
        counts["fed"] += 1
        return fed(self, number, frame)

    monkeypatch.setattr(HeadSummaries, "_fed", counting)
    shared = masks_of(CODE, TOKENS)
    precompute(shared)
    once = counts["fed"]
    monkeypatch.setattr(
        HeadSummaries,
        "feed_each",
        lambda self, number, frames: [self.feed(number, f) for f in frames],
    )
    plain = masks_of(CODE, TOKENS)
    precompute(plain)
    assert 10 * once < 7 * (counts["fed"] - once)

    def contents(found: object) -> set[object]:
        summaries = found.summaries  # type: ignore[attr-defined]
        rows, nodes = summaries.walks.rows, summaries.walks.suspended.sets
        return {
            (
                rows.row(summary.row).tobytes(),
                tuple((head, nodes[held].tobytes()) for head, held in summary.pending),
            )
            for summary in map(summaries.summary, range(len(summaries)))
        }

    assert contents(plain) <= contents(shared)
