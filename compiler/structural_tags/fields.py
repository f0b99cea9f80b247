"""Which fields a format of each kind has, and what they hold.

    {"type": "const_string", "valeu": "x"}   ->   #/format: a const_string needs 'value'
                                                  #/format/valeu: a const_string has no 'valeu'

The names, types and defaults are those of xgrammar 0.2.8, which ignores fields that it does not
know: here they are refused, for what they ask for would not be enforced.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..diagnostics import closest
from ..schema.notes import Refused
from ..schema.read import Document, Json, escaped

# Counts are 32-bit integers there.
_HIGHEST = 2_147_483_647

STYLES = (
    *("json", "qwen_xml", "minimax_xml", "minimax_m3_xml", "deepseek_xml", "glm_xml"),
    *("cohere_xml", "kimi_k3_xml", "deepseek_v4_1_xml", "mimo_xml"),
)


# Styles that are known and refused.
UNSUPPORTED = ("minimax_m3_xml",)


_Holds: TypeAlias = Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class Shape:
    """``expected``: what a field must be; ``holds``: of JSON, whether it is that; ``role``: what
    formats in it must be, if there may be some."""

    expected: str
    holds: _Holds
    role: str = ""

    def inside(self, value: Json) -> Iterator[tuple[str, Json]]:
        """The formats in a value, each with its pointer from there."""
        if self.role and isinstance(value, dict):
            yield "", value
        for i, each in enumerate(value if self.role and isinstance(value, list) else ()):
            if isinstance(each, dict):
                yield f"/{i}", each
            elif isinstance(each, list):
                yield f"/{i}/1", each[1]


def _whole(least: int) -> _Holds:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= _HIGHEST


def _or_null(holds: _Holds) -> _Holds:
    return lambda v: v is None or holds(v)


def _array(of: _Holds, least: int = 0) -> _Holds:
    return lambda v: isinstance(v, list) and len(v) >= least and all(map(of, v))


def _rules(of: _Holds) -> _Holds:
    def is_pair(value: Json) -> bool:
        return isinstance(value, list) and len(value) == 2 and of(value[0]) and _is_object(value[1])

    return _array(is_pair, 1)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_some_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


_is_count = _whole(0)


def _is_token(value: Json) -> bool:
    return isinstance(value, str) or _is_count(value)


def _is_end(value: Json) -> bool:
    return isinstance(value, str | dict) or _array(_is_text, 1)(value)


# What an object is: any format, or one of a kind alone.
FORMAT, TAG, TOKEN = "format", "tag", "token"

_TEXT = Shape("a string", _is_text)
_PATTERNS = Shape(
    "an array of strings, at least one and none of them empty", _array(_is_some_text, 1)
)
_TEXTS = Shape("an array of strings, none of them empty", _array(_is_some_text))
_FLAG = Shape("true or false", lambda v: isinstance(v, bool))
_MOST = Shape(f"null or an integer from 0 to {_HIGHEST:,}", _or_null(_is_count))
_MOST_SPACES = Shape(f"null or an integer from 1 to {_HIGHEST:,}", _or_null(_whole(1)))
_LEAST = Shape(f"an integer from 0 to {_HIGHEST:,}", _is_count)
_UNTIL = Shape(f"an integer from 0 to {_HIGHEST:,}, or -1 for any number", _whole(-1))
_SCHEMA = Shape("a JSON Schema: an object, true or false", lambda v: isinstance(v, dict | bool))
_STYLE = Shape("one of " + ", ".join(STYLES), lambda v: v in STYLES)
_ID = Shape("a token: its number or its text", _is_token)
_IDS = Shape("an array of tokens, each its number or its text", _array(_is_token))
_SOME_IDS = Shape(
    "an array of tokens, each its number or its text, and at least one", _array(_is_token, 1)
)
_FORMAT = Shape("a format: an object with a type", _is_object, FORMAT)
_FORMATS = Shape("an array of formats, at least one", _array(_is_object, 1), FORMAT)
_TAGS = Shape("an array of tags, at least one", _array(_is_object, 1), TAG)
_BEGIN = Shape("a string or a token format", lambda v: isinstance(v, str | dict), TOKEN)
_END = Shape("a string, an array of strings (at least one) or a token format", _is_end, TOKEN)
_RULES = Shape(
    "an array of pairs [pattern, format], at least one, and no pattern empty",
    _rules(_is_some_text),
    FORMAT,
)
_TOKEN_RULES = Shape("an array of pairs [token, format], at least one", _rules(_is_token), FORMAT)

# Of each kind the fields that it must have, and those that it may have.
KINDS: Final[Mapping[str, tuple[Mapping[str, Shape], Mapping[str, Shape]]]] = {
    "const_string": ({"value": _TEXT}, {}),
    "json_schema": (
        {"json_schema": _SCHEMA},
        {
            "style": _STYLE,
            "any_order": _FLAG,
            "max_whitespace_cnt": _MOST_SPACES,
            "excludes": _TEXTS,
        },
    ),
    "qwen_xml_parameter": ({"json_schema": _SCHEMA}, {}),
    "grammar": ({"grammar": _TEXT}, {}),
    "regex": ({"pattern": _TEXT}, {}),
    "any_text": ({}, {"excludes": _TEXTS, "max_tokens": _MOST, "max_chars": _MOST}),
    "sequence": ({"elements": _FORMATS}, {}),
    "or": ({"elements": _FORMATS}, {}),
    "optional": ({"content": _FORMAT}, {}),
    "plus": ({"content": _FORMAT}, {}),
    "star": ({"content": _FORMAT}, {}),
    "repeat": ({"min": _LEAST, "max": _UNTIL, "content": _FORMAT}, {}),
    "tag": ({"begin": _BEGIN, "content": _FORMAT, "end": _END}, {}),
    "triggered_tags": (
        {"triggers": _PATTERNS, "tags": _TAGS},
        {"at_least_one": _FLAG, "stop_after_first": _FLAG, "excludes": _TEXTS},
    ),
    "tags_with_separator": (
        {"tags": _TAGS, "separator": _TEXT},
        {"at_least_one": _FLAG, "stop_after_first": _FLAG},
    ),
    "dispatch": ({"rules": _RULES}, {"loop": _FLAG, "excludes": _TEXTS}),
    "token": ({"token": _ID}, {}),
    "exclude_token": ({}, {"exclude_tokens": _IDS}),
    "any_tokens": ({}, {"exclude_tokens": _IDS, "max_tokens": _MOST}),
    "token_triggered_tags": (
        {"trigger_tokens": _SOME_IDS, "tags": _TAGS},
        {"exclude_tokens": _IDS, "at_least_one": _FLAG, "stop_after_first": _FLAG},
    ),
    "token_dispatch": ({"rules": _TOKEN_RULES}, {"loop": _FLAG, "exclude_tokens": _IDS}),
}

# The older form: {"structures": […], "triggers": […]}.
_STRUCTURES = Shape("an array of structures, at least one", _array(_is_object, 1))
_STRUCTURE = {"begin": _TEXT, "schema": _SCHEMA, "end": _TEXT}

_WHOLE = {"format": _FORMAT}
_OLDER = {"structures": _STRUCTURES, "triggers": _PATTERNS}
_TYPE = Shape("structural_tag", lambda v: v == "structural_tag")


def is_older(tag: Json) -> bool:
    """Whether a structural tag has structures, and no format."""
    return "structures" in tag and "format" not in tag


def misshapen(document: Document) -> list[Refused]:
    """What is wrong with the fields of a structural tag; of a format that is wrong, nothing
    inside."""
    tag = document.value
    if not isinstance(tag, dict):
        return [Refused("#", "a structural tag is a JSON object", '{"type": …, "format": …}')]
    needed: Mapping[str, Shape] = _OLDER if is_older(tag) else _WHOLE
    found = list(_wrong_fields("#", "structural tag", tag, needed, {"type": _TYPE}))
    if found:
        return found
    if is_older(tag):
        for i, each in enumerate(tag["structures"]):
            found += _wrong_fields(f"#/structures/{i}", "structure", each, _STRUCTURE, {})
        return found
    pending: list[tuple[str, Json, str]] = [("#/format", tag["format"], FORMAT)]
    while pending:
        pointer, value, role = pending.pop()
        kind = value.get("type", None if role == FORMAT else role)
        wrong = _wrong_kind(pointer, kind, role)
        if wrong is not None:
            found.append(wrong)
            continue
        needed, others = KINDS[kind]
        wrong_here = list(_wrong_fields(pointer, kind, value, needed, {**others, "type": _TEXT}))
        found += wrong_here
        if not wrong_here:
            for name, shape in {**needed, **others}.items():
                for place, each in shape.inside(value[name]) if name in value else ():
                    pending.append((f"{pointer}/{name}{place}", each, shape.role))
    return found


def _wrong_kind(pointer: str, kind: Json, role: str) -> Refused | None:
    if kind is None:
        return Refused(pointer, "a format needs a type", f"the types are: {', '.join(KINDS)}")
    if role != FORMAT and kind != role:
        return Refused(f"{pointer}/type", f"this must be a {role}, not {kind!r}")
    if not isinstance(kind, str) or kind not in KINDS:
        close = closest(str(kind), KINDS)
        hint = f"did you mean {close}?" if close else f"the types are: {', '.join(KINDS)}"
        return Refused(f"{pointer}/type", f"there is no format {kind!r}", hint)
    return None


def _wrong_fields(
    pointer: str,
    kind: str,
    value: Mapping[str, Json],
    needed: Mapping[str, Shape],
    others: Mapping[str, Shape],
) -> Iterator[Refused]:
    known = {**needed, **others}
    article = "an" if kind[0] in "aeiou" else "a"
    for name in needed:
        if name not in value:
            yield Refused(pointer, f"{article} {kind} needs {name!r}", needed[name].expected)
    for name, each in value.items():
        place = f"{pointer}/{escaped(name)}"
        if name not in known:
            close = closest(name, known)
            listed = ", ".join(field for field in known if field != "type") or "none but its type"
            hint = f"did you mean {close!r}?" if close else f"its fields are: {listed}"
            yield Refused(place, f"{article} {kind} has no field {name!r}", hint)
        elif not known[name].holds(each):
            yield Refused(place, f"this must be {known[name].expected}")
