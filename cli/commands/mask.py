"""``constrain mask``: which tokens may follow a prefix."""

import json
import os
import sys
from dataclasses import replace
from enum import StrEnum
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import options
from ..compiling import canonical_text, compilation_of, recogniser_of, subject_of
from ..console import UsageError, error, is_terminal, note, status, write_bytes, write_text
from ..quoting import all_quoted, quoted, text_of

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.artifacts.prefix import Boundary

SCHEMA = 1

# Lines of a table on a terminal.
_ON_A_TERMINAL = 50


class Format(StrEnum):
    """How the answer is written."""

    TABLE = "table"
    IDS = "ids"
    BITS = "bits"
    JSON = "json"


@options.compile_options(
    *options.TOKENIZER,
    *options.SOURCE,
    "tokenization",
    "meaning",
    "max_depth",
    "unk",
    "eos",
    "vocab_size",
    *options.LIMITS,
)
def mask(
    subject: options.Subject,
    given: options.Given,
    prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The text so far begins with TEXT.")
    ] = None,
    prefix_ids: Annotated[
        str | None,
        typer.Option(metavar="IDS", help="The text so far is these tokens, as in 464,3290."),
    ] = None,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="table: id and text; ids: one a line; bits: the packed mask, binary; json: all "
            "boundaries that the prefix may have.",
        ),
    ] = Format.TABLE,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="On a terminal, too, list all tokens of a table, not only the first 50."
        ),
    ] = False,
) -> int:
    """List the tokens that may follow a prefix.

    If TEXT ends inside a token, the answer is the tokens that complete it. Tokens without a
    text, such as those for chat markup, are given with --prefix-ids. Exit code 1 if
    no member of the grammar begins with the prefix. The options from --tokenizer on are for
    a grammar; an artifact has them inside.

    \b
    Examples:
      constrain mask date.cst --prefix 2024-0
      constrain mask date.ebnf --prefix-ids 5931,13 --format json
    """
    if prefix is not None and prefix_ids is not None:
        raise UsageError("--prefix and --prefix-ids exclude each other")
    artifact = subject_of(subject, given)
    if isinstance(artifact, str):
        from constrain.artifacts.container.manifest import EARLEY
        from constrain.compiler.frontend import Automaton

        wanted = given.compile_options(subject)
        recogniser = recogniser_of(artifact, subject, wanted)
        if not isinstance(recogniser, Automaton) and recogniser.engine != EARLEY:
            # One mask is wanted: there is no use in precomputing others.
            wanted = replace(wanted, prewarm=0)
        artifact = compilation_of(recogniser, given, wanted).artifact
    most = None if every or not is_terminal(sys.stdout) else _ON_A_TERMINAL
    if prefix_ids is not None:
        return _answer_ids(artifact, _parsed_ids(prefix_ids), format_, most)
    return _answer_text(artifact, os.fsencode(prefix or ""), format_, most)


def _parsed_ids(text: str) -> list[int]:
    parts = [part for part in text.replace(",", " ").split() if part]
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        raise UsageError(f"--prefix-ids takes numbers with commas between them, not {text!r}")
    return [int(part) for part in parts]


def _answer_text(artifact: "Artifact", prefix: bytes, format_: Format, most: int | None) -> int:
    found = _boundaries(artifact, prefix)
    if found:
        _write(artifact, prefix, found, format_, most)
        return 0
    stop = artifact.viable_bytes(prefix)
    if format_ is Format.JSON:
        _write_json({"prefix": text_of(prefix), "stopped_at": stop, "boundaries": []})
    place = f"byte {stop} ({quoted(prefix[stop : stop + 1])})" if stop < len(prefix) else "its end"
    error(f"no member of the grammar begins with this prefix: it stops at {place}")
    if artifact.names_tokens:
        note("the grammar names tokens, which no text matches; --prefix-ids gives a prefix of them")
    return 1


def _boundaries(artifact: "Artifact", prefix: bytes) -> "list[Boundary]":
    from constrain.artifacts.container.manifest import WORD_DFA
    from constrain.artifacts.prefix import boundaries

    if artifact.manifest.kind != WORD_DFA:
        return boundaries(artifact, prefix)
    from constrain.artifacts.kinds.wordpiece import WordPieceRuntime

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
            if format_ is Format.JSON:
                _write_json({"prefix_ids": ids, "stopped_at": place, "boundaries": []})
            error(f"token {place} of the prefix is not allowed there: {refusal}")
            return 1
    text = b"".join(artifact.vocabulary.token(i) for i in ids if artifact.vocabulary.is_text(i))
    boundary = Boundary(len(text), tuple(ids), b"", matcher.mask(), matcher.is_accepting)
    _write(artifact, text, [boundary], format_, most)
    return 0


def _write(
    artifact: "Artifact",
    prefix: bytes,
    found: "list[Boundary]",
    format_: Format,
    most: int | None,
) -> None:
    from constrain.artifacts.tokens import tokenset

    best = found[0]
    match format_:
        case Format.BITS:
            write_bytes(best.allowed.astype("<u4").tobytes(), "a packed mask")
        case Format.IDS:
            write_text("".join(f"{i}\n" for i in tokenset.to_ids(best.allowed).tolist()))
        case Format.JSON:
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
            _write_json({"prefix": text_of(prefix), "boundaries": listed})
        case Format.TABLE:
            _write_table(artifact, best, most)
            if len(found) > 1:
                more = len(found) - 1
                boundaries = "boundary is" if more == 1 else "boundaries are"
                status(f"{more} more {boundaries} possible; --format json lists them")


def _write_table(artifact: "Artifact", boundary: "Boundary", most: int | None) -> None:
    """The tokens in a table, at most so many."""
    from constrain.artifacts.tokens import tokenset

    ids = tokenset.to_ids(boundary.allowed).tolist()
    eos = set(artifact.manifest.eos)
    path = " ".join(quoted(artifact.vocabulary.token(i)) for i in boundary.ids) or "the start"
    pending = f", inside a token that begins with {quoted(boundary.pending)}"
    count = f"{len(ids):,} token{'s' * (len(ids) != 1)}"
    status(f"{count} may follow {path}{pending if boundary.pending else ''}")
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


def _write_json(value: dict[str, Any]) -> None:
    write_text(json.dumps({"schema": SCHEMA, **value}) + "\n")
