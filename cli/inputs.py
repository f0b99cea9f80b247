"""Read what the user names: a grammar, an artifact, a tokenizer."""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from constrain.artifacts.container.regular import is_stream, regular
from constrain.artifacts.container.signature import HEAD_BYTES, SUFFIX, looks_like_artifact
from constrain.artifacts.errors import ConstrainError, visible

from .console import UsageError, is_terminal, note, progress, status

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.options import AnyTokenizer

STDIN = "-"

# How names of tokenizers begin that are no files.
REMOTE = ("hf:", "tiktoken:")

# Grammars of many dialects have this suffix.
GENERIC = ".ebnf"

# What is read of a file at a time.
_PART_BYTES = 1 << 18


# Keys that tell a JSON Schema.
_OF_SCHEMAS = {"$schema", "$ref", "$defs", "type", "properties", "anyOf", "oneOf", "enum"}

# What is read of a file or stream at all.
_MOST_BYTES = 1 << 30


class InputLimitError(ConstrainError):
    """More input than is read."""

    exit_code = 3

    def __init__(self, path: str, most: int, what: str) -> None:
        super().__init__(
            f"{visible(path)}: there are more than {most:,} bytes, the most that {what} has"
        )


# By path what an editor has in the place of a file, and may not have saved.
held: dict[str, bytes] = {}


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for ``-``. Raises ``InputLimitError``, and
    ``LimitError`` before more is read than the command may have in memory."""
    if path in held:
        return held[path]
    if path == STDIN and is_terminal(sys.stdin):
        status("reading from the terminal; end with Ctrl-D")
    check_size(path)
    parts, size = [], 0
    with _opened(path) as stream:
        while size <= _MOST_BYTES and (part := stream.read(_PART_BYTES)):
            parts.append(part)
            size += len(part)
            _check(size, path)
    if size > _MOST_BYTES:
        raise InputLimitError(path, _MOST_BYTES, "an input")
    return b"".join(parts)


def check_size(path: str) -> None:
    """Raise ``LimitError`` for a file that is larger than what the command may have in memory."""
    if path != STDIN:
        _check(Path(path).stat().st_size, path)


def _check(size: int, path: str) -> None:
    from constrain.compiler.limits import check_size_in_force

    check_size_in_force(size, f"reading {visible(path)}")


def artifact_or_text(path: str) -> "Artifact | str":
    """An artifact (verified), or the text of a grammar; distinguished by suffix, then content."""
    is_named = path != STDIN and path not in held and not is_stream(path)
    if is_named and (path.endswith(SUFFIX) or is_artifact(path)):
        from constrain.artifacts.read import load

        check_size(path)
        return load(path, verify=True)
    data = read_bytes(path)
    if path.endswith(SUFFIX) or looks_like_artifact(data[:HEAD_BYTES]) or b"\0" in data[:8]:
        from constrain.artifacts.read import load_bytes

        return load_bytes(data, verify=True, name=path)
    return decoded(data, path)


def grammar_text(path: str) -> str:
    """The text of a grammar; an artifact is refused."""
    data = read_bytes(path)
    if looks_like_artifact(data[:HEAD_BYTES]):
        raise UsageError(f"{visible(path)}: this is a compiled artifact already, not a grammar")
    return decoded(data, path)


def beside(path: str) -> str | None:
    """The folder of a file, from which its imports go; None for standard input."""
    return None if path == STDIN else str(Path(path).parent)


def grammar_files(path: str) -> list[str]:
    """The path itself, or if it is a folder all grammar files in it, at any depth, by name.

    What a file is goes by its suffix; hidden files and folders are left out. Raises ``UsageError``
    for a folder without a grammar, and ``OSError`` for a link that leads out of it.
    """
    from constrain.compiler.dialects import DIALECTS, dialect_of

    if path == STDIN or not Path(path).is_dir():
        return [path]
    found = []
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files = (name for name in sorted(names) if not name.startswith(".") and dialect_of(name))
        paths = (str(Path(folder) / name) for name in files)
        found += [str(regular(file, below=path)) for file in paths if not is_stream(file)]
    if not found:
        suffixes = ", ".join(suffix for row in DIALECTS.values() for suffix in row.suffixes)
        raise UsageError(
            f"{visible(path)}: there is no grammar in this folder; the suffixes are {suffixes}"
        )
    return found


def decoded(data: bytes, path: str) -> str:
    """A grammar's UTF-8 text, without a byte order mark; line ends as they are."""
    from constrain.compiler.limits import MOST_GRAMMAR_BYTES

    if len(data) > MOST_GRAMMAR_BYTES:
        raise InputLimitError(path, MOST_GRAMMAR_BYTES, "a grammar")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _not_utf8(data, path, error.start) from None


def _not_utf8(data: bytes, path: str, place: int) -> ConstrainError:
    """The error of the byte at ``place``, before which all is UTF-8."""
    from constrain.compiler.diagnostics import Diagnostic, DialectError, Source, Span

    begin = len(data[:place].decode("utf-8").removeprefix("\ufeff"))
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    message = f"byte 0x{data[place]:02X} is not UTF-8"
    found = Diagnostic(message, Span(begin, begin + 1), "save the grammar as UTF-8 text")
    return DialectError(Source(text, path, ""), [found])


