"""Free text until a pattern, by automata.

    patterns "<f", "aa"; excluded "z"     free text       any text in which none of the three is
                                          before "aa"     the same, and no "a" at its end

The first pattern that is complete ends the free text; of those that end with the same character the
longest one counts, as in the automaton of Aho and Corasick (1975). A text before a pattern p is one
that contains no pattern and nothing excluded, and in which none of these begins that is complete
before p is, or with p and longer than it. The last condition is about the end of the text alone: it
must not end with a beginning of another pattern whose rest p begins with. Mostly there is no such
beginning, and then the text before p is any free text.
"""

from collections.abc import Iterable, Iterator, Mapping

from ..automata import regex_ir as regex
from ..automata.boolean import complement
from ..automata.determinize import determinize
from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..limits import Limits, blaming


def never_met(patterns: Iterable[str], excluded: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Patterns that no text leads to, each with what comes before it."""
    unwanted = frozenset(excluded)
    known = unwanted.union(patterns)
    lengths = sorted(set(map(len, known)))
    for pattern in patterns:
        pieces = (
            (pattern[end - length : end], end)
            for end in range(1, len(pattern) + 1)
            for length in lengths
            if length <= end
        )
        # A pattern that another one ends with is the longer one, and counts.
        before = (
            piece
            for piece, end in pieces
            if piece in unwanted or (piece in known and end < len(pattern))
        )
        first = next(before, None)
        if first is not None:
            yield pattern, first


def forbidden_ends(
    patterns: Iterable[str], excluded: Iterable[str]
) -> Mapping[str, frozenset[str]]:
    """What free text before each pattern must not end with: beginnings of patterns and of what is
    excluded, whose rest the pattern begins with."""
    found: dict[str, set[str]] = {pattern: set() for pattern in patterns}
    begun: dict[str, list[str]] = {}
    for pattern in found:
        for end in range(1, len(pattern) + 1):
            begun.setdefault(pattern[:end], []).append(pattern)
    for other in {*found, *excluded}:
        for cut in range(1, len(other)):
            for pattern in begun.get(other[cut:], ()):
                found[pattern].add(other[:cut])
    return {pattern: frozenset(each) for pattern, each in found.items()}


def texts_without(
    inside: Iterable[str], at_end: Iterable[str], limits: Limits, rules: Iterable[str] = ()
) -> Dfa:
    """The texts that contain none of ``inside`` and end with none of ``at_end``; minimal. Raises
    ``LimitError``, which names ``rules``."""
    limits.check_resources("free text", rules)
    contained = regex.alt(*(regex.lit(each.encode("utf-8")) for each in sorted(set(inside))))
    last = regex.alt(*(regex.lit(each.encode("utf-8")) for each in sorted(set(at_end))))
    wrong = regex.seq(regex.EVERYTHING, regex.alt(regex.seq(contained, regex.EVERYTHING), last))
    with blaming(rules):
        found = minimize(determinize(thompson(wrong, limits), limits), limits)
        return complement(found, limits)


def texts_without_via_search(
    inside: Iterable[str], at_end: Iterable[str], texts: Iterable[str]
) -> Iterator[bool]:
    """Of each text whether ``texts_without`` has it, as it is defined."""
    unwanted, last = tuple(inside), tuple(at_end)
    for text in texts:
        yield not any(each in text for each in unwanted) and not text.endswith(last)
