"""Lark's templates: rules with parameters, of which each use becomes a rule of its own.

    _list{item, sep}: item (sep item)*
    start: _list{NUMBER, ","}            ->    start: <_list{NUMBER, ","}>
                                               <_list{NUMBER, ","}>: NUMBER ("," NUMBER)*

Uses with equal arguments are one rule, so a template may use itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..automata.folding import fold
from ..diagnostics import Source, Span
from ..grammar import tree
from ..limits import Limits
from .builder import Token, nothing_at, span_over
from .lark_statements import StatementsBuilder

# Rules that templates may become: more of them are made by one that uses itself with ever larger
# arguments.
_MOST_USES = 2_000

# Parts that the arguments of all of them may have together: work grows with them.
_MOST_PARTS = 200_000

# Parameters that a message shows, and characters of a use that its rule's name has.
_MOST_SHOWN, _LONGEST_NAME = 30, 1_000

_STAGE = "expanding templates"

# What two equal expressions have in common.
_Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A rule whose body has ``parameters`` as names."""

    parameters: tuple[str, ...]
    rule: tree.Rule


@dataclass(frozen=True, slots=True)
class Use:
    """``name{arguments}`` at ``span``."""

    name: str
    arguments: tuple[tree.Expr, ...]
    span: Span


# Rules whose bodies are to be made: their key, their template and its arguments.
_Pending: TypeAlias = list[tuple[_Key, Template, Mapping[str, tree.Expr]]]


class TemplatesBuilder(StatementsBuilder):
    """The part of ``LarkBuilder`` that reads templates."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.templates: dict[str, Template] = {}
        # By the name of the reference that stands for it.
        self._uses: dict[str, Use] = {}
        self._made: dict[_Key, tree.Rule] = {}
        # How many rules are called so, but for their numbers.
        self._names: dict[str, int] = {}
        self._parts = 0
        self._has_too_many = False

    def parameters(self, items: list[Token]) -> tuple[Token, ...]:
        """{NAME, …}"""
        return tuple(self.named(item) for item in items if item.type == "NAME")

    def template(self, parameters: tuple[Token, ...], rule: tree.Rule) -> None:
        """A rule with parameters."""
        names = tuple(map(str, parameters))
        seen: set[str] = set()
        for token in parameters:
            if token in seen:
                self.report(f"the parameter {str(token)!r} is there twice", token.span)
            seen.add(str(token))
        if rule.name in self.templates:
            self.report(f"rule {rule.name!r} is defined twice", rule.name_span)
        self.templates[rule.name] = Template(names, rule)

    def use(self, items: list[Any]) -> tree.Expr:
        """NAME{choice, …}"""
        name, brackets, *rest = items
        filled: list[tree.Expr] = []
        before = brackets
        for item in rest:
            if isinstance(item, Token):
                before = item
            else:
                filled.append(nothing_at(before.span.end) if item is None else item)
        span = span_over([name, rest[-1]])
        placeholder = f"{name}{{{len(self._uses)}}}"
        self._uses[placeholder] = Use(str(self.named(name)), tuple(filled), span)
        return tree.Reference(placeholder, span)

    def expanded(self, rules: list[tree.Rule]) -> list[tree.Rule]:
        """The rules, and after them one for each use of a template; what is ignored, too."""
        if not self._uses and not self.templates:
            return rules
        found = [replace(rule, body=self._resolved(rule.body)) for rule in rules]
        self.ignored = [self._resolved(body) for body in self.ignored]
        for rule in found:
            for use in rule.uses:
                template = self.templates.get(use.name)
                if template is not None:
                    hint = f"write {_shown(template)} with arguments"
                    self.report(f"{use.name} is a template", use.span, hint)
        return [*found, *self._made.values()]

    def _resolved(self, body: tree.Expr) -> tree.Expr:
        """The body with rules for uses, worked off one by one and not by calls inside calls."""
        pending: _Pending = []
        found = self._substituted(body, {}, pending)
        while pending and not self._has_too_many:
            key, template, arguments = pending.pop()
            inside = self._substituted(template.rule.body, arguments, pending)
            self._made[key] = replace(self._made[key], body=inside)
        return found

    def _substituted(
        self, body: tree.Expr, arguments: Mapping[str, tree.Expr], pending: _Pending
    ) -> tree.Expr:
        """The body with ``arguments`` for parameters, and references for uses."""

        def inside(expr: tree.Expr) -> Sequence[tree.Expr]:
            if isinstance(expr, tree.Reference) and expr.name in self._uses:
                return self._uses[expr.name].arguments
            return tree.children(expr)

        def under(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
            if not isinstance(expr, tree.Reference):
                return tree.with_children(expr, tuple(parts))
            if expr.name in self._uses:
                return self._rule_of(self._uses[expr.name], parts, pending)
            return arguments.get(expr.name, expr)

        return fold(body, inside, under)

    def _rule_of(self, use: Use, filled: Sequence[tree.Expr], pending: _Pending) -> tree.Expr:
        """The reference to the rule that a use with such arguments becomes; a new one is left in
        ``pending``."""
        template, nothing = self.templates.get(use.name), nothing_at(use.span.start)
        self.limits.check_resources(_STAGE, (use.name,))
        if self._has_too_many:
            return nothing
        if template is None:
            self.report(f"there is no template {use.name!r}", use.span)
            return nothing
        if len(use.arguments) != len(template.parameters):
            hint = f"it is {_shown(template)}"
            self.report(f"the template {use.name} has other parameters", use.span, hint)
            return nothing
        key = (use.name, *(fold(each, tree.children, _key) for each in filled))
        if key in self._made:
            return tree.Reference(self._made[key].name, use.span)
        self._parts += sum(1 for each in filled for _ in tree.walk(each))
        if len(self._made) == _MOST_USES or self._parts > _MOST_PARTS:
            rules, parts = f"{_MOST_USES:,} rules", f"{_MOST_PARTS:,} parts"
            hint = "a template that uses itself has to do so with the same arguments"
            self.report(f"templates become more than {rules}, or {parts}", use.span, hint)
            self._has_too_many = True
            return nothing
        name = self._name(use)
        self._made[key] = replace(template.rule, name=name)
        pending.append((key, template, dict(zip(template.parameters, filled, strict=True))))
        return tree.Reference(name, use.span)

    def _name(self, use: Use) -> str:
        """What the rule of a use is called: as it is written, where that is short and no other
        one is called so."""
        begin, end = use.span
        written = " ".join(self.source.text[begin : min(end, begin + _LONGEST_NAME)].split())
        if end - begin > _LONGEST_NAME:
            written += "…"
        number = self._names[written] = self._names.get(written, 0) + 1
        return written if number == 1 else f"{written} {number}"


def _shown(template: Template) -> str:
    """A template and its parameters, for messages."""
    more = ["…"] * (len(template.parameters) > _MOST_SHOWN)
    parameters = ", ".join([*template.parameters[:_MOST_SHOWN], *more])
    return f"{template.rule.name}{{{parameters}}}"


def _key(expr: tree.Expr, parts: list[_Key]) -> _Key:
    """Equal for equal expressions, wherever they stand."""
    own: object = None
    match expr:
        case tree.Literal():
            own = expr.data
        case tree.Pattern():
            own = id(expr.node)
        case tree.Reference():
            own = expr.name
        case tree.Repetition():
            own = expr.min_times, expr.max_times
        case tree.Token():
            own = expr.meaning
    return (type(expr).__name__, own, *parts)
