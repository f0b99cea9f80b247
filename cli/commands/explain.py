"""``constrain explain``: why a text is or is not a member of a grammar."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .. import options
from ..compiling import say_depth, subject_of
from ..console import UsageError, write_text
from ..inputs import STDIN, read_bytes

if TYPE_CHECKING:
    from constrain.compiler.explain.report import Verdict

SCHEMA = 1


class Format(StrEnum):
    """How the verdict is written."""

    TEXT = "text"
    JSON = "json"


@options.compile_options(*options.SOURCE, "meaning", "max_depth", *options.LIMITS)
def explain(
    subject: options.Subject,
    given: options.Given,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The text, or - for standard input.")
    ] = STDIN,
    format_: Annotated[
        Format, typer.Option("--format", "-f", help="text: one line; json: one object.")
    ] = Format.TEXT,
) -> int:
    """Say whether a text is a member of the grammar, and if not where and why.

    No text matches a token that the grammar names as a token, such as GBNF's <think>.

    Exit code 0 if it is accepted; 1 if it is rejected, or incomplete (more text could make it
    a member).

    \b
    Examples:
      constrain explain date.ebnf text.txt
      printf 2024-13-01 | constrain explain date.cst
    """
    if subject == file == STDIN:
        raise UsageError("the grammar and the text cannot both come from standard input")
    from constrain.artifacts import Artifact
    from constrain.artifacts.network.tables import NetworkTables
    from constrain.compiler.explain.explainer import explainer_of_artifact, explainer_of_grammar
    from constrain.compiler.explain.report import Status

    found = subject_of(subject, given)
    text = read_bytes(file)
    if isinstance(found, str):
        wanted = given.compile_options(subject)
        explainer = explainer_of_grammar(found, wanted, subject)
        if not isinstance(explainer.recogniser, NetworkTables | Artifact):
            say_depth(explainer.recogniser, wanted)
    else:
        explainer = explainer_of_artifact(found)
    verdict = explainer.verdict(text)
    name = "<stdin>" if file == STDIN else file
    write_text((_said if format_ is Format.TEXT else _as_json)(verdict, name, text) + "\n")
    return 0 if verdict.status is Status.ACCEPTED else 1


def _as_json(verdict: "Verdict", name: str, _text: bytes) -> str:
    """The verdict as one object; ``expected``: ranges of bytes, both ends included."""
    found = {
        "schema": SCHEMA,
        "file": name,
        "status": verdict.status.value,
        "line": verdict.line,
        "column": verdict.column,
        "byte": verdict.offset,
        "rules": list(verdict.rules),
        "path": list(verdict.path),
        "expected": [list(pair) for pair in verdict.expected],
        "terminals": list(verdict.terminals),
        "tokens": list(verdict.tokens),
        "may_end": verdict.may_end,
        "but_for_line_break": verdict.but_for_line_break,
    }
    if verdict.instance is not None:
        found |= {"instance": verdict.instance, "schemas": list(verdict.schemas)}
    return json.dumps(found)


def _said(verdict: "Verdict", name: str, text: bytes) -> str:
    """The verdict on one line: place, what stands there, whose text was expected, and which."""
    from constrain.compiler.automata.dump import class_text
    from constrain.compiler.explain.report import Status

    if verdict.status is Status.ACCEPTED:
        return f"{name}: accepted"
    place = f"{name}:{verdict.line}:{verdict.column}: {verdict.status.value}"
    if verdict.status is Status.REJECTED:
        octet = text[verdict.offset]
        place += f" at {class_text([(octet, octet)])} (byte {verdict.offset})"
    if verdict.instance is not None:
        place += f", at {verdict.instance or 'the root'}"
    elif verdict.rules or verdict.path:
        place += f" in {', '.join(verdict.rules) or ' > '.join(verdict.path)}"
    expected = [class_text(verdict.expected)] if verdict.expected else []
    expected += verdict.terminals
    if verdict.tokens:
        expected.append(f"the token {' or '.join(verdict.tokens)}, which no text matches")
    expected += ["the end of the text"] if verdict.may_end else []
    said = f"{place}; expected {' or '.join(expected)}"
    if verdict.schemas:
        said += f", by {' or '.join(verdict.schemas)}"
    if verdict.but_for_line_break:
        said += " (it is accepted without the line break at its end)"
    return said
