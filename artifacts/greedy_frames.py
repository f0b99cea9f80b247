"""Heads with the frames that lie below them, as far as these are known.

Frames are a tree that grows upwards: (top frame, what lies below). It has two roots: what lies
below all frames, and a hole, below which nothing is known. A head that needs a frame out of the
hole stays open.
"""

from .heads import BELOW_ALL, REFUSED, Heads

# The roots: nothing is known of what lies there; and nothing lies below all frames.
HOLE, LOWEST = 0, 1


class Frames:
    """Frames are integers, equal ones the same; ``entries``: (frame, frames below it)."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self.entries: list[tuple[int, int]] = [(BELOW_ALL, HOLE), (BELOW_ALL, HOLE)]
        self._numbers: dict[tuple[int, int], int] = {}

    def settled(self, head: int, frames: int) -> tuple[int, int]:
        """The closed and shortest head, with the frames that then lie below it; or an open one
        over the hole."""
        if head == REFUSED:
            return REFUSED, HOLE
        while self._heads.view(head).is_open:
            if frames == HOLE:
                return head, HOLE
            frame, frames = self.entries[frames]
            head = self._heads.plug(head, frame)
        head, cut = self._heads.cut(head)
        for frame in cut:
            frames = self._pushed(frame, frames)
        return head, frames

    def _pushed(self, frame: int, frames: int) -> int:
        if frame == BELOW_ALL:
            return LOWEST
        key = frame, frames
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.entries)
            self.entries.append(key)
        return number
