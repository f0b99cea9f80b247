"""Random tokenizers with every way to cut a text, also those that remove parts of it, and random
tokenizers of SentencePiece's kind: masks as their library encodes."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.corpus.own_encodings import OwnEncodings, compare_random
from support.corpus.tokenizer_case import Case
from support.library_steps import AFFIXES, BEHAVIOURS, bpe
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from constrain.compiler.tokenizers import byte_alphabet

Count = Callable[[str, object], None]

LETTERS = "aab12.  é▁я"
WORDS = [
    "",
    "a",
    "b",
    "1",
    "12",
    ".",
    "é",
    " ",
    "  ",
    "ab",
    "a1",
    " a",
    "aa",
    "b.",
    "a b",
    "▁",
    "я",
    "я a",
]
# Characters that a normalizer changes, of which a vocabulary may have some.
CHANGED = ["A", "e\u0301", "\u200b", "日"]
PATTERNS = [
    *(r"\s", r"a+|\p{N}", r" ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+", r"[ab]1?", r"\s+(?!\S)|b", "."),
    *(r"\s+$", r" ?[^\s1]++|\s++\z|\s", r"\b[ab ]|[\w&&[^a]]+", r"^.|(?<=a) ", "a+?b|(?>1?)2"),
]


def cut(rng: random.Random, behaviour: str, invert: bool) -> Any:
    """A step that cuts, most often one that may do so in that way."""
    others = ["text", "delimiter", "digits", "marks", "spaces", "words", "scripts"]
    kind = rng.choice(["regex"] * 4 + others)
    match kind:
        case "regex":
            return pre_tokenizers.Split(Regex(rng.choice(PATTERNS)), behaviour, invert)
        case "text":
            return pre_tokenizers.Split(rng.choice(["a", " ", "ab"]), behaviour, invert)
        case "marks":
            return pre_tokenizers.Punctuation(behaviour)
        case "delimiter":
            return pre_tokenizers.CharDelimiterSplit(rng.choice("a1"))
        case "digits":
            return pre_tokenizers.Digits(individual_digits=invert)
        case "scripts":
            return pre_tokenizers.UnicodeScripts()
        case "spaces":
            return pre_tokenizers.WhitespaceSplit()
    return pre_tokenizers.Whitespace()


def normalizer(rng: random.Random) -> Any:
    """One that changes single characters, most often none."""
    flags = [rng.random() < 0.5 for _ in range(4)]
    some = normalizers.Nmt(), normalizers.StripAccents(), normalizers.BertNormalizer(*flags)
    return rng.choice([None, None, None, *some])


def options(rng: random.Random) -> dict[str, Any]:
    """What a model has that canonical masks do not follow, seldom."""
    if rng.random() < 0.9:
        return {}
    return rng.choice([{"ignore_merges": True}, *AFFIXES.values()])


def merges_of(rng: random.Random, letters: list[str]) -> list[tuple[str, str]]:
    """Up to twelve pairs of letters and of earlier results."""
    known, pairs = list(letters), dict[tuple[str, str], None]()
    for _ in range(rng.randrange(13)):
        pair = rng.choice(known), rng.choice(known)
        pairs[pair] = None
        known.append("".join(pair))
    return list(pairs)


def compared(library: Tokenizer, folder: Path, rng: random.Random, languages: int) -> Counter[str]:
    """Compare the masks of so many random languages; what was counted."""
    library.add_special_tokens(["</s>"])
    library.save(str(folder / "tokenizer.json"))
    own = OwnEncodings(Case(folder / "tokenizer.json"))
    words = WORDS if library.normalizer is None else WORDS + CHANGED
    return sum((compare_random(own, words, rng) for _ in range(languages)), Counter[str]())


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_every_way_to_cut(
    behaviour: str, invert: bool, tmp_path: Path, full: bool, record_property: Count
) -> None:
    """One or two steps after each other, over bytes and over characters."""
    rng = random.Random(f"{behaviour} {invert}")
    counts: Counter[str] = Counter()
    alphabet = byte_alphabet.characters()
    for number in range(40 if full else 1):
        bytewise = number % 3 < 2
        text = LETTERS + "A\u0301"
        letters = [alphabet[o] for o in text.encode()] if bytewise else list(text)
        base = {char: i for i, char in enumerate(dict.fromkeys(letters)) if rng.random() < 0.95}
        pairs = merges_of(rng, [char for char in letters if char in base])
        vocab = {char: i for i, char in enumerate(base)}
        library = Tokenizer(bpe(vocab, pairs))
        library.normalizer = normalizer(rng)
        steps = [cut(rng, behaviour, invert) for _ in range(rng.randrange(1, 3))]
        if bytewise:
            # Steps after it see the characters that stand for bytes; beside all scripts these may
            # need more states than there may be.
            place = rng.choice([len(steps), rng.randrange(len(steps))])
            scripts = any(isinstance(step, pre_tokenizers.UnicodeScripts) for step in steps)
            steps.insert(
                len(steps) if scripts else place,
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=rng.random() < 0.2),
            )
        library.pre_tokenizer = pre_tokenizers.Sequence(steps)
        counts += compared(library, tmp_path, rng, 3 if full else 1)
    for kind, count in counts.items():
        record_property(kind, count)


def test_spaces_of_sentencepiece(tmp_path: Path, full: bool, record_property: Count) -> None:
    """With and without a piece for spaces, single letters, byte fallback and an unknown token."""
    rng = random.Random(5)
    counts: Counter[str] = Counter()
    for _ in range(200 if full else 6):
        scheme, cuts = rng.choice(["always", "first", "never"]), rng.random() < 0.5
        letters = [char for char in LETTERS.replace(" ", "▁") if rng.random() < 0.9]
        if rng.random() < 0.5:
            letters = [char for char in letters if char != "▁"]
        fallback, unknown = rng.random() < 0.5, rng.random() < 0.3
        vocab = {"<unk>": 0} if unknown else {}
        names = [f"<0x{octet:02X}>" for octet in range(256)] * fallback + ["a", *letters]
        for name in names:
            vocab.setdefault(name, len(vocab))
        more = {} if fallback else options(rng)
        # A merge's right part would have to begin with the prefix.
        pairs = [] if "continuing_subword_prefix" in more else merges_of(rng, ["a", *letters])
        unk = "<unk>" if unknown else None
        library = Tokenizer(bpe(vocab, pairs, byte_fallback=fallback, unk_token=unk, **more))
        step = normalizer(rng)
        if isinstance(step, normalizers.StripAccents) and scheme == "first":
            # These two are refused together.
            step = None
        library.normalizer = step
        library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cuts)
        counts += compared(library, tmp_path, rng, 3 if full else 1)
    for kind, count in counts.items():
        record_property(kind, count)
