"""Write ignored text into the rules, each piece of it as long as its terminal can match there.

    start: "a" ":" "b"        before "a", ":", "b"   blanks, and comments with a line feed after
    %ignore /[ \\n]+/          at the end             blanks and comments
    %ignore /#[^\\n]*/

Without a lexer any number of pieces of ignored text may stand before each terminal and at the end
(``compiler/grammar/weave_ignored.py``). As in Lark's Earley parser each is the longest that its
terminal matches of the text: in ``a # x :b`` the comment does not end before the ``:``. A terminal
with lazy quantifiers matches what Python's ``re`` takes.

So nothing that follows a piece may make it longer. States of the terminals' DFAs after which more
could be read are *open*: what follows is read in them, too, and where one of them accepts, the
piece was not the longest. The open states at the end of ignored text are its *ending*, and a
terminal fits some endings only, or some of its members do. Each terminal is given the ignored text
of the endings that fit, a rule for each set of them. What is open even after the terminal is not
followed any more, and neither is what is too large: that is noted.
"""

from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.tokens.memo import Numbered, memoised

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.boolean import embedded
from ..automata.dfa import DEAD, Dfa, literal
from ..automata.eliminate_states import NotTextError, TooLongError, eliminate_states
from ..automata.folding import fold
from ..automata.look_around import Followed
from ..automata.minimize import minimal, minimize
from ..automata.nfa import Arc, Nfa
from ..automata.thompson import thompson, without_epsilon
from ..diagnostics import Diagnostic, give_up
from ..grammar import tree
from ..grammar.lazy_quantifiers import lazy_dfa
from ..grammar.weave_ignored import Gaps, weave_ignored
from ..limits import Limits
from .resolve_exclusions import Operands, resolve_exclusions

# States of the automaton of one terminal, and of all ignored text with its endings.
_MOST_STATES = 5_000

# Characters of an expression that is written for ignored text.
_LONGEST = 20_000

_STAGE = "ignored text as long as possible"

# Of pieces that may go on: which of the ignored terminals, and the state of its DFA.
_Open: TypeAlias = frozenset[tuple[int, int]]

_NOTHING: _Open = frozenset()

# Of an automaton and the pieces together: their columns, by which the automaton's rows are, and the
# class of each byte.
_Columns: TypeAlias = tuple[list[int], list[list[int]], NDArray[np.uint8]]

# Which ignored text stands before a terminal, or before the members of an automaton instead.
_Divided: TypeAlias = list[tuple[tree.Expr | None, Dfa | None]]


def weave_longest(grammar: tree.Grammar, limits: Limits | None = None) -> tree.Grammar:
    """The grammar in which nothing is ignored; the same one if nothing was. Its notes say where
    ignored text may end anywhere. Raises ``LimitError`` on time and resident memory."""
    if not grammar.ignored:
        return grammar
    limits = (limits or Limits()).started()
    notes: list[Diagnostic] = []
    try:
        woven = weave_ignored(grammar, _LongestGaps(grammar, limits, notes))
    except ConstrainError as error:
        give_up(error)
        woven = weave_ignored(grammar)
        notes = [_note("ignored text", grammar.ignored[0], error)]
    return replace(woven, notes=(*woven.notes, *notes))


def _note(what: str, expr: tree.Expr, why: object) -> Diagnostic:
    reason = str(why).splitlines()[0]
    return Diagnostic(f"{what} may end before its longest match ({reason})", expr.span)


