"""From a request to a server to the text of a grammar, and how to compile it.

    {"response_format": {"type": "json_schema", …}}    the schema, dialect json-schema
    {"structured_outputs": {"choice": ["yes", "no"]}}  root ::= "yes" | "no", dialect gbnf
    {"tools": […], "tool_choice": "required"}          the list, dialect tools

Fields are those of OpenAI's APIs, of vLLM's ``structured_outputs``, of SGLang's sampling parameters
and of Ollama's ``format``. What would not be enforced is refused by its name.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..diagnostics import GrammarError
from ..dialects import JSON_SCHEMA, PLAIN_REGEX, STRUCTURAL_TAG, TOOLS, read_grammar
from ..grammar.check import check
from ..options import ANY, CompileOptions
from ..schema.options import ANY_ORDER, FIXED, SchemaOptions
from ..structural_tags import STYLES
from ..structural_tags.tools import DISABLED, REASONING
from .fields import (
    Json,
    RequestError,
    json_text,
    listed,
    object_of,
    only,
    shown,
    string,
    typed,
    value_of,
)
from .flags import (
    X_GUIDANCE,
    FlagError,
    closed_inside,
    closes,
    with_flags,
    with_guidance,
    without_guidance,
)

__all__ = ["GRAMMARS", "Request", "RequestError", "request_of"]

# Dialects in which a grammar may be written that does not say its dialect.
GRAMMARS = ("kbnf", "gbnf", "w3c", "lark", "iso14977")

# Bytes of a body at most.
_MOST = 1 << 25

# Fields of other servers, and what is read instead.
_FOREIGN = {
    **{f"guided_{kind}": "structured_outputs" for kind in ("json", "regex", "choice", "grammar")},
    "functions": "tools",
    "function_call": "tool_choice",
}


def _one_of_list(value: Json, pointer: str) -> tuple[str, Json]:
    """What a grammar of several is, ``lark_grammar`` or ``json_schema``, and that."""
    only(object_of(value, pointer), ("name", "lark_grammar", "json_schema"), pointer)
    said = {k: v for k, v in value.items() if v is not None and k != "name"}
    if len(said) != 1:
        raise RequestError(pointer, "there must be a lark_grammar or a json_schema")
    ((kind, inner),) = said.items()
    return kind, inner


@dataclass(frozen=True, slots=True)
class Request:
    """A format that a server must hold to.

    ``kind``: ``json``, ``json_object``, ``regex``, ``choice``, ``grammar``, ``structural_tag`` or
    ``tools``. ``text``: a grammar in the dialect of the ``options``. ``name``: the field that it
    came from, which is what errors should call it. So an artifact is
    ``compiler.compile(request.text, name=request.name, **request.changes)``, or in a server
    ``service.get(request.text, request.options)``.
    """

    kind: str
    text: str
    options: CompileOptions
    name: str

    @property
    def dialect(self) -> str:
        """The dialect of the text."""
        assert self.options.dialect is not None
        return self.options.dialect

    @property
    def changes(self) -> dict[str, Any]:
        """The options that are not the usual ones, by name."""
        usual = _contents(CompileOptions())
        return {k: v for k, v in _contents(self.options).items() if v != usual[k]}


def _contents(of: Any) -> dict[str, Any]:
    """The fields of an object by name."""
    return {name: getattr(of, name) for name in of.__dataclass_fields__}


def request_of(
    fields: Mapping[str, Json],
    *,
    tokenization: str | None = ANY,
    whitespace: str | None = None,
    style: str = "json",
    reasoning: str = DISABLED,
    dialects: Iterable[str] = GRAMMARS,
    options: CompileOptions | None = None,
    flags: Mapping[str, Json] | None = None,
) -> Request | None:
    """The grammar that a request asks for; None where it asks for none.

    ``fields``: of the request's body; those that have nothing to do with formats are not looked at.
    ``tokenization``, ``whitespace``: as the options of those names say; under any tokenization no
    masks are precomputed where ``options`` do not say how many. ``style``: how calls of tools are
    written, a name in ``structural_tags.STYLES``. ``reasoning``: whether a thought stands before,
    by the marks of the style: ``disabled``, ``enabled`` or ``auto``. ``dialects``: in which a
    grammar may be written that does not say its dialect. ``options``: all else; white space is the
    usual one of schemas, any, where nothing says it. ``flags``: what the host has said of JSON, as
    ``flags.with_flags`` reads it; a request's own come after.

    Raises ``RequestError``, ``LimitError``, and ``ValueError`` for what an option cannot be.
    """
    base = options or CompileOptions()
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    if reasoning not in REASONING:
        raise ValueError(f"reasoning must be one of {', '.join(REASONING)}, not {reasoning!r}")
    if tokenization == ANY and base.prewarm is None:
        base = replace(base, prewarm=0)
    schema = with_flags(base.schema or SchemaOptions(), flags or {})
    if whitespace is not None:
        schema = replace(schema, whitespace=whitespace)
    base = replace(base, tokenization=tokenization, schema=schema)
    written = {"style": style} | ({"reasoning": reasoning} if reasoning != DISABLED else {})
    reader = _Reader(base, written, tuple(dialects), closes(flags or {}))
    reader.start = (flags or {}).get("root_rule_name")
    return reader.read(fields)


class _Reader:
    """Reads fields; each method has a value and its pointer, and gives None where it asks for
    nothing. ``written``: how calls and thoughts are; ``start``: the first rule of grammars."""

    start: str | None = None

    def __init__(
        self,
        options: CompileOptions,
        written: Mapping[str, Json],
        dialects: tuple[str, ...],
        closes: bool,
    ) -> None:
        self.options, self.written, self.dialects, self.closes = options, written, dialects, closes

    def read(self, fields: Mapping[str, Json]) -> Request | None:
        """The one thing that all fields together ask for."""
        if not isinstance(fields, Mapping):
            raise RequestError("", "this must be an object")
        for name, known in _FOREIGN.items():
            if fields.get(name) is not None:
                raise RequestError(f"/{name}", "this field is not read", f"say {known}")
        found: dict[str, Request] = {}
        for name, value in fields.items():
            read = _READ.get(name)
            request = None if read is None or value is None else read(self, value, f"/{name}")
            if request is not None:
                found[f"/{name}"] = request
        tools = self._tools(fields)
        (first, request), *others = [*found.items(), ("", None)]
        if len(others) > 1:
            raise RequestError(others[0][0], f"{first} asks for a format, too", "leave one out")
        if "reasoning" in self.written:
            if tools is None and request is not None:
                tools = self._of_tools([], {"tool_choice": "none"})
            if tools is not None and tools.kind != "tools":
                request = request or tools
        elif request is not None and fields.get("tool_choice") == "none":
            tools = None
        if tools is None or request is None:
            return tools or request
        return self._with_response(tools, request, first or "/tools")

    def _with_response(self, tools: Request, response: Request, pointer: str) -> Request:
        """Calls, or an answer of a format: where a model must call, the format says nothing."""
        if tools.kind != "tools" or response.dialect != JSON_SCHEMA:
            hint = "say tool_choice none, or leave one out"
            message = "beside tools and thoughts a format is a schema, or any object"
            raise RequestError(pointer, message, hint)
        asked = {**value_of(tools.text, "/tools"), "response": value_of(response.text, pointer)}
        return replace(
            tools, text=json_text(asked, pointer), options=replace(self.options, dialect=TOOLS)
        )

    # --- where formats stand

    def _response_format(self, value: Json, pointer: str) -> Request | None:
        """``response_format`` of chat completions, ``text.format`` of responses."""
        match typed(value, pointer):
            case "text":
                only(value, ("type",), pointer)
                return None
            case "json_object":
                only(value, ("type",), pointer)
                return self._object(pointer)
            case "json_schema":
                inner = value
                if "json_schema" in value:
                    only(value, ("type", "json_schema"), pointer)
                    pointer = f"{pointer}/json_schema"
                    inner = object_of(value["json_schema"], pointer)
                only(inner, ("type", "name", "description", "schema", "strict", "order"), pointer)
                self._ordered(inner, pointer)
                if inner.get("schema") is None:
                    raise RequestError(pointer, "there is no 'schema'")
                return self._schema(inner["schema"], f"{pointer}/schema")
            case "structural_tag":
                return self._tag(value, pointer)
            case "grammar":
                return self._written(value, pointer)
            case other:
                hint = "they are text, json_object, json_schema, structural_tag and grammar"
                message = f"there is no format of the type {shown(other)}"
                raise RequestError(f"{pointer}/type", message, hint)

    def _text(self, value: Json, pointer: str) -> Request | None:
        # SGLang has the prompt in a field of this name.
        if isinstance(value, str | list) or object_of(value, pointer).get("format") is None:
            return None
        return self._response_format(value["format"], f"{pointer}/format")

    def _structured(self, value: Json, pointer: str) -> Request | None:
        """vLLM's ``structured_outputs``."""
        kinds: dict[str, Callable[[Json, str], Request | None]] = {
            "json": self._schema,
            "json_object": self._if_true,
            "regex": self._regex,
            "choice": self._choice,
            "grammar": self._grammar,
            "structural_tag": self._tag,
        }
        flags = ("disable_any_whitespace", "whitespace_pattern", "disable_additional_properties")
        # What is not asked for is not refused.
        said = {
            k: v for k, v in object_of(value, pointer).items() if v is not None and v is not False
        }
        only(said, (*kinds, *flags, "disable_fallback", "order"), pointer)
        chosen = [name for name in kinds if name in said]
        if len(chosen) > 1:
            raise RequestError(f"{pointer}/{chosen[1]}", f"{chosen[0]!r} is there, too")
        if not chosen:
            raise RequestError(pointer, f"there is none of {', '.join(kinds)}")
        asked = {name: said[name] for name in flags if name in said}
        self._change(lambda schema: with_flags(schema, asked), pointer)
        self.closes |= closes(asked)
        self._ordered(said, pointer)
        return kinds[chosen[0]](said[chosen[0]], f"{pointer}/{chosen[0]}")

    def _ordered(self, said: Mapping[str, Json], pointer: str) -> None:
        """The order of keys, which no server has a field for: as the option of that name says."""
        order = said.get("order")
        if order is not None:
            if order not in (FIXED, ANY_ORDER):
                message = f"this must be {FIXED} or {ANY_ORDER}, not {shown(order)}"
                raise RequestError(f"{pointer}/order", message)
            self._change(lambda schema: replace(schema, order=order), pointer)

    def _format(self, value: Json, pointer: str) -> Request | None:
        """Ollama's ``format``."""
        if value == "":
            return None
        return self._object(pointer) if value == "json" else self._schema(value, pointer)

    # --- formats

    def _change(self, made: Callable[[SchemaOptions], SchemaOptions], pointer: str) -> None:
        """Read schemas by other options."""
        assert self.options.schema is not None
        try:
            self.options = replace(self.options, schema=made(self.options.schema))
        except FlagError as error:
            raise RequestError(f"{pointer}/{error.name}", error.message) from None

    def _document(self, value: Json, dialect: str, pointer: str) -> str:
        """The text of a document, its schemas closed where a flag says so."""
        text = value if isinstance(value, str) else json_text(value, pointer)
        if self.closes:
            return json_text(closed_inside(value_of(text, pointer), dialect), pointer)
        return text

    def _request(self, kind: str, dialect: str, text: str, pointer: str) -> Request:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise RequestError(pointer, "a lone surrogate is no character") from None
        name = pointer[1:].replace("/", ".")
        return Request(kind, text, replace(self.options, dialect=dialect), name)

    def _schema(self, value: Json, pointer: str) -> Request:
        if not isinstance(value, str | Mapping | bool):
            raise RequestError(pointer, "this must be a JSON Schema, or its text")
        if f'"{X_GUIDANCE}"' in value if isinstance(value, str) else _has_guidance(value):
            read = value_of(value, pointer)
            if _has_guidance(read):
                said = read[X_GUIDANCE]
                self._change(lambda schema: with_guidance(schema, said), f"{pointer}/{X_GUIDANCE}")
                value = without_guidance(value_of(json_text(read, pointer), pointer))
        return self._request(
            "json", JSON_SCHEMA, self._document(value, JSON_SCHEMA, pointer), pointer
        )

    def _object(self, pointer: str) -> Request:
        return self._request("json_object", JSON_SCHEMA, '{"type":"object"}', pointer)

    def _if_true(self, value: Json, pointer: str) -> Request:
        if value is not True:
            raise RequestError(pointer, "this must be true or false")
        return self._object(pointer)

    def _regex(self, value: Json, pointer: str) -> Request:
        text = string(value, pointer)
        # A dialect is of files, whose last line break nobody means.
        text += "\n" if text.endswith("\n") else ""
        return self._request("regex", PLAIN_REGEX, text, pointer)

    def _choice(self, value: Json, pointer: str) -> Request:
        if not isinstance(value, list | tuple) or not value:
            raise RequestError(pointer, "this must be an array of strings, and not empty")
        texts = [string(each, f"{pointer}/{i}") for i, each in enumerate(value)]
        text = f"root ::= {' | '.join(map(_quoted, dict.fromkeys(texts)))}"
        return self._request("choice", "gbnf", text, pointer)

    def _grammar(self, value: Json, pointer: str) -> Request:
        """A grammar that does not say its dialect, or the one of llguidance's list."""
        text = string(value, pointer)
        if text.lstrip().startswith("{"):
            return self._listed_grammar(text, pointer)
        read, errors = [], []
        schema, limits = self.options.schema, self.options.limits.started()
        for dialect in self.dialects:
            try:
                grammar = read_grammar(text, dialect, schema=schema, limits=limits)
                check(grammar)
                read.append(dialect)
            except GrammarError as error:
                first = replace(error.diagnostics[0], help=None).in_a_line(error.source)
                errors.append(f"{dialect}: {first.partition('; expected')[0]}")
        if not read:
            raise RequestError(pointer, f"no dialect reads this grammar: {'; '.join(errors)}")
        if len(read) > 1:
            message = f"this can be read as {' or '.join(read)}, which may mean different things"
            raise RequestError(pointer, message, "a server may say which it takes")
        self.options = replace(self.options, start=self.start or self.options.start)
        return self._request("grammar", read[0], text, pointer)

    def _listed_grammar(self, text: str, pointer: str) -> Request:
        """``{"grammars": [{"lark_grammar": …}]}``, or a ``json_schema`` there; those after the
        first are called by their names, as ``@name``."""
        value = value_of(text, pointer)
        only(object_of(value, pointer), ("grammars",), pointer)
        found = [*listed(value.get("grammars"), pointer := f"{pointer}/grammars")]
        places = [f"{pointer}/{number}" for number in range(len(found))]
        if not found:
            raise RequestError(pointer, "there must be a grammar")
        parts = list(map(_one_of_list, found, places))
        kind, inner = parts[0]
        if kind == "json_schema":
            return self._schema(inner, f"{places[0]}/{kind}")
        text = string(inner, f"{places[0]}/{kind}")
        for each, (other, inner), place in zip(found[1:], parts[1:], places[1:], strict=True):
            name = string(each.get("name"), f"{place}/name")
            if not re.fullmatch("[A-Za-z_0-9-]+", name):
                raise RequestError(f"{place}/name", f"{name!r} cannot be called as @name")
            if other == "json_schema":
                schema = inner if isinstance(inner, str) else json_text(inner, f"{place}/{other}")
                text += f"\n@{name}: %json {schema}"
            else:
                text += f"\n@{name}: %lark {{\n{string(inner, f'{place}/{other}')}\n}}"
        return self._request("grammar", "lark", text, f"{places[0]}/{kind}")

    def _written(self, value: Json, pointer: str) -> Request:
        """A grammar as OpenAI's custom tools have it, or as Fireworks does."""
        if "grammar" in value:
            only(value, ("type", "grammar"), pointer)
            inner, pointer = value["grammar"], f"{pointer}/grammar"
            if isinstance(inner, str):
                return self._grammar(inner, pointer)
            value = object_of(inner, pointer)
        only(value, ("type", "syntax", "definition"), pointer)
        syntax = value.get("syntax")
        if syntax not in ("lark", "regex"):
            message = f"this must be lark or regex, not {shown(syntax)}"
            raise RequestError(f"{pointer}/syntax", message)
        text = string(value.get("definition"), f"{pointer}/definition")
        kind = "regex" if syntax == "regex" else "grammar"
        return self._request(kind, syntax, text, f"{pointer}/definition")

    def _tag(self, value: Json, pointer: str) -> Request:
        if not isinstance(value, str | Mapping):
            raise RequestError(pointer, "this must be a structural tag, or its text")
        text = self._document(value, STRUCTURAL_TAG, pointer)
        return self._request("structural_tag", STRUCTURAL_TAG, text, pointer)

    # --- tools

    def _tools(self, fields: Mapping[str, Json]) -> Request | None:
        tools, choice = fields.get("tools"), fields.get("tool_choice")
        if tools is None or not list(listed(tools, "/tools")):
            if choice not in (None, "none", "auto"):
                raise RequestError("/tool_choice", "there are no tools to choose from")
            return None
        if isinstance(choice, Mapping) and choice.get("type") == "custom":
            return self._custom(tools, choice)
        asked: dict[str, Json] = {}
        for name in ("tool_choice", "parallel_tool_calls"):
            if fields.get(name) is not None:
                asked[name] = fields[name]
        return self._of_tools(tools, asked)

    def _of_tools(self, tools: Json, asked: Mapping[str, Json]) -> Request:
        text = self._document({"tools": tools, **asked, **self.written}, TOOLS, "/tools")
        return self._request("tools", TOOLS, text, "/tools")

    def _custom(self, tools: Json, choice: Mapping[str, Json]) -> Request | None:
        """The input of a custom tool that must be called: a text of its format."""
        inner = choice.get("custom", choice)
        name = inner.get("name") if isinstance(inner, Mapping) else None
        for i, tool in enumerate(listed(tools, "/tools")):
            if not isinstance(tool, Mapping) or tool.get("type") != "custom":
                continue
            pointer = f"/tools/{i}"
            if "custom" in tool:
                pointer = f"{pointer}/custom"
                tool = object_of(tool["custom"], pointer)
            if tool.get("name") == name:
                only(tool, ("type", "name", "description", "format"), pointer)
                given = {"type": "text"} if tool.get("format") is None else tool["format"]
                if typed(given, f"{pointer}/format") not in ("text", "grammar"):
                    message = f"there is no format of the type {shown(given['type'])}"
                    raise RequestError(f"{pointer}/format/type", message, "text or grammar")
                return self._response_format(given, f"{pointer}/format")
        raise RequestError("/tool_choice", f"there is no custom tool {shown(name)}")


