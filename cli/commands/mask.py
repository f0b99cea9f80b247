"""``constrain mask``: which tokens may follow a prefix."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import compilation_of, recogniser_of, subject_of, tokenizer_of
from ..console import (
    UsageError,
    error,
    is_terminal,
    note,
    status,
    write_bytes,
    write_json,
    write_text,
)
from ..inputs import parsed_ids
from ..quoting import all_quoted, quoted, text_of

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.artifacts.prefix import Boundary
    from constrain.compiler.explain.refusals import TokenVerdict
    from constrain.compiler.options import AnyTokenizer

SCHEMA = 1

# The steps of a tokenizer in words, where these are not their names.
_STEPS = {"added-tokens": "added tokens", "longest-match": "longest match"}

# What JSON has of a verdict as it is.
_AS_IT_SAYS = ("byte", "expected", "may_end", "rules", "terminals", "instead", "rewritten", "place")

# Lines of a table on a terminal.
_ON_A_TERMINAL = 50


# How the answer is written.
Format = Literal["table", "ids", "bits", "json"]


@options.compile_options(*options.TOKENIZER, *options.SOURCE, *options.OF_MASKS, *options.LIMITS)
def mask(
    subject: options.Subject,
    given: options.Given,
    prefix: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    prefix_ids: options.PrefixIds = None,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "table",
    every: Annotated[bool, typer.Option("--all")] = False,
    why: Annotated[list[str] | None, typer.Option(metavar="TOKEN")] = None,
) -> int:
    """List the tokens that may follow a prefix, or say why one is refused.

    If TEXT ends inside a token, the answer is the tokens that complete it. A token that the
    grammar names, such as <tool_call>, may stand in TEXT by its name; --prefix-ids takes ids. Exit
    code 1 if no member of the grammar begins with the prefix, and with --why if a token is refused.
    The options from --tokenizer on are for a grammar; an artifact has them inside.

    \b
    Examples:
      constrain mask date.cst --prefix 2024-0
      constrain mask date.ebnf --prefix-ids 5931,13 --format json
      constrain mask date.ebnf --prefix 2024- --why 1 --why '#30'

    - ``prefix``: TEXT is what has been written so far.
    - ``format_``: table: id and text; ids: one a line; bits: the packed mask, binary; json: all
      boundaries that the prefix may have.
    - ``every``: On a terminal, too, list all tokens of a table, not only the first 50.
    - ``why``: Say why TOKEN, its text or #ID, may come next or not; may be repeated.
    """
    if prefix is not None and prefix_ids is not None:
        raise UsageError("--prefix and --prefix-ids exclude each other")
    artifact, otherwise = subject_of(subject, given), "compile again with --tokenization any, which"
    if isinstance(artifact, str):
        otherwise = "--tokenization any"
        from constrain.artifacts.container.manifest import EARLEY
        from constrain.compiler.frontend import Automaton

        wanted = given.compile_options(subject)
        recogniser = recogniser_of(artifact, subject, wanted)
        if not isinstance(recogniser, Automaton) and recogniser.engine != EARLEY:
            # One mask is wanted: there is no use in precomputing others.
            wanted = replace(wanted, prewarm=0)
        artifact = compilation_of(recogniser, given, wanted).artifact
    if why:
        if format_ not in ("table", "json"):
            raise UsageError("--why is answered as a table or as json")
        tokenizer = tokenizer_of(artifact, given)
        return _answer_why(artifact, tokenizer, prefix, prefix_ids, why, format_, otherwise)
    most = None if every or not is_terminal(sys.stdout) else _ON_A_TERMINAL
    if prefix_ids is not None:
        return _answer_ids(artifact, parsed_ids(prefix_ids), format_, most)
    return _answer_text(artifact, os.fsencode(prefix or ""), format_, most)


def _answer_why(
    artifact: "Artifact",
    tokenizer: "AnyTokenizer | None",
    prefix: str | None,
    prefix_ids: str | None,
    why: list[str],
    format_: Format,
    remedy: str,
) -> int:
    """``remedy``: what allows all tokens that spell a member."""
    from constrain.artifacts.errors import TokenRefusedError
    from constrain.compiler.explain.engines import ExplainError
    from constrain.compiler.explain.explainer import explainer_of_artifact
    from constrain.compiler.explain.refusals import Reason, Refusals

    ids, before, pending = parsed_ids(prefix_ids or ""), None, b""
    if prefix_ids is None:
        text = os.fsencode(prefix or "")
        found = _boundaries(artifact, text)
        if not found:
            return _answer_text(artifact, text, format_, None)
        before = found[0]
        ids, pending = [*before.ids], before.pending
    try:
        explain = explainer_of_artifact(artifact).verdict
    except ExplainError:
        explain = None
    refusals = Refusals(artifact, tokenizer, explain)
    try:
        asked = [(name, _token_of(artifact, name)) for name in why]
        verdicts = [
            os.fsencode(name) if token is None else refusals.why(ids, token, before)
            for name, token in asked
        ]
    except TokenRefusedError:
        return _answer_ids(artifact, ids, format_, None)
    if format_ == "json":
        listed = [_verdict_json(artifact, each) for each in verdicts]
        write_json(SCHEMA, {"ids": ids, "pending": text_of(pending), "tokens": listed})
    else:
        behind = " ".join(quoted(artifact.vocabulary.token(i)) for i in ids) or "the start"
        inside = f", inside a token that begins with {quoted(pending)}" if pending else ""
        status(f"after {behind}{inside}")
        said, is_spelling = "", False
        for each in verdicts:
            text = each if isinstance(each, bytes) else each.text
            _, written = refusals.written(ids, pending + text)
            shown = _shown(artifact, written)
            if isinstance(each, bytes):
                line = f"{quoted(each)}  no token has this text; #ID names one by id"
                line += f"; without what follows, the tokenizer writes {shown}" * bool(written)
            else:
                line = _verdict_said(artifact, ids, each, pending)
                is_merged = each.reason is Reason.PENDING and len(
                    artifact.vocabulary.token(written[0]) if written else b""
                ) > len(pending)
                if is_merged:
                    line += f"; the tokenizer writes {shown}, not {quoted(pending)} {quoted(text)}"
                is_spelling |= is_merged or each.reason in (Reason.TOKENIZATION, Reason.DEAD_END)
            said += f"{visible(line)}\n"
        write_text(said)
        if is_spelling and artifact.is_canonical and artifact.spells_bytes:
            note(f"{remedy} allows every spelling")
    if None in (token for _, token in asked):
        return 2
    return 0 if all(not isinstance(v, bytes) and v.is_allowed for v in verdicts) else 1


def _shown(artifact: "Artifact", ids: Sequence[int]) -> str:
    """Tokens with their ids."""
    tokens = artifact.vocabulary.tokens(list(ids))
    return " ".join(f"{quoted(t)} ({i})" for t, i in zip(tokens, ids, strict=True))


def _token_of(artifact: "Artifact", name: str) -> int | None:
    """A token by its text, or by its id as in #123; None if no token has the text."""
    if name[:1] == "#" and name[1:].isascii() and name[1:].isdigit() and len(name) < 19:
        return int(name[1:])
    found = artifact.vocabulary.find(os.fsencode(name).decode("utf-8", "replace"))
    if found is None:
        return None
    if name.isascii() and name.isdigit() and int(name) < artifact.vocabulary.size != found:
        note(
            f"--why {name} is taken as the text of token {found}; '#{name}' is the token of that id"
        )
    return found


