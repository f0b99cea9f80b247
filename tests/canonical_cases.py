"""Twelve regular grammars and random members of each, made without the grammars."""

import random
from collections.abc import Callable
from uuid import UUID

WORDS = [
    *("the", "of", "and", "to", "international", "tokenization", "I'm", "don't", "we'll", "THE"),
    *("a", "x", "zq", "'s", "hello", "wor", "ld", "straße", "naïve", "東京", "漢字仮名", "привет"),
    *("мир", "ελληνικά", "नमस्ते", "ไทย", "😀👍🏽", "½²", "ſ"),
]

STRING = r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"'
VALUE = rf"({STRING}|-?(0|[1-9][0-9]*)(\.[0-9]+)?|true|false|null)"

GRAMMARS = {
    "date": r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "ipv4": r"((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "enum": "|".join(["yes", "no", "perhaps", "not at all", "don't know", "n/a", "nö", "いいえ"]),
    "string": STRING,
    "object": rf"\{{( ?{STRING}: ?{VALUE}(, ?{STRING}: ?{VALUE})*)? ?\}}",
    "url": r"https?://[a-z0-9-]+(\.[a-z]{2,9})+(/[A-Za-z0-9._~%-]*)*(\?[a-z]+=[A-Za-z0-9]*)?",
    "email": r"[a-z0-9._+-]+@[a-z0-9-]+(\.[a-z]{2,9})+",
    "words": "[a-zA-Z ]{1,50}",
    "any": r"(.|\n)*",
    "code": r'((def|if|return|class) |[a-zA-Z_]\w*|\d+|[ \n\t]+|[=+*/<>:.,-]+|[()]|"[a-z \']*")*',
    "scripts": r"[A-Za-zÀ-ſΑ-ώЀ-ӿऀ-ॿ฀-๿぀-ヿ一-鿿😀-🙏🏻-🏿👍'’ ,.!?]{0,60}",
}


def member(name: str, rng: random.Random) -> str:
    """A random member of a grammar."""
    return _MEMBERS[name](rng)


def _joined(rng: random.Random, words: list[str], between: list[str], most: int) -> str:
    count = rng.randrange(1, most + 1)
    return "".join(rng.choice(words) + rng.choice(between) for _ in range(count))


def _letters(rng: random.Random, letters: str, least: int, most: int) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randrange(least, most + 1)))


def _string(rng: random.Random) -> str:
    text = _joined(rng, WORDS, [" ", "", "  ", ", ", "-", "\\n", '\\"', "\\u00e9", "/"], 6)
    return f'"{text if rng.random() < 0.9 else ""}"'


def _value(rng: random.Random) -> str:
    number = f"{rng.randrange(-999, 10 ** rng.randrange(1, 9))}"
    return rng.choice([_string(rng), number, f"{number}.{rng.randrange(999)}", "true", "null"])


def _object(rng: random.Random) -> str:
    space = rng.choice(["", " "])
    pairs = [f"{space}{_string(rng)}:{space}{_value(rng)}" for _ in range(rng.randrange(4))]
    return "{" + ",".join(pairs) + (space if pairs else rng.choice(["", " "])) + "}"


def _url(rng: random.Random) -> str:
    host = _letters(rng, "abcdeinorst0123-", 1, 9) + rng.choice([".com", ".co.uk", ".museum"])
    path = "".join("/" + _letters(rng, "abcEXAMPLE._~%-09", 0, 9) for _ in range(rng.randrange(4)))
    query = rng.choice(["", "?q=Zebra12", "?page="])
    return rng.choice(["http://", "https://"]) + host + path + query


def _code(rng: random.Random) -> str:
    words = ["def ", "return ", "foo", "_x1", "self", "42", "10000", '"it \'s"', '""', "("]
    return _joined(
        rng, words, [" ", "\n    ", "\n\n", "\t", " = ", "->", ")", ":\n", "+=", ", "], 9
    )


def _words(rng: random.Random) -> str:
    text = _joined(rng, ["the", "International", "xq", "Hello", "a", ""], [" ", "", "  ", "   "], 6)
    return text[:50] or "a"


def _any(rng: random.Random) -> str:
    return _joined(rng, WORDS, [" ", "", "\n", "\r\n", "  \n ", "\t\t", ".", "!?", " \u00a0"], 8)


def _scripts(rng: random.Random) -> str:
    inside = [w for w in WORDS if w not in ("½²", "ſ")]
    return _joined(rng, inside, [" ", "", ", ", "! ", "’s "], 6)[:60]


_MEMBERS: dict[str, Callable[[random.Random], str]] = {
    "date": lambda rng: (
        f"{rng.randrange(10000):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 32):02}"
    ),
    "ipv4": lambda rng: ".".join(str(rng.randrange(256)) for _ in range(4)),
    "uuid": lambda rng: str(UUID(int=rng.getrandbits(128))),
    "enum": lambda rng: rng.choice(GRAMMARS["enum"].split("|")),
    "string": _string,
    "object": _object,
    "url": _url,
    "email": lambda rng: (
        _letters(rng, "abcdeinorst09._+-", 1, 14) + "@" + _letters(rng, "abegilmo-1", 1, 9) + ".com"
    ),
    "words": _words,
    "any": _any,
    "code": _code,
    "scripts": _scripts,
}
