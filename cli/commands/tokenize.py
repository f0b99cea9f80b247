"""``constrain tokenize``: a text as a tokenizer cuts and encodes it."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from .. import options
from ..console import UsageError, write_text
from ..inputs import argument_text, text_chunks, tokenizer_at
from ..quoting import quoted, text_of

if TYPE_CHECKING:
    from constrain.compiler import WordPieceTokenizer
    from constrain.compiler.options import AnyTokenizer

# The version of the JSON below.
SCHEMA = 1

# Tokens that are written at a time.
_BATCH = 4096


# How the tokens are written.
Format = Literal["table", "ids", "json"]


class _Token(NamedTuple):
    """A token of the text; ``piece`` counts the pieces from 0, None for an added token."""

    id: int
    octets: bytes
    piece: int | None
    begins: bool


@options.compile_options(*options.TOKENIZER)
def tokenize(
    given: options.Given,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", show_default=False)] = None,
    file: Annotated[str | None, typer.Option("--file", metavar="FILE")] = None,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "table",
) -> None:
    """Encode a text, as the tokenizer itself does without adding special tokens.

    In the table "|" marks the tokens that begin a piece: tokens are merged inside pieces
    only (those of WordPiece are words). "+" marks added tokens, which are found before anything
    is cut. Files of any size are read in bounded memory, with merges as long as there is a place to
    cut them now and then, with WordPiece always.

    \b
    Examples:
      constrain tokenize "Hello world" --tokenizer tokenizer.json
      constrain tokenize --file book.txt --format ids | wc -l

    - ``text``: The text.
    - ``file``: Read the text from FILE; - standard input.
    - ``format_``: table: id, mark and text; ids: one a line; json: id, text, piece of each.
    """
    if (text is None) == (file is None):
        raise UsageError("give either a text, or --file with a file (- is standard input)")
    chunks = text_chunks(file) if file is not None else iter([argument_text(text or "")])
    loaded = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    tokens = _tokens(loaded, chunks)
    match format_:
        case "ids":
            for found in loaded.encode_stream(chunks):
                write_text("".join([f"{i}\n" for i in found]))
        case "json":
            # Its list may be longer than memory.
            _write_batches(chain([f'{{"schema": {SCHEMA}, "tokens": ['], _json(tokens), ["]}\n"]))
        case "table":
            _write_batches(
                f"{token.id:>7} {_mark(token)} {quoted(token.octets)}\n" for token in tokens
            )


def _tokens(tokenizer: "AnyTokenizer", chunks: Iterable[str]) -> Iterator[_Token]:
    from constrain.compiler import Tokenizer
    from constrain.compiler.tokenizers.encoding.stream import stream_parts

    if not isinstance(tokenizer, Tokenizer):
        yield from _word_tokens(tokenizer, chunks)
        return
    number, begins = -1, True
    for part in stream_parts(tokenizer.encoder, chunks):
        if not isinstance(part, list):
            yield _Token(part.id, part.content.encode("utf-8"), None, True)
            begins = True
            continue
        for piece in part:
            begins |= tokenizer.splits
            number += begins
            for token_id in tokenizer.encoder.ids_of(piece):
                yield _Token(token_id, tokenizer.decode_bytes([token_id]), number, begins)
                begins = False


def _word_tokens(tokenizer: "WordPieceTokenizer", chunks: Iterable[str]) -> Iterator[_Token]:
    """The pieces of WordPiece are words; what is unknown is a word too."""
    number = -1
    for ids in tokenizer.encode_stream(chunks):
        for token_id in ids:
            octets = tokenizer.tokens[token_id]
            is_added = token_id in tokenizer.added and token_id != tokenizer.unk
            begins = is_added or not octets.startswith(tokenizer.indicator.encode())
            number += begins and not is_added
            yield _Token(token_id, octets, None if is_added else number, begins)


def _mark(token: _Token) -> str:
    if token.piece is None:
        return "+"
    return "|" if token.begins else " "


def _json(tokens: Iterable[_Token]) -> Iterator[str]:
    separator = ""
    for token in tokens:
        entry = {"id": token.id, "text": text_of(token.octets), "piece": token.piece}
        yield separator + json.dumps(entry)
        separator = ", "


def _write_batches(texts: Iterable[str]) -> None:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == _BATCH:
            write_text("".join(batch))
            batch.clear()
    write_text("".join(batch))
