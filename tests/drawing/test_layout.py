"""How large drawings are, without Graphviz."""

from dataclasses import replace

import pytest

from constrain.compiler.drawing.layout import estimate
from constrain.compiler.drawing.picture import Edge, Label, Picture


def label(lines: int) -> Label:
    """So many lines of fifty characters."""
    return Label("\n".join(["x" * 50] * lines), frozenset())


@pytest.mark.parametrize("vertical", [False, True])
def test_a_loop_has_room_beside_its_state_alone(vertical: bool) -> None:
    """Across the way from the start to the end, once: above the state, or right of it."""
    there = [Edge(1, 2, label(1)), Edge(2, 3, label(1))]
    plain = Picture("h", "c", [1, 2, 3], 1, {3}, there, vertical=vertical)

    def added(edge: Edge) -> tuple[float, float]:
        before, after = estimate(plain), estimate(replace(plain, edges=[*there, edge]))
        return after.width - before.width, after.height - before.height

    one, two = (added(Edge(2, 2, label(lines))) for lines in (1, 2))
    if vertical:
        # The width of fifty characters, and no more of twice as many lines.
        assert 0 < one[0] == two[0] < 3 * 50 * 7
    else:
        # The height of one line, and of two.
        assert (one[0], two[0]) == (0, 0)
        assert 0 < one[1] < two[1] < 2 * one[1]
