"""``constrain convert``: a grammar in another dialect."""

from typing import Annotated

import typer

from .. import options
from ..compiling import grammar_of
from ..console import UsageError, note, write_pieces
from ..inputs import grammar_text
from ..quoting import octets_of


@options.compile_options(*options.SOURCE, "meaning", *options.LIMITS)
def convert(
    grammar: options.Grammar,
    given: options.Given,
    to: Annotated[str, typer.Option(metavar="DIALECT")],
    loosen: Annotated[bool, typer.Option("--loosen")] = False,
    output: options.Output = None,
) -> None:
    """Write a grammar in another dialect, with the same members.

    What has no counterpart there is an error with its place. Rules keep their names where the
    dialect allows them; a regex is the whole grammar in one expression, and so is what maximal
    munch leaves of a grammar in which nothing nests.

    \b
    Example:
      constrain convert date.ebnf --to gbnf -o date.gbnf

    - ``to``: kbnf, gbnf, w3c, lark, iso14977, abnf or regex.
    - ``loosen``: Write the rules of a grammar that is read by maximal munch, though the other
      dialect has no lexer and more texts are members there.
    """
    from constrain.compiler.writers import WRITERS
    from constrain.compiler.writers.convert import convert as converted

    if to not in WRITERS:
        raise UsageError(f"cannot write {to!r}; known are: {', '.join(sorted(WRITERS))}")
    wanted = given.compile_options(grammar)
    tree = grammar_of(grammar_text(grammar), grammar, wanted)
    found = converted(tree, to, wanted, loosen=loosen)
    for message in found.notes:
        note(message)
    write_pieces([octets_of(found.text)], output, grammar)
