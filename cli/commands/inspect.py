"""``constrain inspect``: what a grammar is compiled to, or what an artifact is, in numbers or as a
page for a browser."""

import shlex
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .. import options
from ..compiling import compilation_of, recogniser_of, subject_of, texts_at, tokenizer_of
from ..console import UsageError, write_pieces
from ..inputs import shown_name, tokenizer_at
from ..quoting import octets_of
from .explain import said

if TYPE_CHECKING:
    from constrain.compiler.inspection.texts import Text
    from constrain.compiler.options import AnyTokenizer


# How the facts are written.
Format = Literal["table", "json", "html"]


# What a name ends in that is written to as a page.
_PAGES = (".html", ".htm")

# Bytes of a page, unless the command says otherwise.
MOST = 8_000_000

# Options of a compilation that masks depend on, and that `mask` takes, too.
_OF_MASKS = {*options.SOURCE, "tokenizer", *options.OF_MASKS}


@options.compile_options(*options.ALL)
def inspect(
    subject: options.Subject,
    given: options.Given,
    text: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None,
    tests: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None,
    format_: Annotated[Format | None, typer.Option("--format", "-f")] = None,
    max_page_bytes: Annotated[int, typer.Option(metavar="N", min=1)] = MOST,
    output: options.Output = None,
) -> int:
    """Say what a grammar is compiled to, or what an artifact is, in numbers.

    Engine and method and why, states, rows, how many tokens the masks allow, bytes by section,
    notes, and of each text the share of its tokens that are forced. Exit code 1 if a text is no
    member. The options from --tokenizer on are for a grammar; of an artifact --tokenizer is needed
    to encode texts as its own tokenizer does, where that is not the embedded one.

    A page has the grammar with its lints, railroad diagrams, the automaton, and a text to type,
    with its tokens and what may follow each. It is one file, which asks for nothing else.

    \b
    Examples:
      constrain inspect date.ebnf --tokenizer tokenizer.json
      constrain inspect date.cst --text member.txt --format json
      constrain inspect date.ebnf --text member.txt -o date.html

    - ``text``: A text to read: how many of its tokens are forced; may be repeated.
    - ``tests``: Cases whose texts a page offers, or a folder of them; may be repeated.
    - ``format_``: table: for people; json: one object; html: a page, which nothing else is needed
      for.  [default: html for FILE.html, else table]
    - ``max_page_bytes``: A page leaves out what would make it larger than this.
    """
    if format_ is None:
        format_ = "html" if output and output.lower().endswith(_PAGES) else "table"
    if tests and format_ != "html":
        raise UsageError("--tests is for a page: --format html, or -o FILE.html")
    texts = texts_at(text or [], subject)
    written, are_members = inspected(subject, given, texts, tests or [], format_, max_page_bytes)
    write_pieces([octets_of(written)], output, subject)
    return 0 if are_members else 1


def inspected(
    subject: str,
    given: options.Given,
    texts: "list[Text]",
    tests: list[str],
    format_: Format,
    max_bytes: int = MOST,
) -> tuple[str, bool]:
    """What is written of a grammar or an artifact, with these texts and in a page those of cases,
    and whether all texts are members."""
    from constrain.compiler.inspection.inspection import inspection_of
    from constrain.compiler.inspection.report import as_json, as_table

    name = shown_name(subject)
    artifact, compilation, wanted = subject_of(subject, given), None, None
    if isinstance(artifact, str):
        wanted = given.compile_options(subject)
        compilation = compilation_of(recogniser_of(artifact, subject, wanted), given, wanted)
        artifact = compilation.artifact
        tokenizer: AnyTokenizer | None = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    else:
        # None where that of the artifact is not there.
        tokenizer = tokenizer_of(artifact, given)
    found = inspection_of(
        artifact,
        name=name,
        say=said,
        compilation=compilation,
        options=wanted,
        tokenizer=tokenizer if texts or compilation is not None else None,
        texts=texts,
        limits=given.limits() if wanted is None else wanted.limits,
    )
    if format_ == "html":
        from constrain.compiler.explain.report import without_line_break

        from ..page.examples import Example, cases_at, shortest_member
        from ..page.page import page_data, page_of

        examples = []
        for text, facts in zip(texts, found.texts, strict=True):
            shorter = without_line_break(text.octets)
            octets = shorter if facts.without_line_break else text.octets
            examples.append(Example(text.name, octets))
        examples += [example for path in tests for example in cases_at(path)]
        data = page_data(
            artifact,
            name,
            tokenizer=tokenizer,
            examples=examples or shortest_member(artifact),
            numbers=[("In numbers", _rows(as_table(found)))],
            command=_mask_command(subject, given),
            max_bytes=max_bytes,
        )
        written = page_of(data)
    else:
        written = (as_table if format_ == "table" else as_json)(found)
    return written, all(each.status == "accepted" for each in found.texts)


def _mask_command(subject: str, given: options.Given) -> str:
    """The command line that prints masks of the same."""
    words = ["constrain", "mask", subject]
    for each in fields(given):
        value = getattr(given, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if each.name not in _OF_MASKS or value == default:
            continue
        name = f"--{each.name.replace('_', '-')}"
        if value is True:
            words.append(name)
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [name, str(one)]
    return shlex.join(words)


def _rows(table: str) -> list[tuple[str, str]]:
    """The lines of a table in two columns, without notes, which a page has by themselves."""
    rows = []
    for line in table.splitlines()[1:]:
        name, _, value = line.partition(": ")
        if not value:
            value, _, name = line.strip().partition("  ")
        if name != "note":
            rows.append((name.strip(), value))
    return rows