def _verdict_json(artifact: "Artifact", verdict: "TokenVerdict | bytes") -> dict[str, Any]:
    """Ranges of bytes have both ends included. Of a text that no token has nothing else is said."""
    if isinstance(verdict, bytes):
        return {"id": None, "text": text_of(verdict), "allowed": False, "reason": "no-token"}
    tokens = zip(verdict.instead, artifact.vocabulary.tokens(list(verdict.instead)), strict=True)
    return {
        "id": verdict.token,
        "text": text_of(verdict.text),
        "allowed": verdict.is_allowed,
        "reason": verdict.reason.value,
        **{each: getattr(verdict, each) for each in _AS_IT_SAYS},
        "instead": [{"id": i, "text": text_of(octets)} for i, octets in tokens],
        "step": None if verdict.step is None else verdict.step.value,
    }


# What is said of each reason that needs no more words.
_SAID = {
    "allowed": "allowed",
    "ended": "refused: the text has ended",
    "special": "refused: it stands for no text, and the grammar does not name it here",
    "unknown": "refused: it stands for unknown text, which is left out",
    "no-text": "refused: it has no text",
    "no-token": "refused: no token has this id",
}


def _verdict_said(
    artifact: "Artifact", ids: list[int], verdict: "TokenVerdict", pending: bytes
) -> str:
    """What becomes of a token, on one line."""
    from constrain.compiler.explain.refusals import Reason, Step

    said = f"{verdict.token}  {quoted(verdict.text)}  "
    if verdict.reason.value in _SAID:
        return f"{said}{_SAID[verdict.reason.value]}"
    match verdict.reason:
        case Reason.PENDING:
            what = f"refused: the prefix ends in a token that begins with {quoted(pending or b' ')}"
            return f"{said}{what}, and this one does not"
        case Reason.GRAMMAR:
            assert verdict.byte is not None
            at = verdict.text[verdict.byte : verdict.byte + 1]
            what = f"refused by the grammar at its byte {verdict.byte} ({quoted(at)})"
            return f"{said}{what}{_expected_said(verdict)}"
        case Reason.TOKENIZATION if verdict.step is Step.ADDED_TOKENS and not verdict.instead:
            what = "refused: the grammar does not name this added token here, and texts with its"
            return f"{said}{what} name are left out"
        case Reason.TOKENIZATION:
            last = [quoted(artifact.vocabulary.token(i)) for i in ids[-1:]]
            behind = f"after {last[0]}" if last else "at the start"
            what = f"refused: {behind} the tokenizer never writes {quoted(verdict.text)}"
        case Reason.NOT_AT_END:
            what = "refused: it ends the text, which is not complete"
            return f"{said}{what}{_expected_said(verdict)}"
        case _:
            what = "refused as a dead end: the tokenizer writes no member so"
    if verdict.instead:
        gone = artifact.vocabulary.tokens(ids[len(ids) - verdict.rewritten :])
        instead = b"".join(artifact.vocabulary.tokens(list(verdict.instead)))
        shown = _shown(artifact, verdict.instead)
        is_one = len(verdict.instead) == len(gone) == 1 and verdict.step is Step.MERGES
        if is_one and instead == gone[0] + verdict.text:
            return f"{said}{what}, it merges both to {shown}"
        place = f" in place of {' '.join(map(quoted, gone))}" * bool(verdict.rewritten)
        goes_on = not (b"".join(gone) + verdict.text).endswith(instead)
        what += "; where the text goes on, it writes for example" if goes_on else "; it writes"
        what += f" {shown}{place}"
    if verdict.step is not None:
        what += f", by its {_STEPS.get(verdict.step.value, verdict.step.value)}"
    return f"{said}{what}"