def dialect_for(path: str, given: str | None, extended: bool = False) -> str:
    """The dialect to read a file as: the one given, else by suffix.

    ``extended``: a regex is read with intersections and complements.
    """
    from constrain.compiler.dialects import EXTENDED

    found = _dialect_for(path, given)
    if not extended:
        return found
    if found not in ("regex", EXTENDED):
        raise UsageError(f"--extended is about regexes, and {visible(path)} is read as {found}")
    return EXTENDED


def _dialect_for(path: str, given: str | None) -> str:
    from constrain.compiler.dialects import DIALECTS, dialect_of
    from constrain.compiler.dialects.ebnf.foreign import why_unread

    known = ", ".join(DIALECTS)
    if given is not None:
        if given not in DIALECTS:
            raise UsageError(f"there is no dialect {given!r}; known are: {known}")
        usual = None if path == STDIN or path.endswith(GENERIC) else dialect_of(path)
        if usual not in (None, given.removesuffix("-extended")):
            note(f"{visible(path)} is read as {given}, as --dialect says; its suffix means {usual}")
        return given
    found = dialect_of(path)
    if found is None:
        if (why := why_unread(path)) is not None:
            raise UsageError(f"{visible(path)}: {why}")
        hint = _kind_of_json(path) or (
            "; a JSON Schema is read with --dialect json-schema, a list of tools with --dialect "
            "tools, a structural tag with --dialect structural-tag"
        ) * path.endswith(".json")
        raise UsageError(
            f"{visible(path)}: the suffix does not tell the dialect; say --dialect with one of: "
            f"{known}"
            f"{hint}"
        )
    return found


def _kind_of_json(path: str) -> str:
    """What is in a file of JSON by its keys, and how it is read; empty where they do not tell."""
    if path == STDIN or not path.endswith(".json") or is_stream(path):
        return ""
    import json

    try:
        value = json.loads(decoded(read_bytes(path), path))
    except (OSError, ValueError, ConstrainError, RecursionError):
        return ""
    listed = value.get("tools") if isinstance(value, dict) else value
    first = listed[0] if isinstance(listed, list) and listed else None
    keys = {*first} if isinstance(first, dict) else set[str]()
    for key, whose in (("input_schema", "Anthropic's"), ("inputSchema", "MCP's")):
        if key in keys:
            return (
                f"; these are {whose} tools: write {key!r} as 'parameters', and read them with "
                "--dialect tools"
            )
    if keys & {"function", "parameters"}:
        return "; this is a list of tools: read it with --dialect tools"
    if isinstance(value, dict) and ("openapi" in value or "swagger" in value):
        return (
            "; this is an OpenAPI description: read one of its schemas with --dialect json-schema "
            "--start '#/components/schemas/NAME'"
        )
    if isinstance(value, dict) and _OF_SCHEMAS & {*value}:
        return "; this is a JSON Schema: read it with --dialect json-schema"
    return ""


def tokenizer_at(name: str | None, *, no_cache: bool = False) -> "AnyTokenizer":
    """The tokenizer named, or the embedded default; its tables are cached for the next run."""
    from constrain.compiler import load_tokenizer

    return load_tokenizer(name, cache=None if no_cache else "default")


def parsed_ids(text: str) -> list[int]:
    """The ids of tokens, with commas or blanks between them. Raises ``UsageError``."""
    parts = [part for part in text.replace(",", " ").split() if part]
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        raise UsageError(f"--prefix-ids takes numbers with commas between them, not {text!r}")
    return [int(part) for part in parts]


def argument_text(text: str) -> str:
    """A text that was given as an argument, which must be UTF-8."""
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"byte {error.start} of the text is not UTF-8") from None


def shown_name(path: str) -> str:
    """What messages call what is read there."""
    return "<stdin>" if path == STDIN else path


def text_chunks(path: str) -> Iterator[str]:
    """The text of a file or of standard input, a part at a time; it must be UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done, size = 0, 0 if path == STDIN else Path(path).stat().st_size
    with _opened(path) as stream:
        while True:
            data = stream.read(_PART_BYTES)
            waiting = len(decoder.getstate()[0])
            try:
                yield decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise UsageError(
                    f"{visible(shown_name(path))}: byte {done - waiting + error.start} "
                    f"(0x{error.object[error.start]:02X}) is not UTF-8"
                ) from None
            if not data:
                return
            done += len(data)
            if size:
                progress("tokens", done, size)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STDIN:
        if sys.stdin is None:  # As Python has it where the stream is closed from the start.
            raise UsageError("standard input is closed")
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as file:
            yield file


def is_artifact(path: str) -> bool:
    """Whether a file begins as artifacts do."""
    with Path(path).open("rb") as file:
        return looks_like_artifact(file.read(HEAD_BYTES))
