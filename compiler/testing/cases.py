"""What a case is: a text, and what a grammar should say of it.

Equal cases say the same; where they stand is no part of that.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from constrain.artifacts.errors import visible

from ..diagnostics import Diagnostic, GrammarError, Source, Span


class CaseFileError(GrammarError):
    """A file of cases that cannot be read: what is wrong at which places."""


class Kind(StrEnum):
    """What the verdict on a text should be."""

    ACCEPT = "accept"
    REJECT = "reject"
    INCOMPLETE = "incomplete"
    # Rejected or incomplete: no member, whatever it may begin.
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Setting:
    """A line ``key: value``; ``span`` of the value, ``key_span`` of the key."""

    key: str
    value: str
    span: Span = field(default=Span(0, 0), compare=False)
    key_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Samples:
    """Members to draw: so many, by this seed."""

    number: int
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    ``body``: the text; of a case ``in_tokens`` the tokens, as ``notation`` writes them.
    ``start``: the rule to begin with, None for the grammar's own. ``skip`` and ``todo``: why, None
    where it is neither. ``command``: an external validator, which must take members and nothing
    else; ``samples``: the texts are drawn instead.

    ``source``: the file that it stands in; ``place``: of its name there. ``body_start``: where the
    text begins there if it stands there as it is.
    """

    name: str
    body: bytes
    kind: Kind = Kind.ACCEPT
    expectations: tuple[Setting, ...] = ()
    start: str | None = None
    skip: str | None = None
    todo: str | None = None
    fails_fast: bool = False
    in_tokens: bool = False
    command: str | None = None
    samples: Samples | None = None
    source: Source = field(default=Source("", "", ""), compare=False)
    place: Span = field(default=Span(0, 0), compare=False)
    body_start: int | None = field(default=None, compare=False)

    @property
    def line(self) -> int:
        """The line of its name, from 1."""
        return self.source.position(self.place.start)[0]

    def wrong(
        self, message: str, span: Span | None = None, help_: str | None = None
    ) -> "CaseFileError":
        """The error of this case, by default at its name."""
        return CaseFileError(self.source, [Diagnostic(visible(message), span or self.place, help_)])


@dataclass(frozen=True, slots=True)
class CaseFile:
    """Cases that stand together. ``settings``: what the file says of all; ``schema``: the text of
    the schema that they are about, where it stands in the same file. ``is_written``: in the format
    of case files, whose expectations can be rewritten."""

    source: Source
    cases: tuple[Case, ...]
    settings: tuple[Setting, ...] = ()
    schema: str | None = None
    is_written: bool = False

    @property
    def path(self) -> str:
        """The file, or the folder of cases that are files."""
        return self.source.name

    @property
    def folder(self) -> Path:
        """Where paths begin that the file names."""
        path = Path(self.path)
        return path if path.is_dir() else path.parent

    def setting(self, key: str) -> Setting | None:
        """What the file says by this key."""
        return next((each for each in self.settings if each.key == key), None)
