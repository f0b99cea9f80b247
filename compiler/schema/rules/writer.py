"""What the rules of a schema are written with: the parts that texts of JSON have."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from constrain.artifacts.tokens.memo import memoised

from ...automata import boolean
from ...automata import regex_ir as regex
from ...automata.boolean import embedded
from ...automata.dfa import Dfa
from ...automata.minimize import minimal
from ...automata.thompson import thompson
from ...diagnostics import Span
from ...grammar import tree
from .. import strings
from ..goals import ANYTHING, Goal, Goals
from ..keywords.clauses import applied
from ..normal import Normal
from ..notes import ESCAPED, EXPONENTS, NUMBERS, Refused
from ..options import ANY_ESCAPES, COMPACT, FLEXIBLE, ONE, PLAIN, PYTHON
from ..patterns import white_space
from ..places import Place
from ..sets import Ends, Lengths, Names, Others, Texts, Within, decimal_text, quoted, spelled
from .fixed_text import fixed_text

# Lengths beside texts that are excluded, which are states of an automaton.
_COUNTED_BESIDE = 256

# What a writer makes later.
NOTHING_LATER, TERMINALS, KEYS = "nothing", "terminals", "keys"

# Texts that are alternatives of their own; more of them are one automaton.
_LISTED = 8


@lru_cache(128)
def embedded_dfa(dfa: Dfa) -> regex.Node:
    """The automaton as a part of an expression; schemas have the same ones again and again."""
    return embedded(dfa)


class Writer:
    """The parts that texts of JSON have, by the options of a grammar; rules, each of its own name,
    and names for those of goals. What it ``defers`` is made when it is asked for: the automata of
    all terminals, or those of all keys but some."""

    def __init__(self, goals: Goals, normal: Normal, *, defers: str = NOTHING_LATER) -> None:
        self.goals, self.normal = goals, normal
        self.options, self.notes, self.limits = goals.options, goals.notes, goals.limits
        # By name, in the order in which they were begun; those that are made later by what they
        # begin with.
        self.by_name: dict[str, tree.Rule] = {}
        # Whether some rule may have no text.
        self.may_be_empty = False
        # How many brackets stand around what is written, where lines are indented by them.
        self.depth, self.indent = 0, self.options.indent
        self._names: dict[tuple[Goal, int], str] = {}
        # The names of rules that are a goal's whole value, and of those that are repeated in texts.
        self.of_goals: set[str] = set()
        self.of_one_character: set[str] = set()
        # How often each name was wanted, and those that rules have.
        self._wanted: dict[str, int] = {}
        self._taken: set[str] = set()
        self._terminals: dict[Hashable, str] = {}
        # By name the goals without a rule so far, with their depth, and terminals that are made
        # when asked for.
        self._pending: dict[str, tuple[Goal, int]] = {}
        self._defers = defers
        self._later: dict[str, Callable[[], None]] = {}
        # Rules of objects that are written when they are asked for, with the goal's name and place.
        self.objects_left: dict[str, tuple[str, Span, Callable[[], None]]] = {}
        # Whether rules must be read at once: those of permutations, and of terminals that grow.
        self.needs_all = self.options.marks_equal or self.indent is not None
        # Rules of what follows in an object, by the depth and what that is.
        self._shared: dict[int, dict[Hashable, str]] = {}
        self._numbered: dict[Hashable, int] = {}
        self._keep: list[Dfa] = []
        self._orders: dict[Goal, dict[int, int]] = {}
        # The keys that a place has schemas for, by its number.
        self._names_of: dict[int, list[str]] = {}
        # What no string and no key contains, as it is written between its quotes.
        self.without: tuple[str, ...] = ()
        self._span = Span(0, 0)
        self._name = "#"
        known = {FLEXIBLE: None, COMPACT: 0, PYTHON: 0, ONE: 1}
        usual = self.options.most_spaces if self.indent is None else 0
        self._most_spaces = known.get(self.options.whitespace, usual)

    def begin(self, name: str, span: Span) -> None:
        """The rules that follow are those of ``name``, which stands at ``span``."""
        self._name, self._span = name, span

    @property
    def rules(self) -> tuple[tree.Rule, ...]:
        """All rules so far."""
        return tuple(self.by_name.values())

    @property
    def span(self) -> Span:
        """The place of the rule at work."""
        return self._span

    # --- what members and items are written with

    def value(self, goal: Goal) -> tree.Reference:
        """A value that satisfies a goal: the rule of that goal."""
        name = self._names.get((goal, self.depth))
        if name is None:
            at = self.goals.pointer_of(goal, otherwise="none")
            name = self._fresh("value" if goal == ANYTHING else at)
            self._names[goal, self.depth] = name
            self.of_goals.add(name)
            self._pending[name] = goal, self.depth
        return tree.Reference(name, self._span)

    def literal(self, data: str | bytes) -> tree.Literal:
        """A text as it is; empty for ε."""
        return tree.Literal(data.encode("utf-8") if isinstance(data, str) else data, self._span)

    def sequence(self, *items: tree.Expr) -> tree.Expr:
        """One after the other, without those that are empty."""
        kept = [i for i in items if not (isinstance(i, tree.Literal) and not i.data)]
        if len(kept) < 2:
            return kept[0] if kept else self.literal(b"")
        return tree.Sequence(tuple(kept), self._span)

    def choice(self, options: Sequence[tree.Expr]) -> tree.Expr:
        """One of them; nothing where there is none."""
        if not options:
            self.may_be_empty = True
            return tree.Pattern(regex.NOTHING, "", self._span)
        return options[0] if len(options) == 1 else tree.Choice(tuple(options), self._span)

    def repetition(self, item: tree.Expr, least: int, most: int | None) -> tree.Expr:
        """An item so many times."""
        if most == 0:
            return self.literal(b"")
        return item if least == most == 1 else tree.Repetition(item, least, most, self._span)

    def permutation(
        self, parts: Sequence[tree.Part], separator: tree.Expr, least: int, most: int | None
    ) -> tree.Expr:
        """Parts in any order, so many of them."""
        if most is not None and most >= len(parts):
            most = None
        return tree.Permutation(tuple(parts), separator, self._span, least, most)

    @property
    def shared(self) -> dict[Hashable, str]:
        """Rules of what follows in an object, by what that is."""
        return self._shared.setdefault(self.depth, {})

    def number_of(self, key: Hashable) -> int:
        """A number for what follows in an object, the same for the same."""
        return self._numbered.setdefault(key, len(self._numbered))

    def helper(self) -> str:
        """A name for a rule that a part of the goal at work needs."""
        return self._fresh(f"{self._name} ")

    def rule(self, name: str, options: Sequence[tree.Expr]) -> None:
        """The rule of a name."""
        self.by_name[name] = tree.Rule(name, self._span, self.choice(options), self._span)

    @property
    def defers_objects(self) -> bool:
        """Whether rules of objects may be written when they are asked for."""
        return self._defers == KEYS and self.indent is None

    @property
    def defers_all(self) -> bool:
        """Whether all schemas are plain, so that each rule has a text."""
        return self._defers == TERMINALS

    def rule_later(
        self,
        name: str,
        goals: Iterable[Goal],
        ways: Iterable[Iterable[Goal]],
        write: Callable[[], None],
    ) -> None:
        """The rule of a name, which ``write`` writes with others when it is asked for. All of them
        name the rules of ``goals`` alone, and it has a text where those of one of ``ways`` have."""
        for goal in goals:
            self.value(goal)
        self.rule(name, [self.sequence(*map(self.value, way)) for way in ways])
        self.objects_left[name] = self._name, self._span, write

    def reference(self, name: str) -> tree.Reference:
        """The use of a rule."""
        return tree.Reference(name, self._span)

    def space(self) -> tree.Expr:
        """White space, as the options have it."""
        kind, most = self.options.whitespace, self._most_spaces
        if most == 0:
            return self.literal(b"")

        def some() -> regex.Node:
            pattern = self.options.space_pattern
            if pattern is not None:
                return embedded_dfa(white_space(pattern))
            one = " " if kind == ONE else " \t\n\r"
            octets = regex.char_class((ord(char), ord(char)) for char in one)
            return regex.repeat(octets, 0, most)

        return self._terminal("white space", "white space", some)

    def comma(self) -> tree.Expr:
        """Between members or items."""
        return self._mark(",", self.depth)

    def colon(self) -> tree.Expr:
        """Between a key and its value."""
        return self._mark(":", self.depth)

    @memoised
    def _mark(self, mark: str, depth: int) -> tree.Expr:
        """A mark with its white space, which is the same expression everywhere."""
        if mark == "," and depth:
            return self.literal(mark + self.line(depth))
        if self.options.whitespace == PYTHON or self.indent is not None:
            return self.literal(f"{mark} ")
        return self.sequence(self.space(), self.literal(mark), self.space())

    def line(self, depth: int) -> str:
        """The beginning of a line."""
        return "\n" + " " * (depth * (self.indent or 0))

    def bracketed(self, first: str, inside: tree.Expr, last: str) -> tree.Expr:
        """What stands between brackets."""
        space = self.space()
        return self.sequence(self.literal(first), space, inside, space, self.literal(last))

    def text(self, text: str) -> tree.Expr:
        """One string."""
        options = self.options
        written = quoted(text, options.ascii)
        if options.escapes != ANY_ESCAPES or self.without:
            self.notes.respelled(ESCAPED)
        if self.without:
            is_out = any(each in written[1:-1] for each in self.without)
            return self.choice([]) if is_out else self.literal(written)
        node = fixed_text(text, options.ascii, options.escapes)
        if isinstance(node, regex.Lit):
            return self.literal(node.data)
        return self._terminal(("text", text), written, lambda: node)

    def number(self, value: Fraction) -> tree.Expr:
        """One number."""
        is_plain = self.options.integer == PLAIN
        self.notes.respelled(NUMBERS if is_plain else EXPONENTS)
        if is_plain:
            return self.literal(decimal_text(value))
        return tree.Pattern(spelled(value), "", self._span)

    def _written_texts(self, dfa: Dfa, *, is_fixed: bool = False) -> regex.Node:
        """The JSON strings of decoded texts."""
        options, limits = self.options, self.limits
        if options.escapes != ANY_ESCAPES:
            self.notes.respelled(ESCAPED)
        return embedded_dfa(
            strings.as_json(dfa, options.ascii, options.escapes, limits, is_fixed=is_fixed)
        )

    def texts(self, texts: Texts) -> tree.Expr:
        """The strings of a set."""
        if self.without:
            return self._excluding(texts)
        if texts is Ends.ALL:
            return self._terminal(
                texts, "string", lambda: embedded_dfa(strings.free(self.options.ascii))
            )
        if isinstance(texts, Names):
            if len(texts.texts) <= _LISTED:
                return self.choice([self.text(text) for text in texts.texts])
            listed = frozenset(texts.texts)
            name = f"{self._name} string"
            return self._terminal(
                texts,
                name,
                lambda: self._written_texts(strings.one_of(listed, self.limits), is_fixed=True),
            )
        if isinstance(texts, Lengths):
            return self._counted(texts)
        if isinstance(texts, Within):
            return self._within(texts)
        if isinstance(texts, Others) and self._defers != NOTHING_LATER:
            algebra, name = self.normal.texts, f"{self._name} string"
            return self._terminal(texts, name, lambda: self._written_texts(algebra.dfa(texts)))
        dfa = self.normal.texts.dfa(texts)
        # The automaton is kept, so that no other one gets its ``id``.
        self._keep.append(dfa)
        name = f"{self._name} string"
        return self._terminal(("texts", id(dfa)), name, lambda: self._written_texts(dfa))

    def _excluding(self, texts: Texts) -> tree.Expr:
        """The same without strings that contain what none may contain."""
        self.needs_all = True
        if isinstance(texts, Names):
            return self.choice([self.text(text) for text in texts.texts])
        if isinstance(texts, Lengths) and max(texts.least, texts.most or 0) > _COUNTED_BESIDE:
            message = f"lengths beyond {_COUNTED_BESIDE} are not counted beside excluded texts"
            raise Refused(self._name, message, "leave one of the two out")
        options = self.options

        def written() -> regex.Node:
            every = strings.free(options.ascii)
            if texts is not Ends.ALL:
                self.notes.respelled(ESCAPED)
                dfa = self.normal.texts.dfa(texts)
                every = strings.as_json(dfa, options.ascii, options.escapes, self.limits)
            quote = regex.lit(b'"')
            listed = regex.alt(*(regex.lit(each.encode("utf-8")) for each in self.without))
            parts = (quote, regex.EVERYTHING, listed, regex.EVERYTHING, quote)
            unwanted = minimal(thompson(regex.seq(*parts), self.limits), self.limits)
            return embedded_dfa(boolean.difference(every, unwanted, self.limits))

        if isinstance(texts, Dfa):
            # The automaton is kept, so that no other one gets its ``id``.
            self._keep.append(texts)
        key = ("without", id(texts) if isinstance(texts, Dfa) else texts)
        return self._terminal(key, f"{self._name} string", written)

    def _within(self, texts: Within) -> tree.Expr:
        """Strings of an automaton and so many characters, an intersection."""
        self._keep.append(texts.dfa)
        self.needs_all = True

        def written() -> regex.Node:
            one, quote = embedded_dfa(strings.character()), regex.lit(b'"')
            characters = regex.repeat(one, texts.least, texts.most)
            whole = self._written_texts(texts.dfa)
            return regex.intersection(whole, regex.seq(quote, characters, quote))

        return self._terminal(("texts", texts), f"{self._name} string", written)

    def _counted(self, texts: Lengths) -> tree.Expr:
        """Strings of so many characters, a repetition that may be counted while decoding."""
        known = self._terminals.get(texts)
        if known is None:
            known = self._terminals[texts] = self._fresh(f"{self._name} string")
            is_ascii = self.options.ascii
            one = self._terminal(
                "character", "character", lambda: embedded_dfa(strings.character(is_ascii))
            )
            self.of_one_character.add(one.name)
            quote = self.literal('"')
            body = self.sequence(quote, self.repetition(one, texts.least, texts.most), quote)
            self.by_name[known] = tree.Rule(known, self._span, body, self._span, terminal=True)
        return self.reference(known)

    def order_of_places(self, goal: Goal) -> dict[int, int]:
        """Where the places that a goal applies to a value stand, in the order of reading."""
        known = self._orders.get(goal)
        if known is not None:
            return known
        found: dict[int, int] = {}
        self._orders[goal] = found
        pending, seen = list(reversed(goal)), set[int]()
        while pending:
            literal = pending.pop()
            if literal < 0 or literal >> 1 in seen:
                continue
            seen.add(literal >> 1)
            member = self.goals.member(literal)
            if isinstance(member, Place):
                found[member.number] = len(found)
                self._names_of[member.number] = list(member.mapping("properties"))
                inner = list(applied(member, self.goals))
            else:
                inner = list(member.goals)
            pending += [each for goal in reversed(inner) for each in reversed(goal)]
        return found

    def names_of_places(self, numbers: Iterable[int]) -> list[str]:
        """The keys that places have schemas for, in their order."""
        return list(dict.fromkeys(name for n in numbers for name in self._names_of[n]))

    # --- names and terminals

    def _fresh(self, wanted: str) -> str:
        """The name itself, if it does not end with a space and no rule has it, else a number after
        it. A key of the schema may end as names of rules do."""
        count = self._wanted.get(wanted, 0) + 1
        self._wanted[wanted] = count
        if not wanted.endswith(" "):
            if count > 1 or wanted in self._taken:
                return self._fresh(f"{wanted} ")
            found = wanted
        else:
            found = f"{wanted}{count}"
            if found in self._taken:
                return self._fresh(wanted)
        self._taken.add(found)
        return found

    def _terminal(self, key: Hashable, name: str, node: Callable[[], regex.Node]) -> tree.Reference:
        known = self._terminals.get(key)
        if known is None:
            known = self._fresh(name)
            self._terminals[key] = known
            span = self._span

            def write() -> None:
                body = tree.Pattern(node(), "", span)
                self.by_name[known] = tree.Rule(known, span, body, span, terminal=True)

            if self._defers == TERMINALS or (self._defers == KEYS and isinstance(key, Others)):
                # Until then it stands there with what all such texts begin with.
                self.by_name[known] = tree.Rule(known, span, self.literal('"'), span, terminal=True)
                self._later[known] = write
            else:
                write()
        return tree.Reference(known, self._span)
