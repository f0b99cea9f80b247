"""``constrain convert``: a grammar in another dialect."""

from typing import Annotated

import typer

from .. import options
from ..console import UsageError, note, write_text
from ..inputs import dialect_for, grammar_text


@options.compile_options(*options.SOURCE, *options.LIMITS)
def convert(
    grammar: options.Grammar,
    given: options.Given,
    to: Annotated[
        str, typer.Option(metavar="DIALECT", help="kbnf, gbnf, w3c, lark, iso14977 or regex.")
    ],
) -> None:
    """Write a grammar in another dialect.

    What has no counterpart there is an error with its place. Rules keep their names where the
    dialect allows them; a regex is the whole grammar in one expression.

    \b
    Example:
      constrain convert date.ebnf --to gbnf
    """
    from constrain.compiler.dialects import read_grammar
    from constrain.compiler.grammar.check import check
    from constrain.compiler.writers import WRITERS, losses, write

    if to not in WRITERS:
        raise UsageError(f"cannot write {to!r}; known are: {', '.join(sorted(WRITERS))}")
    text = grammar_text(grammar)
    read_as = dialect_for(grammar, given.dialect, given.extended)
    limits = given.limits()
    tree = read_grammar(text, read_as, name=grammar, start=given.start, limits=limits)
    check(tree)
    written = write(tree, to, limits)
    for loss in losses(tree, to):
        note(loss)
    write_text(written)
