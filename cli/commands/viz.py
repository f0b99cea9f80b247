"""``constrain viz``: drawings of the automata."""

from pathlib import Path
from typing import Annotated

import typer

from .. import options
from ..compiling import subject_of
from ..console import note, status, write_text
from ..drawings import DRAW_STATES, Stage, draw_artifact, draw_grammar, stage_for
from ..inputs import STDIN


@options.compile_options(
    *options.TOKENIZER,
    *options.SOURCE,
    "tokenization",
    "max_depth",
    "meaning",
    "unk",
    "eos",
    *options.LIMITS,
)
def viz(
    subject: options.Subject,
    given: options.Given,
    stage: Annotated[
        Stage | None,
        typer.Option(
            help="nfa and dfa: a regular grammar over bytes; tokens: its automaton over tokens; "
            "tokenizer: which of its tokens may follow which, or how it cuts words. For any "
            "grammar, rules: which rule uses which; parser: the automata that call each other; "
            "lexer: all terminals in one.  [default: dfa, parser where rules nest]"
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="FILE.svg, .png, .pdf or .dot; - for DOT on standard output.",
        ),
    ] = STDIN,
    draw_states: Annotated[
        int, typer.Option(min=1, help="Draw at most so many states, and say what is left out.")
    ] = DRAW_STATES,
    draw_edges: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Draw no more states than have so many edges.  [default: what can be followed by "
            "eye, half as many as --draw-states and four for each state drawn]",
        ),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Of WordPiece's tokenizer draw what the words of TEXT use."
        ),
    ] = None,
) -> None:
    """Draw the automata of a grammar or an artifact with Graphviz.

    Without Graphviz's dot program the DOT text is written all the same.

    \b
    Examples:
      constrain viz date.ebnf --stage dfa -o date.svg
      constrain viz date.cst --stage tokens | dot -Tpng > date.png
      constrain viz json.ebnf --stage parser -o json.svg
      constrain viz words.ebnf -t bert/vocab.txt --stage tokenizer --prefix "to be" -o words.svg
    """
    from constrain.compiler.drawing import Size, render

    limits, size = given.limits(), Size(draw_states, draw_edges)
    found = subject_of(subject, given)
    drawn = stage_for(found, subject, stage, given, limits)
    if isinstance(found, str):
        drawing = draw_grammar(found, subject, drawn, given, limits, size, prefix)
    else:
        drawing = draw_artifact(found, subject, drawn, limits, size, prefix)
    if drawing.left_out:
        note(drawing.left_out)
    if output == STDIN:
        write_text(drawing.dot)
        return
    status(f"{render(drawing, Path(output))}: {drawn.value}")
