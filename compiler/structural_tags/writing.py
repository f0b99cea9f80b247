"""What formats are written with: schemas, parts in other languages, and what is wrong."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from ..diagnostics import Diagnostic
from ..grammar import tree
from ..limits import Limits
from ..schema.notes import Refused, together
from ..schema.options import SchemaOptions
from ..schema.read import Document, Json
from .dispatched import Dispatched
from .expressions import TokenName
from .other_languages import JSON, Part, PartError, Reading, ReadPart, part_of_text, schemas


@dataclass(frozen=True, slots=True)
class Around:
    """The nearest tag around a format: the texts, or the token, that end it."""

    texts: tuple[str, ...] = ()
    tokens: tuple[TokenName, ...] = ()


class Writing(Dispatched, ABC):
    """``rules``, ``notes`` and ``embedded`` are what a grammar has."""

    def __init__(
        self, document: Document, options: SchemaOptions, limits: Limits, read_part: ReadPart
    ) -> None:
        super().__init__(limits)
        self.document, self.options, self._read_part = document, options, read_part
        self.notes: list[Diagnostic] = []
        self.embedded: list[tree.Embedded] = []
        self._schemas: dict[Reading, list[tuple[str, str]]] = {}

    @abstractmethod
    def format(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        """The expression of the format at a pointer."""

    @abstractmethod
    def rest_of(self, pointer: str, value: Json) -> tree.Expr:
        """The content and the end of a tag."""

    def refuse(self, pointer: str, message: str, hint: str = "") -> tree.Expr:
        """Note what is not enforced or has no meaning, and go on."""
        self.wrong.append(Refused(f"#{pointer}", message, hint).placed(self.document.spans))
        return self.text("")

    def schema(
        self,
        pointer: str,
        options: SchemaOptions,
        excludes: tuple[str, ...] = (),
        style: str = JSON,
    ) -> tree.Expr:
        """The instances of the JSON Schema at a pointer, in a style, whose strings contain none of
        ``excludes``. Its rules are written at the end, with those of all schemas that are read in
        the same way."""
        self._schemas.setdefault((options, excludes), []).append((pointer, style))
        return tree.Reference(f"#{pointer.rpartition('/')[0]}", self._span)

    def write_schemas(self) -> None:
        """The rules of the schemas that were used."""
        for number, (reading, used) in enumerate(self._schemas.items()):
            try:
                part = schemas(self.document, used, reading, self.limits, number)
            except PartError as error:
                self.wrong += error.diagnostics
            else:
                self._take(part)

    def other(self, pointer: str, text: str, dialect: str) -> tree.Expr:
        source, span = self.document.source, self.document.spans[pointer]
        return self._part(
            lambda: part_of_text(source, span, text, pointer, dialect, self._read_part)
        )

    def _part(self, read: Callable[[], Part]) -> tree.Expr:
        try:
            part = read()
        except PartError as error:
            self.wrong += error.diagnostics
            return self.text("")
        self._take(part)
        return tree.Reference(part.start, self._span)

    def _take(self, part: Part) -> None:
        self.rules += part.rules
        self.notes[:] = together([*self.notes, *part.notes])
        self.embedded += part.embedded

    def note(self, pointer: str, message: str) -> None:
        self.notes.append(Refused(f"#{pointer}", message).placed(self.document.spans))
