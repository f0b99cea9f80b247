"""The library's one call: an artifact of anything in Python that says which texts are wanted.

compile(Person, "tokenizer.json", whitespace="compact")
compile('start ::= "yes" | "no"', dialect="kbnf", max_seconds=10)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import Any, TypedDict, Unpack

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ConstrainError

from ..compiler import Compiler
from ..limits import Limits
from ..options import AnyTokenizer, CompileOptions
from ..schema import SchemaOptions
from .python_grammars import written

_OF_SCHEMAS = frozenset(each.name for each in fields(SchemaOptions))
_LIMIT = "max_"

# An option of the command line in a message, with its value.
_OPTION = re.compile(r"--([a-z][a-z-]*[a-z])(?: (any|none|all|exact|ignore|decimal|0)\b)?")


class Options(TypedDict, total=False):
    """What ``CompileOptions`` and ``SchemaOptions`` say, by the same names, and ``Limits``, by
    theirs after ``max_``."""

    dialect: str | None
    start: str | None
    imports: str | None
    include: tuple[str, ...]
    define: tuple[tuple[str, str], ...]
    meaning: str | None
    lexer: str | None
    engine: str
    parser: str
    max_depth: int | None
    tokenization: str | None
    method: str
    keep_unknown: bool | None
    eos: Sequence[int | str]
    vocab_size: int | None
    prewarm: int | None
    precompute: str | float | None
    max_artifact_bytes: int
    strip: bool
    thin: bool
    draft: str | None
    order: str
    any_limit: int | None
    whitespace: str
    integer: str
    formats: str
    unique: str
    ascii: bool
    escapes: str
    max_count: int | None
    max_conj: int
    schemas: tuple[tuple[str, str], ...]
    max_states: int
    max_transitions: int
    max_memory: int
    max_seconds: float
    max_nesting: int
    max_table_seconds: float


def compile(  # noqa: A001 - as re.compile
    grammar: Any,
    tokenizer: AnyTokenizer | str | PathLike[str] | object | None = None,
    *,
    name: str = "<grammar>",
    **options: Unpack[Options],
) -> Artifact:
    """The artifact of a grammar for a tokenizer.

    ``grammar``: a text in the ``dialect`` that is named; a JSON Schema as a dict; a Pydantic model
    or ``TypeAdapter``; a dataclass, an ``Enum``, ``Literal[…]`` or another type, which Pydantic
    reads; a compiled ``re.Pattern``; a list of tools, as OpenAI, Anthropic or MCP have them.
    ``tokenizer``: a file, a folder or a name, or a host's object, as ``load_tokenizer`` takes it;
    by default the embedded one. ``name``: what errors call the grammar.

    Raises ``TypeError`` for what is no grammar and for a name that is no option, ``ImportError``
    where Pydantic is needed, ``ValueError`` for a value that an option cannot have, and
    subclasses of ``ConstrainError``.
    """
    text, dialect = written(grammar)
    chosen = _sorted_out(options)
    if dialect is not None and chosen.setdefault("dialect", dialect) != dialect:
        raise ValueError(f"this is of the dialect {dialect!r}, not {chosen['dialect']!r}")
    if chosen.get("dialect") is None:
        raise TypeError("a text needs its dialect, as dialect='kbnf'; a JSON Schema may be a dict")
    try:
        return Compiler(tokenizer).compile(text, name=name, **chosen)
    except ConstrainError as error:
        error.args = (_in_python(str(error)), *error.args[1:])
        raise


def _in_python(message: str) -> str:
    """A message with arguments in the place of the command line's options: ``--tokenization any ->
    tokenization="any"``."""

    def argument(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        return f"{name}=" + ("" if value is None else value if value == "0" else f'"{value}"')

    return _OPTION.sub(argument, message)


def _sorted_out(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by the fields of ``CompileOptions``."""
    known = {each.name for each in fields(CompileOptions)}
    limits = {each.name for each in fields(Limits)}
    found: dict[str, Any] = {}
    of_schemas: dict[str, Any] = {}
    of_limits: dict[str, Any] = {}
    for name, value in options.items():
        if name in Options.__annotations__ and name in _OF_SCHEMAS:
            of_schemas[name] = value
        elif name in Options.__annotations__ and name in known:
            found[name] = value
        elif name in Options.__annotations__ and name.removeprefix(_LIMIT) in limits:
            of_limits[name.removeprefix(_LIMIT)] = value
        else:
            raise TypeError(f"compile has no option {name!r}")
    if of_schemas:
        found["schema"] = SchemaOptions(**of_schemas)
    if of_limits:
        found["limits"] = Limits(**of_limits)
    return found
