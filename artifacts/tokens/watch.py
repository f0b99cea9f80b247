"""What long computations tell whoever bounds them: the compiler does, decoding does not."""

from collections.abc import Callable
from typing import TypeAlias

# Called now and then with the work that was done since the last call, in trie nodes or cells of
# a table, and the bytes of tables that are about to be allocated. What it raises ends the
# computation, of which only whole results are kept.
Watch: TypeAlias = Callable[[int, int], None]


def unwatched(work: int, size: int) -> None:
    """Nobody bounds the computation."""
