"""Real tokenizers, read from their own files, and their exact encoding.

    any_format    ``load_tokenizer``, the one door: WordPiece to the room ``wordpiece``, else load
    load          which format, and where: huggingface, tiktoken_ranks, tekken, gpt2_files, hub
    sentencepiece, gguf_tokenizer     those that models' own files hold, as ``pieces``;
                  foreign: what a file seems to be that is none of these
    host          the tokenizer that another library holds in memory
    definition    what the files say, as data: vocabulary, merges or scores, steps
    tokenizer     a loaded tokenizer: its definition, its encoder, its tokens
    encoding      text -> added tokens -> normalizers -> pre-tokenizers -> model -> ids

``default`` holds a vocabulary of the project's own, for trying things out;
``generators.make_default_tokenizer`` trains it.
"""

from .any_format import load_tokenizer
from .load import default_path, load_bpe
from .tokenizer import Tokenizer

__all__ = ["Tokenizer", "default_path", "load_bpe", "load_tokenizer"]
