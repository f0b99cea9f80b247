"""A schema's grammar whose rules are made when somebody reads them.

    grammar = convert.deferred_grammar(source, options, limits)
    grammar.rule(grammar.start).body                       names others, to be read in turn
    grammar.complete()                                     all of them, as if none had been before

Of a schema that has one it is proved (``keywords.plain``) that making rules raises nothing but
``LimitError`` for time and memory, and that each rule has a text. Rules are numbered as they are
made, where names need a number, so names of the complete grammar may be others; and of places in
the text those of the complete grammar are known alone.
"""

from collections.abc import Callable
from functools import cached_property

from ...diagnostics import Source
from ...grammar.tree import Grammar, Rule, Token, distinct_tokens
from ...limits import Limits, in_force, of_later
from .emit import Emitter


class Deferred:
    """The rules of a grammar, by their names; ``start`` is that of the first one.

    ``begin``: the writer of the rules, and the name of the first one; ``whole``: the grammar by
    itself. ``limits``: while the text is read; what is made later has the same ones, by the clock
    that is in force then, else by one that starts then (``of_later``).
    """

    def __init__(
        self,
        source: Source,
        limits: Limits,
        begin: Callable[[Limits], tuple[Emitter, str]],
        whole: Callable[[Limits], Grammar],
    ) -> None:
        self.source = source
        self._limits, self._whole = limits, whole
        self._found: Grammar | None = None
        self._emitter, self.start = begin(limits)
        self._first = tuple(self._emitter.rules)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The token terminals, as ``Grammar`` has them: rules that are made later have none."""
        return distinct_tokens(self._first)

    def longest_rule(self) -> tuple[str, ...]:
        """The rule that messages name."""
        return (self.start,)

    def rule(self, name: str) -> Rule:
        """The rule of a name, that of the start or one that a rule has said; there is one of each.
        Raises ``LimitError`` for time and memory, and may be asked again then."""
        found = self._emitter.written(name)
        if found is not None:
            return found
        limits = of_later(self._limits)
        with in_force(limits):
            return self._emitter.write(name, limits)

    def is_part(self, name: str) -> bool:
        """Whether a rule is a part of one value or text, which nothing else names."""
        if name in self._emitter.of_goals:
            return False
        return name in self._emitter.of_one_character or not self.is_text(name)

    def is_text(self, name: str) -> bool:
        """Whether a rule names no others: of a number, a string, or white space."""
        # Also of those that are not written it is known.
        known = self._emitter.by_name.get(name)
        return known is not None and known.terminal

    def complete(self) -> Grammar:
        """All rules, with what is to be known of them, whatever was asked for; raises as ``rule``.
        The same object each time."""
        if self._found is None:
            limits = of_later(self._limits)
            with in_force(limits):
                self._found = self._whole(limits)
        return self._found
