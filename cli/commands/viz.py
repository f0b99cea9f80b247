"""``constrain viz``: drawings of the automata."""

import os
from pathlib import Path
from typing import Annotated

import typer

from .. import options
from ..compiling import subject_of, with_automaton
from ..console import note, write_data
from ..drawings import (
    DRAW_STATES,
    Stage,
    draw_artifact,
    draw_grammar,
    say_without_dot,
    stage_for,
    title_of,
    write_drawing,
)
from ..inputs import STDIN


@options.compile_options(*options.TOKENIZER, *options.SOURCE, *options.OF_TOKENS, *options.LIMITS)
def viz(
    subject: options.Subject,
    given: options.Given,
    stage: Annotated[Stage | None, typer.Option()] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE")] = STDIN,
    prefix: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    by_bytes: Annotated[bool, typer.Option("--bytes")] = False,
    draw_states: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Draw up to so many states, however large that becomes, and say what is left "
            f"out.  [default: {DRAW_STATES}, and no more than can be looked at]",
        ),
    ] = None,
    draw_edges: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Draw the automata of a grammar or an artifact with Graphviz.

    What is too large for one drawing becomes pages with links between them. Without Graphviz's dot
    program the DOT text is written beside, and a note says where.

    \b
    Examples:
      constrain viz date.ebnf --stage dfa -o date.svg
      constrain viz date.cst --stage tokens | dot -Tpng > date.png
      constrain viz date.ebnf --prefix 2024-0 -o date.svg
      constrain viz json.ebnf --stage parser -o drawings/
      constrain viz words.ebnf -t bert/vocab.txt --stage tokenizer --prefix "to be" -o words.svg

    - ``stage``: nfa and dfa: a regular grammar over bytes; tokens: its automaton over tokens;
      tokenizer: which of its tokens may follow which, or how it cuts words. For any grammar, rules:
      which rule uses which; parser: the automata that call each other; lexer: all terminals in one.
      [default: dfa, parser where rules nest]
    - ``output``: FILE.svg, .png, .pdf or .dot; DIR/ for pages, one for each rule; - for DOT on
      standard output.
    - ``prefix``: Show the way that TEXT takes, and what is near it.
    - ``by_bytes``: Draw every state, also those inside characters and literal texts.
    - ``draw_edges``: Draw no more states than have so many edges.  [default: what can be followed
      by eye, half as many as --draw-states and four for each state drawn]
    """
    from constrain.compiler.drawing import Size, View

    limits = given.limits()
    is_free = draw_states is None and draw_edges is None
    shown = View(
        title_of(subject),
        Size(draw_states or DRAW_STATES, draw_edges, fits=is_free),
        by_bytes,
        None if prefix is None else os.fsencode(prefix),
    )
    if output.endswith(("/", os.sep)):
        Path(output).mkdir(parents=True, exist_ok=True)
    found = with_automaton(subject_of(subject, given), limits)
    drawn = stage_for(found, subject, stage, given, limits)
    if isinstance(found, str):
        drawing = draw_grammar(found, subject, drawn, given, limits, shown)
    else:
        drawing = draw_artifact(found, subject, drawn, limits, shown)
    if output == STDIN:
        if drawing.left_out:
            note(drawing.left_out)
        write_data(drawing.dot)
        return
    say_without_dot(write_drawing(drawing, Path(output), drawn, shown.size, limits))
