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

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from ..automata import regex_ir as regex
from ..automata.boolean import complement
from ..automata.determinize import determinize
from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..limits import Limits, blaming

_STAGE = "free text"

# What an end that is forbidden takes: its entry in a set, and the text itself as characters, as
# bytes and in automata.
_ENTRY_BYTES, _COPIES = 100, 4

# Characters of patterns whose automaton takes a few milliseconds.
_SMALL = 200


def never_met(
    patterns: Iterable[str], excluded: Iterable[str], limits: Limits, rules: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Patterns that no text leads to, each with what comes before it. Raises ``LimitError``, which
    names ``rules``."""
    unwanted, wanted = frozenset(excluded), list(patterns)
    every = _bounded({*unwanted, *wanted}, limits, rules)
    lengths = sorted(set(map(len, every)))
    for pattern in wanted:
        limits.check_resources(_STAGE, rules)
        for end in range(1, len(pattern) + 1):
            # A pattern that another one ends with is the longer one, and counts.
            among = every if end < len(pattern) else unwanted
            before = (pattern[end - length : end] for length in lengths if length <= end)
            found = next((text for text in before if text in among), None)
            if found is not None:
                yield pattern, found
                break


def forbidden_ends(
    patterns: Iterable[str], excluded: Iterable[str], limits: Limits, rules: Sequence[str] = ()
) -> Mapping[str, frozenset[str]]:
    """What free text before each pattern must not end with: beginnings of patterns and of what is
    excluded, whose rest the pattern begins with. Raises ``LimitError``, which names ``rules``."""
    found: dict[str, set[str]] = {pattern: set() for pattern in patterns}
    ordered, size = sorted(found), 0
    for other in _bounded({*found, *excluded}, limits, rules):
        for place in range(1, len(other)):
            limits.check_resources(_STAGE, rules)
            for pattern in _beginning_with(other[place:], ordered):
                size += _ENTRY_BYTES + _COPIES * place
                limits.check_allocation(size, _STAGE, rules)
                found[pattern].add(other[:place])
    return {pattern: frozenset(each) for pattern, each in found.items()}


def _beginning_with(text: str, ordered: Sequence[str]) -> Iterator[str]:
    """Those of some texts in their order that begin with one."""
    places = range(bisect_left(ordered, text), len(ordered))
    return takewhile(lambda each: each.startswith(text), map(ordered.__getitem__, places))


def _bounded(texts: set[str], limits: Limits, rules: Sequence[str]) -> set[str]:
    """Texts, which are none of more characters than an automaton may have states."""
    limits.check_states(max(map(len, texts), default=0), _STAGE, rules)
    return texts


def texts_without(
    inside: Iterable[str], at_end: Iterable[str], limits: Limits, rules: Iterable[str] = ()
) -> Dfa:
    """The texts that contain none of ``inside`` and end with none of ``at_end``; minimal. Raises
    ``LimitError``, which names ``rules``."""
    limits.check_resources(_STAGE, rules)
    wanted = tuple(sorted(set(inside))), tuple(sorted(set(at_end)))
    with blaming(rules):
        # Servers send the same marks again and again.
        is_small = sum(len(each) for texts in wanted for each in texts) <= _SMALL
        return _small_without(*wanted) if is_small else _without(*wanted, limits)


@lru_cache(32)
def _small_without(inside: tuple[str, ...], at_end: tuple[str, ...]) -> Dfa:
    return _without(inside, at_end, None)


def _without(inside: tuple[str, ...], at_end: tuple[str, ...], limits: Limits | None) -> Dfa:
    contained = regex.alt(*(regex.lit(each.encode("utf-8")) for each in inside))
    last = regex.alt(*(regex.lit(each.encode("utf-8")) for each in at_end))
    wrong = regex.seq(regex.EVERYTHING, regex.alt(regex.seq(contained, regex.EVERYTHING), last))
    found = minimize(determinize(thompson(wrong, limits), limits), limits)
    return complement(found, limits)
