"""``constrain viz``: drawings of the automata."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constrain.artifacts.errors import ConstrainError

from .. import options
from ..compiling import Wanted, automaton_of, compilation_of, limits_of
from ..console import UsageError, note, status, write_text
from ..inputs import STDIN, artifact_or_text

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.drawing import Drawing
    from constrain.compiler.limits import Limits
    from constrain.compiler.pipeline import Automaton, Compilation


_MAX_STATES = 100


class Stage(StrEnum):
    """What is drawn."""

    NFA = "nfa"
    DFA = "dfa"
    TOKENS = "tokens"
    TOKENIZER = "tokenizer"


def viz(
    subject: options.Subject,
    stage: Annotated[
        Stage,
        typer.Option(
            help="nfa and dfa: the grammar over bytes; tokens: the automaton over tokens; "
            "tokenizer: which of its tokens may follow which, or how it cuts words."
        ),
    ] = Stage.DFA,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="FILE.svg, .png, .pdf or .dot; - for DOT on standard output.",
        ),
    ] = STDIN,
    max_states: Annotated[
        int, typer.Option(min=1, help="Draw at most so many states, and say what is left out.")
    ] = _MAX_STATES,
    tokenizer: options.TokenizerPath = None,
    no_cache: options.NoCache = False,
    dialect: options.DialectName = None,
    extended: options.Extended = False,
    start: options.Start = None,
    tokenization: options.TokenizationChoice = None,
    eos: options.Eos = None,
    max_transitions: options.MaxTransitions = 100_000_000,
    max_memory: options.MaxMemory = 2_000_000_000,
    max_seconds: options.MaxSeconds = 600.0,
    max_nesting: options.MaxNesting = 100_000,
) -> None:
    """Draw the automata of a grammar or an artifact with Graphviz.

    Without Graphviz's dot program the DOT text is written all the same.

    \b
    Examples:
      constrain viz date.ebnf --stage dfa -o date.svg
      constrain viz date.cst --stage tokens | dot -Tpng > date.png
    """
    limits = limits_of(200_000, max_transitions, max_memory, max_seconds, max_nesting)
    wanted = Wanted(
        tokenizer, dialect, start, tokenization, eos, extended=extended, no_cache=no_cache
    )
    found = artifact_or_text(subject)
    automaton: Automaton | None = None
    artifact: Artifact | None = None
    if isinstance(found, str):
        automaton = automaton_of(found, subject, wanted, limits)
        if stage in (Stage.TOKENS, Stage.TOKENIZER):
            artifact = compilation_of(automaton, wanted, limits).artifact
    else:
        artifact = found
        if stage is Stage.NFA:
            automaton = _rebuilt(artifact, subject, limits)
    drawing = draw(stage, automaton, artifact, max_states)
    if drawing.left_out:
        note(drawing.left_out)
    if output == STDIN:
        write_text(drawing.dot)
        return
    from constrain.compiler.drawing import render

    status(f"{render(drawing, Path(output))}: {stage.value}")


def draw(
    stage: Stage, automaton: "Automaton | None", artifact: "Artifact | None", max_states: int
) -> "Drawing":
    """The drawing of a stage; ``automaton`` serves nfa and dfa, ``artifact`` all but nfa."""
    from constrain.compiler.automata.text import terminal_names
    from constrain.compiler.drawing import (
        draw_dfa,
        draw_nfa,
        draw_tokenizer,
        draw_tokens,
        draw_transducer,
    )

    rule = automaton.grammar.start if automaton else artifact.manifest.start if artifact else ""
    if stage is Stage.NFA and automaton is not None:
        names = automaton.token_names
        return draw_nfa(automaton.nfa, title=rule, terminal_names=names, max_states=max_states)
    if stage is Stage.DFA:
        if artifact is not None:
            dfa, names = artifact.byte_dfa, terminal_names(artifact.byte_dfa)
        else:
            assert automaton is not None
            dfa, names = automaton.dfa.tables(), automaton.token_names
        return draw_dfa(dfa, title=rule, terminal_names=names, max_states=max_states)
    assert artifact is not None
    drawn = draw_tokens
    if stage is Stage.TOKENIZER:
        drawn = draw_tokenizer if artifact.word_machine is None else draw_transducer
    return drawn(artifact, title=rule, max_states=max_states)


def write_all_drawings(compilation: "Compilation", folder: Path) -> None:
    """All four stages as SVG; where Graphviz is missing, as DOT text with a note."""
    from constrain.compiler.drawing import MissingDotError, render

    folder.mkdir(parents=True, exist_ok=True)
    missing: ConstrainError | None = None
    for stage in Stage:
        if stage is Stage.TOKENIZER and compilation.canonical is None:
            continue  # Under `any` every token may follow every other: there is nothing to draw.
        drawing = draw(stage, compilation.automaton, compilation.artifact, _MAX_STATES)
        try:
            status(f"{render(drawing, folder / f'{stage.value}.svg')}: {stage.value}")
        except MissingDotError as error:
            missing = error
    if missing is not None:
        note(str(missing))


def _rebuilt(artifact: "Artifact", name: str, limits: "Limits") -> "Automaton":
    """The stages before the artifact, from the grammar's text inside it."""
    m = artifact.manifest
    if m.source is None:
        raise UsageError(f"{name}: the grammar's text was stripped, so its NFA cannot be drawn")
    return automaton_of(m.source, name, Wanted(dialect=m.dialect, start=m.start), limits)
