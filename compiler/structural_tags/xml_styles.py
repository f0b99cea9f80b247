"""Arguments of calls as some models write them: each key in a tag of its own, strings bare.

    {"properties": {"n": {"type": "string"}, "k": {"type": "integer"}}}   in the style qwen_xml
        ->   <parameter=n>Rome</parameter><parameter=k>3</parameter>

The schema must be that of an object by its named keys: ``properties``, ``required``,
``additionalProperties``. A string is any that its schema allows and that does not contain the tag's
end; all other values are JSON, with white space around. What else is asked of the object is refused
by name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..automata import boolean
from ..automata import regex_ir as regex
from ..diagnostics import Span
from ..grammar import tree
from ..schema.formulas import Type
from ..schema.goals import Goal
from ..schema.notes import Refused
from ..schema.options import ANY_ORDER
from ..schema.places import Place
from ..schema.rules.emit import Emitter
from ..schema.sets import Ends, Lengths, Names, Texts
from .free_text import texts_without

# What styles call values that are no strings, where their types make no difference.
_VALUE = "value"


@dataclass(frozen=True, slots=True)
class Style:
    """``opening``: what stands before a value, white space between its pieces; ``{key}`` and
    ``{kind}`` are filled in. ``kinds``: what values are called by their type, or as ``value``; none
    where nothing tells them apart. ``is_nested``: whether objects and arrays are JSON as other
    values are."""

    opening: tuple[str, ...]
    closing: str
    kinds: Mapping[str, str] | None = None
    is_nested: bool = True


STYLES: Mapping[str, Style] = {
    "qwen_xml": Style(("<parameter={key}>",), "</parameter>"),
    "minimax_xml": Style(('<parameter name="{key}">',), "</parameter>"),
    "glm_xml": Style(("<arg_key>{key}</arg_key>", "<arg_value>"), "</arg_value>"),
    "deepseek_xml": Style(
        ('<｜DSML｜parameter name="{key}" string="{kind}">',),
        "</｜DSML｜parameter>",
        {Type.STRING: "true", _VALUE: "false"},
    ),
    "deepseek_v4_1_xml": Style(
        ('<｜DSML｜ parameter name="{key}" string="{kind}">',),
        "</｜DSML｜ parameter>",
        {Type.STRING: "true", _VALUE: "false"},
    ),
    "kimi_k3_xml": Style(
        ('<|open|>argument key="{key}" type="{kind}"<|sep|>',),
        "<|close|>argument<|sep|>",
        {type_: type_.value for type_ in Type},
    ),
    "cohere_xml": Style(
        ('<cofl:value name="{key}" type="{kind}">',),
        "</cofl:value>",
        {Type.STRING: "raw", _VALUE: "json"},
        is_nested=False,
    ),
}

_OF_OBJECT = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "readOnly"}
    | {"writeOnly", "$defs", "definitions", "$schema", "$id", "type"}
    | {"properties", "required", "additionalProperties"}
)


class XmlStyle:
    """Writes the rule ``name``: the arguments of one schema, whose goal is ``goal``."""

    def __init__(self, emitter: Emitter, goal: Goal, style: str, name: str, pointer: str) -> None:
        self.emitter, self.goal, self.style = emitter, goal, STYLES[style]
        self.called, self.name, self.pointer = style, name, pointer
        self.place = self._object()

    def write(self, span: Span) -> None:
        """All keys, in the order of the schema, or in any where the options say so. Raises
        ``Refused`` and ``LimitError``."""
        write, place = self.emitter, self.place
        required = set(place.strings("required"))
        properties = place.mapping("properties")
        for key in sorted(required - set(properties)):
            message = f"the key {key!r} is required, and no schema describes it"
            raise place.refused(message, "describe it in properties", "required")
        parts = []
        for key in properties:
            goal = write.goals.inside(place, "properties", key)
            if not write.normal.is_surely_empty(goal):
                parts.append(tree.Part(self._argument(key, goal, span), key in required))
        if place.schema.get("additionalProperties", True) is not False:
            message = f"{self.called}: keys without a schema of their own are left out"
            write.notes.narrowed(place.pointer, message)
        write.begin(self.name, span)
        if write.options.order == ANY_ORDER and len(parts) > 1:
            inside: tree.Expr = tree.Permutation(tuple(parts), None, span)
        else:
            inside = write.sequence(
                *(p.item if p.is_required else write.repetition(p.item, 0, 1) for p in parts)
            )
        write.rule(self.name, [write.sequence(inside, write.space())])

    def _object(self) -> Place:
        """The place of the schema, whose keywords are those of named keys."""
        place = self.emitter.goals.nearest(self.goal)
        if place is None or place.schema.get("type") != "object":
            hint = 'say "type": "object" and its properties'
            raise Refused(f"#{self.pointer}", f"{self.called} writes the keys of an object", hint)
        for keyword in place.schema:
            if keyword not in _OF_OBJECT:
                hint = "it reads properties, required and additionalProperties"
                raise place.refused(f"{self.called}: {keyword} is not enforced", hint, keyword)
        return place

    def _argument(self, key: str, goal: Goal, span: Span) -> tree.Expr:
        """A key and its value, white space before."""
        if not key or set(key) & set('<>"&|') or not key.isprintable():
            message = f"{self.called} cannot write the key {key!r}"
            raise self.place.refused(message, "it would end the tag", "properties", key)
        write, name = self.emitter, f"{self.name} {key}"
        write.begin(name, span)
        values: dict[str, list[tree.Expr]] = {}
        texts = write.normal.texts_of(goal)
        for written in self._bare(texts, name):
            values.setdefault(self._kind(Type.STRING), []).append(written)
        # Where nothing says what is a string, any text is one.
        if texts is not Ends.ALL or self.style.kinds is not None:
            for type_, options in write.by_type(goal):
                if options and not self.style.is_nested and type_ in (Type.ARRAY, Type.OBJECT):
                    message = f"{self.called} writes {type_}s as tags, which is not supported"
                    raise self.place.refused(message, "", "properties", key)
                if options:
                    write.begin(name, span)
                    value = self._spaced(write.choice(options))
                    values.setdefault(self._kind(type_), []).append(value)
        write.begin(name, span)
        end = write.literal(self.style.closing)
        options = [
            write.sequence(write.space(), *self._opening(key, kind), write.choice(each), end)
            for kind, each in values.items()
        ]
        write.rule(name, options)
        return write.reference(name)

    def _opening(self, key: str, kind: str) -> Iterator[tree.Expr]:
        for i, piece in enumerate(self.style.opening):
            if i:
                yield self.emitter.space()
            yield self.emitter.literal(piece.replace("{key}", key).replace("{kind}", kind))

    def _kind(self, type_: Type) -> str:
        """What values of a type are called."""
        kinds = self.style.kinds or {_VALUE: ""}
        return kinds[type_] if type_ in kinds else kinds[_VALUE]

    def _bare(self, texts: Texts, name: str) -> Iterator[tree.Expr]:
        """A string without quotes; of some the tag's end is left out."""
        write = self.emitter
        unwanted = (self.style.closing, *write.without)
        if texts is Ends.NONE:
            return
        if isinstance(texts, Names):
            listed = [text for text in texts.texts if not any(e in text for e in unwanted)]
            if listed:
                yield self._told(write.choice([write.literal(text) for text in listed]))
            return
        free = texts_without(unwanted, (), write.limits, [name])
        node: regex.Node = boolean.embedded(free)
        if isinstance(texts, Lengths):
            # Small ones are built, others followed while decoding.
            some = regex.repeat(regex.ANY_CHARACTER, texts.least, texts.most)
            node = regex.intersection(some, node, text=name)
        elif texts is not Ends.ALL:
            node = boolean.embedded(
                boolean.common(write.normal.texts.dfa(texts), free, write.limits)
            )
        bare = tree.Pattern(node, "any text", write.span)
        if texts is not Ends.ALL:
            yield self._told(bare)
            return
        write.rule(f"{name} text", [bare])
        yield write.reference(f"{name} text")

    def _told(self, text: tree.Expr) -> tree.Expr:
        """White space around a string, but where it is said to be one with all of it."""
        return text if self.style.kinds is not None else self._spaced(text)

    def _spaced(self, value: tree.Expr) -> tree.Expr:
        return self.emitter.sequence(self.emitter.space(), value, self.emitter.space())
