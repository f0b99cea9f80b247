"""What the formats of a structural tag are written with: expressions, rules, free text, parts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..automata import regex_ir as regex
from ..automata.boolean import embedded
from ..diagnostics import Diagnostic, Span
from ..grammar import tree
from ..limits import Limits
from ..schema.notes import Refused, together
from ..schema.options import SchemaOptions
from ..schema.read import Document, Json
from .free_text import texts_without
from .other_languages import JSON, Part, PartError, Reading, ReadPart, part_of_text, schemas

# A token as it is named: by its number or its text.
TokenName: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Around:
    """The nearest tag around a format: the texts, or the token, that end it."""

    texts: tuple[str, ...] = ()
    tokens: tuple[TokenName, ...] = ()


class Writing(ABC):
    """``rules``, ``notes`` and ``embedded`` are what a grammar has; ``wrong`` is what is not
    enforced or has no meaning."""

    def __init__(
        self, document: Document, options: SchemaOptions, limits: Limits, read_part: ReadPart
    ) -> None:
        self.document, self.options, self.limits = document, options, limits
        self._read_part = read_part
        self.rules: list[tree.Rule] = []
        self.notes: list[Diagnostic] = []
        self.embedded: list[tree.Embedded] = []
        self.wrong: list[Diagnostic] = []
        self._texts: dict[tuple[frozenset[str], frozenset[str]], str] = {}
        # How many rules of free text there are by their pointers.
        self._texts_at: dict[str, int] = {}
        self._schemas: dict[Reading, list[tuple[str, str]]] = {}
        self._span = Span(0, 0)

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

    def text(self, text: str) -> tree.Expr:
        return tree.Literal(text.encode("utf-8"), self._span)

    def sequence(self, *items: tree.Expr) -> tree.Expr:
        kept = [i for i in items if not (isinstance(i, tree.Literal) and not i.data)]
        if len(kept) < 2:
            return kept[0] if kept else self.text("")
        return tree.Sequence(tuple(kept), self._span)

    def choice(self, options: Sequence[tree.Expr]) -> tree.Expr:
        return options[0] if len(options) == 1 else tree.Choice(tuple(options), self._span)

    def repetition(self, item: tree.Expr, least: int, most: int | None) -> tree.Expr:
        if most == 0:
            return self.text("")
        return item if least == most == 1 else tree.Repetition(item, least, most, self._span)

    def rule(self, name: str, body: tree.Expr) -> tree.Expr:
        """A rule of a name, and the use of it."""
        self.rules.append(tree.Rule(name, self._span, body, self._span))
        return tree.Reference(name, self._span)

    def free_text(
        self, pointer: str, inside: Iterable[str], at_end: Iterable[str] = ()
    ) -> tree.Expr:
        """Any text that contains none of ``inside`` and ends with none of ``at_end``."""
        key = frozenset(inside), frozenset(at_end)
        name = self._texts.get(key)
        if name is not None:
            return tree.Reference(name, self._span)
        count = self._texts_at[pointer] = self._texts_at.get(pointer, 0) + 1
        name = f"#{pointer} text{f' {count}' * (count > 1)}"
        self._texts[key] = name
        node: regex.Node = regex.EVERYTHING
        if any(key):
            node = embedded(texts_without(*key, self.limits, [name]))
        return self.rule(name, tree.Pattern(node, "any text", self._span))

    def one_token(self, names: Sequence[TokenName], *, negated: bool = False) -> tree.Expr:
        """One of these tokens, or any but these."""
        numbers = sorted({each for each in names if isinstance(each, int)})
        texts = list(dict.fromkeys(each for each in names if isinstance(each, str)))
        if not texts:
            ids = tuple((each, each) for each in numbers)
            return tree.Token(None, ids, negated, self._span)
        return tree.Token(texts[0], (), negated, self._span, (*texts[1:], *numbers))

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
