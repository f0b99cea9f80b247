"""The options that say how a JSON Schema is read: a part of ``options.Given``."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Literal

from constrain.artifacts.errors import visible

from .console import UsageError
from .everywhere import panels

if TYPE_CHECKING:
    from constrain.compiler.schema import SchemaOptions


# Which keywords a schema has.
Draft = Literal["4", "openapi-3.0", "6", "7", "2019-09", "2020-12"]


# In which order an object's keys come.
Order = Literal["fixed", "any"]


# How integers are written.
Integer = Literal["plain", "decimal"]


# Which escapes texts may have where JSON needs none.
Escapes = Literal["usual", "any", "shortest"]


# What ``format`` asks of a text.
Formats = Literal["assert", "ignore", "refuse-unknown"]


# What becomes of a ``uniqueItems`` that no automaton decides.
Unique = Literal["refuse", "ignore"]


@dataclass(frozen=True, kw_only=True)
class OfSchemas:
    """What the command line says about JSON Schema, None for what it does not say.

    - ``draft``: The draft of a schema that does not say its own by $schema; openapi-3.0 has
      nullable.  [default: the keywords of all drafts]
    - ``order``: Of an object's keys. fixed: as the schema has them, others after; any: every order
      of a few keys.  [default: fixed]
    - ``any_limit``: Keys that may come in any order. Each doubles the states, but not where counts
      are kept while decoding.  [default: 256 there, else 6]
    - ``whitespace``: Between the tokens of a text. flexible: any; compact: none; python: a space
      after commas and colons; one: at most a space; N: at most N characters; indent:N: lines as
      json.dumps indents them.  [default: flexible]
    - ``integer``: plain: integers are digits alone; decimal: 1.0 is one, too.  [default: plain]
    - ``ascii``: Write what is not ASCII as \\uXXXX.
    - ``escapes``: Of texts that the schema asks something of. usual: characters beyond ASCII and /
      may be escaped; any: all; shortest: none that need not be.  [default: usual]
    - ``formats``: assert: hold texts to the formats that are known; refuse-unknown: and refuse the
      others; ignore: take formats for annotations.  [default: assert]
    - ``unique``: Refuse or ignore uniqueItems of items without finitely many values where they are
      not compared while decoding, as with --tokenization canonical.  [default: refuse]
    - ``max_count``: The longest text or array that is counted; longer ones are left out.  [default:
      any, as far as counts are kept while decoding (--tokenization any), else 2000]
    - ``max_conj``: Combinations of alternatives that are kept; others are left out.  [default: 300]
    - ``schemas``: A folder of schemas that may be referred to, by $id or below URI; may be
      repeated. Nothing is ever fetched.
    """

    draft: Annotated[Draft | None, panels.of_schema()] = None
    order: Annotated[Order | None, panels.of_schema()] = None
    any_limit: Annotated[int | None, panels.of_schema(metavar="N", min=1, max=256)] = None
    whitespace: Annotated[str | None, panels.of_schema(metavar="KIND")] = None
    integer: Annotated[Integer | None, panels.of_schema()] = None
    ascii: Annotated[bool | None, panels.of_schema("--ascii/--no-ascii", show_default=False)] = None
    escapes: Annotated[Escapes | None, panels.of_schema()] = None
    formats: Annotated[Formats | None, panels.of_schema()] = None
    unique: Annotated[Unique | None, panels.of_schema()] = None
    max_count: Annotated[int | None, panels.of_schema(metavar="N", min=1, max=1_000_000)] = None
    max_conj: Annotated[int | None, panels.of_schema(metavar="N", min=1, max=100_000)] = None
    schemas: Annotated[list[str] | None, panels.of_schema(metavar="[URI=]DIR")] = None

    def schema_options(self, dialect: str, path: str) -> "SchemaOptions | None":
        """How a JSON Schema is read, also one inside Lark's grammars; None where nothing is said of
        that. Raises ``UsageError``."""
        from constrain.compiler.dialects import JSON_SCHEMA, STRUCTURAL_TAG, TOOLS
        from constrain.compiler.schema import SchemaOptions

        said = {n: value for n in SCHEMA if (value := getattr(self, n)) is not None}
        if not said:
            return None
        if dialect not in (JSON_SCHEMA, STRUCTURAL_TAG, TOOLS, "lark"):
            option = next(iter(said)).replace("_", "-")
            raise UsageError(
                f"--{option} is about JSON Schema, and {visible(path)} is read as {dialect}"
            )
        if "schemas" in said:
            # The base URI, empty if there is none, and the folder.
            parts = (given.rpartition("=") for given in said["schemas"])
            said["schemas"] = tuple((uri, folder) for uri, _, folder in parts)
        try:
            return SchemaOptions(**said)
        except ValueError as error:
            raise UsageError(f"--{error}") from None


SCHEMA = tuple(field.name for field in fields(OfSchemas))