def _expected_said(verdict: "TokenVerdict") -> str:
    from constrain.compiler.automata.dump import class_text

    expected = [class_text(verdict.expected)] if verdict.expected else []
    expected += ["the end of the text"] * verdict.may_end
    rules = f", in {' > '.join(verdict.rules)}" if verdict.rules else ""
    return f"; expected {' or '.join(expected)}{rules}" if expected else ""


def _answer_text(artifact: "Artifact", prefix: bytes, format_: Format, most: int | None) -> int:
    found = _boundaries(artifact, prefix)
    if found:
        _write(artifact, prefix, found, format_, most)
        return 0
    stop = artifact.viable_bytes(prefix)
    if format_ == "json":
        write_json(SCHEMA, {"prefix": text_of(prefix), "stopped_at": stop, "boundaries": []})
    place = f"byte {stop} ({quoted(prefix[stop : stop + 1])})" if stop < len(prefix) else "its end"
    error(
        f"no member of the grammar begins with this prefix: it stops at {place} "
        "(`constrain explain` says what was expected)"
    )
    if artifact.names_tokens:
        note("the grammar names tokens, which no text matches; --prefix-ids gives a prefix of them")
    return 1


def _boundaries(artifact: "Artifact", prefix: bytes) -> "list[Boundary]":
    from constrain.artifacts.container.manifest import WORD_DFA
    from constrain.artifacts.prefix import boundaries

    if artifact.manifest.kind != WORD_DFA:
        return boundaries(artifact, prefix)
    from constrain.artifacts.kinds.wordpiece import WordPieceRuntime
    from constrain.compiler.inspection.encoding import canonical_text

    assert isinstance(artifact.runtime, WordPieceRuntime)
    try:
        text = prefix.decode("utf-8")
    except UnicodeDecodeError:
        return []
    found = boundaries(artifact, canonical_text(artifact, text))
    # Unknown words all look alike: only the bytes say whether a member begins with this one.
    is_viable = artifact.viable_bytes(prefix) == len(prefix)
    unknown = artifact.runtime.machine().unknown
    return [b for b in found if is_viable or unknown not in b.ids]


