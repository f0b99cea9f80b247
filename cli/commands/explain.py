"""``constrain explain``: why a text is or is not a member of a grammar."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import say_depth, subject_of
from ..console import UsageError, note, write_json, write_text
from ..inputs import STDIN, parsed_ids, read_bytes, shown_name, tokenizer_at
from ..quoting import escaped, quoted, text_of

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.explain.explainer import TokenExplainer
    from constrain.compiler.explain.repairs import Edit, Repair
    from constrain.compiler.explain.report import Verdict
    from constrain.compiler.inspection.texts import Text

SCHEMA = 1

# What JSON has of a verdict as it is.
_AS_IT_SAYS = (
    *("rules", "path", "expected", "following", "terminals", "begun", "tokens", "stands"),
    *("may_end", "but_for_line_break"),
)

# Characters of a part of the text that a line shows.
_LONGEST = 60


@options.compile_options(
    *options.TOKENIZER, *options.SOURCE, "meaning", "max_depth", *options.LIMITS
)
def explain(
    subject: options.Subject,
    given: options.Given,
    file: Annotated[str, typer.Argument(metavar="FILE")] = STDIN,
    prefix_ids: options.PrefixIds = None,
    format_: Annotated[options.TextOrJson, typer.Option("--format", "-f")] = "text",
) -> int:
    """Say whether a text is a member of the grammar, and if not where and why.

    A token that the grammar names, such as GBNF's <think>, is read in the text by its name, or in
    place of FILE by its id. A grammar needs --tokenizer for that; an artifact knows its names.

    Exit code 0 if it is accepted; 1 if it is rejected, or incomplete (more text could make it
    a member).

    \b
    Examples:
      constrain explain date.ebnf text.txt
      printf 2024-13-01 | constrain explain date.cst
      constrain explain think.gbnf answer.txt --tokenizer tokenizer.json

    - ``file``: The text, or - for standard input.
    - ``format_``: text: one line; json: one object.
    """
    if prefix_ids is not None and file != STDIN:
        raise UsageError("--prefix-ids is the text: say no FILE beside it")
    if subject == file == STDIN and prefix_ids is None:
        raise UsageError("the grammar and the text cannot both come from standard input")
    from constrain.artifacts.artifact import Artifact
    from constrain.artifacts.network.tables import NetworkTables
    from constrain.compiler.explain.explainer import (
        explainer_of_artifact,
        explainer_of_grammar,
        with_stored_tokens,
    )

    found = subject_of(subject, given)
    if given.tokenizer is not None or prefix_ids is not None:
        with_ids = _text_in(file) if prefix_ids is None else parsed_ids(prefix_ids)
        answer = _with_tokens(found, subject, given, with_ids)
        return _answer(*answer, file if prefix_ids is None else "<ids>", format_)
    text = _text_in(file)
    if isinstance(found, str):
        wanted = given.compile_options(subject)
        explainer = explainer_of_grammar(found, wanted, subject)
        if not isinstance(explainer.recogniser, NetworkTables | Artifact):
            say_depth(explainer.recogniser, wanted)
    else:
        explainer = explainer_of_artifact(found)
    # What a limit names that is hit from here on.
    given.limits().check_resources("reading the text")
    verdict, repair = explainer.verdict(text), None
    by_names = None
    if verdict.tokens and not isinstance(found, str):
        by_names = with_stored_tokens(found)
    if by_names is not None:
        return _answer(*_read_with(by_names, text), file, format_)
    if verdict.tokens:
        held = next((each for each in verdict.tokens if each.encode() in text), "")
        what = f"the text holds {held}, which the grammar reads as a token: give --tokenizer FILE"
        note(what if held else "--tokenizer FILE reads the tokens that the grammar names, too")
    elif _wants_repair(verdict):
        repair = explainer.repair(text)
    return _answer(verdict, repair, text, file, format_)


def _text_in(file: str) -> bytes:
    try:
        return read_bytes(file)
    except FileNotFoundError as error:
        raise UsageError(
            f"{visible(file)}: {error.strerror}; a text itself stands on standard input: "
            "printf %s TEXT | constrain explain …"
        ) from None


def _with_tokens(
    subject: "Artifact | str", path: str, given: options.Given, text: bytes | list[int]
) -> "tuple[Verdict, Repair | None, bytes]":
    """The answer of the grammar's text and the tokenizer that was named."""
    from constrain.compiler.explain.engines import ExplainError
    from constrain.compiler.explain.explainer import with_tokens
    from constrain.compiler.options import options_of

    tokenizer = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    if isinstance(subject, str):
        source, wanted = subject, given.compile_options(path)
    elif subject.manifest.source is None:
        raise ExplainError("tokens are read by the grammar's text, which was stripped")
    elif subject.manifest.tokenizer_sha256 != tokenizer.sha256:
        raise UsageError(f"{visible(path)}: --tokenizer names the tokenizer that it is for")
    else:
        source, wanted = subject.manifest.source, options_of(subject.manifest)
    return _read_with(with_tokens(source, wanted, tokenizer, path), text)


