"""Grammars with terminals whose automata are too large to be built, and texts of them.

Each is asked for as a whole text, and as a text in quotes inside lists inside lists; the strings of
JSON Schemas are there, too. Peers read what is written as a plain regular expression.
"""

import json
import random
import string
from collections.abc import Callable, Iterator

from .request import Request

_WORDS = string.ascii_lowercase + string.digits
_LABEL = r"[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?"

# Names, expressions of the extended dialect, and random texts that they match.
_TERMINALS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "host": (
        rf"({_LABEL}(\.{_LABEL})*)&.{{1,253}}",
        lambda rng: ".".join(_word(rng, rng.randrange(1, 20)) for _ in range(rng.randrange(1, 9))),
    ),
    "digit": (
        r"(.*[0-9].*)&[\w\-]+&.{0,200}",
        lambda rng: _word(rng, rng.randrange(1, 90)) + "7" + _word(rng, rng.randrange(90)),
    ),
    "without": ("~(.*a.{20})", lambda rng: _word(rng, rng.randrange(99)).replace("a", "b")),
    "behind": (".*a.{20}", lambda rng: _word(rng, rng.randrange(80)) + "a" + _word(rng, 20)),
}

_INSIDE = {
    "host": """text ::= labels - (any ANY any*)
               labels ::= label ('.' label)*
               label ::= alnum | alnum LABEL alnum
               alnum ::= [a-z0-9]
               any ::= [a-z0-9.#x2D]""".replace("LABEL", "(alnum | '-')? " * 61),
    "digit": """text ::= word - ([^0-9]* | any ANY any*)
                word ::= [^"#xA]*
                any ::= [^#xA]""",
    "without": """text ::= any* - (any* 'a' ANY)
                  any ::= [^"#xA]""",
    "behind": """text ::= any* 'a' ANY
                 any ::= [^"#xA]""",
}
_TIMES = {"host": 253, "digit": 200, "without": 20, "behind": 20}
_LIST = """list ::= '[' (item (', ' item)*)? ']'
           item ::= list | '"' text '"' """

_STRINGS = {
    "schema, pattern": {"type": "string", "pattern": "^(?=.*[0-9])[^x]+$", "maxLength": 200},
    "schema, uri": {"type": "string", "format": "uri", "maxLength": 2048},
}


def requests(texts: int = 100, seed: int = 1) -> Iterator[Request]:
    """Each grammar with so many texts."""
    rng = random.Random(seed)
    for name, (pattern, text) in _TERMINALS.items():
        dialect = "regex" if name == "behind" else "regex-extended"
        yield Request(name, dialect, pattern, tuple(text(rng) for _ in range(texts)))
    for name, rules in _INSIDE.items():
        grammar = f"{_LIST}\n{rules.replace('ANY', 'any ' * _TIMES[name])}"
        text = _TERMINALS[name][1]
        lists = tuple(f'["{text(rng)}", [], ["{text(rng)}"]]' for _ in range(texts))
        yield Request(f"{name} in lists", "w3c", grammar, lists)
    for name, schema in _STRINGS.items():
        values = ("https://" + _word(rng, 9) + ".org/" + _word(rng, 40) for _ in range(texts))
        documents = tuple(json.dumps(value.replace("x", "7")) for value in values)
        yield Request(name, "json-schema", json.dumps(schema), documents, json.dumps(schema))


def _word(rng: random.Random, length: int) -> str:
    return "".join(rng.choice(_WORDS) for _ in range(length))
