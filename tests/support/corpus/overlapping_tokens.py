"""Random small tokenizers whose added tokens are also parts or results of merges."""

import random
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers

from constrain.compiler.tokenizers import byte_alphabet
from support.library_steps import bpe

EOS = "</s>"
LETTERS = "aab2.  é"
_BYTES = byte_alphabet.characters()
_FLAGS = ("normalized", "lstrip", "rstrip", "single_word")


def overlapping_tokenizer(rng: random.Random, file: Path) -> None:
    """Write a tokenizer of at most 300 tokens, of bytes or of characters."""
    of_bytes = rng.random() < 0.6
    letters = list(dict.fromkeys(LETTERS))
    if of_bytes:
        whole = rng.random() < 0.3
        octets = range(256) if whole else sorted({o for c in letters for o in c.encode()})
        base = [_BYTES[octet] for octet in octets]
        common = [_BYTES[octet] for octet in LETTERS.encode()]
    else:
        common = list(LETTERS.replace(" ", "▁"))
        base = [*dict.fromkeys(common)]
    fallback = not of_bytes and rng.random() < 0.5
    vocab = {EOS: 0}
    if fallback:
        vocab |= {f"<0x{octet:02X}>": 1 + octet for octet in range(256)}
        base = [char for char in base if rng.random() < 0.9]
        common = [char for char in common if char in base]
    for char in base:
        vocab[char] = len(vocab)
    pairs = _merges(rng, common, rng.randrange(3, 1 + min(20, 298 - len(vocab))))
    library = Tokenizer(bpe(vocab, pairs, byte_fallback=fallback))
    if of_bytes:
        library.pre_tokenizer = _byte_steps(rng)
        if rng.random() < 0.15:
            library.normalizer = rng.choice([normalizers.NFC(), normalizers.Lowercase()])
    elif rng.random() < 0.5:
        scheme, cuts = rng.choice(["always", "first", "never"]), rng.random() < 0.5
        library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cuts)
    else:
        steps = [normalizers.Prepend("▁")] * rng.randrange(2)
        library.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    library.add_special_tokens([EOS])
    parts = [part for pair in pairs for part in (*pair, "".join(pair))]
    for _ in range(rng.randrange(1, 4)):
        flags = {flag: rng.random() < 0.3 for flag in _FLAGS}
        add = rng.choice([library.add_tokens, library.add_special_tokens])
        add([AddedToken(_name(rng, rng.choice(parts)), **flags)])
    library.save(str(file))


def _merges(rng: random.Random, letters: list[str], count: int) -> list[tuple[str, str]]:
    """Distinct pairs of letters and of earlier results; some lists are out of order."""
    known, pairs = list(letters), list[tuple[str, str]]()
    for _ in range(count):
        pair = rng.choice(known), rng.choice(known)
        if pair not in pairs and len("".join(pair)) < 6:
            pairs.append(pair)
            known += ["".join(pair)] * 2
    if rng.random() < 0.3:
        rng.shuffle(pairs)
    return pairs


def _name(rng: random.Random, token: str) -> str:
    """A token as the vocabulary has it, or as a text has it."""
    text = token.replace("Ġ", " ").replace("▁", " ")
    return rng.choice([token, token, text])


def _byte_steps(rng: random.Random) -> Any:
    prefix = rng.random() < 0.2
    if rng.random() < 0.4:
        return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=False)
    if rng.random() < 0.5:
        return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=True)
    cut = rng.choice([r" ?[^\s\d]+|\d|\s+", r"a+|b", r"\s?\w{1,2}|\s"])
    behaviour = rng.choice(["isolated", "merged_with_previous", "merged_with_next", "contiguous"])
    alphabet = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(cut), behaviour), alphabet])
