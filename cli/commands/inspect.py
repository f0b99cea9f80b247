"""``constrain inspect``: what a grammar is compiled to, or what an artifact is, in numbers."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .. import options
from ..compiling import compilation_of, recogniser_of, subject_of
from ..console import UsageError, write_pieces
from ..inputs import STDIN, read_bytes, tokenizer_at
from .explain import _said

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.explain.report import Verdict
    from constrain.compiler.inspection.inspection import Inspection
    from constrain.compiler.inspection.texts import Text
    from constrain.compiler.options import AnyTokenizer


class Format(StrEnum):
    """How the facts are written."""

    TABLE = "table"
    JSON = "json"


@options.compile_options(*options.ALL)
def inspect(
    subject: options.Subject,
    given: options.Given,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A text to read: how many of its tokens are forced; may be repeated.",
        ),
    ] = None,
    format_: Annotated[
        Format, typer.Option("--format", "-f", help="table: for people; json: one object.")
    ] = Format.TABLE,
    output: options.Output = None,
) -> int:
    """Say what a grammar is compiled to, or what an artifact is, in numbers.

    Engine and method and why, states, rows, how many tokens the masks allow, bytes by section,
    notes, and of each text the share of its tokens that are forced. Exit code 1 if a text is no
    member. The options from --tokenizer on are for a grammar; of an artifact --tokenizer is needed
    to encode texts as its own tokenizer does, where that is not the embedded one.

    \b
    Examples:
      constrain inspect date.ebnf --tokenizer tokenizer.json
      constrain inspect date.cst --text member.txt --format json
    """
    from constrain.compiler.inspection.report import as_json, as_table

    found = inspected(subject, given, text or [])
    written = (as_table if format_ is Format.TABLE else as_json)(found)
    write_pieces([written.encode("utf-8", "surrogateescape")], output, subject)
    return 0 if all(each.status == "accepted" for each in found.texts) else 1


def inspected(subject: str, given: options.Given, files: list[str]) -> "Inspection":
    """The inspection of a grammar or an artifact, with the texts in these files."""
    from constrain.compiler.inspection.inspection import inspection_of
    from constrain.compiler.inspection.texts import Text

    if [subject, *files].count(STDIN) > 1:
        raise UsageError("only one of the grammar and the texts can come from standard input")
    found = subject_of(subject, given)
    texts = [Text("<stdin>" if file == STDIN else file, read_bytes(file)) for file in files]
    name = "<stdin>" if subject == STDIN else subject
    if not isinstance(found, str):
        tokenizer = _tokenizer_of(found, given) if texts else None
        limits = given.limits()
        return inspection_of(
            found, name=name, say=_say, tokenizer=tokenizer, texts=texts, limits=limits
        )
    wanted = given.compile_options(subject)
    compilation = compilation_of(recogniser_of(found, subject, wanted), given, wanted)
    return inspection_of(
        compilation.artifact,
        name=name,
        say=_say,
        compilation=compilation,
        options=wanted,
        tokenizer=tokenizer_at(given.tokenizer, no_cache=given.no_cache),
        texts=texts,
        limits=wanted.limits,
    )


def _tokenizer_of(artifact: "Artifact", given: options.Given) -> "AnyTokenizer | None":
    """The tokenizer of an artifact: the one that was named, or the embedded one; None if it is
    another one, which is not there."""
    found = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    return found if found.sha256 == artifact.manifest.tokenizer_sha256 else None


def _say(verdict: "Verdict", text: "Text") -> str:
    return _said(verdict, text.name, text.octets)
