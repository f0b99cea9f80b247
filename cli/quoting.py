"""Bytes as people read them: tokens in quotes, members on a line."""


def text_of(octets: bytes) -> str:
    """Bytes as text; those that are not UTF-8 as lone surrogates, as Python's os does."""
    return octets.decode("utf-8", "surrogateescape")


def quoted(octets: bytes) -> str:
    """A token for people: quoted, with escapes; bytes that are no character as \\xNN."""
    text = text_of(octets)
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    shown = ("\\" + char if char in '"\\' else _shown(char) for char in text)
    return '"' + "".join(shown) + '"'


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
