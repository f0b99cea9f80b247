"""``constrain diff``: how the languages of two grammars differ."""

import json
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import language_of
from ..console import UsageError, write_data, write_text
from ..inputs import STDIN
from ..quoting import quoted, text_of
from ..schema_options import SCHEMA as OF_SCHEMAS

if TYPE_CHECKING:
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.limits import Limits

SCHEMA = 1

# Without --max-bytes, counts begin at the shortest member and go on for so many lengths.
_LENGTHS = 8


class Format(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"


@options.compile_options(
    "extended", "define", "include", *OF_SCHEMAS, "max_depth", "meaning", *options.LIMITS
)
def diff(
    given: options.Given,
    left: Annotated[
        str, typer.Argument(metavar="A", help="A grammar or a compiled artifact; - for stdin.")
    ],
    right: Annotated[
        str, typer.Argument(metavar="B", help="A grammar or a compiled artifact; - for stdin.")
    ],
    format_: Annotated[Format, typer.Option("--format", "-f", help="text or json.")] = Format.TEXT,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="B",
            help="Count the members of either difference up to B bytes.  [default: for eight "
            "lengths from the shortest on]",
        ),
    ] = None,
    dialect: Annotated[
        list[str] | None,
        typer.Option(
            "--dialect",
            "-d",
            metavar="NAME",
            help="The dialect of both; given twice, of A and of B.  [default: by suffix]",
        ),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="The start rule of both; given twice, of A and of B."),
    ] = None,
) -> int:
    """Say whether two grammars have the same members, and how they differ.

    Grammars of any two dialects, and artifacts by their byte automaton; where they nest, the
    members that nest at most --max-depth deep. For each side: the shortest member that the
    other has not (of equally long ones the first by bytes), and how many such members there
    are of each length. Exit code 0 if there is no difference, 1 if there is one.

    \b
    Examples:
      constrain diff date.ebnf date.regex
      constrain diff old.cst new.ebnf --format json
    """
    if left == right == STDIN:
        raise UsageError("A and B cannot both come from standard input")
    from constrain.compiler.automata.compare import compare
    from constrain.compiler.progress import Step

    limits = given.of(None).limits()
    dialects, starts = _pair("--dialect", dialect), _pair("--start", start)
    one, other = (
        language_of(path, _of_side(given, path, named, rule), limits)
        for path, named, rule in zip((left, right), dialects, starts, strict=True)
    )
    found = compare(one, other, limits)
    with Step("count"):
        sides = [_side(dfa, max_bytes, limits) for dfa in (found.only_left, found.only_right)]
    if format_ is Format.JSON:
        value = {"equal": found.is_equal, "only_left": sides[0], "only_right": sides[1]}
        write_data(json.dumps({"schema": SCHEMA, **value}) + "\n")
    elif found.is_equal:
        write_text("equal\n")
    else:
        write_text(_said(left, found.only_left, sides[0]))
        write_text(_said(right, found.only_right, sides[1]))
    return 0 if found.is_equal else 1


def _of_side(
    given: options.Given, path: str, dialect: str | None, start: str | None
) -> options.Given:
    """The options of one of the two grammars."""
    named = {name for name, value in (("dialect", dialect), ("start", start)) if value is not None}
    takes, said = given.takes | {"dialect", "start"}, given.said | named
    return replace(given, dialect=dialect, start=start, takes=takes, said=said).of(path)


def _pair(option: str, given: list[str] | None) -> list[str | None]:
    """What an option says about A and about B."""
    if not given:
        return [None, None]
    if len(given) > 2:
        raise UsageError(f"{option} is given once for both grammars, or twice, for A and for B")
    return [given[0], given[-1]]


def _side(dfa: "Dfa", max_bytes: int | None, limits: "Limits") -> dict[str, Any] | None:
    """A difference: shortest and longest member, counts by length; None if it is empty."""
    from constrain.compiler.automata.members import Members, longest_length, shortest

    word, longest = shortest(dfa), longest_length(dfa)
    if word is None:
        return None
    last = len(word) + _LENGTHS - 1 if max_bytes is None else max_bytes
    if longest is not None:
        last = min(last, longest)
    members = Members(dfa, limits)
    counts = {length: members.count(length) for length in range(len(word), last + 1)}
    return {
        "shortest": text_of(word),
        "shortest_bytes": len(word),
        "longest_bytes": longest,
        "counts": {str(length): count for length, count in counts.items() if count},
    }


def _said(path: str, dfa: "Dfa", side: dict[str, Any] | None) -> str:
    """A difference for people: its shortest member and a table of counts."""
    from constrain.compiler.automata.members import shortest

    if side is None:
        return f"only in {visible(path)}: nothing\n"
    lines = [
        f"only in {visible(path)}: shortest {quoted(shortest(dfa) or b'')}",
        "  bytes  members",
    ]
    lines += [f"  {int(length):5}  {count:,}" for length, count in side["counts"].items()]
    last = max(map(int, side["counts"]), default=-1)
    if side["longest_bytes"] is None:
        lines.append("      …  without end")
    elif last < side["longest_bytes"]:
        lines.append(f"      …  up to {side['longest_bytes']:,} bytes")
    return "\n".join(lines) + "\n"
