"""A shortest member that covers an item, by the tree alone.

    yields    the shortest text of each expression, and the shortest that is not ε (Knuth 1977)
    contexts  the least that must stand around an expression in a member (Dijkstra)
    member    the text of an item between what stands around it

Both are found in the order of their lengths, so the first that is found is a shortest. An item
without a text or without a context is one that no member can use. Texts are sequences of lexemes,
which can be written with ignored text between them.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from constrain.artifacts.tokens.memo import memoised

from ..automata.members import Members
from ..grammar import tree
from ..limits import Limits
from .graph import Graph
from .patterns import DfaMatcher, NfaMatcher

# What knows short words of a leaf.
Word: TypeAlias = Callable[[tree.Expr], DfaMatcher | NfaMatcher | None]
# The lexemes of a text.
Pieces: TypeAlias = tuple[bytes, ...]

_STAGE = "the search for shortest members"

# Words of a difference that are tried where a shortest text is among those that it takes away, and
# how much longer than the shortest they may be.
_WORDS, _LONGER = 300, 6

# Bytes of a text that is remembered, roughly.
_PIECE = 60

# What is asked of an expression: any text of it, or one that is not ε.
_Goal: TypeAlias = tuple[int, bool]


def length(pieces: Pieces) -> int:
    """The bytes of a text."""
    return sum(map(len, pieces))


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """What stands around an expression in a member: ``before`` and ``behind`` inside its parent."""

    parent: "_Around | None"
    before: Pieces
    behind: Pieces

    def around(self, pieces: Pieces) -> Pieces:
        """A member with these pieces in the middle."""
        before: list[Pieces] = []
        behind: list[bytes] = []
        current: _Around | None = self
        while current is not None:
            before.append(current.before)
            behind += current.behind
            current = current.parent
        return tuple(p for part in reversed(before) for p in part) + pieces + tuple(behind)


class Shortest:
    """Shortest members of the grammar of a network. ``word``: of leaves that are no literals, their
    short words; None where there are none. Raises ``LimitError``."""

    def __init__(self, graph: Graph, word: Word, limits: Limits) -> None:
        self._word, self._limits = word, limits
        self._grammar, self._items, self._matcher = graph.grammar, graph.items, graph.matcher
        self._bodies, use = graph.bodies, graph.use
        self._size = 0
        self._exprs: dict[int, tree.Expr] = {}
        self._users: dict[int, list[tree.Expr]] = {}
        self._uses: dict[str, list[tree.Reference]] = {}
        for expr in (use, *(r.body for r in self._grammar.rules), *self._grammar.ignored):
            self._add(expr)
        self._texts: dict[_Goal, Pieces] = {}
        self._find_yields()
        # By whether what they are around must not be ε.
        self._contexts: dict[_Goal, _Around] = {}
        self._rule_contexts: dict[tuple[str, bool], _Around] = {}
        self._find_contexts(use)

    def _add(self, root: tree.Expr) -> None:
        pending = [root]
        while pending:
            expr = pending.pop()
            if id(expr) in self._exprs:
                continue
            self._exprs[id(expr)] = expr
            if isinstance(expr, tree.Reference):
                self._uses.setdefault(expr.name, []).append(expr)
            inner = self._matcher.tree_of(expr)
            for part in tree.children(expr) if inner is None else (inner,):
                self._users.setdefault(id(part), []).append(expr)
                pending.append(part)

    # --- yields

    def _find_yields(self) -> None:
        heap: list[tuple[int, int, _Goal]] = []
        proposed: dict[_Goal, Pieces] = {}
        rules: dict[tuple[str, bool], Pieces] = {}
        owners: dict[int, list[str]] = {}
        for name, definitions in self._bodies.items():
            for rule in definitions:
                owners.setdefault(id(rule.body), []).append(name)

        def propose(expr: tree.Expr, with_text: bool, pieces: Pieces | None) -> None:
            goal = id(expr), with_text
            if pieces is None or goal in self._texts or (with_text and not length(pieces)):
                return
            old = proposed.get(goal)
            if old is None or length(pieces) < length(old):
                proposed[goal] = pieces
                heappush(heap, (length(pieces), len(heap) + len(self._texts), goal))

        def note(expr: tree.Expr) -> None:
            for with_text in (False, True):
                propose(expr, with_text, self._yield_of(expr, with_text, rules))

        for expr in self._exprs.values():
            note(expr)
        while heap:
            _, _, goal = heappop(heap)
            if goal in self._texts:
                continue
            self._check()
            pieces = self._texts[goal] = proposed.pop(goal)
            self._size += _PIECE * len(pieces) + length(pieces)
            if not goal[1] and length(pieces):
                propose(self._exprs[goal[0]], True, pieces)
            for user in self._users.get(goal[0], ()):
                note(user)
            for name in owners.get(goal[0], ()):
                if (name, goal[1]) not in rules:
                    rules[name, goal[1]] = pieces
                    for reference in self._uses.get(name, ()):
                        note(reference)

    def _check(self) -> None:
        rules = [self._grammar.start]
        self._limits.check_resources(_STAGE, rules)
        self._limits.check_memory(self._size, _STAGE, rules)

    def text(self, expr: tree.Expr, with_text: bool = False) -> Pieces | None:
        """A shortest text of an expression; None if there is none."""
        return self._texts.get((id(expr), with_text))

    def _yield_of(
        self, expr: tree.Expr, with_text: bool, rules: dict[tuple[str, bool], Pieces]
    ) -> Pieces | None:
        """The shortest text by those of the parts that are known so far."""
        match expr:
            case tree.Literal():
                return (expr.data,)
            case tree.Reference():
                return rules.get((expr.name, with_text))
            case tree.Sequence():
                return self._joined(expr.items, with_text)
            case tree.Choice():
                found = [t for e in expr.options if (t := self.text(e, with_text)) is not None]
                return min(found, key=length, default=None)
            case tree.Repetition():
                low, high = expr.min_times, expr.max_times
                if high == 0:
                    return ()
                return self.repeated(expr, max(low, 1) if with_text else low, with_text=with_text)
            case tree.Permutation():
                return self._permuted(expr, with_text=with_text)
            case tree.Pattern() if (inner := self._matcher.tree_of(expr)) is not None:
                return self.text(inner, with_text)
            case _:
                word = self._word(expr)
                if word is None:
                    return None
                found_word = word.shortest_with_text if with_text else word.shortest
                return None if found_word is None else (found_word,)

    def _joined(self, exprs: Sequence[tree.Expr], with_text: bool) -> Pieces | None:
        texts = [self.text(expr) for expr in exprs]
        if any(text is None for text in texts):
            return None
        if with_text and not any(text and length(text) for text in texts):
            ends = [(length(t), i, t) for i, e in enumerate(exprs) if (t := self.text(e, True))]
            if not ends:
                return None
            _, i, longer = min(ends)
            texts[i] = longer
        return tuple(piece for text in texts if text for piece in text)

    def repeated(self, expr: tree.Repetition, times: int, *, with_text: bool) -> Pieces | None:
        """So many iterations, of which those beyond the least number read something."""
        some, more = self.text(expr.item), self.text(expr.item, True)
        must = min(times, expr.min_times)
        if times == 0:
            return ()
        if (must and some is None) or (times > must and more is None):
            return None
        self._limits.check_memory(_PIECE * times, _STAGE, [self._grammar.start])
        found = (some or ()) * must + (more or ()) * (times - must)
        if with_text and not length(found):
            return None if more is None else more + (some or ()) * (must - 1)
        return found

    def _beside(
        self, expr: tree.Permutation, chosen: Sequence[int], without: int = -1
    ) -> list[Pieces] | None:
        """What of the other parts must be there beside the parts ``chosen``, at the least."""
        found, optional = [], []
        for i, part in enumerate(expr.parts):
            if i in chosen or (i == without and not part.is_required):
                continue
            text = self.text(part.item, not part.is_required)
            if part.is_required:
                if text is None:
                    return None
                found.append(text)
            elif text is not None:
                optional.append(text)
        count = len(set(chosen)) + len(found)
        need = max(expr.least - count, 0)
        if need > len(optional) or (expr.most is not None and count + need > expr.most):
            return None
        return found + sorted(optional, key=length)[:need]

    def _separated(self, expr: tree.Permutation, texts: Sequence[Pieces]) -> Pieces | None:
        """Parts one after the other, with what separates them."""
        between = () if expr.separator is None else self.text(expr.separator)
        if between is None and len(texts) > 1:
            return None
        joined = [*texts[:1]]
        for text in texts[1:]:
            joined += [between or (), text]
        return tuple(piece for each in joined for piece in each)

    def _permuted(self, expr: tree.Permutation, *, with_text: bool) -> Pieces | None:
        """The required parts, and of the others as few as there must be."""
        beside = self._beside(expr, ())
        least = None if beside is None else self._separated(expr, beside)
        if not with_text or (least is not None and length(least)):
            return least
        found = (self.occurring(expr, i, 1, with_text=True) for i in range(len(expr.parts)))
        return min((text for text in found if text is not None), key=length, default=None)

    def occurring(
        self, expr: tree.Permutation, wanted: int, times: int, *, with_text: bool = False
    ) -> Pieces | None:
        """A permutation with so many occurrences of a part; ``with_text``: of which one is not
        ε."""
        part = expr.parts[wanted]
        more, some = self.text(part.item, True), self.text(part.item, not part.is_required)
        if (times and some is None) or (times > 1 and more is None):
            return None
        own = [some or ()] * min(times, 1) + [more or ()] * (times - 1)
        chosen = (wanted,) * min(times, 1)
        found = [self._with(expr, own, self._beside(expr, chosen, without=wanted))]
        if with_text and not (found[0] and length(found[0])):
            found = [self._with(expr, [more or ()], self._beside(expr, chosen))] if times else []
            for i, other in enumerate(expr.parts):
                text = self.text(other.item, True)
                if i != wanted and text is not None:
                    beside = self._beside(expr, (*chosen, i), without=wanted)
                    found.append(self._with(expr, [*own, text], beside))
        known = [text for text in found if text is not None and (length(text) or not with_text)]
        return min(known, key=length, default=None)

    def _with(
        self, expr: tree.Permutation, own: list[Pieces], beside: list[Pieces] | None
    ) -> Pieces | None:
        return None if beside is None else self._separated(expr, [*own, *beside])

    # --- contexts

    def _find_contexts(self, use: tree.Reference) -> None:
        heap: list[tuple[int, int, tree.Expr, bool, _Around]] = []

        def push(cost: int, expr: tree.Expr, must: bool, around: _Around) -> None:
            if (id(expr), must) not in self._contexts:
                heappush(heap, (cost, next(count), expr, must, around))

        count = itertools.count()
        push(0, use, False, _Around(None, (), ()))
        member = self.text(use)
        for body in self._grammar.ignored:
            if member is not None:
                # After it nothing can be part of a comment.
                push(length(member), body, True, _Around(None, member, ()))
        while heap:
            cost, _, expr, must, around = heappop(heap)
            if (id(expr), must) in self._contexts:
                continue
            self._check()
            self._contexts[id(expr), must] = around
            if isinstance(expr, tree.Reference):
                if (expr.name, must) not in self._rule_contexts:
                    self._rule_contexts[expr.name, must] = around
                    for rule in self._bodies[expr.name]:
                        push(cost, rule.body, must, around)
                continue
            for part, part_must, before, behind in self._inside(expr, must):
                inner = _Around(around, before, behind) if before or behind else around
                push(cost + length(before) + length(behind), part, part_must, inner)

    def _inside(
        self, expr: tree.Expr, must: bool
    ) -> Iterator[tuple[tree.Expr, bool, Pieces, Pieces]]:
        """The parts of an expression that ``must`` not be ε, whether the part must not either, and
        the least that stands before and after each."""
        match expr:
            case tree.Sequence():
                yield from self._inside_sequence(expr, must)
            case tree.Choice():
                yield from ((option, must, (), ()) for option in expr.options)
            case tree.Repetition() if expr.max_times != 0:
                if expr.min_times == 0:
                    yield expr.item, True, (), ()
                    return
                rest = self.repeated(expr, expr.min_times - 1, with_text=False)
                if rest is not None:
                    yield expr.item, must and not length(rest), (), rest
                if must and rest is not None and not length(rest):
                    # Another iteration may read instead.
                    more = self.text(expr.item, True)
                    if expr.min_times > 1:
                        more = self.repeated(expr, expr.min_times - 1, with_text=True)
                    if more is not None and expr.max_times != 1:
                        yield expr.item, False, (), more
                if expr.max_times is None or expr.max_times > expr.min_times:
                    rest = self.repeated(expr, expr.min_times, with_text=False)
                    if rest is not None:
                        yield expr.item, True, rest, ()
            case tree.Difference():
                yield expr.left, must, (), ()
            case tree.Permutation():
                yield from self._inside_permutation(expr, must)
            case tree.Pattern() if (inner := self._matcher.tree_of(expr)) is not None:
                yield inner, must, (), ()

    def _inside_sequence(
        self, expr: tree.Sequence, must: bool
    ) -> Iterator[tuple[tree.Expr, bool, Pieces, Pieces]]:
        texts = [self.text(item) for item in expr.items]
        missing = [i for i, text in enumerate(texts) if text is None]
        if len(missing) > 1:
            return
        filled = {i for i, text in enumerate(texts) if text and length(text)}
        more = [(length(t), i, t) for i, e in enumerate(expr.items) if (t := self.text(e, True))]
        least = sorted(more)[:2]
        ends: list[Pieces] = [()]
        for text in reversed(texts[1:]):
            ends.append((text or ()) + ends[-1])
        before: list[bytes] = []
        for i, (item, behind) in enumerate(zip(expr.items, reversed(ends), strict=True)):
            if missing in ([], [i]):
                is_filled = bool(filled - {i})
                yield item, must and not is_filled, tuple(before), behind
                if must and not is_filled:
                    for _, j, text in least:
                        if j < i:
                            yield item, False, text, ()
                        elif j > i:
                            yield item, False, (), text
            before += texts[i] or ()

    def _inside_permutation(
        self, expr: tree.Permutation, must: bool
    ) -> Iterator[tuple[tree.Expr, bool, Pieces, Pieces]]:
        for i, part in enumerate(expr.parts):
            beside = self._beside(expr, (i,))
            behind = None if beside is None else self._separated(expr, [(), *beside])
            if behind is not None:
                must_read = not part.is_required or (must and not length(behind))
                yield part.item, must_read, (), behind
                if must_read and part.is_required:
                    for j, other in enumerate(expr.parts):
                        text = self.text(other.item, True)
                        if j != i and text is not None:
                            instead = self._with(expr, [(), text], self._beside(expr, (i, j)))
                            if instead is not None:
                                yield part.item, False, (), instead
        if expr.separator is not None:
            yield from self._around_separator(expr, expr.separator)

    def _around_separator(
        self, expr: tree.Permutation, separator: tree.Expr
    ) -> Iterator[tuple[tree.Expr, bool, Pieces, Pieces]]:
        texts = [
            (length(t), i, t) for i, p in enumerate(expr.parts) if (t := self.text(p.item, True))
        ]
        for (_, i, first), (_, j, second) in itertools.product(sorted(texts), repeat=2):
            if i != j or expr.parts[i].is_repeated:
                behind = self._with(expr, [second], self._beside(expr, (i, j)))
                if behind is not None:
                    yield separator, False, first, behind

    # --- members

    def separating(self) -> bytes | None:
        """A shortest text of what is ignored."""
        texts = [self.text(body, True) for body in self._grammar.ignored]
        found = [b"".join(text) for text in texts if text]
        return min(found, key=len, default=None)

    @memoised
    def members(self) -> dict[int, Pieces]:
        """For each item that some member can use a shortest one that does."""
        found: dict[int, Pieces] = {}
        for number, pieces in self._candidates():
            if number >= 0 and (number not in found or length(pieces) < length(found[number])):
                found[number] = pieces
                self._size += _PIECE * len(pieces) + length(pieces)
        return found

    def _candidates(self) -> Iterator[tuple[int, Pieces]]:
        items = self._items
        for (name, must), around in self._rule_contexts.items():
            for k, rule in enumerate(self._bodies[name]):
                text = self.text(rule.body, must)
                if text is not None:
                    yield items.rules.get(name, -1), around.around(text)
                    yield items.definitions.get((name, k), -1), around.around(text)
        for body, number in zip(self._grammar.ignored, items.ignored, strict=True):
            text, context = self.text(body, True), self._contexts.get((id(body), True))
            if text is not None and context is not None:
                yield number, context.around(text)
        for (key, must), around in self._contexts.items():
            self._check()
            for number, pieces in self._of_expression(self._exprs[key], must):
                yield number, around.around(pieces)

    def others(self) -> Iterator[Pieces]:
        """More members: the first words of each difference, and what goes through each edge."""
        for (key, _), around in self._contexts.items():
            expr = self._exprs[key]
            if isinstance(expr, tree.Difference | tree.Excluding):
                word = self._word(expr)
                if isinstance(word, DfaMatcher) and word.shortest is not None:
                    for each in word.edges:
                        yield around.around((each.before + each.char + each.behind,))
                    words = Members(word.dfa, self._limits).up_to(len(word.shortest) + _LONGER)
                    for first in itertools.islice(words, _WORDS):
                        yield around.around((first,))

    def _of_expression(self, expr: tree.Expr, must: bool) -> Iterator[tuple[int, Pieces]]:
        items = self._items
        match expr:
            case tree.Choice():
                for k, option in enumerate(expr.options):
                    text = self.text(option, must)
                    if text is not None:
                        yield items.options.get((id(expr), k), -1), text
            case tree.Repetition():
                for times, number in enumerate(items.counts.get(id(expr), ())):
                    if number >= 0:
                        found = self.repeated(expr, times, with_text=must)
                        if found is not None and (length(found) or not must):
                            yield number, found
            case tree.Permutation():
                for i in range(len(expr.parts)):
                    for times, number in enumerate(items.parts.get((id(expr), i), ())):
                        if number >= 0:
                            found = self.occurring(expr, i, times, with_text=must)
                            if found is not None and (length(found) or not must):
                                yield number, found
            case tree.Literal():
                yield items.keys.get(id(expr), -1), (expr.data,)
            case tree.Pattern():
                edges, matcher = items.edges.get(id(expr)), self._matcher(expr)
                if edges and isinstance(matcher, DfaMatcher):
                    for each in matcher.edges:
                        yield edges[each.edge], (each.before + each.char + each.behind,)
