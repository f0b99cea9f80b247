"""``constrain bench``: how long masks and steps take along the user's own documents."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import subject_of, texts_at
from ..console import UsageError, note, status, write_pieces
from ..inputs import shown_name, tokenizer_at
from ..quoting import octets_of
from .explain import said

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.inspection.bench import Bench
    from constrain.compiler.options import CompileOptions

# What says that no other engine is wanted.
_NONE = "none"


# How the figures are written.
Format = Literal["table", "json"]


@options.compile_options(*options.ALL)
def bench(
    subject: options.Subject,
    given: options.Given,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...")],
    runs: Annotated[int, typer.Option(min=1, max=1_000)] = 5,
    peers: Annotated[str | None, typer.Option(metavar="NAMES")] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "table",
    output: options.Output = None,
) -> int:
    """Measure masks and steps along texts, with the tokenizer that is meant.

    Percentiles, the worst and where; compiling, loading, the first mask; bytes and memory. Each
    engine has a process of its own and reads the same tokens; whose masks differ is said. Exit code
    1 if a text is no member: it is named, and not measured along.

    \b
    Examples:
      constrain bench order.schema.json orders/*.json --tokenizer tokenizer.json
      constrain bench date.ebnf date.txt --peers none --format json

    - ``texts``: Members of the grammar, each in a file.
    - ``runs``: Engines to make: each reads each text with empty caches, and then again.
    - ``peers``: Other engines to measure beside, with commas between them: llguidance, xgrammar; or
      none.  [default: those that are installed]
    - ``plot``: Draw the latencies of the masks to FILE.svg (extra 'bench').
    - ``format_``: table: for people; json: one object.
    """
    from constrain.compiler.inspection.bench_plot import may_plot
    from constrain.compiler.inspection.bench_plot import plot as drawing
    from constrain.compiler.inspection.bench_report import as_json, as_table

    if plot is not None and not plot.endswith(".svg"):
        raise UsageError(f"{visible(plot)}: the drawing is an SVG; name a file that ends with .svg")
    if plot is not None and not may_plot():
        raise UsageError("--plot needs matplotlib: pip install 'constrain-grammar[bench]'")
    found = measured(subject, given, texts, runs, _names(peers))
    written = (as_table if format_ == "table" else as_json)(found)
    write_pieces([octets_of(written)], output, subject)
    if plot is not None:
        write_pieces([drawing(found)], plot, subject)
        status(f"{visible(plot)}: the masks' latencies")
    return 0 if all(text.status == "accepted" for text in found.texts) else 1


def _names(wanted: str | None) -> list[str]:
    """The engines to measure beside."""
    from constrain.compiler.inspection.bench_grammar import PEERS
    from constrain.compiler.inspection.bench_run import is_installed

    if wanted is None:
        return [name for name in PEERS if is_installed(name)]
    names = [name.strip() for name in wanted.split(",") if name.strip() not in ("", _NONE)]
    for name in names:
        if name not in PEERS:
            raise UsageError(f"--peers: there is no {name!r}; known are {', '.join(PEERS)}, none")
        if not is_installed(name):
            raise UsageError(
                f"--peers: {name} is not installed for {sys.executable}; pip install {name}"
            )
    return list(dict.fromkeys(names))


def measured(
    subject: str, given: options.Given, files: list[str], runs: int, names: list[str]
) -> "Bench":
    """The measurement of a grammar or an artifact along the texts in these files."""
    from constrain.compiler import Compiler
    from constrain.compiler.inspection.bench import bench_of, compiled
    from constrain.compiler.inspection.bench_grammar import peer_of
    from constrain.compiler.inspection.texts import explain_of

    found = subject_of(subject, given)
    members, name = texts_at(files, subject), shown_name(subject)
    tokenizer = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    wanted, text = _source(found, subject, given)
    compiler = Compiler(tokenizer, cache=None if given.no_cache else "default", options=wanted)
    if isinstance(found, str):
        artifact, seconds = compiled(compiler, found, name)
        for message in artifact.notes:
            note(message)
    else:
        artifact, seconds = found, ()
    has_tokenizer = tokenizer.sha256 == artifact.manifest.tokenizer_sha256

    def of_any() -> "Artifact":
        return compiler.compile(text or "", name=name, tokenization="any", prewarm=0)

    return bench_of(
        artifact,
        members,
        name=name,
        tokenizer=tokenizer if has_tokenizer else None,
        tokenizer_name=tokenizer.name if has_tokenizer else artifact.manifest.tokenizer_sha256,
        say=said,
        explain=explain_of(artifact, found, wanted) if isinstance(found, str) else None,
        compile_seconds=seconds,
        peers=[peer_of(each, text, wanted, name) for each in names],
        of_any=of_any if has_tokenizer and text is not None else None,
        runs=runs,
        limits=wanted.limits,
    )


def _source(
    found: "Artifact | str", subject: str, given: options.Given
) -> "tuple[CompileOptions, str | None]":
    """How the grammar is compiled, and its text, None of an artifact without it."""
    if isinstance(found, str):
        return given.compile_options(subject), found
    from constrain.compiler.options import options_of

    return replace(options_of(found.manifest), limits=given.limits()), found.manifest.source
