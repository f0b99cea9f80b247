"""Free text until a pattern, by its definition: all pieces of all texts."""

from collections.abc import Iterable, Iterator, Mapping


def never_met_via_search(
    patterns: Iterable[str], excluded: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """``never_met`` by all pieces of each pattern."""
    unwanted = frozenset(excluded)
    known = unwanted.union(patterns)
    for pattern in patterns:
        ends = range(1, len(pattern) + 1)
        pieces = ((pattern[end - n : end], end) for end in ends for n in range(1, end + 1))
        for piece, end in pieces:
            if piece in unwanted or (piece in known and end < len(pattern)):
                yield pattern, piece
                break


def forbidden_ends_via_search(
    patterns: Iterable[str], excluded: Iterable[str]
) -> Mapping[str, frozenset[str]]:
    """``forbidden_ends`` by all beginnings."""
    every = {*patterns, *excluded}
    return {
        pattern: frozenset(
            other[:cut]
            for other in every
            for cut in range(1, len(other))
            if pattern.startswith(other[cut:])
        )
        for pattern in patterns
    }


def texts_without_via_search(
    inside: Iterable[str], at_end: Iterable[str], texts: Iterable[str]
) -> Iterator[bool]:
    """Of each text whether ``texts_without`` has it, as it is defined."""
    unwanted, last = tuple(inside), tuple(at_end)
    for text in texts:
        yield not any(each in text for each in unwanted) and not text.endswith(last)