def _read_with(
    explainer: "TokenExplainer", text: bytes | list[int]
) -> "tuple[Verdict, Repair | None, bytes]":
    """The verdict on a text in which tokens are read, its repair, and the text as written."""
    read = explainer.given(text)
    verdict = explainer.verdict(read)
    repair = explainer.repair(read) if _wants_repair(verdict) else None
    return verdict, repair, read.text


def _wants_repair(verdict: "Verdict") -> bool:
    """Whether the nearest repair is said: where sentences say what is wrong, only what to add."""
    from constrain.compiler.explain.report import Status

    if verdict.sentences:
        return verdict.status is Status.INCOMPLETE
    return verdict.status is not Status.ACCEPTED


def _answer(
    verdict: "Verdict", repair: "Repair | None", text: bytes, file: str, format_: options.TextOrJson
) -> int:
    from constrain.compiler.explain.report import Status
    from constrain.compiler.inspection.texts import Text

    name = shown_name(file)
    if format_ == "json":
        write_json(SCHEMA, _as_object(verdict, repair, name))
    else:
        help_ = "" if repair is None else f"  = help: {_help(verdict, repair, text)}\n"
        write_text(f"{said(verdict, Text(name, text))}\n{help_}")
    return 0 if verdict.status is Status.ACCEPTED else 1


def _as_object(verdict: "Verdict", repair: "Repair | None", name: str) -> dict[str, Any]:
    """The verdict as one object; ranges of bytes have both ends included."""
    found: dict[str, Any] = {"file": name, "status": verdict.status.value}
    found |= {"line": verdict.line, "column": verdict.column, "byte": verdict.offset}
    found |= {each: getattr(verdict, each) for each in _AS_IT_SAYS}
    found["begun"] = [{"terminal": text, "bytes": octets} for text, octets in verdict.begun]
    if verdict.instance is not None:
        found |= {"instance": verdict.instance, "schemas": list(verdict.schemas)}
        found["is_for_order"] = verdict.is_for_order
    if verdict.sentences:
        found["sentences"] = [
            {"message": each.message, "line": each.line, "column": each.column}
            | {"byte": each.offset, "instance": each.instance, "schema": each.schema}
            | {"call": each.call}
            for each in verdict.sentences
        ]
    if repair is not None:
        found["repair"] = {
            "edits": [
                {"start": edit.start, "end": edit.end, "text": text_of(edit.text)}
                for edit in repair.edits
            ],
            "before": text_of(repair.before),
            "fragment": text_of(repair.fragment),
            "behind": text_of(repair.behind),
            "changes": repair.changes,
            "is_member": repair.is_member,
            "read": repair.read,
        }
    return found


def said(verdict: "Verdict", read: "Text") -> str:
    """The verdict on one line: place, what stands there, whose text was expected, and which."""
    from constrain.compiler.automata.dump import class_text
    from constrain.compiler.explain.report import Status, expectation

    name, text = read.name, read.octets
    if verdict.status is Status.ACCEPTED:
        return f"{visible(name)}: accepted"
    if verdict.sentences:
        return "\n".join(_sentences(verdict, name))
    place = f"{name}:{verdict.line}:{verdict.column}: {verdict.status.value}"
    if verdict.status is Status.REJECTED:
        octet = text[verdict.offset]
        stands = f"the token {verdict.stands}" if verdict.stands else class_text([(octet, octet)])
        place += f" at {stands} (byte {verdict.offset})"
    return visible(f"{place}{expectation(verdict)}")


def _sentences(verdict: "Verdict", name: str) -> Iterator[str]:
    """One line each: place, and what is wrong there."""
    status = verdict.status.value
    for each in verdict.sentences:
        where = f"{status} {each.place}".rstrip()
        yield visible(f"{name}:{each.line}:{each.column}: {where}: {each}")
        status = "also"


def _help(verdict: "Verdict", repair: "Repair", text: bytes) -> str:
    """What to change, and what becomes of the text around it."""
    first, last = repair.edits[0], repair.edits[-1]
    before = "…" * (first.start > len(repair.before)) + escaped(repair.before)
    behind = escaped(repair.behind) + "…" * (last.end + len(repair.behind) < len(text))
    result = f"{before}{escaped(repair.fragment)}{behind}"
    if len(repair.edits) > 1 and len(repair.fragment) <= _LONGEST:
        return f"did you mean {result}"
    said = ", and ".join(_edit_said(edit, verdict.offset, text) for edit in repair.edits)
    return said if len(repair.fragment) > _LONGEST else f"{said}: {result}"


def _edit_said(edit: "Edit", offset: int, text: bytes) -> str:
    from constrain.compiler.explain.report import position

    written, gone = _part(edit.text), _part(text[edit.start : edit.end])
    line, column = position(text, edit.start)
    where = "here" if edit.start == offset else f"at {line}:{column}"
    if edit.start == edit.end:
        return f"write {written} {where}"
    return f"write {written} instead of {gone} {where}" if edit.text else f"remove {gone} {where}"


def _part(octets: bytes) -> str:
    return quoted(octets) if len(octets) <= _LONGEST else f"{len(octets):,} bytes"
