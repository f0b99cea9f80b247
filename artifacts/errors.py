"""The base of every error that this project raises on purpose, and how foreign text is shown."""

import re

# DEL, the controls of Latin-1, what turns the direction of the text after it, what ends lines
# and paragraphs, and bytes that are no UTF-8.
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTROLS = {number: chr(0x2400 + number) for number in range(32) if number != 9}


def visible(text: object) -> str:
    """Text, or a path, on one line that a terminal shows and does not obey, one symbol for each
    character: ``"a\\x1bb" -> "a␛b"``. All foreign text in messages is shown so; a tab is a tab."""
    found = str(text)
    if found.isascii() and found.isprintable():
        return found
    return _HIDDEN.sub("\ufffd", found.translate(_CONTROLS))


class ConstrainError(Exception):
    """Something the user can mend; the message says what and how.

    ``exit_code`` is what the command line ends with: 2 for unusable input,
    3 for a limit that was hit.
    """

    exit_code = 2


class ArtifactError(ConstrainError):
    """A file that is no artifact, a damaged one, or one of another major version of the format."""


class WalkLimitError(ConstrainError):
    """What a token may be read as takes more than ``most`` threads, frames or sets of these."""

    exit_code = 3

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(
            f"a token can be read in too many ways: more than {most:,} threads; rules that "
            "overlap less, or are told from each other by their first characters, need fewer"
        )


class TokenRefusedError(ConstrainError):
    """``Matcher.advance`` was given a token that the mask does not allow.

    ``token_id`` is that token; the matcher has not moved.
    """

    exit_code = 1

    def __init__(self, token_id: int, reason: str) -> None:
        super().__init__(f"token {token_id} is refused: {reason}")
        self.token_id = token_id
