"""Places: schemas where they stand, with what their references mean there.

A place is a schema object, the base URI that its references are resolved against, the draft that
says which keywords it has, and where the document refers dynamically, the resources on the way to
it (its dynamic scope).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from constrain.artifacts.container.regular import is_stream, regular

from ..diagnostics import Source, Span, closest
from ..limits import Limits, check_size_in_force
from .alike import Alike
from .drafts import METASCHEMAS, NEWEST, Draft
from .keywords.known import schemas_in
from .keywords.names import NoAnchorError, Resources
from .keywords.openapi import add_null
from .keywords.shapes import NO_SCHEMA, Schemas, wrong_in
from .notes import Notes, Refused
from .options import DRAFTS, OPENAPI, SchemaOptions
from .read import Document, Json, escaped, read_json

_NAMES = frozenset({"$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "id"})

# What relative references are resolved against where nothing else is said.
_BASE = "file:///"


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A schema object where it stands; ``number`` counts places from 0.

    ``pointer``: from the root, or with the URI of another document before it. ``span``: of the
    schema in the text, None in another document. ``base``: what references are resolved against.
    ``scope``: the resources entered on the way, outermost first, each once.
    """

    number: int
    schema: Mapping[str, Json]
    pointer: str
    span: Span | None
    base: str
    scope: tuple[str, ...]
    draft: Draft

    def refused(self, message: str, hint: str = "", *steps: str | int | None) -> Refused:
        """The error of this place or of what is inside."""
        return Refused(self.at(*steps), message, hint)

    def said(self, keyword: str) -> Json:
        """What a keyword has, None where it is missing. Raises ``Refused``, as all of these do for
        what it cannot have."""
        if keyword not in self.schema:
            return None
        value = self.schema[keyword]
        for steps, message, hint in wrong_in(keyword, value, self.draft):
            raise self.refused(message, hint, keyword, *steps)
        return value

    def count(self, keyword: str) -> int | None:
        """The natural number that a keyword has, None where it is missing."""
        found = self.fraction(keyword)
        return None if found is None else int(found)

    def fraction(self, keyword: str) -> Fraction | None:
        """The number that a keyword has, None where it is missing, or true or false (draft 4)."""
        found = self.said(keyword)
        return None if found is None or isinstance(found, bool) else exact(found, self, keyword)

    def mapping(self, keyword: str) -> Mapping[str, Json]:
        """The object that a keyword has, empty where it is missing, or none in this draft."""
        found = self.said(keyword)
        return found if isinstance(found, dict) else {}

    def listing(self, keyword: str) -> list[Json]:
        """The array that a keyword has, empty where it is missing, or none in this draft."""
        found = self.said(keyword)
        return found if isinstance(found, list) else []

    def at(self, *steps: str | int | None) -> str:
        """The pointer of what is inside."""
        return self.pointer + "".join(f"/{escaped(s)}" for s in steps if s is not None)


# The largest exponent of a number: it has as many digits.
_MOST_EXPONENT = 4_000


