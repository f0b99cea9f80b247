"""Numbers the lexemes of a grammar, and replaces its terminals by their numbers.

    start: NAME "=" NAME        ->      start: <0> <1> <0>
    NAME: /[a-z]+/                      0 NAME /[a-z]+/, 1 '=', 2 ' ' (ignored)
    %ignore " "

Every use of a terminal in a rule, whether it has a name or not, is a symbol; terminals of the same
language and the same priority are one lexeme. One that is written as a string takes precedence over
regexes (Lark's documentation, "Grammar Reference", on the precedence of terminals). Where a
terminal matches ε its use is optional, so that no lexeme is ever empty. How a text is
split into lexemes is defined by ``tests/support/oracles/maximal_munch.py``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.boolean import embedded
from ..automata.compare import is_included
from ..automata.dfa import Dfa, literal, without_bytes
from ..automata.folding import fold
from ..automata.graphs import reached
from ..automata.look_around import Followed
from ..automata.minimize import minimal, minimize
from ..automata.thompson import thompson, without_epsilon
from ..diagnostics import CheckError, Diagnostic, LimitError, Span
from ..grammar import tree
from ..grammar.lazy_quantifiers import lazy_dfa
from ..grammar.open_looks import followed, looking, open_patterns
from ..grammar.weave_ignored import weave_ignored
from ..lazy_dfa.conjunctions import Operation, is_nullable, without_bytes_of, without_empty
from ..lazy_dfa.large_lexemes import LargeLexemes, first_bytes, key_of, reads_all
from ..limits import Limits, blaming
from ..lnf import normalize
from ..lnf.automaton import to_nfa
from ..lnf.form import Lnf
from ..lnf.longest_ignored import meaning
from ..lnf.resolve_exclusions import resolve_exclusions
from .indentation import indented

_WHOLE = "(lexeme)"


@dataclass(frozen=True, eq=False)
class Lexeme:
    """``dfa``: what it matches, never ε; minimal.

    ``ignored``: it may stand between any two lexemes. ``is_string``: it takes precedence over
    regexes of its priority. ``text``: as its author wrote it, first at ``span``. ``swallowed``: all
    that it matches is ignored, as an ignored lexeme takes precedence over it. ``shortest``: where
    it may end, all that were begun beside it end, too, and are not what was read; no text of it
    begins another. ``lazily``: what it matches if its states are made while decoding; ``dfa`` reads
    the first byte of that alone. ``followed``: what it matches by the byte after it, where that
    matters. ``refused``: it is read like any other, and no text goes on after it or ends with it.
    """

    dfa: Dfa
    priority: int
    ignored: bool
    text: str
    span: Span
    is_string: bool
    swallowed: bool = False
    shortest: bool = False
    lazily: Operation | None = None
    followed: Followed | None = None
    refused: bool = False

    @property
    def node(self) -> regex.Node:
        """The same as an expression."""
        return embedded(self.dfa)

    @property
    def refusing(self) -> Dfa:
        """What a lexer reads: ``dfa``; by what follows, with a last state for what may not."""
        return self.dfa if self.followed is None else self.followed.refusing

    def without_bytes(self, missing: NDArray[np.bool_], limits: Limits) -> "Lexeme":
        """What has none of the bytes ``missing``, bool (256,)."""
        if self.followed is not None:
            left = self.followed.without_bytes(missing)
            return replace(self, dfa=left.dfa, followed=left)
        if self.lazily is None:
            return replace(self, dfa=minimize(without_bytes(self.dfa, missing)))
        rest = without_bytes_of(self.lazily, missing, limits)
        if not rest.conjunctions:
            return replace(self, dfa=_NEVER, lazily=None)
        return replace(self, dfa=first_bytes(rest.conjunctions, limits), lazily=rest)

    @property
    def precedence(self) -> tuple[bool, int, int]:
        """The accept set of lexemes that end together is those of the highest precedence."""
        return self.shortest, self.priority, -1 if self.swallowed else int(self.is_string)


@dataclass(frozen=True, eq=False)
class LexemeWidths:
    """The numbers of the lexemes of ``Widths``, ``each`` by its width."""

    same: int
    wider: int
    each: Mapping[int, int]
    lines: frozenset[int]


@dataclass(frozen=True, eq=False)
class LexemeGrammar:
    """``lnf``: symbol ``~t`` is a ``TokenTerminal`` node that names a lexeme by its index.
    ``widths``: where some lexemes stand for others."""

    lexemes: Sequence[Lexeme]
    grammar: tree.Grammar
    widths: LexemeWidths | None = None

    def lnf(self, limits: Limits | None = None) -> Lnf:
        """The normal form over lexemes, nullable symbols included."""
        return normalize(self.grammar, limits)

    def without_bytes(
        self, missing: NDArray[np.bool_], limits: Limits | None = None
    ) -> "LexemeGrammar":
        """The members that hold none of the bytes ``missing``, bool (256,).

        A text without them has the same lexemes as before; lexemes keep their numbers, and those
        that are left without a text stand nowhere in the rules.
        """
        rest = [each.without_bytes(missing, limits or Limits()) for each in self.lexemes]
        gone = {i for i, each in enumerate(rest) if each.dfa.is_empty}
        lexemes = [
            replace(e, dfa=_NEVER, followed=None) if i in gone else e for i, e in enumerate(rest)
        ]

        def emptied(rule: tree.Rule) -> tree.Rule:
            body = rule.body
            if not isinstance(body, tree.Token) or body.ids[0][0] not in gone:
                return rule
            return replace(rule, body=tree.Pattern(regex.NOTHING, body.text, body.span))

        rules = tuple(map(emptied, self.grammar.rules))
        return replace(self, lexemes=lexemes, grammar=replace(self.grammar, rules=rules))


# A start without a way on.
_NEVER = Dfa(
    np.zeros((2, 1), dtype=np.int32),
    np.zeros(256, dtype=np.uint8),
    np.zeros(2, dtype=np.bool_),
    1,
    (frozenset(),) * 2,
)


def lexeme_grammar(
    grammar: tree.Grammar,
    limits: Limits | None = None,
    most_states: int | None = None,
    written: tree.Grammar | None = None,
) -> LexemeGrammar:
    """Number the lexemes of a checked grammar and put their numbers into its rules.

    ``most_states``: terminals whose automata have more are walked lazily, where they can be; None
    where all are built. ``written``: the grammar before it was ``as_lexed``, if it was. Raises
    ``CheckError`` for token terminals, ``NotRegularError`` for a terminal that nests itself,
    ``LimitError``.
    """
    limits = (limits or Limits()).started()
    grammar = as_lexed(grammar, limits)
    if grammar.tokens:
        found = Diagnostic(
            "tokens that a grammar names cannot be read by maximal munch",
            grammar.tokens[0].span,
            "read this grammar without a lexer",
        )
        raise CheckError(grammar.source, [found])
    large = None if most_states is None else LargeLexemes(grammar, limits, most_states)
    left = grammar if large is None else large.without_exceptions()
    numbered = _Numbering(resolve_exclusions(left, limits), limits, large, written).run()
    is_open = any(lexeme.followed is not None for lexeme in numbered.lexemes)
    if is_open and any(lexeme.lazily is not None for lexeme in numbered.lexemes):
        # Lexemes that are walked lazily end whatever follows.
        return _Numbering(resolve_exclusions(grammar, limits), limits, None, written).run()
    return numbered


def as_lexed(grammar: tree.Grammar, limits: Limits, *, of_any_width: bool = False) -> tree.Grammar:
    """The grammar with rules for what a lexer would do by itself: where lines begin; and ignored
    text where something is embedded, as what is ignored elsewhere is not ignored inside. It is
    llguidance's, which follows all lexemes. ``of_any_width``, and errors: as of ``indented``."""
    numbering = _Numbering(grammar, limits, None)
    grammar = indented(
        grammar, lambda expr: numbering.built(expr, limits), limits, of_any_width=of_any_width
    )
    if not grammar.embedded:
        return grammar
    return replace(weave_ignored(grammar), follows_all=True, embedded=())


