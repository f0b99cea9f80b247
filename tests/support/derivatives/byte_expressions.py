"""Hash-consed regular expressions over bytes: similar ones are one number.

Alternation and intersection are associative, commutative and idempotent, ∅ and ε are neutral or
absorbing where they are (similarity, Brzozowski 1964), and there are a few laws more (Owens, Reppy
and Turon 2009, section 4.1):

    ¬¬r = r    (r*)* = r*    r{1} = r    r{2}{3} = r{6}    r{1,3} | r{2,5} = r{1,5}
    r s | r t = r (s | t)    [ab] s | [c] s = [abc] s    r | ε = r, if r matches ε

So an expression has finitely many derivatives, few more than its minimal automaton has states. The
named tuples are the kinds of expressions; ``Expressions`` numbers and simplifies them.
"""

from collections.abc import Generator, Iterable
from typing import NamedTuple, TypeAlias

from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.limits import Limits

Id: TypeAlias = int


class Symbols(NamedTuple):
    """One symbol of a set: bit s of ``mask`` is symbol s."""

    mask: int


class At(NamedTuple):
    """What the automaton with number ``dfa`` accepts from ``state`` on."""

    dfa: int
    state: int


class Seq(NamedTuple):
    """``head``, which is no sequence, then ``tail``."""

    head: Id
    tail: Id


class Rep(NamedTuple):
    """``low`` to ``high`` (None: any number) times ``body``."""

    body: Id
    low: int
    high: int | None


class Alt(NamedTuple):
    """One of ``options``, ascending; ∅ without any."""

    options: tuple[Id, ...]


class And(NamedTuple):
    """All of ``parts``, ascending; without any it stands for ε."""

    parts: tuple[Id, ...]


class Not(NamedTuple):
    """Any word that ``body`` does not match, UTF-8 or not."""

    body: Id


Key: TypeAlias = Symbols | At | Seq | Rep | Alt | And | Not


STAGE = "the construction by derivatives"

NONE: Id = 0  # ∅
EPSILON: Id = 1

# Bytes that an expression takes with what is cached about it, roughly.
_EXPRESSION_BYTES = 600


