"""Texts and JSON values that chance has changed, with what strangers send put in between."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

# What is put into texts: what ends strings and lines early, what is no text, what is too much.
PIECES: tuple[bytes, ...] = (
    *(b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"),
    *(b"\x1b[31m", b"\x1b]0;x\x07", b"\x9b1m", b"\x7f", b"\x85", b"\r", b"\x0b", b"\x08" * 9),
    *(c.encode() for c in "\u202e\u2028\u2029\u200b\u2066\ufeff\U000e0041\U0010ffff\u0130ſ"),
    *(b'"', b"'", b"`", b"\\", b"/", b"//", b"/*", b"*/", b"(*", b"*)", b"#", b"%", b"$", b"@"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"|", b"&", b"~", b"-", b"?", b"*", b"+"),
    *(b";", b":", b"::=", b"=", b"->", b",", b".", b"..", b"^", b"\n", b"\r\n", b"\t", b" " * 40),
    *(b"{0}", b"{,}", b"{1,0}", b"{3,}", b"{0,99999999999999999999}", b"{4294967296}", b"{1000}"),
    *(
        b"[^]",
        b"[]",
        b"[z-a]",
        b"[\\x00-\\U0010FFFF]",
        b"\\u{110000}",
        b"\\ud800",
        b"\\x",
        b"\\p{L}",
    ),
    *(b"(?=a)", b"(?<=a)", b"(?P<n>a)", b"(?P=n)", b"(?i)", b"\\1", b"\\b", b"^*", b"(a*)*", b"()"),
    *(b"%ignore /a*/", b"%import common.WS", b"%json {}", b"%regex {}", b"<|eos|>", b"<[1]>"),
    *(b"</script><script>x=1</script>", b"<img src=x onerror=x()>", b"]]>", b"&#x0a;", b"URL=x"),
    *(b"root", b"start", b"__proto__", b"constructor", b"\xc3\xa9\xcc\x81", b"NaN", b"1e400"),
)

# Openings and endings that are nested, and how often.
_NESTED = (
    (b"(", b")"),
    (b"[", b"]"),
    (b"{", b"}"),
    (b"(* ", b" *)"),
    (b"((", b")*)*"),
    (b"~(", b")"),
)
_DEPTHS = (3, 30, 300, 3_000, 30_000)

_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")


def text(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """A text that has become another: in one way or a few."""
    found = seed
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 12))):
        found = rng.choice(_WAYS)(rng, found, others)
    return found[:200_000]


def _by_bytes(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    found = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 8))):
        place = rng.randrange(len(found) + 1)
        match rng.randrange(4):
            case 0:
                del found[place : place + rng.choice((1, 1, 2, 10))]
            case 1:
                found[place:place] = bytes([rng.randrange(256)])
            case 2:
                found[place : place + 1] = bytes([rng.randrange(256)])
            case _:
                found[place : place + 1] = bytes([rng.choice(b"()[]{}|*+?\"'/\\;:=-,.<>0aA\n ")])
    return bytes(found)


def _by_tokens(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    tokens = _TOKEN.findall(seed)
    if not tokens:
        return b"a"
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(5):
        case 0:
            del tokens[at]
        case 1:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 2:
            tokens.insert(at, tokens[other])
        case 3:
            tokens[at] = tokens[other]
        case _:
            tokens[at] *= rng.choice((2, 3, 50))
    return b"".join(tokens)


def _by_lines(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    lines = seed.split(b"\n")
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, rng.choice(lines))
        case 2:
            lines.insert(at, rng.choice(rng.choice(others).split(b"\n")))
        case _:
            rng.shuffle(lines)
    return b"\n".join(lines)


def _by_pieces(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    found = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(found) + 1)
        found[place : place + rng.choice((0, 0, 1))] = rng.choice(PIECES)
    return bytes(found)


def _by_parts(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    start = rng.randrange(len(other) + 1)
    part = other[start : start + rng.choice((3, 10, 40, 400))]
    place = rng.randrange(len(seed) + 1)
    return seed[:place] + part + seed[place + rng.choice((0, len(part))) :]


def _by_ends(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    place = rng.randrange(len(seed) + 1)
    return seed[:place] if rng.random() < 0.7 else seed[place:]


def _by_nesting(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    opening, ending = rng.choice(_NESTED)
    depth, place = rng.choice(_DEPTHS), rng.randrange(len(seed) + 1)
    end = min(len(seed), place + rng.choice((0, 1, 5)))
    closed = depth if rng.random() < 0.8 else rng.randrange(depth)
    return seed[:place] + opening * depth + seed[place:end] + ending * closed + seed[end:]


def _by_names(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    names = sorted(set(re.findall(rb"[A-Za-z_][\w-]*", seed)))
    if not names:
        return seed
    old = rng.choice(names)
    new = rng.choice(
        (*names, b"x" * 10_000, "名前".encode(), "é\u202e".encode(), b"a-b", b"A", b"_", b"1")
    )
    return re.sub(rb"\b" + old + rb"\b", lambda _: new, seed, count=rng.choice((0, 1)))


def _by_counts(rng: random.Random, seed: bytes, _others: Sequence[bytes]) -> bytes:
    count = rng.choice((b"0", b"7", b"255", b"5000", b"70000", b"9999999999", b"-1", b"9" * 5000))
    places = [match.span() for match in re.finditer(rb"\d+", seed)]
    if not places:
        return seed + b"{" + count + b"}"
    start, end = rng.choice(places)
    return seed[:start] + count + seed[end:]


_Way = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
_WAYS: tuple[_Way, ...] = (
    *(_by_bytes, _by_tokens, _by_tokens, _by_lines, _by_pieces, _by_pieces),
    *(_by_parts, _by_ends, _by_nesting, _by_names, _by_counts),
)

# Values for places of JSON.
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e308, -0.0, 10**30, -(10**400), 2**63, 2**32, 1e-320),
    *("", "a", "\x00", "\ud800", "\udc80x", "\u202e", "\x1b[31m", "é" * 300, "x" * 20_000, "NaN"),
    *("#", "#/", "#/$defs/x", "#/%zz", "http://[", "file:///etc/passwd", "//x", "../x", "#/a~2"),
    *("^(a+)+$", "(?<!a)b", "[", "\\", "^.{0,5000}$", "\\p{Lu}*", "(?i)a", "\\ud800", "a{99999}"),
    *("string", "object", "array", "integer", "date-time", "regex", "uuid", "const_string"),
    *([], {}, [[]], [{}], {"": ""}, {"type": "object"}, {"not": {}}, {"$ref": "#"}, [1, 1, 1.0]),
    *({"allOf": [{"$ref": "#"}]}, {"pattern": "a*b"}, {"minLength": 10**9}, {"enum": []}),
)
_KEYS = (
    *("", "type", "$ref", "properties", "patternProperties", "additionalProperties", "required"),
    *("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "enum", "const", "anyOf"),
    *("oneOf", "allOf", "not", "if", "then", "else", "pattern", "format", "minLength", "maxLength"),
    *("minimum", "multipleOf", "propertyNames", "dependentSchemas", "unevaluatedProperties"),
    *("$defs", "$id", "$schema", "$dynamicRef", "$anchor", "contains", "minContains", "\ud800"),
    *("name", "function", "parameters", "begin", "end", "content", "triggers", "tags", "\x00"),
)


def value(rng: random.Random, seed: Any) -> Any:
    """A JSON value in which a few places have become others."""
    found = json.loads(json.dumps(seed))
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        found = _with_another_place(rng, found)
    return found


def _with_another_place(rng: random.Random, seed: Any) -> Any:
    places = _places(seed)
    holder, key = rng.choice(places) if places else (None, None)
    new: Any = rng.choice(_VALUES)
    if rng.random() < 0.2 and places:
        other, at = rng.choice(places)
        new = other[at]
    new = json.loads(json.dumps(new))  # Not the same list in two places.
    if rng.random() < 0.06:
        for _ in range(rng.choice((5, 50, 120))):
            new = rng.choice(({"items": new}, {"not": new}, [new], {"allOf": [new]}))
    if holder is None or rng.random() < 0.03:
        return new
    if isinstance(holder, dict) and rng.random() < 0.5:
        if rng.random() < 0.3:
            holder[rng.choice(_KEYS)] = holder.pop(key)
        else:
            holder[rng.choice(_KEYS)] = new
    elif rng.random() < 0.15:
        del holder[key]
    else:
        holder[key] = new
    return seed


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    left = [value]
    while left and len(found) < 2_000:
        each = left.pop()
        keys = (
            range(len(each)) if isinstance(each, list) else each if isinstance(each, dict) else ()
        )
        for key in keys:
            found.append((each, key))
            left.append(each[key])
    return found


def json_text(rng: random.Random, seed: Any, others: Sequence[bytes]) -> bytes:
    """The text of a changed value; now and then the text is changed as well, or has keys twice."""
    written = json.dumps(value(rng, seed), ensure_ascii=rng.random() < 0.5)
    found = written.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        found = re.sub(
            rb"([{,]\s*)(\"[^\"]*\": )", rb"\1\2null, \2", found, count=rng.choice((0, 1))
        )
    if rng.random() < 0.15:
        found = text(rng, found, others)
    return found
