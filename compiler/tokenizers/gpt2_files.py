"""Read GPT-2's two files: the vocabulary as JSON, and the merges, one in each line.

OpenAI calls them ``encoder.json`` and ``vocab.bpe``, Hugging Face calls them ``vocab.json`` and
``merges.txt``.
"""

from dataclasses import replace
from hashlib import sha256

from ..diagnostics import TokenizerError
from ..files.bounded import bounded_json
from .huggingface import tokenizer_of
from .tokenizer import Tokenizer

# Vocabulary and merges, side by side in a folder.
NAMES = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))


def read_merge_files(name: str, vocab: bytes, merges: bytes, eos: str | None) -> Tokenizer:
    """The tokenizer of both files' content, with GPT-2's pre-tokenizer and its end of text.

    ``eos``: the name of the token that ends a text, None for the conventional ones. Raises
    ``TokenizerError``, whose message does not name the files.
    """
    try:
        entries = bounded_json(vocab, "vocabulary in JSON")
        lines = merges.decode("utf-8").split("\n")
    except ValueError as error:
        raise TokenizerError(f"the merges are not in UTF-8 ({error})") from None
    if not isinstance(entries, dict):
        raise TokenizerError("the vocabulary is not a JSON object of tokens and ids")
    if lines[0].startswith("#version"):
        lines = lines[1:]
    end = "<|endoftext|>"
    added = [{"id": entries[end], "content": end, "special": True}] if end in entries else []
    document = {
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "use_regex": True},
        "model": {"type": "BPE", "vocab": entries, "merges": [line for line in lines if line]},
    }
    digest = sha256(vocab + b"\0" + merges).hexdigest()
    # That end of text belongs to the format.
    return replace(tokenizer_of(name, digest, document, eos), eos_is_guessed=False)
