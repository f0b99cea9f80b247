"""Foreign text as people read it: names and messages, tokens in quotes, members on a line.

    visible     text in a message, one symbol for each character     "a\\x1bb" -> "a␛b"
    on_lines    the same of lines: the net below all that is written
    quoted      a token, with escapes                                b"a\\x1b" -> '"a\\\\x1b"'
    escaped     a member, from which it can be read again            b"a\\x1b" -> 'a\\\\x1b'

No character that a terminal obeys, or that turns or breaks a line, comes through any of them.
"""

from collections.abc import Iterable

from constrain.artifacts.errors import visible


def on_lines(text: str, most: int | None = None) -> str:
    """Lines of which each is ``visible``, and cut after ``most`` characters."""
    lines = text.split("\n")
    if most is not None:
        lines = [line if len(line) <= most else f"{line[:most]}…" for line in lines]
    return "\n".join(map(visible, lines))


def octets_of(text: str) -> bytes:
    """The inverse of ``text_of``; a lone surrogate that stands for no byte as an escape."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def text_of(octets: bytes) -> str:
    """Bytes as text; those that are not UTF-8 as lone surrogates, as Python's os does."""
    return octets.decode("utf-8", "surrogateescape")


def quoted(octets: bytes) -> str:
    """A token for people: quoted, with escapes; bytes that are no character as \\xNN."""
    return all_quoted((octets,))[0]


def all_quoted(tokens: Iterable[bytes]) -> list[str]:
    """Each of them ``quoted``. Nearly all of a vocabulary need no escapes and take no call."""
    texts = [octets.decode("utf-8", "surrogateescape") for octets in tokens]
    return [
        f'"{text}"'
        if text.isprintable() and '"' not in text and "\\" not in text
        else '"' + "".join("\\" + char if char in '"\\' else _shown(char) for char in text) + '"'
        for text in texts
    ]


def escaped(octets: bytes) -> str:
    """On one line without quotes: a backslash and what cannot be seen are escaped."""
    return "".join("\\\\" if char == "\\" else _shown(char) for char in text_of(octets))


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    if "\x80" <= char <= "\xff":
        return f"\\u{ord(char):04x}"  # Not to be taken for a byte.
    return char.encode("unicode_escape").decode("ascii")