def exact(value: int | Decimal, near: Place, *steps: str | int) -> Fraction:
    """A number as a fraction. Raises ``Refused`` for one with thousands of digits."""
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > _MOST_EXPONENT:
        raise near.refused(f"a number of more than {_MOST_EXPONENT:,} digits", "", *steps)
    return Fraction(value)


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A schema of a document that is a resource of its own: its ``pointer`` there, what it is, the
    base of its references and its draft."""

    pointer: str
    schema: Json
    base: str
    draft: Draft


class Places:
    """All places of a document and of those that it refers to, each once.

    ``roots``: the pointers of the schemas in it, if it is none itself; what in them is alike has
    one place then, the first. ``are_plain``: it is known that all of them are (``keywords.plain``),
    so that references lead to places by their pointers. ``has_names``: whether schemas inside may
    have names of their own.
    """

    def __init__(
        self,
        document: Document,
        options: SchemaOptions,
        notes: Notes,
        limits: Limits,
        roots: Sequence[str] | None = None,
        *,
        are_plain: bool = False,
        has_names: bool = True,
    ) -> None:
        self.document, self.notes, self.are_plain = document, notes, are_plain
        self._options, self._limits = options, limits
        self._read: Resources | None = None
        self._alike = None if roots is None else Alike()
        self._places: dict[tuple[int, str, tuple[str, ...], Draft], Place] = {}
        # Keeps what was made here alive, so that no other object gets its ``id``.
        self._made: dict[str, Json] = {}
        unsaid = Draft(NEWEST, is_lenient=True)
        self._unsaid = Draft(DRAFTS[options.draft]) if options.draft else unsaid
        if options.draft == OPENAPI:
            add_null(document.value)
        if roots is None:
            self.roots = [self._root("", document.value, _BASE)]
        else:
            values = map(document.at, roots)
            bases = (f"{_BASE}{i}/" for i in range(len(roots)))
            self.roots = list(map(self._root, roots, values, bases))
        # Without names inside and without others, pointers lead to all that there is.
        self._has_names = not are_plain and (has_names or bool(options.schemas))
        if self._has_names:
            _ = self._resources
        self._by_base = {root.base: root for root in self.roots}
        self.draft = self.roots[0].draft if self.roots else self._unsaid
        self.base = self.roots[0].base if self.roots else _BASE
        text = document.source.text
        self._is_dynamic = (
            '"$dynamicRef"' in text
            or '"$recursiveRef"' in text
            or "json-schema.org/draft/20" in text
            or bool(options.schemas)
        )

    def _root(self, pointer: str, schema: Json, base: str) -> Root:
        draft = self.draft_of(schema, self._unsaid, f"#{pointer}")
        return Root(pointer, schema, urljoin(base, draft.name_of(schema) or ""), draft)

    @cached_property
    def _resources(self) -> Resources:
        """The other resources, the roots and the schemas with names in them."""
        named: dict[str, Root] = {}
        for root in self.roots:
            if named.setdefault(root.base, root).schema != root.schema:
                other = f"#{named[root.base].pointer}"
                hint = "references could mean either of them: rename one"
                raise Refused(f"#{root.pointer}", f"{other} has the same $id", hint)
        found = self._others()
        for root in self.roots:
            number, has_names = root.draft.number, self._has_names
            found.add(root.base, root.schema, number, is_named=True, has_names=has_names)
        return found

    def _others(self) -> Resources:
        """The schemas in folders. Raises ``DialectError``, ``OSError``."""
        if self._read is not None:
            return self._read
        options, limits = self._options, self._limits
        found = self._read = Resources()
        for uri, folder in options.schemas:
            for path in sorted(Path(folder).rglob("*.json")):
                if is_stream(path):
                    continue
                name = path.relative_to(folder).as_posix()
                inside = regular(path, below=folder)
                check_size_in_force(inside.stat().st_size, f"reading {path}")
                text = inside.read_text(encoding="utf-8", errors="surrogateescape")
                value = read_json(Source(text, str(path), "json-schema"), limits).value
                if not isinstance(value, dict | bool):
                    continue
                if options.draft == OPENAPI:
                    add_null(value)
                at = (
                    urljoin(uri or _BASE, name) if not uri or uri.endswith("/") else f"{uri}/{name}"
                )
                draft = self.draft_of(value, self._unsaid, f"{at}#", is_used=False)
                found.add(at, value, draft.number)
        return found

    def at(self, pointer: str) -> Place | bool:
        """The place of the schema at a pointer, ``#`` for the whole. Raises ``Refused``."""
        schema, base, span = self.document.value, self.base, Span(0, 0)
        if pointer != "#":
            try:
                schema, base = self._resources.lookup(base, pointer)
            except (LookupError, TypeError, ValueError):
                hint = "the start is a JSON pointer into the schema, such as '#/$defs/item'"
                raise Refused(pointer, "there is no such schema to start from", hint) from None
        return self._of(schema, pointer, base, (), self.draft, span, True)

    def of_root(self, root: Root) -> Place | bool:
        """The place of a root."""
        return self._of(root.schema, f"#{root.pointer}", root.base, (), root.draft, None, True)

    def inside(self, near: Place, *steps: str | int) -> Place | bool:
        """The place of a schema inside that of another one."""
        schema: Json = near.schema
        for step in steps:
            schema = schema[step]
        return self._of(schema, near.at(*steps), near.base, near.scope, near.draft, near.span)

    def made(self, schema: Mapping[str, Json], near: Place | None) -> Place:
        """The place of a schema that stands for a keyword of another one, or for itself; of draft
        2020-12."""
        key = json.dumps(schema, default=str)
        kept = self._made.setdefault(key, schema)
        at = ("#", self.base, None) if near is None else (near.pointer, near.base, near.span)
        found = self._of(kept, at[0], at[1], (), Draft(NEWEST), at[2])
        assert isinstance(found, Place)
        return found

    def like(self, schema: Mapping[str, Json], near: Place) -> Place | bool:
        """The place of a schema that stands for another one, at that one's place."""
        kept = self._made.setdefault(json.dumps([near.number, schema], default=str), schema)
        return self._of(kept, near.pointer, near.base, near.scope, near.draft, near.span, True)

    def order_of(self, pointer: str) -> int:
        """Where the value at a pointer begins; after all where that is another document."""
        span = self.document.spans.get(pointer.removeprefix("#"))
        return len(self.document.source.text) if span is None else span.start

    def referred(self, near: Place, keyword: str) -> Place | bool:
        """The place that a reference leads to. Raises ``Refused`` where there is none."""
        reference = str(near.said(keyword))
        try:
            contents, base = self._resources.lookup(near.base, reference)
        except (LookupError, TypeError, ValueError) as error:
            hint = "a name was misspelt, or its schema is not here: --schemas DIR reads more"
            message = f"nothing is found at {reference!r}"
            meant = self._meant(reference, near)
            if meant is not None:
                hint = f"did you mean {meant!r}?"
            elif isinstance(error, NoAnchorError):
                hint = "no $anchor has this name"
            raise near.refused(message, hint, keyword) from None
        scope, root = near.scope, self._by_base.get(near.base)
        pointer = urljoin(near.base, reference)
        if root is not None and (reference == "#" or reference.startswith("#/")):
            pointer = f"#{root.pointer}{reference[1:]}"
        if keyword == "$dynamicRef":
            name = pointer.partition("#")[2]
            contents, base = self._dynamic(contents, base, name, (*scope, near.base))
        elif keyword == "$recursiveRef":
            contents, base = self._recursive(contents, base, (*scope, near.base))
        if self._is_dynamic and near.base not in scope:
            scope = (*scope, near.base)
        draft = near.draft
        if base != near.base:
            draft = self._draft_at(base, draft)
        return self._of(contents, pointer, base, scope, draft, near.span, True)

    def _meant(self, reference: str, near: Place) -> str | None:
        """The reference that was probably meant: to a schema of that name at another place, or to
        one that is called nearly so."""
        uri, _, fragment = reference.partition("#")
        base = urldefrag(near.base).url
        if uri and self._resources.get(urljoin(near.base, uri)) is None:
            # A pointer without its "#", or a name alone.
            uri, fragment = "", f"/{uri.lstrip('/')}"
        schemas = dict(schemas_in(self._resources.get(urljoin(base, uri) if uri else base)))
        anchors = [
            schema.get("$anchor") or schema.get("$dynamicAnchor") for schema in schemas.values()
        ]
        name = fragment.rpartition("/")[2]
        alike = [pointer for pointer in schemas if name and pointer.rpartition("/")[2] == name]
        if name in anchors:
            found: str | None = name
        elif alike:
            found = min(alike, key=len)
        else:
            known = [*schemas, *(each for each in anchors if isinstance(each, str))]
            found = closest(fragment, known, 0.8)
        return None if found is None else f"{uri}#{found}"

    def _dynamic(
        self, contents: Json, base: str, name: str, scope: tuple[str, ...]
    ) -> tuple[Json, str]:
        """Where ``$dynamicRef`` leads: the outermost resource with that dynamic anchor."""
        if not isinstance(contents, dict) or contents.get("$dynamicAnchor") != name:
            return contents, base
        for uri in scope:
            found, is_dynamic = self._resources.anchored(uri, name) or (None, False)
            if is_dynamic:
                return found, uri
        return contents, base

    def _recursive(self, contents: Json, base: str, scope: tuple[str, ...]) -> tuple[Json, str]:
        """Where ``$recursiveRef`` leads: the outermost resource that is marked."""
        if not isinstance(contents, dict) or contents.get("$recursiveAnchor") is not True:
            return contents, base
        for uri in scope:
            found = self._resources.get(uri)
            if isinstance(found, dict) and found.get("$recursiveAnchor") is True:
                return found, uri
        return contents, base

    def _of(
        self,
        schema: Json,
        pointer: str,
        base: str,
        scope: tuple[str, ...],
        draft: Draft,
        span: Span | None,
        is_entered: bool = False,
    ) -> Place | bool:
        """The place of a schema; ``is_entered``: ``base`` is that of its own ``$id`` already."""
        if isinstance(schema, bool):
            return schema
        if self._alike is not None and isinstance(schema, dict):
            kept = self._alike.kept(schema)
            if kept is not None:
                # No reference is in it, and so it means the same with any base.
                schema, base, scope = kept, _BASE, ()
        own = self.document.pointers.get(id(schema))
        if own is not None:
            pointer, span = f"#{own}", self.document.spans.get(own)
        if not isinstance(schema, dict):
            raise Refused(pointer, NO_SCHEMA)
        if isinstance(schema.get("$schema"), str):
            draft = self.draft_of(schema, draft, pointer)
        if not is_entered and not (draft.has_references_alone and "$ref" in schema):
            name = draft.name_of(schema)
            if name:
                base = urljoin(base, name)
        key = (id(schema), base, scope, draft)
        found = self._places.get(key)
        if found is None:
            found = Place(len(self._places), schema, pointer, span, base, scope, draft)
            self._places[key] = found
        return found

    def _draft_at(self, base: str, draft: Draft) -> Draft:
        """The draft of the document that a reference leads to."""
        pointer = "#" if base == self.base else f"{base}#"
        return self.draft_of(self._resources.get(base), draft, pointer)

    def draft_of(
        self, schema: Json, otherwise: Draft, pointer: str, *, is_used: bool = True
    ) -> Draft:
        """What ``$schema`` says, also by way of a metaschema of one's own. ``pointer``: of the
        schema, for what is noted of it if it ``is_used``. Raises ``Refused``."""
        at = f"{pointer}/$schema" if "#" in pointer else f"{pointer}#/$schema"
        uri = schema.get("$schema") if isinstance(schema, dict) else None
        has_validation = True
        for _ in range(8):
            if not isinstance(uri, str):
                break
            number = METASCHEMAS.get(uri.rstrip("#").rpartition("://")[2])
            if number is not None:
                return Draft(number, has_validation=has_validation)
            if "json-schema.org/draft-0" in uri:
                message = f"there is no grammar for {uri!r}"
                raise Refused(at, message, f"drafts are {', '.join(DRAFTS)}")
            contents = None if self.are_plain else self._others().get(uri)
            if not isinstance(contents, dict):
                if is_used:
                    self.notes.add(at, f"{uri!r} is not known: keywords of all drafts")
                break
            used = contents.get("$vocabulary")
            if isinstance(used, dict):
                has_validation &= any(name.endswith("/vocab/validation") for name in used)
            uri = contents.get("$schema")
        return otherwise


def have_names(schemas: Schemas) -> bool:
    """Whether a schema inside another one has a name or a draft of its own."""
    return any(pointer and not _NAMES.isdisjoint(schema) for pointer, schema in schemas)