def _answer_ids(artifact: "Artifact", ids: list[int], format_: Format, most: int | None) -> int:
    from constrain.artifacts.errors import TokenRefusedError
    from constrain.artifacts.prefix import Boundary

    matcher = artifact.matcher()
    for place, token_id in enumerate(ids):
        try:
            matcher.advance(token_id)
        except TokenRefusedError as refusal:
            if format_ == "json":
                write_json(SCHEMA, {"prefix_ids": ids, "stopped_at": place, "boundaries": []})
            error(f"--prefix-ids: {refusal}")
            return 1
    text = b"".join(artifact.vocabulary.token(i) for i in ids if artifact.vocabulary.is_text(i))
    boundary = Boundary(len(text), tuple(ids), b"", matcher.mask(), matcher.is_accepting)
    _write(artifact, text, [boundary], format_, most)
    return 0


def _write(
    artifact: "Artifact", prefix: bytes, found: "list[Boundary]", format_: Format, most: int | None
) -> None:
    from constrain.artifacts.tokens import tokenset

    best = found[0]
    match format_:
        case "bits":
            write_bytes(best.allowed.astype("<u4").tobytes(), "a packed mask")
        case "ids":
            write_text("".join(f"{i}\n" for i in tokenset.to_ids(best.allowed).tolist()))
        case "json":
            listed = [
                {
                    "bytes": b.length,
                    "ids": list(b.ids),
                    "pending": text_of(b.pending),
                    "accepting": b.accepting,
                    "allowed": tokenset.to_ids(b.allowed).tolist(),
                }
                for b in found
            ]
            write_json(SCHEMA, {"prefix": text_of(prefix), "boundaries": listed})
        case "table":
            _write_table(artifact, best, most)
            for other in found[1:]:
                status(f"or {_following(artifact, other)}; --format json lists them")


def _following(artifact: "Artifact", boundary: "Boundary") -> str:
    """How many tokens may follow a boundary, and what stands before it."""
    from constrain.artifacts.tokens import tokenset

    number = len(tokenset.to_ids(boundary.allowed))
    path = " ".join(quoted(artifact.vocabulary.token(i)) for i in boundary.ids) or "the start"
    pending = f", inside a token that begins with {quoted(boundary.pending)}"
    count = f"{number:,} token{'s' * (number != 1)}"
    return f"{count} may follow {path}{pending if boundary.pending else ''}"


def _write_table(artifact: "Artifact", boundary: "Boundary", most: int | None) -> None:
    """The tokens in a table, at most so many."""
    from constrain.artifacts.tokens import tokenset

    ids = tokenset.to_ids(boundary.allowed).tolist()
    eos = set(artifact.manifest.eos)
    status(_following(artifact, boundary))
    width = max((len(str(i)) for i in ids), default=1)
    shown = ids[:most]
    tokens = artifact.vocabulary.tokens(shown)
    lines = [
        f"{number}  {text}\n"
        for number, text in zip(
            map(str.rjust, map(str, shown), repeat(width)), all_quoted(tokens), strict=True
        )
    ]
    for place, token_id in enumerate(shown):
        if token_id in eos:
            lines[place] = lines[place][:-1] + "  (end of text)\n"
    write_text("".join(lines))
    if len(lines) < len(ids):
        status(f"… and {len(ids) - len(lines):,} more; --all lists them")
