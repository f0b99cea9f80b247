"""Real tokenizers, read from their own files, and their exact encoding.

    load (which format)  ->  huggingface (tokenizer.json; refuses by name what is not supported)
    Tokenizer: vocabulary, merges, and the steps of its encoding as data (steps)
    encode: added (tokens in the text)  ->  normalize  ->  pretokenize (cut)  ->  bpe (merge)

``default`` is a vocabulary of the project's own, for trying things out.
"""

from .load import default_path, load_tokenizer
from .tokenizer import Tokenizer

__all__ = ["Tokenizer", "default_path", "load_tokenizer"]
