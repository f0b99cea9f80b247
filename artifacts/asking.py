"""Answers that ask for others, remembered, on a stack of our own.

A walk of the token trie stops where a call or a lexeme ends, and asks what follows there: as deep
as tokens are long, which may be deeper than Python's own stack goes.
"""

from collections.abc import Callable, Generator, Hashable
from typing import TypeVar

from .errors import ArtifactError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def asked(key: K, find: Callable[[K], V | None], steps: Callable[[K], Generator[K, V, V]]) -> V:
    """The answer to ``key``, which ``find`` does not know.

    ``steps`` yields the keys that it needs the answers of, returns the answer to its own and
    remembers it. Raises ``ArtifactError`` where an answer needs itself, as in a damaged file.
    """
    stack = [(key, steps(key))]
    asking = {key}
    result: V | None = None
    while stack:
        current, waiting = stack[-1]
        try:
            needed = next(waiting) if result is None else waiting.send(result)
        except StopIteration as done:
            stack.pop()
            asking.remove(current)
            result = done.value
            continue
        result = find(needed)
        if result is None:
            if needed in asking:
                raise ArtifactError("damaged artifact: what was worked out ahead goes in circles")
            asking.add(needed)
            stack.append((needed, steps(needed)))
    assert result is not None
    return result
