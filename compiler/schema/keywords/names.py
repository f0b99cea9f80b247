"""Schemas by their URIs: documents, and the schemas in them that have names of their own.

    {"$id": "http://a/b", "$defs": {"c": {"$anchor": "d"}}}     http://a/b   http://a/b#d

What stands where a schema may is looked at, by any draft, and what is none is skipped: the wrong
shape of a keyword is said where the keyword is read.
"""

from collections.abc import Iterator
from urllib.parse import unquote, urldefrag, urljoin

from ...limits import check_in_force
from ..drafts import METASCHEMAS, anchors_of, name_in
from ..notes import Refused
from ..read import Json, value_at
from .known import inside_of

# Keywords whose values are texts.
_TEXTS = ("$schema", "$id", "id", "$anchor", "$dynamicAnchor")


class NoAnchorError(LookupError):
    """No schema of a resource has an anchor."""


class Resources:
    """What references may lead to; the metaschemas are known."""

    def __init__(self) -> None:
        self._schemas: dict[str, Json] = {}
        # By the resource and the anchor; and whether it is a dynamic one.
        self._anchors: dict[tuple[str, str], tuple[Json, bool]] = {}
        # The URIs of schemas that have names, by their ``id``.
        self._bases: dict[int, str] = {}

    def add(
        self,
        uri: str,
        schema: Json,
        number: int,
        *,
        is_named: bool = False,
        has_names: bool = True,
    ) -> None:
        """A document of a draft, and all in it if it ``has_names`` inside. ``is_named``: the URI is
        the name that it says itself. Raises ``Refused``."""
        self._schemas[uri.rstrip("#")] = schema
        pending = [(uri, schema, number)] if has_names else []
        while pending:
            check_in_force("finding the schemas in a schema")
            base, current, draft = pending.pop()
            if not isinstance(current, dict):
                continue
            name = name_in(current, draft)
            if name is not None:
                base = uri if is_named and current is schema else urljoin(base, name).rstrip("#")
                self._schemas[base] = current
                self._bases[id(current)] = base
            for anchor, is_dynamic in anchors_of(current, draft):
                self._anchors[base, anchor] = current, is_dynamic
            has_own = "$schema" in current and current is not schema
            for each in _inside(current):
                if all(isinstance(each.get(text, ""), str) for text in _TEXTS):
                    uri_of_draft = each.get("$schema", "").rstrip("#").rpartition("://")[2]
                    pending.append((base, each, METASCHEMAS.get(uri_of_draft, draft)))
                elif has_own:
                    hint = "$id, id and anchors are strings"
                    raise Refused("#", "the name of a schema inside is no string", hint)

    def get(self, uri: str) -> Json | None:
        """The schema of a name; None where there is none."""
        uri = uri.rstrip("#")
        if uri not in self._schemas:
            from jsonschema_specifications import REGISTRY

            found = REGISTRY.get(uri)
            if found is None:
                return None
            number = METASCHEMAS.get(uri.rpartition("://")[2], max(METASCHEMAS.values()))
            self.add(uri, found.contents, number)
        return self._schemas[uri]

    def anchored(self, uri: str, name: str) -> tuple[Json, bool] | None:
        """The schema of an anchor, and whether it is a dynamic one."""
        own = self._bases.get(id(self.get(uri)), uri)
        return self._anchors.get((uri, name)) or self._anchors.get((own, name))

    def lookup(self, base: str, reference: str) -> tuple[Json, str]:
        """The schema that a reference leads to, and what references in it are resolved against.
        Raises ``LookupError``, ``TypeError`` and ``ValueError`` where there is none."""
        uri, fragment = base, reference[1:]
        if not reference.startswith("#"):
            uri, fragment = urldefrag(urljoin(base, reference))
        found = self.get(uri)
        if found is None:
            raise LookupError(uri)
        if fragment and not fragment.startswith("/"):
            anchored = self.anchored(uri, fragment)
            if anchored is None:
                raise LookupError(fragment) if "/" in fragment else NoAnchorError(fragment)
            found = anchored[0]
        for step in unquote(fragment).split("/")[1:] if fragment.startswith("/") else ():
            found = value_at(found, f"/{step}")
            uri = self._bases.get(id(found), uri)
        return found, uri.rstrip("#")


def _inside(schema: Json) -> Iterator[Json]:
    """The objects that stand where schemas may."""
    for keyword, value in schema.items():
        yield from (each for _, each in inside_of(keyword, value) or () if isinstance(each, dict))