_READ: Mapping[str, Callable[[_Reader, Json, str], Request | None]] = {
    "response_format": _Reader._response_format,
    "text": _Reader._text,
    "structured_outputs": _Reader._structured,
    "format": _Reader._format,
    "json_schema": _Reader._schema,
    "regex": _Reader._regex,
    "ebnf": _Reader._grammar,
    "grammar": _Reader._grammar,
    "structural_tag": _Reader._tag,
}

# All fields that are looked at.
FIELDS = (*_READ, "tools", "tool_choice", "parallel_tool_calls", *_FOREIGN)


def body_of(fields: bytes | str | Mapping[str, Json]) -> bytes:
    """A body as JSON; of fields, those that are looked at, piece by piece, so that other threads go
    on. Raises ``ValueError`` and ``TypeError`` if it is too long, or no JSON."""
    if isinstance(fields, str):
        fields = fields.encode("utf-8")
    if not isinstance(fields, bytes):
        if isinstance(fields, Mapping):
            # Not the conversation, which is long, and another one each time.
            fields = {name: fields[name] for name in FIELDS if name in fields}
        pieces, size = [], 0
        for piece in json.JSONEncoder(allow_nan=False, separators=(",", ":")).iterencode(fields):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST:
                break
        fields = "".join(pieces).encode("ascii")
    if len(fields) > _MOST:
        raise ValueError(f"it has more than {_MOST:,} bytes")
    return fields


def _quoted(text: str) -> str:
    """A literal of GBNF."""
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    inside = (named.get(c) or (f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c) for c in text)
    return f'"{"".join(inside)}"'


def _has_guidance(value: Json) -> bool:
    return isinstance(value, Mapping) and X_GUIDANCE in value
