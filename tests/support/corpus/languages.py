"""Languages that tests compile for real tokenizers, with all their members or random ones."""

import random
from collections.abc import Callable
from uuid import UUID

from support import EXAMPLES
from support.corpus.recorded import Language
from support.grammars import DYCK, JSON, MARKUP, SAMPLES, STATEMENTS

# Grammars with finitely many members, most of them through rules that several places use.
_RULES = {
    "pairs": "start ::= v ',' v; v ::= '[' w ']' | w; w ::= 'ab' | 'a' | 'the' | ' the' | '';",
    "words": "start ::= w s w s w; s ::= ' ' | '  ' | ', ';w ::= 'in' | 'int' | 'inter' | 'I\\'m';",
    "nested": "start ::= '{' o '}' | o; o ::= '[' v ']' | v v; v ::= '(' w ')' | w;"
    "w ::= '1' | '22' | 'x';",
    "spaces": "start ::= l l | '-' l; l ::= ' ' w '\\n' | '\\n' w ' ';w ::= '' | ' ' | '  ' | 'a';",
    "scripts": "start ::= w '-' w | w w; w ::= 'é' | '漢' | 'ก็' | '😀' | 'a' | '';",
    "objects": "start ::= o; o ::= '{' p '}' | '{' p ', ' p '}'; p ::= k ': ' v;"
    "k ::= '\"a\"' | '\"id\"'; v ::= 'true' | 'null' | '[]' | '12' | '\"\"';",
    "optional": "start ::= x y z | z x; x ::= 'tion' | 'ti' | ''; y ::= 'on' | 's' | '';"
    "z ::= x | x x;",
    "contractions": "start ::= w e w; e ::= '\\'s' | '\\'' | '\\'ll ' | ' ';"
    "w ::= 'we' | 'he' | 'sa' | 'l';",
}

# Languages whose members can all be encoded.
_EXPRESSIONS = {
    "date": r"20[0-9]{2}-(0[1-9]|1[0-2])-01",
    "white space": r"(a|\n| |1){0,6}",
    "contractions": r"(I|we|they)('s|'t|'re|'ll|s| s|'S)?( [a-d]{0,2})?[ .]{0,3}",
    "scripts": r"(é|漢|ก็|😀|x| ){0,4}",
    "quotes": r'"[ab ]{0,4}"(, "[ab]{0,2}")?',
}
# Few letters, so that all ways on can be encoded; spaces and digits are cut off.
_FEW_LETTERS = {
    "words": "[te]+( [te]+)*",
    "spaces": "( |t|\n)*",
    "letters": "(th|he|in|er)*(s|!)?",
    "numbers": "[1e]*(, ?[1e]+)*",
}

WORDS = [
    *("the", "of", "and", "to", "international", "tokenization", "I'm", "don't", "we'll", "THE"),
    *("a", "x", "zq", "'s", "hello", "wor", "ld", "straße", "naïve", "東京", "漢字仮名", "привет"),
    *("мир", "ελληνικά", "नमस्ते", "ไทย", "😀👍🏽", "½²", "ſ"),
]


STRING = r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"'


VALUE = rf"({STRING}|-?(0|[1-9][0-9]*)(\.[0-9]+)?|true|false|null)"


