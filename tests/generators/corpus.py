"""Deterministic generator of the made-up part of the training text.

Everything here is composed from the word lists and template rules beside this file.  Only
`random.Random.random` is drawn from, because the standard library promises that its sequence for
a given seed stays the same from one Python release to the next.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator

from . import templates_clike, templates_code, templates_text, words

SLOT = re.compile(r"~(\w+)~")
MAX_DEPTH = 5

# How much of the generated text each kind of document makes up, in thousandths.
SHARES = {
    "paragraph": 230,
    "markdown": 50,
    "python": 160,
    "clang": 90,
    "javascript": 100,
    "sql": 40,
    "shell": 30,
    "html": 40,
    "xml": 20,
    "css": 20,
    "config": 20,
    "json": 150,
    "csv": 20,
    "log": 20,
    "foreign_text": 10,
}

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def parse_rules(text: str) -> dict[str, list[str]]:
    """Read the notation described in `templates_text`."""
    rules: dict[str, list[str]] = {}
    for block in re.split(r"^(?=:[:=] \w+$)", text, flags=re.M):
        if block.strip():
            head, _, body = block.partition("\n")
            separator = "\n|\n" if head.startswith("::") else "\n"
            rules[head[3:]] = body.strip("\n").split(separator)
    return rules


class Generator:
    """Composer of documents of every kind from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random
        self.rules = parse_rules(
            templates_text.RULES + templates_code.RULES + templates_clike.RULES
        )
        self.slots: dict[str, Callable[[], str]] = {
            "name": lambda: self.pick(words.NAMES),
            "city": lambda: self.pick(words.CITIES),
            "country": lambda: self.pick(words.COUNTRIES),
            "org": lambda: self.pick(words.ORGS),
            "noun": self.noun,
            "nouns": lambda: words.plural(self.noun()),
            "Noun": lambda: self.noun().capitalize(),
            "tech": lambda: self.pick(words.TECH),
            "techs": lambda: words.plural(self.pick(words.TECH)),
            "Tech": lambda: self.pick(words.TECH).capitalize(),
            "verb": self.verb,
            "verbs": lambda: words.third_person(self.verb()),
            "verbed": lambda: words.past_tense(self.verb()),
            "verbing": lambda: words.participle(self.verb()),
            "Verb": lambda: self.verb().capitalize(),
            "adj": lambda: self.pick(words.ADJECTIVES),
            "Adj": lambda: self.pick(words.ADJECTIVES).capitalize(),
            "adverb": lambda: self.pick(words.ADVERBS),
            "a_np": self.a_noun_phrase,
            "month": lambda: self.pick(words.MONTHS),
            "weekday": lambda: self.pick(words.WEEKDAYS),
            "day": lambda: str(self.below(28) + 1),
            "year": lambda: str(1980 + self.below(50)),
            "clock": lambda: f"{self.below(12) + 1}:{self.below(60):02} {self.pick(['am', 'pm'])}",
            "date": self.date,
            "number": lambda: str(self.number()),
            "digit": lambda: str(self.below(10)),
            "decimal": self.decimal,
            "hex": lambda: self.hex(6),
            "version": lambda: f"{self.below(10)}.{self.below(20)}.{self.below(30)}",
            "cmp": lambda: self.pick(["==", "!=", "<", ">", "<=", ">="]),
            "doc": lambda: '"""',
            "key": lambda: self.pick(words.KEYS).lstrip("$"),
            "snake": lambda: "_".join(self.identifier()),
            "kebab": lambda: "-".join(self.identifier()),
            "CONST": lambda: "_".join(self.identifier()).upper(),
            "Pascal": lambda: "".join(part.capitalize() for part in self.identifier()),
            "camel": self.camel,
            "module": lambda: self.pick(words.MODULES),
            "file": lambda: f"{'_'.join(self.identifier())}.{self.pick(words.EXTENSIONS)}",
            "url": self.url,
            "email": self.email,
            "clock24": self.clock,
            "timestamp": self.timestamp,
            "address": self.address,
            "uuid": self.uuid,
            "json": self.json_text,
            "level": lambda: self.pick(words.LOG_LEVELS),
            "status": lambda: self.pick(words.STATUSES),
            "foreign": lambda: self.pick(words.FOREIGN),
            "symbol": lambda: self.pick(words.SYMBOLS),
        }

    def below(self, limit: int) -> int:
        """Return a number from 0 up to but excluding `limit`."""
        return int(self.random() * limit)

    def pick(self, options: list[str]) -> str:
        """Return one of `options`."""
        return options[self.below(len(options))]

    def expand(self, name: str, depth: int = 0) -> str:
        """Expand a slot or rule, indenting later lines of what is put in as its own line is."""
        if name in self.slots:
            return self.slots[name]()
        options = self.rules[name]
        template = options[0] if depth > MAX_DEPTH else self.pick(options)

        def substitute(match: re.Match[str]) -> str:
            start = template.rfind("\n", 0, match.start()) + 1
            line = template[start:]
            indent = line[: len(line) - len(line.lstrip())]
            return self.expand(match[1], depth + 1).replace("\n", "\n" + indent)

        return SLOT.sub(substitute, template)

    def noun(self) -> str:
        return self.pick(words.NOUNS if self.random() < 0.75 else words.TECH)

    def verb(self) -> str:
        return self.pick(words.VERBS)

    def a_noun_phrase(self) -> str:
        phrase = self.expand("np")
        return ("an " if phrase[0] in "aeiou" else "a ") + phrase

    def identifier(self) -> list[str]:
        """Return the one to three words of an identifier."""
        lists = (words.TECH, words.TECH, words.VERBS, words.NOUNS, words.ADJECTIVES)
        count = (1, 1, 2, 2, 2, 3)[self.below(6)]
        return [self.pick(lists[self.below(len(lists))]) for _ in range(count)]

    def camel(self) -> str:
        first, *rest = self.identifier()
        return first + "".join(part.capitalize() for part in rest)

    def number(self) -> int:
        """Return a whole number, short ones being commoner than long ones."""
        if self.random() < 0.15:
            return (10, 16, 20, 32, 50, 64, 100, 128, 255, 256, 500, 512, 1000, 1024)[
                self.below(14)
            ]
        return self.below(10 ** (1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 9)[self.below(12)])

    def decimal(self) -> str:
        return f"{self.number()}.{self.below(100):02}"

    def hex(self, length: int) -> str:
        return "".join("0123456789abcdef"[self.below(16)] for _ in range(length))

    def date(self) -> str:
        return f"{1995 + self.below(40)}-{self.below(12) + 1:02}-{self.below(31) + 1:02}"

    def clock(self) -> str:
        return f"{self.below(24):02}:{self.below(60):02}:{self.below(60):02}"

    def timestamp(self) -> str:
        zone = self.pick(["Z", "Z", "Z", "+00:00", "+02:00", "-05:00", f".{self.below(1000):03}Z"])
        return f"{self.date()}T{self.clock()}{zone}"

    def address(self) -> str:
        return ".".join(str(self.below(256)) for _ in range(4))

    def uuid(self) -> str:
        return "-".join(self.hex(length) for length in (8, 4, 4, 4, 12))

    def host(self) -> str:
        return self.pick(["example", "example", self.noun() + ".example"]) + self.pick(
            [".com", ".com", ".org", ".net"]
        )

    def email(self) -> str:
        return f"{self.pick(words.NAMES).lower()}.{self.noun()}@{self.host()}"

    def url(self) -> str:
        query = self.pick(["", "", f"?{self.pick(words.KEYS)}={self.number()}", "#" + self.noun()])
        scheme = self.pick(["https://", "https://", "http://", "https://www."])
        return f"{scheme}{self.host()}/{self.noun()}/{'-'.join(self.identifier())}{query}"

    def scalar(self, key: str) -> Json:
        """Return a plausible JSON scalar for the property `key`."""
        if key.endswith(("_at", "time", "timestamp")):
            return self.timestamp()
        if key.endswith(("date", "day")):
            return self.date()
        if key.endswith(("id", "$ref")):
            return self.uuid() if self.random() < 0.3 else self.number()
        if key.endswith(("name", "author", "owner", "assignee")):
            return self.pick(words.NAMES)
        if key.startswith(("is_", "has_")) or key in ("enabled", "visible", "required", "active"):
            return self.random() < 0.5
        if key in ("price", "total", "amount", "latitude", "longitude", "rating", "score", "tax"):
            return float(self.decimal())
        if self.random() < 0.7:
            return self.expand("string_value")
        literals: list[Json] = [None, True, False, self.number(), -self.number(), self.number()]
        literals += [float(self.decimal()), ""]
        return literals[self.below(len(literals))]

    def value(self, depth: int) -> Json:
        """Return a JSON object, or an array, nested at most `depth` deep."""
        if depth and self.random() < 0.25:
            return [self.value(depth - 1) for _ in range(self.below(4))]
        if self.random() < 0.15:
            key = self.pick(words.KEYS)
            return [self.scalar(key) for _ in range(self.below(6))]
        document: dict[str, Json] = {}
        for _ in range(1 + self.below(6)):
            key = self.pick(words.KEYS)
            nested = depth and self.random() < 0.2
            document[key] = self.value(depth - 1) if nested else self.scalar(key)
        return document

    def schema(self, depth: int) -> Json:
        """Return a JSON Schema."""
        kind = self.pick(["string", "string", "integer", "number", "boolean", "array", "object"])
        if not depth or kind in ("integer", "number", "boolean"):
            return {"type": "integer", "minimum": self.below(10)} if depth else {"type": kind}
        if kind == "string":
            extra: list[dict[str, Json]] = [{}, {"format": "date-time"}]
            extra += [{"enum": [self.noun(), self.noun()]}, {"pattern": "^[a-z0-9_]+$"}]
            extra += [{"minLength": 1, "maxLength": self.number()}]
            extra += [{"description": self.expand("sentence")}]
            return {"type": kind, **extra[self.below(len(extra))]}
        if kind == "array":
            return {"type": kind, "items": self.schema(depth - 1)}
        keys = [self.pick(words.KEYS) for _ in range(1 + self.below(4))]
        return {
            "type": "object",
            "properties": {key: self.schema(depth - 1) for key in keys},
            "required": list(keys[:2]),
            "additionalProperties": False,
        }

    def tool_call(self) -> Json:
        """Return a function call as language models write them."""
        name = f"{self.pick(['get', 'set', 'search', 'send', 'create'])}_{self.noun()}"
        return {"name": name, "arguments": {k: self.scalar(k) for k in self.identifier()}}

    def json_text(self) -> str:
        """Return a JSON document in one of the usual layouts."""
        kind = self.random()
        document = self.value(3)
        if kind < 0.2:
            document = {"type": "object", "properties": {self.noun(): self.schema(3)}}
        elif kind < 0.35:
            document = self.tool_call()
        layout, ascii_only = self.below(6), self.random() < 0.1
        if layout < 2:
            return json.dumps(document, ensure_ascii=ascii_only, separators=(",", ":"))
        indent = (None, 2, 4, "\t")[layout - 2]
        return json.dumps(document, ensure_ascii=ascii_only, indent=indent)

    def documents(self, characters: int) -> Iterator[str]:
        """Yield documents of every kind, about `characters` characters of text in all."""
        for kind, share in SHARES.items():
            left = characters * share // 1000
            while left > 0:
                text = self.expand(kind) + "\n"
                left -= len(text)
                yield text
