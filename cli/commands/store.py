"""``constrain store``: artifacts by key, in a folder or an object store."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from constrain.artifacts.container.signature import SUFFIX
from constrain.artifacts.errors import visible

from .. import options
from ..console import status, write_bytes, write_json, write_text
from ..inputs import STDIN, grammar_text, read_bytes, shown_name, tokenizer_at
from ..quoting import escaped

if TYPE_CHECKING:
    from constrain.artifacts.store.store import Store

HELP = "Artifacts by key, in a folder or an object store."

SCHEMA = 1

Key = Annotated[str, typer.Argument(metavar="KEY", help="What `constrain store key` prints.")]


Written = Annotated[options.TextOrJson, typer.Option("--format", "-f", help="text or json.")]


@options.compile_options(*options.ALL)
def key(grammar: options.Grammar, given: options.Given) -> None:
    """Print the key of the artifact that `compile` would write; nothing is compiled.

    It depends on the grammar's text, the tokenizer, all options that change the file, and the
    release.

    \b
    Example:
      constrain store key date.ebnf -t tokenizer.json
    """
    from constrain.compiler import artifact_key

    text = grammar_text(grammar)
    wanted = given.compile_options(grammar)
    write_text(
        artifact_key(text, wanted, tokenizer_at(given.tokenizer, no_cache=given.no_cache)) + "\n"
    )


def ls(store: options.Store = None, format_: Written = "text") -> None:
    """List the artifacts: key, bytes, and when each was used last.

    \b
    Example:
      constrain store ls --store artifacts/
    """
    place = _store(store)
    entries = list(place.entries())
    if format_ == "json":
        found = [{"key": e.key, "bytes": e.bytes, "used": _time(e.used)} for e in entries]
        write_json(SCHEMA, {"store": place.url, "entries": found})
        return
    write_text("".join(f"{e.key}  {e.bytes:>12,}  {_time(e.used)}\n" for e in entries))
    total = sum(e.bytes for e in entries)
    status(f"{len(entries):,} artifact{'s' * (len(entries) != 1)}, {total:,} bytes")


def get(
    key: Key,
    store: options.Store = None,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE")] = None,
) -> int:
    """Write the artifact of a key to a file that stands by itself.

    Exit code 1 if there is none.

    \b
    Example:
      constrain store get "$(constrain store key date.ebnf)" --store artifacts/ -o date.cst

    - ``output``: Write to FILE.  [default: KEY.cst]
    """
    place = _store(store)
    found = place.get(key)
    if found is None:
        status(f"{escaped(place.url.encode())} has no artifact of this key")
        return 1
    target = output or key + SUFFIX
    if target == STDIN:
        write_bytes(found.to_bytes(), "an artifact")
    else:
        found.save(target)
        status(f"{visible(target)}: {len(found.to_bytes()):,} bytes")
    return 0


def put(
    file: Annotated[str, typer.Argument(metavar="FILE")],
    key: Annotated[str, typer.Option("--key", metavar="KEY")],
    store: options.Store = None,
    thin: Annotated[bool, typer.Option("--thin")] = False,
) -> int:
    """Write an artifact under a key, unless there is one already.

    Exit code 1 if there is one: it stays as it is.

    \b
    Example:
      constrain store put date.cst --key "$(constrain store key date.ebnf)" --store artifacts/

    - ``file``: An artifact.
    - ``key``: What it is to be found by.
    - ``thin``: With the tokenizer's tables in a file that artifacts share.
    """
    from constrain.artifacts.container.regular import is_stream
    from constrain.artifacts.read import load, load_bytes

    if file == STDIN or is_stream(file):
        name = shown_name(file)
        artifact = load_bytes(read_bytes(file), verify=True, name=name)
    else:
        artifact = load(file, verify=True)
    if _store(store).put(key, artifact, thin=thin):
        status(f"{visible(file)}: written")
        return 0
    status("there is an artifact of this key already")
    return 1


def gc(
    store: options.Store = None,
    max_bytes: Annotated[int | None, typer.Option(min=0, metavar="N")] = None,
    unused_days: Annotated[float | None, typer.Option(min=0, metavar="DAYS")] = None,
) -> None:
    """Take away artifacts by last use, and what killed processes left.

    A use is marked at most once an hour.

    \b
    Example:
      constrain store gc --store artifacts/ --max-bytes 1000000000 --unused-days 90

    - ``max_bytes``: Take away those used longest ago, until all have N bytes.
    - ``unused_days``: Take away those not used for so many days.
    """
    seconds = None if unused_days is None else unused_days * 86_400
    found = _store(store).collect(most_bytes=max_bytes, unused_seconds=seconds)
    status(
        f"{found.files:,} file{'s' * (found.files != 1)} taken away, {found.bytes:,} bytes; "
        f"{found.files_left:,} left, {found.bytes_left:,} bytes"
    )


def verify(store: options.Store = None, format_: Written = "text") -> int:
    """Read all files, and list those that are damaged or not what their names say.

    Exit code 1 if there are any. They are never served; whoever asks for one takes it away.

    \b
    Example:
      constrain store verify --store s3://bucket/grammars
    """
    place = _store(store)
    found = list(place.verify())
    if format_ == "json":
        wrong = [{"file": name, "message": message} for name, message in found]
        write_json(SCHEMA, {"store": place.url, "wrong": wrong})
    else:
        shown = (f"{escaped(name.encode())}: {escaped(why.encode())}\n" for name, why in found)
        write_text("".join(shown))
        status(f"{len(found):,} file{'s' * (len(found) != 1)} not to be served")
    return 1 if found else 0


def _store(said: str | None) -> "Store":
    from constrain.artifacts.store.store import Store

    return Store(options.store_url(said))


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


SUBCOMMANDS = {"key": key, "ls": ls, "get": get, "put": put, "gc": gc, "verify": verify}