_TYPICAL = {
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


def member(language: Language, rng: random.Random) -> str:
    """A random member, made without the grammar."""
    return _MEMBERS[language.name](rng)


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


def _person(rng: random.Random) -> str:
    letters = "".join(rng.choice("etaoinshrdlucmwfgypbvkjxqz") for _ in range(rng.randrange(1, 12)))
    word = rng.choice([letters, "william", "the", "aaaaaa", "internationalization"])
    age = rng.choice([0, rng.randrange(1, 120), rng.randrange(10**9)])
    return f'{{"name": "{word}", "age": {age}, "admin": {rng.choice(["true", "false"])}}}'


def _word(rng: random.Random) -> str:
    return rng.choice(SMALL_EXAMPLES["words"].text.split('"')[1::2])


_MEMBERS: dict[str, Callable[[random.Random], str]] = {
    "date": lambda rng: (
        f"{rng.randrange(10000):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 32):02}"
    ),
    "ipv4": lambda rng: ".".join(str(rng.randrange(256)) for _ in range(4)),
    "uuid": lambda rng: str(UUID(int=rng.getrandbits(128))),
    "enum": lambda rng: rng.choice(_TYPICAL["enum"].split("|")),
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
    "the example words": _word,
    "the example person": _person,
}
_MEMBERS |= {f"the example {name}": _MEMBERS[name] for name in ("date", "ipv4")}


# What some tokenizer cuts, joins, rewrites or takes for something else.
PARTS = [
    *(
        " ",
        "  ",
        "\n",
        "\r",
        "\t",
        "\r\n",
        "\u00a0",
        "\u2028",
        "\u3000",
        "\u200d",
        "\ufeff",
        "\x00",
    ),
    *("a", "I", "A", "the", " the", "The", "ing", "s", "tion", "un", "http", "://", "_", "x_"),
    *(
        "'",
        "'s",
        "'S",
        "'ſ",
        "'ll",
        "n't",
        "’s",
        '"',
        "\\n",
        '":',
        "{",
        "}",
        "()",
        "=>",
        "...",
        "-",
    ),
    *("1", "12", "200", "2024", ",", ".", "!", "½", "²", "é", "e\u0301", "\u0301", "\u0323", "ß"),
    *(
        "ſ",
        "İ",
        "Å",
        "漢",
        "東京",
        "カ",
        "\u3099",
        "ก็",
        "\u0e33",
        "क्",
        "각",
        "ᄀ",
        "ᅡ",
        "😀",
        "👍🏽",
    ),
    *("▁", "▁▁", "<0x41>", "<", "|>", "<|endoftext|>", "<s>", "</s>", "[INST]", "<|im_end|>"),
]
_META = set("\\|()[]{}?*+.^$")
_MOST = 1200


def typical(name: str, full: bool) -> dict[str, Language]:
    """Those of ``TYPICAL`` that take no longer to compile for a tokenizer than the others."""
    long = ("scripts", "object", "string") if name == "mistral-v3" and not full else ()
    return {key: language for key, language in TYPICAL.items() if key not in long}


def random_language(rng: random.Random) -> Language:
    """A regular expression with at most ``_MOST`` members."""
    while True:
        regex, size = "", 1
        for _ in range(rng.randrange(2, 6)):
            parts = rng.sample(PARTS, rng.randrange(1, 6))
            least, most = rng.choice([(1, 1), (1, 1), (0, 1), (0, 2), (1, 2), (2, 2)])
            escaped = ("".join(f"\\{c}" if c in _META else c for c in part) for part in parts)
            regex += f"({'|'.join(escaped)}){{{least},{most}}}"
            size *= sum(len(parts) ** n for n in range(least, most + 1))
        if size <= _MOST:
            return Language(regex, regex, "regex")


# After each of them some tokenizer joins, cuts or normalizes what follows.
PROMPTS = [
    *("The answer is", "x = ", "It's 20", "a\n\n", "Größe: ", "don'", "  ", "1", '{"', "東京"),
    *("http", "```\n", "x\t", "I", "e", "\r\n", "12 3", "“", "ap", "no", "क", "😀", "https://"),
    *("re@", "-", "we'll", "they don't", "it's "),
]


def _languages(texts: dict[str, str], dialect: str) -> dict[str, Language]:
    return {name: Language(name, text, dialect) for name, text in texts.items()}


# All members can be encoded.
FINITE = {**_languages(_EXPRESSIONS, "regex"), **_languages(_RULES, "kbnf")}
# All ways on by few bytes can be.
INFINITE = _languages(_FEW_LETTERS, "regex")
# Random members are ``member(language, rng)``.
TYPICAL = _languages(_TYPICAL, "regex")
# The examples that are regular; so are theirs.
SMALL_EXAMPLES = {
    name: Language(f"the example {name}", (EXAMPLES / file).read_text(encoding="utf-8"), dialect)
    for name, file, dialect in (
        ("date", "date.ebnf", "kbnf"),
        ("ipv4", "ipv4.regex", "regex"),
        ("words", "words.ebnf", "kbnf"),
        ("person", "person.ebnf", "kbnf"),
    )
}
# With a member.
NESTING = {
    name: Language(name, text, "kbnf", accepted=(SAMPLES[text],))
    for name, text in (
        ("json", JSON),
        ("dyck", DYCK),
        ("markup", MARKUP),
        ("statements", STATEMENTS),
    )
}
# Marks in brackets, and three marks that must follow an e: with what a normalization form changes.
_MARKS = "start ::= '(' start ')' | m m m | start 'e' m; m ::= '\u0323' | '\u0301' | '\u0327';"
MARKED = {name: NESTING[name] for name in ("json", "markup")}
MARKED["marks"] = Language("marks", _MARKS)
