"""Small tokenizers in the ways that text is cut, for tests that need no data.

bytes       merges of bytes, some inside characters; text is not cut
pieces      the same after a pre-tokenizer
characters  merges of characters after a space that is put first; tokens of bytes for others
normalized  as ``pieces``, after NFC
"""

from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from constrain.compiler.tokenizers import byte_alphabet
from support.library_steps import bpe

SMALL = ("bytes", "pieces", "characters", "normalized")

EOS = "<eos>"
# That grammars of the corpus name.
SPECIAL = [EOS, "<think>", "</s>", "<|end|>"]

_MERGED = ["ab", "bc", "abc", "aa", "bb", "th", "the", " the", " a", "  ", "12", "00", "in", "er"]
_MERGED += [
    "xy",
    '":',
    "\n\n",
    "é",
    "日",
    "日本",
    "\u0301",
    "e\u0301",
    ", ",
    "--",
    "==",
    "if",
    "/*",
]


def small_tokenizer(name: str, folder: Path) -> Path:
    """The file of a tokenizer of the table above, in a folder."""
    bytewise = name != "characters"
    alphabet = byte_alphabet.characters()
    if bytewise:
        vocab = {char: number for number, char in enumerate(alphabet)}
        # Each text is merged byte by byte from the left; so are the first two bytes of a character.
        spelled = [[alphabet[octet] for octet in text.encode()] for text in _MERGED]
    else:
        letters = sorted({char for text in _MERGED for char in text.replace(" ", "▁")})
        vocab = {f"<0x{octet:02X}>": octet for octet in range(256)}
        vocab.update({char: 256 + number for number, char in enumerate(letters)})
        spelled = [list(text.replace(" ", "▁")) for text in _MERGED]
    pairs = []
    for parts in spelled:
        for end in range(1, len(parts)):
            pair = "".join(parts[:end]), parts[end]
            if pair not in pairs:
                pairs.append(pair)
    model: Any = Tokenizer(bpe(vocab, pairs, byte_fallback=not bytewise))
    if bytewise:
        steps = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        if name != "bytes":
            cut = pre_tokenizers.Split(Regex(r" ?[^\s\d]+|\d{1,2}|\s+"), "isolated")
            steps.insert(0, cut)
        model.pre_tokenizer = pre_tokenizers.Sequence(steps)
        if name == "normalized":
            model.normalizer = normalizers.NFC()
    else:
        steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        model.normalizer = normalizers.Sequence(steps)
    model.add_special_tokens(SPECIAL)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tokenizer.json"
    model.save(str(file))
    return file
