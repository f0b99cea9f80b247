"""Arguments of calls as some models write them: each key in a tag of its own, strings bare.

    {"properties": {"n": {"type": "string"}, "k": {"type": "integer"}}}   in the style qwen_xml
        ->   <parameter=n>Rome</parameter><parameter=k>3</parameter>

The schema must be that of an object by its named keys: ``properties``, ``required``,
``additionalProperties``. The text of a string is any that does not contain the tag's end, or one of
an enumeration; all other values are JSON, with white space around. What else is asked of the object
or of a string is refused by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import dumps

from ..automata import regex_ir as regex
from ..automata.boolean import embedded
from ..grammar import tree
from ..schema.notes import Refused
from ..schema.options import ANY_ORDER, COMPACT, FLEXIBLE, ONE, PYTHON, SchemaOptions
from ..schema.read import Json, escaped
from .free_text import texts_without
from .writing import Writing

_STRING, _VALUE = "string", "value"


@dataclass(frozen=True, slots=True)
class Style:
    """``opening``: what stands before a value, white space between its pieces; ``{key}`` and
    ``{kind}`` are filled in. ``kinds``: what kinds of values are called, by ``string``, ``value``
    and the types of JSON; none where nothing tells them apart. ``nested``: whether objects and
    arrays are JSON as other values are."""

    opening: tuple[str, ...]
    closing: str
    kinds: Mapping[str, str] | None = None
    nested: bool = True


_KIMI = {
    _STRING: "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "object",
    "array": "array",
}

STYLES: Mapping[str, Style] = {
    "qwen_xml": Style(("<parameter={key}>",), "</parameter>"),
    "minimax_xml": Style(('<parameter name="{key}">',), "</parameter>"),
    "glm_xml": Style(("<arg_key>{key}</arg_key>", "<arg_value>"), "</arg_value>"),
    "deepseek_xml": Style(
        ('<｜DSML｜parameter name="{key}" string="{kind}">',),
        "</｜DSML｜parameter>",
        {_STRING: "true", _VALUE: "false"},
    ),
    "deepseek_v4_1_xml": Style(
        ('<｜DSML｜ parameter name="{key}" string="{kind}">',),
        "</｜DSML｜ parameter>",
        {_STRING: "true", _VALUE: "false"},
    ),
    "kimi_k3_xml": Style(
        ('<|open|>argument key="{key}" type="{kind}"<|sep|>',),
        "<|close|>argument<|sep|>",
        _KIMI,
    ),
    "cohere_xml": Style(
        ('<cofl:value name="{key}" type="{kind}">',),
        "</cofl:value>",
        {_STRING: "raw", _VALUE: "json"},
        nested=False,
    ),
}

_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "readOnly"}
    | {"writeOnly", "$defs", "definitions", "$schema", "type"}
)
_OF_OBJECT = _ANNOTATIONS | {"properties", "required", "additionalProperties"}
_OF_STRING = _ANNOTATIONS | {"minLength", "maxLength"}
_TYPES = frozenset(_KIMI)

# References that lead to others.
_MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to write a value. ``kind``: of ``Style.kinds``. ``texts``: one of these; else
    ``pointer``: JSON by the schema there; else any text of ``least`` to ``most`` characters."""

    kind: str
    texts: tuple[str, ...] = ()
    pointer: str | None = None
    least: int = 0
    most: int | None = None


