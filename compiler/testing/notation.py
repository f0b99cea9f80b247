r"""Bytes and tokens as case files write them.

escaped   \n \r \t \0 \\ \"   \x{1F600} a character   \y{FF} a byte
tokens    2024 "-0" <[262]> <|im_end|>   a text, a text in quotes, an id, an added token's name
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAMED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\", '"': '"'}
_NAMES = {char: name for name, char in _NAMED.items()}

_ESCAPE = re.compile(r"\\(?:([nrt0\\\"])|x\{([0-9A-Fa-f]{1,6})\}|y\{([0-9A-Fa-f]{2})\})")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(?=\s|$)|<\[([0-9]{1,9})\]>(?=\s|$)|(\S+)')
_BARE = re.compile(r'(?!["#]|<\[)[^\s\\]+')


class NotationError(ValueError):
    """``place``: of the character that is at fault."""

    def __init__(self, message: str, place: int, help_: str | None = None) -> None:
        super().__init__(message)
        self.message, self.place, self.help = message, place, help_


def unescaped(text: str) -> bytes:
    """The bytes that an escaped text says. Raises ``NotationError``."""
    found, place = bytearray(), 0
    while (next_ := text.find("\\", place)) >= 0:
        found += text[place:next_].encode()
        match = _ESCAPE.match(text, next_)
        if match is None:
            shown = text[next_ : next_ + 2]
            raise NotationError(
                f"there is no escape '{shown}' here",
                next_,
                r"write \n \r \t \0 \\ \" \x{1F600} for a character, or \y{FF} for a byte",
            )
        if match[3]:
            found.append(int(match[3], 16))
        elif match[2]:
            code = int(match[2], 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise NotationError(f"U+{code:04X} is no character", next_)
            found += chr(code).encode()
        else:
            found += _NAMED[match[1]].encode()
        place = match.end()
    return bytes(found + text[place:].encode())


def escaped(octets: bytes) -> str:
    """Bytes on one line: what cannot be seen, backslashes and quotes escaped."""
    found = []
    for char in octets.decode("utf-8", "surrogateescape"):
        if char in _NAMES:
            found.append("\\" + _NAMES[char])
        elif "\udc80" <= char <= "\udcff":
            found.append(f"\\y{{{ord(char) - 0xDC00:02X}}}")
        else:
            found.append(char if char.isprintable() else f"\\x{{{ord(char):X}}}")
    return "".join(found)


def from_hex(text: str) -> bytes:
    """Bytes of pairs of digits, with white space anywhere between them. Raises
    ``NotationError``."""
    wrong = re.search(r"[^0-9A-Fa-f\s]", text)
    if wrong is not None:
        raise NotationError(f"'{wrong[0]}' is no hexadecimal digit", wrong.start())
    digits = re.sub(r"\s", "", text)
    if len(digits) % 2:
        raise NotationError("a byte is written by two digits, and one stands alone", len(text))
    return bytes.fromhex(digits)


@dataclass(frozen=True, slots=True)
class Token:
    """A token by its bytes, or by its id; ``shown`` as it is written."""

    octets: bytes | None
    token_id: int | None
    shown: str


def tokens_of(text: str) -> list[Token]:
    """The tokens of a list. Raises ``NotationError``."""
    found = []
    for match in _TOKEN.finditer(text):
        if match[1] is not None:
            try:
                found.append(Token(unescaped(match[1]), None, match[0]))
            except NotationError as error:
                raise NotationError(
                    error.message, match.start(1) + error.place, error.help
                ) from None
        elif match[2] is not None:
            found.append(Token(None, int(match[2]), match[0]))
        elif match[3].startswith('"'):
            raise NotationError(
                "a text in quotes ends in a quote, with white space after it",
                match.start(),
                r"inside quotes write \" for a quote",
            )
        else:
            found.append(Token(match[3].encode(), None, match[0]))
    return found


def written(octets: bytes) -> str:
    """A token's text as a list has it: bare, or in quotes."""
    text = octets.decode("utf-8", "surrogateescape")
    is_bare = _BARE.fullmatch(text) is not None and text.isprintable()
    return text if is_bare else f'"{escaped(octets)}"'


def listed(tokens: Iterable[tuple[int, bytes | None]]) -> str:
    """Tokens as a list has them, those without a text by their ids."""
    return " ".join(f"<[{i}]>" if octets is None else written(octets) for i, octets in tokens)
