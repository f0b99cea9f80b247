"""Small tokenizers with a normalization form, and finite grammars of what these change."""

import random
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from constrain.artifacts import Artifact
from constrain.compiler.tokenizers import byte_alphabet
from support.corpus.engines import ENGINES
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import Case
from support.library_steps import bpe

# Starters that compose, also with starters, marks of four classes, jamo, what is never stable
# (U+0958, U+212B, U+0344), and what is inert.
PARTS = [
    *("a", "e", "x", " ", "é", "ế", "ệ", "한", "하", "か", "क", "漢", "α", "😀"),
    *("\u0301", "\u0302", "\u0323", "\u0327", "\u0345", "\u05b4", "\u3099", "\u093c"),
    *("\u1112", "\u1161", "\u11ab", "\u0958", "\u212b", "\u0344", "A", "e\u0301", "\u0323\u0301"),
]

# How text is cut: not at all, before spaces, after letters with their marks, each by itself.
PATTERNS = [None, r" ?[^\s]+|\s+", r"\p{L}\p{M}*", r"\p{M}", r"\p{L}|\p{M}+"]

FORMS = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer"]


def random_normalizing(rng: random.Random, form: str, folder: Path) -> Path:
    """A file of a tokenizer whose merges join parts of such texts, and some of them: of bytes, or
    of characters with tokens of bytes for the others."""
    alphabet = byte_alphabet.characters()
    bytewise = rng.random() < 0.7
    letters = alphabet if bytewise else sorted(set("".join(rng.sample(PARTS, 20))))
    merges: list[tuple[str, str]] = []
    names = set(letters)
    for _ in range(rng.choice([0, 4, 15, 40])):
        text = "".join(rng.choices(PARTS, k=3))
        pieces = [alphabet[octet] for octet in text.encode()] if bytewise else list(text)
        pieces = [piece for piece in pieces if piece in names]
        for left, right in merges:
            pieces = _merged(pieces, left, right)
        if len(pieces) > 1:
            place = rng.randrange(len(pieces) - 1)
            left, right = pieces[place : place + 2]
            if left + right not in names:
                names.add(left + right)
                merges.append((left, right))
    octets = [] if bytewise else [f"<0x{octet:02X}>" for octet in range(256)]
    vocab = {name: number for number, name in enumerate([*letters, *octets])}
    model: Any = Tokenizer(bpe(vocab, merges, byte_fallback=not bytewise))
    model.normalizer = getattr(normalizers, form)()
    pattern = rng.choice(PATTERNS)
    steps = [] if pattern is None else [pre_tokenizers.Split(Regex(pattern), "isolated")]
    if bytewise:
        steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    if steps:
        model.pre_tokenizer = pre_tokenizers.Sequence(steps)
    model.add_special_tokens(["<eos>"])
    file = folder / "tokenizer.json"
    model.save(str(file))
    return file


def _merged(pieces: list[str], left: str, right: str) -> list[str]:
    found: list[str] = []
    for piece in pieces:
        if found and found[-1] == left and piece == right:
            found[-1] += piece
        else:
            found.append(piece)
    return found


def finite_grammar(rng: random.Random) -> str:
    """Rules that call those after them, with few of such texts."""
    names = ["start", "x", "y", "z"]
    some = rng.sample(PARTS, rng.randint(3, 7))

    def body(after: int) -> str:
        parts = [*names[after:], *names[after:], *(f"'{part}'" for part in some)]
        return " ".join(rng.choice(parts) for _ in range(rng.randint(1, 3)))

    return "".join(
        f"{name} ::= {' | '.join(body(i) for _ in range(rng.randint(1, 3)))};"
        for i, name in enumerate(names, start=1)
    )


WORDS = [*"aeiouxkα", "é", "ệ", "\u0301", "\u0323", "\u0302", "\u05b4", "가", "ᆨ", "か", "\u3099"]


WIDE = {
    "any": "(.|\n)*",
    "string": r'"([^"\\\x00-\x1f]|\\["\\/bfnrt])*"',
    "marks": "([a-zé ]|[\u0300-\u036f])*",
}


def text_of(name: str, rng: random.Random) -> str:
    """A random text, often one that NFC changes."""
    letters = WORDS if name != "marks" else [w for w in WORDS if w < "\u0370" and w != "ệ"]
    inside = "".join(rng.choice([*letters, " ", "the"]) for _ in range(rng.randrange(1, 8)))
    return f'"{inside}"' if name == "string" else inside


_KNOWN: dict[str, Artifact] = {}


def compiled(case: Case, name: str) -> Artifact:
    """One of ``WIDE`` by CartesianMerge; tests of one process share what its masks are made of."""
    if name not in _KNOWN:
        language = Language(name, WIDE[name], "regex")
        _KNOWN[name] = ENGINES["CartesianMerge"].stored(language, case)
    return _KNOWN[name]
