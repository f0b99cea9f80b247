"""``constrain sample``: members of a grammar."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Literal

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..console import UsageError, error, progress, write_pieces
from ..quoting import escaped, text_of
from ..sampling import source_of, too_short

SCHEMA = 1

# Members written to the stream at once.
_AT_ONCE = 4096


# How members are written.
Format = Literal["text", "json", "raw0"]


@options.compile_options(*options.SOURCE, "max_depth", "meaning", *options.LIMITS)
def sample(
    subject: options.Subject,
    given: options.Given,
    number: Annotated[int | None, typer.Option("--number", "-n", min=1, metavar="N")] = None,
    seed: Annotated[int, typer.Option()] = 0,
    max_bytes: Annotated[int, typer.Option(min=0, max=1_000_000, metavar="B")] = 64,
    shortest: Annotated[bool, typer.Option("--shortest")] = False,
    every: Annotated[bool, typer.Option("--all")] = False,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "text",
    output: options.Output = None,
) -> int:
    """Draw members of a grammar, or list them.

    Each draw is independent of the others, and every member of at most B bytes is equally
    likely in it: uniform over texts, not over lengths or over the grammar's alternatives. Where
    long members outnumber short ones, as they mostly do, draws are about B bytes long. Of
    grammars that nest every reading is equally likely: a text that the grammar derives in two
    ways is twice as likely as another. Members of --all come in order of length, equally long
    ones in order of bytes. Exit code 1 if no member has at most B bytes.

    \b
    Examples:
      constrain sample date.ebnf -n 5 --seed 7
      constrain sample date.ebnf --all --max-bytes 10 --format raw0 | xargs -0 -n1 echo

    - ``number``: How many draws.  [default: 1]
    - ``seed``: The same seed gives the same draws.
    - ``max_bytes``: The longest member, in bytes.
    - ``shortest``: The shortest member, the first if several are.
    - ``every``: All members of at most B bytes, shortest first.
    - ``format_``: text: one a line, with \\\\ for a backslash and \\n, \\xNN, \\uNNNN for what is
      not printable; json: one object with all; raw0: their own bytes, each with a NUL after it.
    """
    if (number is not None) + shortest + every > 1:
        raise UsageError("--number, --shortest and --all exclude each other")
    source = source_of(subject, given, given.limits())
    if why := source.nothing(max_bytes):
        error(f"{visible(subject)}: {why}")
        return 1
    found: Iterable[bytes]
    if shortest or every:
        least = source.shortest(max_bytes)
        if least is None:
            error(f"{visible(subject)}: {too_short(max_bytes)}")
            return 1
        found = [least] if shortest else source.up_to(max_bytes)
    else:
        found = source.draws(number or 1, max_bytes, seed)
    most = None if shortest or every else number or 1
    write_pieces(_blocks(found, format_, most), output, subject)
    return 0


def _blocks(members: Iterable[bytes], format_: Format, most: int | None) -> Iterator[bytes]:
    """Members as they come, many at a time; ``most``: how many, where that is known."""
    pieces, done = _pieces(members, format_), 0
    while some := b"".join(islice(pieces, _AT_ONCE)):
        yield some
        done += _AT_ONCE
        progress("members", min(done, most or 0), most or 0)


def _pieces(members: Iterable[bytes], format_: Format) -> Iterator[bytes]:
    match format_:
        case "text":
            yield from (f"{escaped(member)}\n".encode() for member in members)
        case "raw0":
            yield from (member + b"\0" for member in members)
        case "json":
            yield f'{{"schema": {SCHEMA}, "members": ['.encode()
            for place, member in enumerate(members):
                yield b", " * (place > 0) + json.dumps(text_of(member)).encode()
            yield b"]}\n"
