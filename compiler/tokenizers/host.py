"""The ``tokenizer.json`` of a tokenizer that another library holds in memory.

Servers give a grammar backend their tokenizer as an object: transformers' fast tokenizers have
the tokenizer of the package ``tokenizers`` as ``backend_tokenizer``, which writes itself by
``to_str``; those of mistral-common know the path of their ``tekken.json``.
"""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from ..diagnostics import TokenizerError


@dataclass(frozen=True, slots=True)
class HostTokenizer:
    """What an object says of itself. ``name``: for messages. ``raw``: the content of its
    ``tokenizer.json``. ``eos``: the name of the token that ends a text, None if it has none."""

    name: str
    raw: bytes
    eos: str | None


def host_file(tokenizer: object) -> str | None:
    """The file that a host's tokenizer object was read from, if it is one of mistral-common, or of
    a server around that."""
    for each in (tokenizer, getattr(tokenizer, "tokenizer", None)):
        path = getattr(each, "file_path", None)
        if isinstance(path, str | PathLike) and "tekken" in Path(path).name:
            return fspath(path)
    return None


def host_tokenizer(tokenizer: object) -> HostTokenizer:
    """A host's tokenizer object as a file's content.

    Takes a fast tokenizer of transformers, or a ``tokenizers.Tokenizer``. Raises
    ``TokenizerError`` for objects without either, naming their class.
    """
    write = getattr(getattr(tokenizer, "backend_tokenizer", tokenizer), "to_str", None)
    kind = type(tokenizer).__name__
    if not callable(write):
        raise TokenizerError(
            f"a tokenizer of the class {kind} cannot be read: a fast tokenizer of transformers and "
            f"those of the packages tokenizers and mistral-common can; else give the path of its "
            f"file"
        )
    eos = getattr(tokenizer, "eos_token", None)
    name = str(getattr(tokenizer, "name_or_path", "") or kind)
    return HostTokenizer(name, write().encode("utf-8"), None if eos is None else str(eos))
