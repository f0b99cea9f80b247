"""Arguments of calls as some models write them: each key in a tag of its own, strings bare.

    {"properties": {"n": {"type": "string"}, "k": {"type": "integer"}}}   in the style qwen_xml
        ->   <parameter=n>Rome</parameter><parameter=k>3</parameter>

Members are those that a schema's objects have in JSON, by the same rules: a writer of tags stands
in the place of one of braces, commas and quotes. A string is any that its schema allows and that
does not contain the tag's end; all other values are JSON, with white space around, but where the
style has tags for those inside of objects and arrays. Around strings stands nothing that hosts read
as a part of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ..automata import boolean
from ..automata import regex_ir as regex
from ..automata.dfa import Dfa
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..diagnostics import Span
from ..grammar import tree
from ..schema import numbers
from ..schema.formulas import Type, Unique
from ..schema.goals import ANYTHING, Goal
from ..schema.notes import Refused
from ..schema.places import Place
from ..schema.rules.emit import Emitter
from ..schema.rules.items import array
from ..schema.rules.members import objects
from ..schema.rules.writer import Writer, embedded_dfa
from ..schema.sets import Ends, Lengths, Names, Texts
from .free_text import texts_without

# What styles call values that are no strings, where their types make no difference.
_VALUE = "value"


# Characters that end a key or a tag; those of which a style says how they are written.
_ENDING = '<>"&|'


@dataclass(frozen=True, slots=True)
class Style:
    """``before`` stands before a key; the pieces ``behind`` it, white space between them, before a
    value, ``{kind}`` filled in; ``closing`` after it. ``kinds``: what values are called by their
    type, or as ``value``; none where nothing tells them apart. ``item``: what stands before the
    last piece where a value has no key, in an array of tags; None where arrays and objects inside
    are JSON. ``escapes``: how characters of keys are written that would end them. ``around``: what
    may stand on either side of a string and is no part of it."""

    before: str
    behind: tuple[str, ...]
    closing: str
    kinds: Mapping[str, str] | None = None
    item: str | None = None
    escapes: Mapping[str, str] = field(default_factory=dict)
    around: str = ""


STYLES: Mapping[str, Style] = {
    "qwen_xml": Style("<parameter=", (">",), "</parameter>", around="\n"),
    "mimo_xml": Style("<parameter=", (">",), "</parameter>"),
    "minimax_xml": Style('<parameter name="', ('">',), "</parameter>"),
    "glm_xml": Style("<arg_key>", ("</arg_key>", "<arg_value>"), "</arg_value>"),
    "deepseek_xml": Style(
        '<｜DSML｜parameter name="',
        ('" string="{kind}">',),
        "</｜DSML｜parameter>",
        {Type.STRING: "true", _VALUE: "false"},
    ),
    "deepseek_v4_1_xml": Style(
        '<｜DSML｜ parameter name="',
        ('" string="{kind}">',),
        "</｜DSML｜ parameter>",
        {Type.STRING: "true", _VALUE: "false"},
    ),
    "kimi_k3_xml": Style(
        '<|open|>argument key="',
        ('" type="{kind}"<|sep|>',),
        "<|close|>argument<|sep|>",
        {type_: type_.value for type_ in Type},
        escapes={'"': "&quot;", "&": "&amp;"},
    ),
    "cohere_xml": Style(
        '<cofl:value name="',
        ('" type="{kind}">',),
        "</cofl:value>",
        {Type.STRING: "raw", Type.ARRAY: "list", Type.OBJECT: "dict", _VALUE: "json"},
        item="<cofl:value",
    ),
}


class Tags(Writer):
    """Writes rules of tags beside those of JSON that ``emitter`` writes."""

    def __init__(self, emitter: Emitter, style: str) -> None:
        # The same rules and names; the place at work is its own.
        vars(self).update(vars(emitter))
        self.emitter, self.style, self.called = emitter, STYLES[style], style
        # Rules of values after a key or, in arrays, after none; those without a rule so far.
        self._written: dict[tuple[Goal, bool], str] = {}
        self._waiting: list[tuple[Goal, bool]] = []
        self._is_item = False
        # The schema of the object at work.
        self._place: Place | None = None

    def write(
        self, goal: Goal, name: str, pointer: str, span: Span, *, is_close: bool = False
    ) -> None:
        """The rule ``name``: the arguments of a schema; if it ``is_close``, without white space
        before them. Raises ``Refused`` and ``LimitError``."""
        self.begin(name, span)
        if self.normal.lacks(goal, Type.OBJECT):
            hint = 'say "type": "object" and its properties'
            raise Refused(f"#{pointer}", f"{self.called} writes the keys of an object", hint)
        first = self.literal("") if is_close else self.space()
        self.rule(name, [self.sequence(first, self.choice(self._objects(goal)))])
        while self._waiting:
            self.limits.check_resources("arguments in tags", [name])
            goal, is_item = self._waiting.pop()
            self._value(goal, is_item)
        self.emitter.may_be_empty |= self.may_be_empty

    def _objects(self, goal: Goal) -> list[tree.Expr]:
        self._place = self.goals.nearest(goal)
        found = self.normal.conjunctions(goal, Type.OBJECT)
        return objects(found, goal, self.normal, self)

    def _arrays(self, goal: Goal) -> list[tree.Expr]:
        found = self.normal.conjunctions(goal, Type.ARRAY)
        if any(isinstance(literal, Unique) for each in found for literal in each.literals):
            message = f"{self.called}: uniqueItems is not enforced"
            raise Refused(self.goals.pointer_of(goal, "uniqueItems"), message)
        self._is_item = True
        options = [one for each in found for one in array(each, self.normal, self)]
        self._is_item = False
        return options

    # --- what members and items are written with

    def bracketed(self, first: str, inside: tree.Expr, last: str) -> tree.Expr:
        """What stands between tags, which need no brackets around."""
        return inside

    def comma(self) -> tree.Expr:
        """Nothing: a tag has an end."""
        return self.literal(b"")

    def colon(self) -> tree.Expr:
        """Nothing: a value begins with what stands after its key."""
        return self.literal(b"")

    def permutation(
        self, parts: Sequence[tree.Part], separator: tree.Expr, least: int, most: int | None
    ) -> tree.Expr:
        """Arguments in any order."""
        found = super().permutation(parts, separator, least, most)
        assert isinstance(found, tree.Permutation)
        return tree.Permutation(found.parts, None, self.span, found.least, found.most)

    def text(self, text: str) -> tree.Expr:
        """What stands before the value of a key, up to its end."""
        escapes = self.style.escapes
        if not text or (set(text) & set(_ENDING) - set(escapes)) or not text.isprintable():
            message = f"{self.called} cannot write the key {text!r}"
            if self._place is not None and text in self._place.mapping("properties"):
                raise self._place.refused(message, "it would end the tag", "properties", text)
            raise Refused(self._name, message, "it would end the tag")
        written = "".join(escapes.get(char, char) for char in text)
        return self.literal(self.style.before + written)

    def texts(self, texts: Texts) -> tree.Expr:
        """The same of a set of keys, without those that would end a tag."""
        plain = boolean.common(self.normal.texts.dfa(texts), _plain_keys(), self.limits)
        at = self._place.pointer if self._place is not None else self._name
        self.notes.narrowed(at, f"{self.called}: keys with any of {_ENDING} are left out")
        if plain.is_empty:
            return self.choice([])
        keys = tree.Pattern(embedded_dfa(plain), "", self.span)
        name = self.helper()
        self.by_name[name] = tree.Rule(name, self.span, keys, self.span, terminal=True)
        return self.sequence(self.literal(self.style.before), self.reference(name))

    def value(self, goal: Goal) -> tree.Reference:
        """What stands after a key, or an item: the rule of that goal."""
        key = goal, self._is_item
        if key not in self._written:
            at = self.goals.pointer_of(goal, otherwise=self._name)
            self._written[key] = self._fresh(f"{at} argument")
            self._waiting.append(key)
        return self.reference(self._written[key])

    # --- values

    def _value(self, goal: Goal, is_item: bool) -> None:
        name = self._written[goal, is_item]
        place = self.goals.nearest(goal)
        self.begin(name, (place.span if place else None) or self.span)
        values: dict[str, list[tree.Expr]] = {}
        texts = self.normal.texts_of(goal)
        for written in self._bare(texts, name):
            values.setdefault(self._kind(Type.STRING), []).append(written)
        # Where nothing says what is a string, any text is one.
        if texts is not Ends.ALL or self.style.kinds is not None:
            for type_, options in self._by_type(goal, name):
                if options:
                    value = self._spaced(self.choice(options))
                    values.setdefault(self._kind(type_), []).append(value)
        if goal == ANYTHING and self.style.kinds and "integer" not in values and self._names_types:
            values["integer"] = [self._spaced(self._integer())]
        end = self.sequence(self.literal(self.style.closing), self.space())
        options = [
            self.sequence(*self._opening(kind, is_item), self.choice(each), end)
            for kind, each in values.items()
        ]
        self.rule(name, options)

    def _by_type(self, goal: Goal, name: str) -> Iterator[tuple[Type, list[tree.Expr]]]:
        """Values of each type but strings, as JSON or in tags."""
        self.emitter.begin(name, self.span)
        for type_, options in self.emitter.by_type(goal):
            yield type_, options
            if type_ is Type.NUMBER and self.style.item is not None:
                break
        else:
            return
        for type_, write in ((Type.ARRAY, self._arrays), (Type.OBJECT, self._objects)):
            yield type_, [] if self.normal.lacks(goal, type_) else write(goal)

    @property
    def _names_types(self) -> bool:
        """Whether values are called by the names that JSON Schema has for types."""
        return self.style.kinds is not None and Type.NUMBER in self.style.kinds

    def _integer(self) -> tree.Expr:
        return tree.Pattern(embedded_dfa(numbers.integers(False)), "", self.span)

    def _opening(self, kind: str, is_item: bool) -> Iterator[tree.Expr]:
        """What stands before a value, after its key."""
        first, *others = (piece.replace("{kind}", kind) for piece in self.style.behind)
        if is_item:
            first = f"{self.style.item}{first.removeprefix(chr(34))}"
        yield self.literal(first)
        for piece in others:
            yield self.space()
            yield self.literal(piece)

    def _kind(self, type_: Type) -> str:
        """What values of a type are called."""
        kinds = self.style.kinds or {_VALUE: ""}
        return kinds[type_] if type_ in kinds else kinds[_VALUE]

    def _bare(self, texts: Texts, name: str) -> Iterator[tree.Expr]:
        """A string without quotes; of some the tag's end is left out."""
        unwanted = (self.style.closing, *self.without)
        if texts is Ends.NONE:
            return
        if isinstance(texts, Names):
            listed = [text for text in texts.texts if not any(e in text for e in unwanted)]
            if listed:
                yield self._told(self.choice([self.literal(text) for text in listed]))
            return
        free = texts_without(unwanted, (), self.limits, [name])
        node: regex.Node = boolean.embedded(free)
        if isinstance(texts, Lengths):
            # Small ones are built, others followed while decoding.
            some = regex.repeat(regex.ANY_CHARACTER, texts.least, texts.most)
            node = regex.intersection(some, node, text=name)
        elif texts is not Ends.ALL:
            node = boolean.embedded(boolean.common(self.normal.texts.dfa(texts), free, self.limits))
        bare = tree.Pattern(node, "any text", self.span)
        if texts is not Ends.ALL:
            yield self._told(bare)
            return
        self.rule(f"{name} text", [bare])
        yield self.reference(f"{name} text")

    def _told(self, text: tree.Expr) -> tree.Expr:
        """A string with what may stand around it."""
        edge = self.repetition(self.literal(self.style.around), 0, 1)
        return self.sequence(edge, text, edge) if self.style.around else text

    def _spaced(self, value: tree.Expr) -> tree.Expr:
        return self.sequence(self.space(), value, self.space())


@lru_cache(1)
def _plain_keys() -> Dfa:
    """Keys that are not empty and end no tag."""
    ending = ((ord(char), ord(char)) for char in _ENDING)
    one = regex.char_class(regex.complement(regex.normalized([(0, 0x1F), (0x7F, 0x7F), *ending])))
    return minimal(thompson(regex.repeat(one, 1, None)))
