"""Real tokenizers, read from their own files.

    load (tokenizer.json, by name what is not supported)  ->  Tokenizer
    pretokenize (cut text)  ->  bpe (merge pieces)

``default`` is a vocabulary of the project's own, for trying things out.
"""

from .load import default_path, load_tokenizer
from .tokenizer import Tokenizer

__all__ = ["Tokenizer", "default_path", "load_tokenizer"]
