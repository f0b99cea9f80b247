"""``constrain viz``: drawings of the automata."""

from pathlib import Path
from typing import Annotated

import typer

from .. import options
from ..compiling import subject_of
from ..console import note, status, write_text
from ..drawings import MAX_STATES, Stage, draw_artifact, draw_grammar
from ..inputs import STDIN


@options.compile_options(
    *options.TOKENIZER,
    *options.SOURCE,
    "tokenization",
    "max_depth",
    "meaning",
    "unk",
    "eos",
    # --max-states is of the drawing.
    *(name for name in options.LIMITS if name != "max_states"),
)
def viz(
    subject: options.Subject,
    given: options.Given,
    stage: Annotated[
        Stage,
        typer.Option(
            help="nfa and dfa: a regular grammar over bytes; tokens: its automaton over tokens; "
            "tokenizer: which of its tokens may follow which, or how it cuts words. For any "
            "grammar, rules: which rule uses which; parser: the automata that call each other; "
            "lexer: all terminals in one."
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
    ] = MAX_STATES,
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
    limits = given.limits()
    found = subject_of(subject, given)
    if isinstance(found, str):
        drawing = draw_grammar(found, subject, stage, given, limits, max_states, prefix)
    else:
        drawing = draw_artifact(found, subject, stage, limits, max_states, prefix)
    if drawing.left_out:
        note(drawing.left_out)
    if output == STDIN:
        write_text(drawing.dot)
        return
    from constrain.compiler.drawing import render

    status(f"{render(drawing, Path(output))}: {stage.value}")
