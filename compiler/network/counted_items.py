"""How many readings m to n items have together, by the bytes that they read.

With A(z) the readings of one item by length, those of exactly j items are the coefficients of A^j,
and those of m to n items of

    S = A^m + ... + A^n,    so that    S = A S + A^m - A^(n + 1)

A coefficient of S takes one pass over those before it, and so does one of a power: from A = z^v U
follows U A^j' = j A' A^j, a recurrence for the coefficients of U^j (Knuth, The Art of Computer
Programming, volume 2, section 4.7). So a million items take no longer than a few, and nothing is
longer than the texts that are counted. All numbers are exact. Parts of permutations are counted by
how many of them there are, in any order (``PermutedParts``).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import comb

from constrain.artifacts.network.sets import NO_SEPARATOR, REPEATED, REQUIRED, SetRule


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


# Of equal parts: the state that they start in, and how many of them there are (None: any number).
_Group = tuple[int, int, int | None]


class PermutedParts:
    """The readings of the parts of a set, and of what separates them, in all orders.

    Labelled structures (Flajolet and Sedgewick, section II.2): with D_g(j) the readings of j of the
    first g kinds of parts in all orders, and A those of one part of the next kind,

        D_(g+1)(j) = sum of binomial(j, t) A^t D_g(j - t)    over the t that there may be of it

    and j parts have j - 1 separators between them. ``readings``: of a state by length; ``check`` is
    called now and then.
    """

    def __init__(
        self, rule: SetRule, readings: Callable[[int, int], int], check: Callable[[], None]
    ) -> None:
        self._rule, self._readings, self._check = rule, readings, check
        self._groups = _groups(rule, 0)
        self._series: list[list[int]] = [[0] for _ in self._groups]
        self._powers: dict[tuple[int, int], Power] = {}
        # D_g(j) by length, as [g][j].
        self._orders: list[list[list[int]]] = [[[1]] for _ in range(len(self._groups) + 1)]
        for g, (_, least, _) in enumerate(self._groups):
            self._orders[g + 1][0][0] = self._orders[g][0][0] * (least == 0)
        self._between: list[list[int]] = [[1]]
        # Of one or more parts.
        self.ways: list[int] = [0]

    def extend(self) -> None:
        """The next length: the readings of all parts are known up to there."""
        size = len(self.ways)
        for (start, _, _), series in zip(self._groups, self._series, strict=True):
            series.append(self._readings(start, size))
        self._orders[0][0].append(0)
        for g in range(len(self._groups)):
            self._check()
            self._extend(g, size)
        total = 0
        for count, orders in self._counts():
            for inside, ways in enumerate(orders[: size + 1]):
                if ways:
                    total += ways * self._separators(count - 1, size - inside)
        self.ways.append(total)

    def _extend(self, g: int, size: int) -> None:
        before, after = self._orders[g], self._orders[g + 1]
        _, least, most = self._groups[g]
        more = size if most is None else most
        while len(after) < min(len(before) + more, size + 1):
            after.append([0] * size)
        for count, orders in enumerate(after):
            total = 0
            for times in range(least, min(more, count) + 1):
                if count - times >= len(before):
                    continue
                rest, choose = before[count - times], comb(count, times)
                if not times:
                    total += rest[size]
                    continue
                power = self._power(g, times)
                total += choose * sum(
                    power[k] * rest[size - k] for k in range(times, size + 1) if rest[size - k]
                )
            orders.append(total)

    def _power(self, g: int, times: int) -> "Power | list[int]":
        if times == 1:
            return self._series[g]
        return self._powers.setdefault((g, times), Power(self._series[g], times))

    def _counts(self) -> Iterator[tuple[int, list[int]]]:
        """How many parts there may be, and the readings of so many in all orders, by length."""
        whole = self._orders[-1]
        low, high = max(self._rule.least, 1), len(whole) - 1
        if not self._rule.repeats:
            high = min(high, self._rule.most)
        return ((count, whole[count]) for count in range(low, high + 1))

    def _separator(self, size: int) -> int:
        if not size:
            return int(self._rule.is_adjoining)
        separator = self._rule.separator
        return self._readings(separator, size) if separator != NO_SEPARATOR else 0

    def _separators(self, count: int, size: int) -> int:
        """The readings of so many separators."""
        known = self._between
        while len(known) <= count:
            known.append([])
        for times in range(count + 1):
            while len(known[times]) <= size:
                place = len(known[times])
                known[times].append(
                    sum(self._separator(i) * known[times - 1][place - i] for i in range(place + 1))
                    if times
                    else int(not place)
                )
        return known[count][size]

    def drawn(self, size: int, rng: random.Random) -> list[tuple[int, int]]:
        """The states that parts and separators of ``size`` bytes together start in, and how many
        bytes each reads, all readings equally likely."""
        choices = [
            (count, inside, ways * self._separators(count - 1, size - inside))
            for count, orders in self._counts()
            for inside, ways in enumerate(orders[: size + 1])
            if ways
        ]
        count, inside = _chosen(choices, rng)
        between = _lengths(
            count - 1, size - inside, rng, one=self._separator, several=self._separators
        )
        found: list[tuple[int, int]] = []
        for g in reversed(range(len(self._groups))):
            start, least, most = self._groups[g]
            high = count if most is None else min(most, count)
            options = [
                (times, k, comb(count, times) * self._times(g, times, k) * rest[inside - k])
                for times in range(least, high + 1)
                if count - times < len(self._orders[g])
                for rest in [self._orders[g][count - times]]
                for k in range(times, inside + 1)
                if rest[inside - k]
            ]
            times, length = _chosen(options, rng)
            one, several = self._series[g].__getitem__, partial(self._times, g)
            lengths = _lengths(times, length, rng, one=one, several=several)
            found += [(start, each) for each in lengths]
            count, inside = count - times, inside - length
        rng.shuffle(found)
        result = found[:1]
        for part, length in zip(found[1:], between, strict=True):
            if length:
                result.append((self._rule.separator, length))
            result.append(part)
        return result

    def _times(self, g: int, times: int, size: int) -> int:
        return self._power(g, times)[size] if times else int(not size)

    def lengths(self, value: int, lengths: Sequence[int], sums: Callable[[int, int], int]) -> int:
        """The lengths, as bits, that parts and separators may have after a part, or a separator,
        where the set has a value. ``lengths``: of states; ``sums``: of two sets of lengths, as far
        as they matter."""
        rule, (begun, in_separator) = self._rule, divmod(value - 1, 2)
        orders = [1]
        for start, least, most in _groups(rule, begun):
            each, found = lengths[start], [0] * (len(orders) + (0 if most is None else most))
            power, times = 1, 0
            while power and (most is None or times <= most):
                if times >= least:
                    found += [0] * (len(orders) + times - len(found))
                    for count, before in enumerate(orders):
                        found[count + times] |= sums(before, power)
                power, times = sums(power, each), times + 1
            orders = found
        between = 1 if rule.separator == NO_SEPARATOR else lengths[rule.separator]
        between |= int(rule.is_adjoining)
        result, separators = 0, 1
        for count, inside in enumerate(orders):
            fits = rule.repeats or rule.least <= begun.bit_count() + count <= rule.most
            if (count and in_separator) or not in_separator:
                result |= sums(inside, separators) if fits else 0
                separators = sums(separators, between)
        return result


def _groups(rule: SetRule, begun: int) -> list[_Group]:
    """Of equal parts how many there may be besides those that have begun."""
    found: dict[int, tuple[int, int | None]] = {}
    for i, (start, flag) in enumerate(zip(rule.parts, rule.flags, strict=True)):
        least, most = found.get(start, (0, 0))
        is_left = not begun >> i & 1
        least += bool(flag & REQUIRED and is_left)
        if flag & REPEATED or most is None:
            most = None
        else:
            most += is_left
        found[start] = least, most
    return [(start, least, most) for start, (least, most) in found.items()]


def _lengths(
    count: int,
    size: int,
    rng: random.Random,
    *,
    one: Callable[[int], int],
    several: Callable[[int, int], int],
) -> list[int]:
    """The lengths of so many parts. ``one``: the readings of one of them by its length;
    ``several``: those of so many by theirs."""
    found = []
    for left in range(count, 0, -1):
        options = [(k, size - k, one(k) * several(left - 1, size - k)) for k in range(size + 1)]
        length, size = _chosen(options, rng)
        found.append(length)
    return found


def _chosen(options: Sequence[tuple[int, int, int]], rng: random.Random) -> tuple[int, int]:
    """One of several pairs, by its weight."""
    place = rng.randrange(sum(weight for _, _, weight in options))
    for first, second, weight in options:
        if place < weight:
            return first, second
        place -= weight
    raise IndexError("there are not so many readings")