class XmlStyle:
    """Writes the arguments of one schema, at ``pointer`` of the document."""

    def __init__(
        self, writing: Writing, pointer: str, schema: Json, name: str, options: SchemaOptions
    ) -> None:
        self.writing, self.pointer, self.schema = writing, pointer, schema
        self.style, self.name, self.options = STYLES[name], name, options

    def arguments(self) -> tree.Expr:
        """All keys, in the order of the schema, or in any where the options say so. Raises
        ``Refused``."""
        writing, schema = self.writing, self._object()
        required = set(schema.get("required", ()))
        properties = schema.get("properties", {})
        for key in sorted(required - set(properties)):
            message = f"the key {key!r} is required, and no schema describes it"
            raise Refused(f"#{self.pointer}/required", message, "describe it in properties")
        parts = [
            tree.Part(self._argument(key, f"#/properties/{escaped(key)}"), key in required)
            for key in properties
        ]
        if schema.get("additionalProperties", True) is not False:
            message = "keys without a schema of their own are left out [narrowed]"
            writing.note(self.pointer, f"{self.name}: {message}")
        span = writing.document.spans[self.pointer]
        if self.options.order == ANY_ORDER and len(parts) > 1:
            inside: tree.Expr = tree.Permutation(tuple(parts), None, span)
        else:
            inside = writing.sequence(
                *(
                    part.item if part.is_required else writing.repetition(part.item, 0, 1)
                    for part in parts
                )
            )
        found = writing.rule(f"#{self.pointer}", writing.sequence(inside, self._space()))
        text = writing.document.source.text[span.start : span.end]
        own = frozenset(
            rule.name for rule in writing.rules if rule.name.startswith(f"#{self.pointer}")
        )
        writing.embedded.append(tree.Embedded(f"#{self.pointer}", text, span, own))
        return found

    def _object(self) -> Json:
        """The schema, whose keywords are those of named keys."""
        if not isinstance(self.schema, dict):
            raise Refused(f"#{self.pointer}", f"{self.name} writes the keys of an object")
        _, schema = self._referred("#", self.schema)
        where = f"#{self.pointer}"
        if schema.get("type") != "object":
            raise Refused(
                where, f"{self.name} writes the keys of an object", 'say "type": "object"'
            )
        for keyword in schema:
            if keyword not in _OF_OBJECT:
                known = "properties, required and additionalProperties"
                message = f"{self.name}: {keyword} is not enforced"
                raise Refused(f"{where}/{escaped(keyword)}", message, f"it reads {known}")
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise Refused(where, "properties must be an object, and required an array")
        if not isinstance(schema.get("additionalProperties", True), dict | bool):
            raise Refused(f"{where}/additionalProperties", "this must be a schema")
        return schema

    def _argument(self, key: str, pointer: str) -> tree.Expr:
        """A key and its value, white space before."""
        writing = self.writing
        if not key or set(key) & set('<>"&|') or not key.isprintable():
            message = f"{self.name} cannot write the key {key!r}"
            raise Refused(self._outer(pointer), message, "it would end the tag")
        alternatives: dict[str, list[tree.Expr]] = {}
        for each in self._alternatives(pointer):
            kind = self._kind(each, pointer)
            alternatives.setdefault(kind, []).append(self._value(each, pointer))
        options = [
            writing.sequence(*self._opening(key, kind), writing.choice(values))
            for kind, values in alternatives.items()
        ]
        end = writing.text(self.style.closing)
        inside = writing.sequence(self._space(), writing.choice(options), end)
        return writing.rule(f"#{self.pointer}{pointer[1:]} argument", inside)

    def _opening(self, key: str, kind: str) -> Iterator[tree.Expr]:
        for i, piece in enumerate(self.style.opening):
            if i:
                yield self._space()
            yield self.writing.text(piece.replace("{key}", key).replace("{kind}", kind))

    def _kind(self, each: Alternative, pointer: str) -> str:
        """What a kind of value is called."""
        kinds = self.style.kinds
        if kinds is None:
            return ""
        if each.kind in kinds:
            return kinds[each.kind]
        if _VALUE in kinds:
            if not self.style.nested and each.kind not in ("integer", "number", "boolean", "null"):
                message = f"{self.name} writes objects and arrays as tags, which is not supported"
                raise Refused(self._outer(pointer), message)
            return kinds[_VALUE]
        message = f"{self.name} tells the types of values apart, and here are several"
        raise Refused(self._outer(pointer), message, "say each by anyOf")

    def _value(self, each: Alternative, pointer: str) -> tree.Expr:
        """The text between the tag's begin and its end."""
        writing = self.writing
        if each.texts:
            listed = writing.choice([writing.text(text) for text in each.texts])
            if each.kind == _STRING and self.style.kinds is not None:
                # What is said to be a string is one with all white space.
                return listed
            return writing.sequence(self._space(), listed, self._space())
        if each.pointer is not None:
            found = writing.part_of_schema(self.pointer, self.options, each.pointer)
            return writing.sequence(self._space(), found, self._space())
        if each.least == 0 and each.most is None:
            return writing.free_text(self.pointer, [self.style.closing])
        few = regex.repeat(regex.ANY_CHARACTER, each.least, each.most)
        free = embedded(texts_without([self.style.closing], (), writing.limits))
        name = f"#{self.pointer}{pointer[1:]} text"
        span = writing.document.spans[self.pointer]
        node = regex.intersection(few, free, text=name)
        return writing.rule(name, tree.Pattern(node, "any text", span))

    # --- how a value may be written

    def _alternatives(self, pointer: str) -> list[Alternative]:
        found: list[Alternative] = []
        pending = [pointer]
        while pending:
            place, schema = self._referred(pending.pop(), None)
            branches = self._branches(place, schema)
            if branches:
                pending += reversed(branches)
            else:
                found += self._plain(place, schema)
        return found

    def _branches(self, pointer: str, schema: Json) -> list[str]:
        """The pointers of the branches of a schema that is nothing but ``anyOf`` or ``oneOf``."""
        if isinstance(schema, dict) and "type" not in schema:
            for keyword in ("anyOf", "oneOf"):
                if isinstance(schema.get(keyword), list) and not set(schema) - _ANNOTATIONS - {
                    keyword
                }:
                    branches = [f"{pointer}/{keyword}/{i}" for i in range(len(schema[keyword]))]
                    if keyword == "oneOf" and len(branches) > 1:
                        self._check_disjoint(pointer, branches)
                    return branches
        return []

    def _check_disjoint(self, pointer: str, branches: Sequence[str]) -> None:
        """Refuse branches of ``oneOf`` that may both hold."""
        kinds: set[str] = set()
        for branch in branches:
            here = {each.kind for each in self._alternatives(branch)}
            if _VALUE in here | kinds or here & kinds or {"integer", "number"} <= here | kinds:
                message = f"{self.name}: branches of oneOf of one type are not told apart"
                raise Refused(self._outer(f"{pointer}/oneOf"), message, "say anyOf")
            kinds |= here

    def _plain(self, pointer: str, schema: Json) -> Iterator[Alternative]:
        """The ways to write a value by a schema with a type, or with values."""
        if schema is True or schema == {}:
            raise Refused(
                self._outer(pointer), f"{self.name} needs the type of each value", "say its type"
            )
        if not isinstance(schema, dict):
            raise Refused(self._outer(pointer), "no value satisfies this schema")
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            yield from self._listed(pointer, schema, types, values)
            return
        if not isinstance(types, list) or not types or not set(types) <= _TYPES:
            message = f"{self.name} needs the type of each value"
            raise Refused(self._outer(pointer), message, "say its type")
        if "string" not in types:
            yield Alternative(types[0] if len(types) == 1 else _VALUE, pointer=pointer)
            return
        for keyword in schema:
            if keyword not in _OF_STRING:
                message = f"{self.name}: {keyword} of a bare string is not enforced"
                hint = "enum, const, minLength and maxLength are"
                raise Refused(self._outer(f"{pointer}/{escaped(keyword)}"), message, hint)
        lengths = [schema.get("minLength", 0), schema.get("maxLength")]
        if not all(n is None or (isinstance(n, int) and n >= 0) for n in lengths):
            raise Refused(self._outer(pointer), "lengths are whole numbers")
        yield Alternative(_STRING, least=lengths[0], most=lengths[1])
        for other in types:
            if other == "null":
                yield Alternative("null", ("null",))
            elif other == "boolean":
                yield Alternative("boolean", ("true", "false"))
            elif other != "string":
                message = f"{self.name}: strings, and {other}s beside them"
                raise Refused(self._outer(f"{pointer}/type"), message, "say each by anyOf")

    def _listed(
        self, pointer: str, schema: Json, types: Json, values: Sequence[Json]
    ) -> Iterator[Alternative]:
        """The values of ``enum`` or ``const``."""
        for keyword in schema:
            if keyword not in _ANNOTATIONS | {"enum", "const"} or {"enum", "const"} <= set(schema):
                message = f"{self.name}: {keyword} beside values that are listed is not enforced"
                raise Refused(self._outer(f"{pointer}/{escaped(keyword)}"), message)
        for value in values:
            kind = _type_of(value)
            if types and kind not in types and not (kind == "integer" and "number" in types):
                continue
            text = value if kind == _STRING else dumps(value, ensure_ascii=False, default=str)
            if self.style.closing in text:
                message = f"{self.name} cannot write {value!r}: it holds the tag's end"
                raise Refused(self._outer(pointer), message)
            yield Alternative(kind, (text,))

    def _referred(self, pointer: str, schema: Json) -> tuple[str, Json]:
        """The schema at a pointer, or the one that it refers to."""
        for _ in range(_MOST_STEPS):
            schema = self._at(pointer)
            target = schema.get("$ref") if isinstance(schema, dict) else None
            if target is None:
                return pointer, schema
            others = set(schema) - _ANNOTATIONS - {"$ref"}
            is_local = isinstance(target, str) and (target == "#" or target.startswith("#/"))
            if not is_local or others:
                keyword = sorted(others)[0] if is_local else "$ref"
                message = f"{self.name}: {keyword} is not followed here"
                raise Refused(self._outer(f"{pointer}/{escaped(keyword)}"), message)
            pointer = target
        raise Refused(self._outer(pointer), "references lead in a circle")

    def _at(self, pointer: str) -> Json:
        found = self.schema
        for step in pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                raise Refused(self._outer("#"), f"there is no schema {pointer!r}")
        return found

    def _outer(self, pointer: str) -> str:
        """A pointer into the schema as one into the document."""
        return f"#{self.pointer}{pointer[1:]}"

    def _space(self) -> tree.Expr:
        """White space between tags, by the options."""
        known = {FLEXIBLE: None, COMPACT: 0, PYTHON: 0, ONE: 1}
        most = known.get(self.options.whitespace, self.options.most_spaces)
        span = self.writing.document.spans[self.pointer]
        space = tree.Pattern(
            regex.char_class([(9, 10), (13, 13), (32, 32)], "WHITESPACE"), r"[ \t\n\r]", span
        )
        return self.writing.repetition(space, 0, most)


def _type_of(value: Json) -> str:
    """The type of a value of JSON."""
    if isinstance(value, bool):
        return "boolean"
    by_type = {str: _STRING, int: "integer", dict: "object", list: "array", type(None): "null"}
    return by_type.get(type(value), "number")