class Expressions:
    """The expressions over ``width`` symbols (256 bytes and the token terminals) by number.

    The constructors raise ``LimitError`` (memory, time).
    """

    def __init__(self, width: int, limits: Limits) -> None:
        self.keys: list[Key] = [Alt(()), And(())]
        self.nullable = [False, True]
        self.dfas: list[Dfa] = []
        # For the bodies of repetitions how their author wrote them.
        self.texts: dict[Id, str] = {}
        self.width = width
        # Named tuples of two kinds with the same content are equal, so the kind is in the key.
        self._numbers = {(type(key), key): number for number, key in enumerate(self.keys)}
        # The first part of each expression and what follows it.
        self._heads: list[Id] = [NONE, EPSILON]
        self._tails: list[Id] = [EPSILON, EPSILON]
        # What options must have in common to be joined: what is repeated at their beginning (∅ for
        # a symbol), and what follows it; None for others.
        self._likeness: list[tuple[Id, Id] | None] = [None, None]
        self._limits = limits
        self.all = self.negation(NONE)

    def symbols(self, mask: int) -> Id:
        """One symbol of a set; ∅ for the empty set."""
        return self._number(Symbols(mask), False) if mask else NONE

    def at(self, dfa: int, state: int) -> Id:
        """What a finished automaton accepts from a state on."""
        if state == DEAD:
            return NONE
        return self._number(At(dfa, state), bool(self.dfas[dfa].accepting[state]))

    def seq(self, head: Id, tail: Id) -> Id:
        """``head`` then ``tail``."""
        # Sequences lean to the right; a long head is put before the tail part by part.
        parts = []
        while isinstance(key := self.keys[head], Seq):
            parts.append(key.head)
            head = key.tail
        parts.append(head)
        for part in reversed(parts):
            tail = self._joined(part, tail)
        return tail

    def rep(self, body: Id, low: int, high: int | None) -> Id:
        """``body`` from ``low`` to ``high`` times."""
        if body == NONE:
            return EPSILON if low == 0 else NONE
        if body == EPSILON or high == 0:
            return EPSILON
        if self.nullable[body]:
            low, body = 0, self._without_epsilon(body)
        key = self.keys[body]
        if isinstance(key, Rep):
            if low == high:
                most = None if key.high is None else key.high * low
                return self.rep(key.body, key.low * low, most)
            if high is None and key.low <= 1 and low <= 1:
                return self.rep(key.body, key.low * low, None)
        if (low, high) == (1, 1):
            return body
        if (low, high) == (0, 1):
            return self.alt([EPSILON, body])
        return self._number(Rep(body, low, high), low == 0 or self.nullable[body])

    def negation(self, body: Id) -> Id:
        """The complement."""
        key = self.keys[body]
        return (
            key.body if isinstance(key, Not) else self._number(Not(body), not self.nullable[body])
        )

    def intersection(self, parts: Iterable[Id]) -> Id:
        """The words of all parts."""
        flat: set[Id] = set()
        mask: int | None = None
        for part in parts:
            key = self.keys[part]
            if isinstance(key, Symbols):
                mask = key.mask if mask is None else mask & key.mask
            else:
                flat.update(key.parts if isinstance(key, And) and key.parts else (part,))
        if mask is not None:
            flat.add(self.symbols(mask))
        flat.discard(self.all)
        if NONE in flat:
            return NONE
        if EPSILON in flat:
            return EPSILON if all(self.nullable[part] for part in flat) else NONE
        if len(flat) <= 1:
            return flat.pop() if flat else self.all
        ordered = tuple(sorted(flat))
        return self._number(And(ordered), all(self.nullable[part] for part in ordered))

    def alt(self, options: Iterable[Id]) -> Id:
        """The words of any option."""
        # Options that begin alike are alternations after that, as deep as the text goes: the
        # generators run on an explicit stack.
        stack = [self._factored(options)]
        result: Id | None = None
        while stack:
            try:
                inner = stack[-1].send(result) if result is not None else next(stack[-1])
            except StopIteration as done:
                stack.pop()
                result = done.value
            else:
                stack.append(self._factored(inner))
                result = None
        assert result is not None
        return result

    def _factored(self, options: Iterable[Id]) -> Generator[list[Id], Id, Id]:
        """Yields alternations that it needs and receives their numbers."""
        flat = self._flat(options)
        if len(flat) == 1 or self.all in flat:
            return self.all if self.all in flat else flat.pop()
        found: set[Id] = set()
        alike: dict[tuple[Id, Id], list[Id]] = {}
        for option in (yield from self._grouped(flat)):
            likeness = self._likeness[option]
            if likeness is None:
                found.add(option)
            else:
                alike.setdefault(likeness, []).append(option)
        for (body, _), same in alike.items():
            if len(same) == 1:
                found.add(same[0])
            elif body == NONE:
                found.add(self._one_symbol(same))
            else:
                found.update(self._counted(same))
        if EPSILON in flat and not any(self.nullable[option] for option in found):
            found.add(EPSILON)
        if len(found) <= 1:
            return found.pop() if found else NONE
        ordered = tuple(sorted(found))
        return self._number(Alt(ordered), any(self.nullable[option] for option in ordered))

    def _grouped(self, flat: set[Id]) -> Generator[list[Id], Id, list[Id]]:
        """Options that begin with the same head as one: ``r s | r t = r (s | t)``."""
        by_head: dict[Id, list[Id]] = {}
        for option in sorted(flat):
            if option != EPSILON:
                by_head.setdefault(self._heads[option], []).append(option)
        grouped = []
        for head, alike in by_head.items():
            if len(alike) > 1:
                tail = yield [self._tails[option] for option in alike]
                grouped.append(self.seq(head, tail))
            else:
                grouped.append(alike[0])
        return grouped

    def _one_symbol(self, alike: list[Id]) -> Id:
        """``[ab] s | [c] s = [abc] s``"""
        mask = 0
        for option in alike:
            key = self.keys[self._heads[option]]
            assert isinstance(key, Symbols)
            mask |= key.mask
        return self.seq(self.symbols(mask), self._tails[alike[0]])

    def _counted(self, alike: list[Id]) -> Iterable[Id]:
        """``r{1,3} s | r{2,5} s = r{1,5} s``"""
        heads = [self.keys[self._heads[option]] for option in alike]
        counts = [key for key in heads if isinstance(key, Rep)]
        merged = _united(counts)
        if len(merged) == len(alike):
            return alike
        body, tail = counts[0].body, self._tails[alike[0]]
        return [self.seq(self.rep(body, *ends), tail) for ends in merged]

    def _flat(self, options: Iterable[Id]) -> set[Id]:
        flat: set[Id] = set()
        for option in options:
            key = self.keys[option]
            flat.update(key.options if isinstance(key, Alt) else (option,))
        return flat

    def _joined(self, head: Id, tail: Id) -> Id:
        """``seq`` for a head that is no sequence."""
        if NONE in (head, tail):
            return NONE
        if EPSILON in (head, tail):
            return tail if head == EPSILON else head
        key = self.keys[head]
        if isinstance(key, Rep):
            second, behind = self._heads[tail], self._tails[tail]
            other = self.keys[second]
            if isinstance(other, Rep) and other.body == key.body:
                most = (
                    None if None in (key.high, other.high) else (key.high or 0) + (other.high or 0)
                )
                return self._joined(self.rep(key.body, key.low + other.low, most), behind)
        return self._number(Seq(head, tail), self.nullable[head] and self.nullable[tail])

    def _without_epsilon(self, body: Id) -> Id:
        """A body whose repetitions with none of them are the same, where that is easy to see."""
        key = self.keys[body]
        if isinstance(key, Alt) and EPSILON in key.options:
            return self.alt(option for option in key.options if option != EPSILON)
        return body

    def _number(self, key: Key, nullable: bool) -> Id:
        number = self._numbers.setdefault((type(key), key), len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
            self.nullable.append(nullable)
            head, tail = key if isinstance(key, Seq) else (number, EPSILON)
            self._heads.append(head)
            self._tails.append(tail)
            match self.keys[head]:
                case Symbols():
                    self._likeness.append((NONE, tail))
                case Rep(body):
                    self._likeness.append((body, tail))
                case _:
                    self._likeness.append(None)
            if number % 1024 == 0:
                self._limits.check_memory(number * _EXPRESSION_BYTES, STAGE)
                self._limits.check_resources(STAGE)
        return number


def _united(counts: Iterable[Rep]) -> list[tuple[int, int | None]]:
    """Intervals of counts, those that overlap or touch joined."""
    merged: list[tuple[int, int | None]] = []
    for _, low, high in sorted(counts, key=lambda key: key.low):
        if merged:
            first, last = merged[-1]
            if last is None or low <= last + 1:
                merged[-1] = (first, None if last is None or high is None else max(last, high))
                continue
        merged.append((low, high))
    return merged
