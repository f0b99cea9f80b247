"""``constrain compile``: a grammar and a tokenizer to an artifact."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constrain.artifacts.container.signature import SUFFIX
from constrain.artifacts.errors import visible

from .. import options
from ..compiling import compilation_of, recogniser_of
from ..console import UsageError, note, status, write_bytes
from ..drawings import write_all_drawings
from ..inputs import STDIN, grammar_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrain.artifacts import Artifact
    from constrain.compiler.merge.direct_merge import Growth
    from constrain.compiler.options import CompileOptions
    from constrain.compiler.pipeline import Compilation


@options.compile_options(*options.ALL)
def compile_(
    grammar: options.Grammar,
    given: options.Given,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE")] = None,
    viz: Annotated[Path | None, typer.Option(metavar="DIR")] = None,
    stats: Annotated[bool, typer.Option("--stats")] = False,
) -> None:
    """Compile a grammar for a tokenizer into an artifact.

    \b
    Example:
      constrain compile date.ebnf --tokenizer tokenizer.json -o date.cst

    - ``output``: The artifact; - for standard output.  [default: the grammar's file name with .cst
      for its last suffix]
    - ``viz``: Write the drawings of all stages to DIR.
    - ``stats``: Say what the grammar means, which method was taken and why, and how its automaton
      grew.
    """
    begin = time.monotonic()
    text = grammar_text(grammar)
    target = _target(grammar, output)
    if given.thin and target == STDIN:
        raise UsageError("--thin writes two files: say with -o where the artifact goes")
    if viz is not None and viz.exists() and not viz.is_dir():
        raise UsageError(f"{visible(viz)}: the drawings need a folder, and this is none")
    wanted = given.compile_options(grammar)
    recogniser = recogniser_of(text, grammar, wanted)
    compilation = compilation_of(recogniser, given, wanted)
    if stats:
        _print_stats(compilation, wanted)
    size = _write(compilation.artifact, target, given.thin)
    if viz is not None:
        write_all_drawings(compilation, grammar, viz, wanted.limits)
    _print_summary(compilation, target, size, time.monotonic() - begin)


def _write(artifact: "Artifact", target: str, thin: bool) -> int | None:
    """Write the artifact; how many bytes, None where that is not to be seen."""
    if target == STDIN:
        data = artifact.to_bytes()
        write_bytes(data, "an artifact")
        return len(data)
    if thin:
        tables = Path(target).with_name(artifact.save_thin(target))
        note(f"its tokenizer's tables are in {visible(tables)}, {tables.stat().st_size:,} bytes")
    else:
        artifact.save(target)
    return Path(target).stat().st_size if Path(target).is_file() else None


def _target(grammar: str, output: str | None) -> str:
    if output is None and grammar == STDIN:
        raise UsageError("a grammar from standard input has no name: say where to write with -o")
    target = Path(grammar).with_suffix(SUFFIX).name if output is None else output
    named = STDIN not in (target, grammar)
    if named and Path(target).exists() and Path(target).samefile(grammar):
        raise UsageError(f"{visible(target)}: the artifact would overwrite the grammar; say -o")
    return target


def _print_summary(
    compilation: "Compilation", target: str, size: int | None, seconds: float
) -> None:
    counts = compilation.artifact.manifest.counts
    parts = []
    if "dfa_states" in counts:
        parts.append(f"{counts['dfa_states']:,} byte states")
    elif "positions" in counts:
        parts.append(f"{counts['positions']:,} positions, whose states are made when they are met")
    elif "network_states" in counts:
        parts.append(f"network of {counts['network_states']:,} states")
        parts.append(f"{counts['calls']:,} calls")
        if "lexemes" in counts:
            parts.append(f"{counts['lexemes']:,} lexemes")
    else:
        parts.append(f"{counts['productions']:,} productions for Earley's recogniser")
    if "token_states" in counts:
        parts.append(f"{counts['token_states']:,} token states")
        parts.append(f"{counts['token_transitions']:,} transitions")
    if "word_states" in counts:
        parts.append(f"{counts['word_states']:,} word states")
    if "rows" in counts:
        parts.append(f"{counts['rows']:,} different mask rows")
    name = "standard output" if target == STDIN else target
    written = f"; {size:,} bytes" if size is not None else ";"
    status(f"{visible(name)}: {', '.join(parts)}{written} in {seconds:.2f} s")


def _print_stats(compilation: "Compilation", wanted: "CompileOptions") -> None:
    """What was chosen and why, and how the automaton grew along the merge list."""
    from constrain.compiler.inspection.choices import choices_made, effort_of
    from constrain.compiler.inspection.inspection import small_table, token_dfa_of
    from constrain.compiler.inspection.report import closure_line, token_dfa_lines
    from constrain.compiler.limits import Limits

    choices, effort = choices_made(compilation, wanted), effort_of(compilation)
    status(f"meaning: {choices.meaning.name}")
    counts = compilation.artifact.manifest.counts
    if effort.closure is not None:
        status(f"masks {closure_line(effort.closure)}")
    if "complete" in counts:
        left = "no mask is" if counts["complete"] else "some masks are"
        status(f"{counts['answers']:,} summaries precomputed; {left} left to decoding")
    elif choices.method is None and effort.closure is None:
        which = "--tokenization any" if compilation.canonical is None else "WordPiece"
        note(f"--stats shows the merges; {which} has none")
    if choices.method is not None:
        status(f"method: {choices.method.name}, {choices.method.reason}")
        _print_growth(effort.growth)
        table = small_table(compilation.artifact, Limits().started())
        for line in token_dfa_lines(choices.method, token_dfa_of(table)):
            status(line)


def _print_growth(growth: "Sequence[Growth]") -> None:
    """The automaton's size along the merge list."""
    if not growth:
        return
    rows = [("merges", "states", "transitions")]
    rows += [(f"{s.merges:,}", f"{s.states:,}", f"{s.transitions:,}") for s in growth]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    status("Growth along the merges")
    for row in rows:
        status("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
