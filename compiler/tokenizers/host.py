"""The ``tokenizer.json`` of a tokenizer that another library holds in memory.

Servers give a grammar backend their tokenizer as an object: transformers' fast tokenizers have
the tokenizer of the package ``tokenizers`` as ``backend_tokenizer``, which writes itself by
``to_str``.
"""

from dataclasses import dataclass

from ..diagnostics import TokenizerError


@dataclass(frozen=True, slots=True)
class HostTokenizer:
    """What an object says of itself. ``name``: for messages. ``raw``: the content of its
    ``tokenizer.json``. ``eos``: the name of the token that ends a text, None if it has none."""

    name: str
    raw: bytes
    eos: str | None


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
            f"one of the package tokenizers can; else give the path of its file"
        )
    eos = getattr(tokenizer, "eos_token", None)
    name = str(getattr(tokenizer, "name_or_path", "") or kind)
    return HostTokenizer(name, write().encode("utf-8"), None if eos is None else str(eos))
