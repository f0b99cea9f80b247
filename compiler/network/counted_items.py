"""How many readings m to n items have together, by the bytes that they read.

With A(z) the readings of one item by length, those of exactly j items are the coefficients of A^j,
and those of m to n items of

    S = A^m + ... + A^n,    so that    S = A S + A^m - A^(n + 1)

A coefficient of S takes one pass over those before it, and so does one of a power: from A = z^v U
follows U A^j' = j A' A^j, a recurrence for the coefficients of U^j (Knuth, The Art of Computer
Programming, volume 2, section 4.7). So a million items take no longer than a few, and nothing is
longer than the texts that are counted. All numbers are exact.
"""

import random
from collections.abc import Callable, Sequence


class Power:
    """The coefficients of A^j, found one after the other. ``series``: those of A, which grows; the
    first is 0."""

    def __init__(self, series: Sequence[int], exponent: int) -> None:
        self._series, self._exponent = series, exponent
        self._found: list[int] = []

    def __getitem__(self, size: int) -> int:
        """The coefficient of z^size; A is known up to there."""
        while len(self._found) <= size:
            self._found.append(self._next())
        return self._found[size]

    def _next(self) -> int:
        size, exponent, series = len(self._found), self._exponent, self._series
        if not exponent:
            return int(size == 0)
        least = next((v for v, a in enumerate(series) if a), size + 1)
        place = size - least * exponent
        if place <= 0:
            return int(series[least] ** exponent) if place == 0 else 0
        begin = least * exponent
        total = 0
        for i in range(1, place + 1):
            if least + i < len(series) and series[least + i]:
                before = self._found[begin + place - i]
                total += (i * (exponent + 1) - place) * series[least + i] * before
        return total // (place * series[least])


class CountedItems:
    """The readings of ``least`` to ``most`` items, None for any number; ``check`` is called now and
    then."""

    def __init__(self, least: int, most: int | None, check: Callable[[], None]) -> None:
        self._least, self._most, self._check = least, most, check
        self._series: list[int] = [0]
        self._fewest = self.power(least)
        self._beyond = None if most is None else self.power(most + 1)
        # Of least to most items, and of any number of them.
        self.ways: list[int] = [0]
        self._any: list[int] = [1]
        self._powers: dict[int, Power] = {}

    def power(self, exponent: int) -> Power:
        """The readings of so many items."""
        return Power(self._series, exponent)

    def append(self, readings: int) -> None:
        """One item has so many readings with one byte more than the last."""
        self._series.append(readings)
        size, series = len(self._series) - 1, self._series
        beyond = 0 if self._beyond is None else self._beyond[size]
        found, every = self._fewest[size] - beyond, 0
        for i in range(1, size + 1):
            if series[i]:
                found += series[i] * self.ways[size - i]
                every += series[i] * self._any[size - i]
        self.ways.append(found)
        self._any.append(every)

    def drawn(self, size: int, rng: random.Random) -> list[int]:
        """The lengths of items of ``size`` bytes together, their readings equally likely."""
        least = next(v for v, a in enumerate(self._series) if a)
        low, high = self._least, size // least
        high = 1 + (high if self._most is None else min(high, self._most))
        while high - low > 1:
            self._check()
            middle = (low + high) // 2
            fewer, more = self._between(low, middle, size), self._between(middle, high, size)
            if rng.randrange(fewer + more) < fewer:
                high = middle
            else:
                low = middle
        return self._split(low, size, rng)

    def _between(self, low: int, high: int, size: int) -> int:
        """The readings of at least ``low`` and less than ``high`` items."""
        first, last = self._known(low), self._known(high)
        return sum((first[i] - last[i]) * self._any[size - i] for i in range(size + 1))

    def _split(self, number: int, size: int, rng: random.Random) -> list[int]:
        """The lengths of so many items."""
        found = list[int]()
        pending = [(number, size)]
        while pending:
            self._check()
            number, size = pending.pop()
            if number < 2:
                found.append(size)
                continue
            half = number // 2
            first, last = self._known(half), self._known(number - half)
            ways = [first[i] * last[size - i] for i in range(size + 1)]
            place, here = rng.randrange(sum(ways)), 0
            while place >= ways[here]:
                place -= ways[here]
                here += 1
            pending += [(number - half, size - here), (half, here)]
        return found

    def _known(self, exponent: int) -> Power:
        return self._powers.setdefault(exponent, self.power(exponent))