class _LongestGaps(Gaps):
    """``pieces``: the DFAs of the ignored terminals, without ε."""

    def __init__(self, grammar: tree.Grammar, limits: Limits, notes: list[Diagnostic]) -> None:
        super().__init__(grammar)
        self._grammar, self._limits, self._notes = grammar, limits.within(_MOST_STATES), notes
        bodies = (part for rule in grammar.rules for part in rule.expressions)
        rules = replace(grammar, ignored=())
        if any(map(_is_exclusion, bodies)):
            rules = resolve_exclusions(rules, self._limits)
        self._operands = Operands(rules, self._limits)
        self._bodies: dict[str, list[tree.Rule]] = {}
        for rule in rules.rules:
            self._bodies.setdefault(rule.name, []).append(rule)
        found = (self._without_empty(self._piece(expr)) for expr in grammar.ignored)
        self.pieces = [dfa for dfa in found if not dfa.is_empty]
        classes = np.stack([np.zeros(256, dtype=np.uint8), *(d.classes for d in self.pieces)])
        _, first, columns = np.unique(classes, axis=1, return_index=True, return_inverse=True)
        # Of each byte a column; of each column one of its bytes, and all as intervals.
        self._columns: NDArray[np.intp] = columns.reshape(-1)
        self._rows = [d.table[:, d.classes[first]].tolist() for d in self.pieces]
        self._accepting = [d.accepting.tolist() for d in self.pieces]
        self._intervals = [_runs(np.flatnonzero(self._columns == c)) for c in range(len(first))]
        self._nfa, self._endings = self._all_gaps()
        self._known: dict[object, tuple[_Divided, bool]] = {}

    @property
    def last(self) -> tree.Expr:
        """What stands at the end, where no piece could be longer."""
        return self._gap(frozenset(self._endings)) or tree.Literal(b"", self.place)

    def before(self, terminal: tree.Expr) -> tree.Expr:
        """A terminal with the ignored text whose endings fit it."""
        key = meaning(terminal)
        if key not in self._known:
            self._known[key] = self._divided(terminal)
        divided, optional = self._known[key]
        text = self._grammar.source.text[terminal.span.start : terminal.span.end]
        options: list[tree.Expr] = []
        for gap, members in divided:
            one = terminal
            if members is not None:
                one = tree.Pattern(_expression(members, self._limits), text, terminal.span)
            options.append(one if gap is None else tree.Sequence((gap, one), terminal.span))
        found = options[0] if len(options) == 1 else tree.Choice(tuple(options), terminal.span)
        return tree.Repetition(found, 0, 1, terminal.span) if optional else found

    # --- automata

    def _piece(self, expr: tree.Expr) -> Dfa:
        """What an ignored terminal takes of a text, as long as possible."""
        if self._grammar.source.dialect in ("lark", "antlr") and not self._grammar.follows_all:
            body = self._without_exclusions(expr)
            lazy = lazy_dfa(body, self._bodies, self._grammar.source, self._limits)
            if lazy is not None:
                # Nothing that is ignored here asks for what follows: that is refused before.
                return lazy.at_end if isinstance(lazy, Followed) else lazy
        return self._automaton(expr)

    def _automaton(self, expr: tree.Expr) -> Dfa:
        expr = self._without_exclusions(expr)
        match expr:
            case tree.Literal(data) if data:
                return literal(data)
            case tree.Pattern(node):
                return minimal(thompson(resolved(node, self._limits), self._limits), self._limits)
        return self._operands.automaton(expr)

    def _without_exclusions(self, expr: tree.Expr) -> tree.Expr:
        if any(map(_is_exclusion, tree.walk(expr))):
            return fold(expr, tree.children, self._operands.without_exclusion)
        return expr

    def _without_empty(self, dfa: Dfa) -> Dfa:
        if not dfa.accepting[dfa.start]:
            return dfa
        return minimal(thompson(without_epsilon(embedded(dfa)), self._limits), self._limits)

    # --- ignored text

    def _step(self, opened: _Open, column: int) -> _Open | None:
        """What is open after a byte; None if a piece goes on to there, and was not the longest."""
        found = set()
        for piece, state in opened:
            target = self._rows[piece][state][column]
            if target != DEAD:
                if self._accepting[piece][target]:
                    return None
                found.add((piece, target))
        return frozenset(found)

    def _all_gaps(self) -> tuple[Nfa, dict[_Open, int]]:
        """The automaton of all ignored text, without final states, and where it may end, by what is
        open there."""
        between = (-1, 0)
        ends = Numbered[tuple[tuple[int, int], _Open]]([(between, _NOTHING)])
        nfa = Nfa()
        for place, opened in ends:
            self._limits.check_states(len(ends), _STAGE)
            self._limits.check_resources(_STAGE)
            piece, state = place
            begun = [place]
            if place == between:
                begun = [(i, dfa.start) for i, dfa in enumerate(self.pieces)]
            arcs, epsilon = list[Arc](), list[int]()
            if place != between and self._accepting[piece][state]:
                goes_on = any(self._rows[piece][state])
                epsilon.append(ends.number((between, opened | {place} if goes_on else opened)))
            for column, intervals in enumerate(self._intervals):
                targets = [(i, self._rows[i][s][column]) for i, s in begun]
                further = self._step(opened, column) if any(t for _, t in targets) else None
                if further is not None:
                    for i, target in targets:
                        if target != DEAD:
                            reached = ends.number(((i, target), further))
                            arcs += [Arc(*run, reached, frozenset()) for run in intervals]
            nfa.arcs.append(arcs)
            nfa.epsilon.append(epsilon)
        endings = {opened: i for i, (place, opened) in enumerate(ends) if place == between}
        return nfa, endings

    @cached_property
    def _key_of_any(self) -> tuple[bytes, ...]:
        """Of any pieces, each ending anywhere."""
        nodes = (embedded(self._automaton(expr)) for expr in self._grammar.ignored)
        whole = thompson(regex.repeat(regex.alt(*nodes), 0, None), self._limits)
        return _key(minimal(whole, self._limits))

    @memoised
    def _gap(self, endings: frozenset[_Open]) -> tree.Expr | None:
        """The ignored text that ends so; None if there is none but the empty text."""
        finals = frozenset(self._endings[each] for each in endings)
        dfa = minimal(replace(self._nfa, finals=finals), self._limits)
        if _key(dfa) == self._key_of_any:
            return self.any
        if not dfa.table[dfa.start].any():
            return None
        text = self._grammar.source.text[self.place.start : self.place.end]
        return self.rule(tree.Pattern(_expression(dfa, self._limits), text, self.place))

    # --- terminals

    def _divided(self, terminal: tree.Expr) -> tuple[_Divided, bool]:
        """By members that fit the same endings: the ignored text that ends so, and these members,
        None for all; and whether the terminal may be missing."""
        every = frozenset(self._endings)
        if isinstance(terminal, tree.Token):
            return [(self._gap(every), None)], False
        try:
            whole = self._automaton(terminal)
            members = self._without_empty(whole)
        except ConstrainError as error:
            give_up(error)
            self._notes.append(_note("ignored text before this", terminal, error))
            return [(self._gap(every), None)], False
        if members.is_empty:
            return [(None, None)], False
        optional = members is not whole
        by_members: dict[tuple[bytes, ...], tuple[Dfa, set[_Open]]] = {}
        is_open = False
        columns = self._columns_beside(members)
        for ending in self._endings:
            fitting, stays_open = self._fitting(members, columns, ending)
            is_open |= stays_open
            if not fitting.is_empty:
                by_members.setdefault(_key(fitting), (fitting, set()))[1].add(ending)
        if is_open:
            why = "what is read after it decides"
            self._notes.append(_note("ignored text before this", terminal, why))
        same = None if optional else _key(members)
        found: _Divided = []
        for key, (fitting, endings) in by_members.items():
            gap = self._gap(frozenset(endings))
            found.append((gap, None if key == same else fitting))
        return found, optional

    def _columns_beside(self, members: Dfa) -> _Columns:
        """The columns of members and pieces together."""
        both = members.classes.astype(np.intp) * (int(self._columns.max()) + 1) + self._columns
        _, first, classes = np.unique(both, return_index=True, return_inverse=True)
        rows = members.table[:, members.classes[first]].tolist()
        return self._columns[first].tolist(), rows, classes.astype(np.uint8)

    def _fitting(self, members: Dfa, beside: _Columns, ending: _Open) -> tuple[Dfa, bool]:
        """The members after which no piece of an ending is longer, and whether some are read with
        pieces that are open yet."""
        if not ending:
            return members, False
        columns, rows, classes = beside
        accepting: list[bool] = members.accepting.tolist()
        states, more = Numbered([(members.start, ending)]), list[list[int]]()
        excludes = stays_open = False
        for state, opened in states:
            self._limits.check_states(len(states), _STAGE)
            row = []
            for column, target in zip(columns, rows[state], strict=True):
                further = self._step(opened, column) if target != DEAD else None
                if further is None:
                    excludes |= target != DEAD
                    row.append(DEAD)
                elif not further:
                    row.append(target)
                else:
                    stays_open |= accepting[target]
                    row.append(members.states + states.number((target, further)))
            more.append(row)
        if not excludes:
            return members, stays_open
        ends = [accepting[state] for state, _ in states]
        found = Dfa(
            np.array([*rows, *more], dtype=np.int32),
            classes,
            np.array([*accepting, *ends], dtype=np.bool_),
            members.states,
            (frozenset(),) * (len(rows) + len(more)),
        )
        return minimize(found, self._limits), stays_open


def _expression(dfa: Dfa, limits: Limits) -> regex.Node:
    """An expression of an automaton, of the author's kind where it is short."""
    try:
        return eliminate_states(dfa, _LONGEST, limits)
    except (NotTextError, TooLongError):
        return embedded(dfa)


def _runs(octets: NDArray[np.intp]) -> list[tuple[int, int]]:
    """``[3, 4, 5, 9]`` -> ``[(3, 5), (9, 9)]``"""
    parts = np.split(octets, np.flatnonzero(np.diff(octets) > 1) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts]


def _key(dfa: Dfa) -> tuple[bytes, ...]:
    """Equal for equal languages: minimal DFAs are numbered canonically."""
    return dfa.table.tobytes(), dfa.classes.tobytes(), dfa.accepting.tobytes()


def _is_exclusion(expr: tree.Expr) -> bool:
    return isinstance(expr, tree.Difference | tree.Excluding)


def meaning(expr: tree.Expr) -> object:
    """Equal for terminals that are written alike."""
    match expr:
        case tree.Literal():
            return expr.data
        case tree.Reference():
            return expr.name
        case tree.Pattern():
            return id(expr.node)
        case _:
            return id(expr)
