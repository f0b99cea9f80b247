"""``constrain inspect``: what a grammar is compiled to, or what an artifact is, in numbers or as a
page for a browser."""

import shlex
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .. import options
from ..compiling import compilation_of, recogniser_of, subject_of, texts_at, tokenizer_of
from ..console import UsageError, write_pieces
from ..inputs import shown_name, tokenizer_at
from ..quoting import octets_of
from .explain import said

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.inspection.inspection import Inspection
    from constrain.compiler.inspection.texts import Text
    from constrain.compiler.options import AnyTokenizer, CompileOptions
    from constrain.compiler.pipeline import Compilation


# How the facts are written.
Format = Literal["table", "json", "html"]


# What a name ends in that is written to as a page.
_PAGES = (".html", ".htm")

# Options of a compilation that masks depend on, and that `mask` takes, too.
_OF_MASKS = {*options.SOURCE, "tokenizer", "tokenization", "meaning", "max_depth", "unk", "eos"}
_OF_MASKS |= {"vocab_size"}


@options.compile_options(*options.ALL)
def inspect(
    subject: options.Subject,
    given: options.Given,
    text: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None,
    tests: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None,
    format_: Annotated[Format | None, typer.Option("--format", "-f")] = None,
    max_page_bytes: Annotated[int, typer.Option(metavar="N", min=1)] = 8_000_000,
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
    from constrain.compiler.inspection.report import as_json, as_table

    if format_ is None:
        format_ = "html" if output and output.lower().endswith(_PAGES) else "table"
    if tests and format_ != "html":
        raise UsageError("--tests is for a page: --format html, or -o FILE.html")
    compiled, texts = _compiled(subject, given), texts_at(text or [], subject)
    found = _inspected(compiled, given, texts)
    if format_ == "html":
        command = _mask_command(subject, given)
        written = _page(compiled, found, texts, tests or [], command, max_page_bytes)
    else:
        written = (as_table if format_ == "table" else as_json)(found)
    write_pieces([octets_of(written)], output, subject)
    return 0 if all(each.status == "accepted" for each in found.texts) else 1


@dataclass(frozen=True)
class _Compiled:
    """What is inspected. ``compilation`` and ``wanted``: of a grammar. ``tokenizer``: None where
    that of an artifact is not there."""

    subject: str
    artifact: "Artifact"
    tokenizer: "AnyTokenizer | None"
    compilation: "Compilation | None" = None
    wanted: "CompileOptions | None" = None

    @property
    def name(self) -> str:
        """As people see it."""
        return shown_name(self.subject)


def _compiled(subject: str, given: options.Given) -> _Compiled:
    found = subject_of(subject, given)
    if not isinstance(found, str):
        return _Compiled(subject, found, tokenizer_of(found, given))
    wanted = given.compile_options(subject)
    compilation = compilation_of(recogniser_of(found, subject, wanted), given, wanted)
    tokenizer = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    return _Compiled(subject, compilation.artifact, tokenizer, compilation, wanted)


def _inspected(of: _Compiled, given: options.Given, texts: "list[Text]") -> "Inspection":
    """The inspection of a grammar or an artifact, with these texts."""
    from constrain.compiler.inspection.inspection import inspection_of

    is_named = texts or of.compilation is not None
    return inspection_of(
        of.artifact,
        name=of.name,
        say=said,
        compilation=of.compilation,
        options=of.wanted,
        tokenizer=of.tokenizer if is_named else None,
        texts=texts,
        limits=given.limits() if of.wanted is None else of.wanted.limits,
    )


def _page(
    of: _Compiled,
    found: "Inspection",
    texts: "list[Text]",
    tests: list[str],
    command: str,
    max_bytes: int,
) -> str:
    """The page, with these texts and those of the cases."""
    from constrain.compiler.explain.report import without_line_break
    from constrain.compiler.inspection.report import as_table

    from ..page.examples import Example, cases_at, shortest_member
    from ..page.page import page_data, page_of

    examples = []
    for text, facts in zip(texts, found.texts, strict=True):
        shorter = without_line_break(text.octets)
        octets = shorter if facts.without_line_break else text.octets
        examples.append(Example(text.name, octets))
    examples += [example for path in tests for example in cases_at(path)]
    return page_of(
        page_data(
            of.artifact,
            of.name,
            tokenizer=of.tokenizer,
            examples=examples or shortest_member(of.artifact),
            numbers=[("In numbers", _rows(as_table(found)))],
            command=command,
            max_bytes=max_bytes,
        )
    )


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
