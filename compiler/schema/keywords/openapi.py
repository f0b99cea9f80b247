"""What OpenAPI 3.0 says otherwise than draft 4, which its schemas are of: null as a type.

    {"type": "string", "nullable": true}   ->   {"type": ["string", "null"], "nullable": true}

By version 3.0.3, ``nullable`` asks nothing where no ``type`` stands beside it, and adds no member
to ``enum``.
"""

from ...limits import check_in_force
from ..read import Json

# Keywords whose values are no schemas, and what has them as names, also outside of schemas.
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
_NAMES = frozenset(
    {"callbacks", "definitions", "dependencies", "headers", "parameters", "patternProperties"}
    | {"paths", "properties", "requestBodies", "responses", "schemas"}
)


def add_null(document: Json) -> None:
    """Put null among the types of each schema in a document that is ``nullable``, in place; a
    second time it changes nothing."""
    pending = [(document, False)]
    while pending:
        check_in_force("reading nullable")
        value, is_of_names = pending.pop()
        if isinstance(value, list):
            pending += [(each, False) for each in value]
        elif isinstance(value, dict):
            if not is_of_names and value.get("nullable") is True:
                given = value.get("type")
                types = [given] if isinstance(given, str) else given
                if isinstance(types, list) and "null" not in types:
                    value["type"] = [*types, "null"]
            for name, inside in value.items():
                if is_of_names or name not in _VALUES:
                    pending.append((inside, not is_of_names and name in _NAMES))