def as_written(names: Sequence[str], grammar: tree.Grammar) -> tuple[str, ...]:
    """Names of rules, those of the author in place of those made of them."""
    authors = {rule.name: rule.within for rule in grammar.rules if rule.within}
    return tuple(authors.get(name, name) for name in names)


class _Numbering:
    def __init__(
        self,
        grammar: tree.Grammar,
        limits: Limits,
        large: LargeLexemes | None,
        written: tree.Grammar | None = None,
    ) -> None:
        self.grammar, self.limits, self.large = grammar, limits, large
        self.written = written
        self.terminals = grammar.terminals
        self.bodies: dict[str, list[tree.Rule]] = {}
        for rule in grammar.rules:
            self.bodies.setdefault(rule.name, []).append(rule)
        self.lexemes: list[Lexeme] = []
        self.numbers: dict[object, int] = {}
        self.uses: dict[object, tuple[int | None, bool]] = {}
        self.taken = set(self.bodies)

    @cached_property
    def open_patterns(self) -> set[int]:
        """The regexes, by ``id``, for which it matters what stands after them."""
        # What rules for lines are made of has the same regexes.
        written, whole = self.written, self.grammar
        known = written is not None and {*map(id, looking(whole))} <= {*map(id, looking(written))}
        grammar = written if written is not None and known else whole
        return {*map(id, open_patterns(grammar))}

    def run(self) -> LexemeGrammar:
        """The rules that are no terminals, over lexemes, and the lexemes that they use."""
        rules = [
            replace(rule, body=fold(rule.body, self._inside, self._numbered))
            for rule in self.grammar.rules
            if not rule.terminal
        ]
        start = self.grammar.start
        if start in self.terminals:
            # A grammar that is a single terminal.
            first = self.bodies[start][0]
            body = self._use(tree.Reference(start, first.name_span))
            rules.append(tree.Rule(start, first.name_span, body, first.span))
        widths = self._widths()
        used = range(len(self.lexemes))
        for expr in self.grammar.ignored:
            number, _ = self._number(expr, ignored=True)
            if number is not None:
                self.lexemes[number] = replace(self.lexemes[number], ignored=True)
        if not self.grammar.follows_all:
            ignored = [lexeme for lexeme in self.lexemes if lexeme.ignored]
            for number in used:
                self.limits.check_resources("the lexemes", [start])
                self._swallow(number, ignored)
        tokens = [
            tree.Token(None, ((i, i),), False, rules[0].span) for i in range(len(self.lexemes))
        ]
        # A rule of its own for each, so that counts and neighbours stay outside the lexeme.
        named = [tree.Rule(self._name(i), t.span, t, t.span) for i, t in enumerate(tokens)]
        whole = tree.Grammar(self.grammar.source, (*rules, *named), start, tuple(tokens))
        return LexemeGrammar(self.lexemes, whole, widths)

    def _widths(self) -> LexemeWidths | None:
        given = self.grammar.widths
        if given is None:
            return None
        # Those without a text have no rules.
        uses = (
            tree.Reference(name, given.place) for name in (given.same, given.wider, *given.lines)
        )
        numbers = [self._number(use)[0] if use.name in self.bodies else None for use in uses]
        same, wider, *lines = numbers
        if same is None or wider is None:
            return None
        each, text = {}, self.grammar.source.text[given.place.start : given.place.end]
        for width, dfa in enumerate(given.each, 1):
            if not dfa.is_empty:
                each[width] = len(self.lexemes)
                made = Lexeme(dfa, given.priority, False, text, given.place, is_string=False)
                self.lexemes.append(made)
        return LexemeWidths(same, wider, each, frozenset(i for i in lines if i is not None))

    @staticmethod
    def _inside(expr: tree.Expr) -> tuple[tree.Expr, ...]:
        kinds = tree.Sequence | tree.Choice | tree.Repetition | tree.Permutation
        return tree.children(expr) if isinstance(expr, kinds) else ()

    def _numbered(self, expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
        match expr:
            case tree.Sequence() | tree.Choice() | tree.Repetition() | tree.Permutation():
                return tree.with_children(expr, tuple(parts))
            case tree.Reference() if expr.name not in self.terminals:
                return expr
            case _:
                return self._use(expr)

    def _use(self, expr: tree.Expr) -> tree.Expr:
        """What stands in a rule for a terminal."""
        number, optional = self._number(expr)
        if number is None:
            if optional:
                return tree.Literal(b"", expr.span)
            text = self.grammar.source.text[expr.span.start : expr.span.end]
            return tree.Pattern(regex.NOTHING, text, expr.span)
        use = tree.Reference(self._name(number), expr.span)
        return tree.Repetition(use, 0, 1, expr.span) if optional else use

    def _swallow(self, number: int, ignored: Sequence[Lexeme]) -> None:
        """Note whether one of the ``ignored`` lexemes takes all that one of the rules matches.

        Lark's lexer drops what an ignored terminal matches before it asks whether a string of
        that text is a keyword, and a terminal that is ignored never reaches the parser.
        """
        lexeme = self.lexemes[number]
        for other in ignored:
            if other.priority != lexeme.priority:
                continue
            same = _key(other.dfa, other.lazily) == _key(lexeme.dfa, lexeme.lazily)
            keyword = lexeme.is_string and not other.is_string
            if same or (keyword and self._is_included(lexeme, other)):
                self.lexemes[number] = replace(lexeme, swallowed=True)
                return

    def _is_included(self, keyword: Lexeme, other: Lexeme) -> bool:
        """Whether a lexeme matches all that one which is a string does."""
        if other.lazily is None or keyword.lazily is not None:
            return keyword.lazily is None and is_included(keyword.dfa, other.dfa, self.limits)
        return reads_all(keyword.dfa, other.lazily, self.limits)

    def _number(self, expr: tree.Expr, *, ignored: bool = False) -> tuple[int | None, bool]:
        """The lexeme of a terminal (None if it matches no text but ε), and whether it matches ε.

        Lark's ignored terminals are lexemes of their own.
        """
        apart = ignored and not self.grammar.follows_all
        written = apart, meaning(expr)
        if written not in self.uses:
            with blaming([expr.name] if isinstance(expr, tree.Reference) else ()):
                found = self._automaton(expr)
                if isinstance(found, Operation):
                    lazily, optional = without_empty(found, self.limits), is_nullable(found)
                    dfa = first_bytes(lazily.conjunctions, self.limits)
                else:
                    lazily, dfa = None, found.dfa if isinstance(found, Followed) else found
                    optional = bool(dfa.accepting[dfa.start])
                    if optional and found is not dfa:
                        raise self._refusal(expr)
                    if optional:
                        nfa = thompson(without_epsilon(embedded(dfa)), self.limits)
                        dfa = minimal(nfa, self.limits)
                by_next = found if isinstance(found, Followed) else None
            number = None if dfa.is_empty else self._lexeme(expr, dfa, apart, lazily, by_next)
            self.uses[written] = number, optional
        return self.uses[written]

    def _refusal(self, expr: tree.Expr) -> CheckError:
        message = "a terminal that may be empty must not ask for what follows it"
        hint = "let what uses it be missing instead: write ? after its name"
        return CheckError(self.grammar.source, [Diagnostic(message, expr.span, hint)])

    def _lexeme(
        self,
        expr: tree.Expr,
        dfa: Dfa,
        apart: bool,
        lazily: Operation | None,
        followed: Followed | None,
    ) -> int:
        priority, shortest = self._priority(expr), self._is_shortest(expr)
        key = apart, priority, shortest, _key(followed.whole if followed else dfa, lazily)
        if key not in self.numbers:
            self.numbers[key] = len(self.lexemes)
            text = self.grammar.source.text[expr.span.start : expr.span.end]
            made = Lexeme(dfa, priority, False, text, expr.span, False, False, shortest, lazily)
            self.lexemes.append(replace(made, followed=followed))
        number = self.numbers[key]
        if not self.grammar.follows_all and self._is_string(expr):
            self.lexemes[number] = replace(self.lexemes[number], is_string=True)
        return number

    def _is_string(self, expr: tree.Expr) -> bool:
        """Whether a terminal is a string, written as such or named."""
        expr = self._behind_names(expr)
        return isinstance(expr, tree.Literal) or (
            isinstance(expr, tree.Pattern) and expr.kind == "string"
        )

    def _behind_names(self, expr: tree.Expr) -> tree.Expr:
        """The expression that a name stands for, through names of one definition each."""
        seen = set[str]()
        while isinstance(expr, tree.Reference) and expr.name not in seen:
            seen.add(expr.name)
            bodies = self.bodies[expr.name]
            if len(bodies) > 1:
                break
            expr = bodies[0].body
        return expr

    def _priority(self, expr: tree.Expr) -> int:
        if isinstance(expr, tree.Reference):
            return max(rule.priority for rule in self.bodies[expr.name])
        return 0

    def _is_shortest(self, expr: tree.Expr) -> bool:
        if not isinstance(expr, tree.Reference):
            return False
        return any(rule.shortest for rule in self.bodies[expr.name])

    def _automaton(self, expr: tree.Expr) -> Dfa | Followed | Operation:
        """The minimal DFA of a terminal, whose references are to terminals, by what follows if it
        asks for that; of one that is too large what is walked lazily."""
        whole = self._behind_names(expr)
        # A grammar that is one regex has that regex's language, whatever a search prefers.
        is_regex = self.grammar.source.dialect.startswith("regex")
        if not (self.grammar.follows_all or is_regex):
            lazy = lazy_dfa(expr, self.bodies, self.grammar.source, self.limits)
            if isinstance(lazy, Followed) and id(whole) not in self.open_patterns:
                return lazy.at_end
            if lazy is not None:
                return lazy
        if isinstance(whole, tree.Pattern) and id(whole) in self.open_patterns:
            return followed(whole.node, self.limits)
        if self.large is None:
            return self.built(expr, self.limits)
        found = self.large.seen(expr)
        if found is not None:
            return found
        try:
            return self.built(expr, self.large.few)
        except LimitError as error:
            if error.is_measured:
                raise
        return self.large.tried(expr) or self.built(expr, self.limits)

    def built(self, expr: tree.Expr, limits: Limits) -> Dfa:
        """The minimal DFA of a terminal."""
        match self._behind_names(expr):
            case tree.Literal(data) if data:
                limits.check_states(len(data) + 2, "a terminal")
                return literal(data)
            case tree.Pattern(node):
                return minimal(thompson(resolved(node, limits), limits), limits)
        begun = (use.name for use in tree.references(expr))
        used = reached(begun, lambda n: (use.name for rule in self.bodies[n] for use in rule.uses))
        whole = tree.Rule(_WHOLE, expr.span, expr, expr.span)
        rules = (*(rule for name in sorted(used) for rule in self.bodies[name]), whole)
        lnf = normalize(tree.Grammar(self.grammar.source, rules, _WHOLE), limits)
        return minimal(to_nfa(lnf, limits)[0], limits)

    def _name(self, number: int) -> str:
        """A rule name that the grammar does not use."""
        name = f"lexeme {number}"
        while name in self.taken:
            name += "'"
        return name


def _key(dfa: Dfa, lazily: Operation | None) -> tuple[object, ...]:
    """Equal for equal languages: minimal DFAs are numbered canonically."""
    if lazily is not None:
        return key_of(lazily)
    return dfa.table.tobytes(), dfa.classes.tobytes(), dfa.accepting.tobytes()
