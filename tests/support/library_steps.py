"""Steps of tokenizers as Hugging Face builds them, and random text that tries each of them."""

import random
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from constrain.compiler.tokenizers import byte_alphabet

# Characters that some step treats in a way of its own, the newest ones among them.
LETTERS = [
    "a",
    "b",
    "c",
    "A",
    "B",
    "é",
    "ß",
    "Σ",
    "ſ",
    "日",
    "ー",
    "ǅ",
    "ʕ",
    "𐓀",
    "\u088f",
    "\u1c8a",
]


MARKS = ["\u0301", "\u0323", "\u0e33", "\u0899", "\u1df6", "\u200d", "\u0b53"]


OTHERS = [
    "1",
    "2",
    "²",
    "½",
    "٣",
    "Ⅷ",
    "\U00011de0",
    "_",
    "-",
    "$",
    "'",
    "’",
    "؛",
    "\u061d",
    "\u2e5d",
    "😀",
]


SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\x1c", "\x85", "▁"]


COMPOSED = ["ﬁ", "①", "\u1e9b\u0323", "\u212b", "\uac00", "\u1100\u1161", "\u32ff", "\U00011938"]


WORDS = ["'s", "'S", "'ll", "<x>", "ab", "foo", "bar", "  foo", "<0x41>", "<unk>"]


ATOMS = LETTERS + MARKS + OTHERS + SPACES + COMPOSED + WORDS


CHARACTERS = sorted({"▁", " ", *"abcABfor<>x'12\n", "é", "日", "\u0301", "😀"})


CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


BEHAVIOURS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]


BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def random_text(rng: random.Random) -> str:
    """A few characters and words, some again and again."""
    few = rng.choices(ATOMS, k=rng.randrange(1, 7))
    return "".join(rng.choices(few, k=rng.randrange(14)))


def byte_model(**options: Any) -> Any:
    """All bytes but three, and some merges of them."""
    alphabet = byte_alphabet.characters()
    known = [char for i, char in enumerate(alphabet) if i not in (ord("B"), ord("$"), 0xCC)]
    vocab = {char: i for i, char in enumerate(known)}
    pairs = [("a", "b"), ("b", "c"), ("Ġ", "a"), ("Ġ", "Ġ"), ("Ã", "©"), ("a", "a"), ("ab", "c")]
    pairs += [("Ġ", "ab"), ("f", "o"), ("fo", "o"), ("'", "s"), ("1", "2"), ("ĠĠ", "foo")]
    pairs += [("a", "Ġ"), ("aĠ", "a")]
    return bpe(vocab, pairs, **options)


def character_model(**options: Any) -> Any:
    """A few characters, all bytes, and some merges, not in the order of building."""
    vocab = {"<unk>": 0, **{f"<0x{octet:02X}>": 1 + octet for octet in range(256)}}
    vocab.update({char: 257 + i for i, char in enumerate(CHARACTERS)})
    pairs = [("▁", "ab"), ("a", "b"), ("▁", "▁"), ("f", "o"), ("fo", "o"), ("▁", "foo"), ("b", "a")]
    pairs += [("▁▁", "▁▁"), ("▁", "a"), ("o", "▁"), ("é", "a"), ("f", "oo"), ("o", "o")]
    return bpe(vocab, pairs, **options)


def bpe(vocab: dict[str, int], pairs: list[tuple[str, str]], **options: Any) -> Any:
    """A BPE model in which the results of merges have the ids that follow."""
    for pair in pairs:
        vocab.setdefault("".join(pair), len(vocab))
    return models.BPE(vocab=vocab, merges=pairs, **options)


def split(pattern: str, behaviour: str, invert: bool = False) -> Any:
    """A step that cuts at a regular expression, and the byte-level alphabet after it."""
    step = pre_tokenizers.Split(Regex(pattern), behaviour, invert)
    return pre_tokenizers.Sequence([step, BYTE_LEVEL])


def behind(*steps: Any) -> Any:
    """Some steps and the byte-level alphabet after them."""
    return pre_tokenizers.Sequence([*steps, BYTE_LEVEL])


CUTS = {
    **{f"{b} {i}": split(r"\s|a+|\p{N}", b, i) for b in BEHAVIOURS for i in (False, True)},
    **{f"empty {b} {i}": split(r"a*|(?=b)", b, i) for b in BEHAVIOURS for i in (False, True)},
    "cl100k": split(CL100K, "isolated"),
    "removed inverted": split(CL100K, "removed", True),
    "words": split(r"\w+", "isolated"),
    "looks alone": split(r"\s+(?!\S)|\s(?=b)", "isolated"),
    "end of text": split(r"\s+$", "isolated"),
    "anchors": split(r"^[\w ]|\b\p{N}+?|\B\s|(?<=a)b++|\A.|\w\z", "isolated"),
    "sets of sets": split(r"[\w&&[^ab]]+|[^\s[\p{P}a]&&[^c]]", "merged_with_next"),
    "not words": split(r"[^\w\s]+|\W", "contiguous"),
    "literal": behind(pre_tokenizers.Split("a", "merged_with_next")),
    "byte level": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "prefix": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "prefix without cuts": pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
    "digits": behind(pre_tokenizers.Digits(individual_digits=True)),
    "numbers": behind(pre_tokenizers.Digits(individual_digits=False)),
    "punctuation": behind(pre_tokenizers.Punctuation("contiguous")),
    "white space": behind(pre_tokenizers.WhitespaceSplit()),
    "symbols": behind(pre_tokenizers.Whitespace()),
    "scripts": behind(pre_tokenizers.UnicodeScripts()),
    "scripts of words": behind(
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.UnicodeScripts()])
    ),
    "bert": behind(pre_tokenizers.BertPreTokenizer()),
    "delimiter": behind(pre_tokenizers.CharDelimiterSplit("a")),
    "in the alphabet": pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=True),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]|Ġa"), "isolated"),
        ]
    ),
    "prefix after cuts": pre_tokenizers.Sequence(
        [pre_tokenizers.Split("a", "isolated"), pre_tokenizers.ByteLevel(use_regex=False)]
    ),
}


def metaspace(scheme: str, cuts: bool) -> Any:
    """SentencePiece's spaces."""
    return pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cuts)


METASPACES = {
    f"{scheme} {cuts}": metaspace(scheme, cuts)
    for scheme in ("always", "first", "never")
    for cuts in (False, True)
}


SENTENCE_PIECE = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]


NORMALIZERS = {
    "NFC": normalizers.NFC(),
    "NFD": normalizers.NFD(),
    "NFKC": normalizers.NFKC(),
    "NFKD": normalizers.NFKD(),
    "SentencePiece": normalizers.Sequence(SENTENCE_PIECE),
    "regex": normalizers.Replace(Regex(r"\s+"), " "),
    **{
        f"regex {pattern}": normalizers.Replace(Regex(pattern), content)
        for pattern, content in {
            r"a*": "-",
            r"(?=b)|o+": "x",
            r"[^\w]": "",
            r"\p{L}{2}": "Aé",
        }.items()
    },
    "lower case": normalizers.Lowercase(),
    "nmt": normalizers.Nmt(),
    "strip accents": normalizers.StripAccents(),
    "bert": normalizers.BertNormalizer(),
    "bert cased": normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False),
    "bert accents": normalizers.BertNormalizer(
        clean_text=False, lowercase=False, strip_accents=True
    ),
    "strip": normalizers.Strip(left=True, right=False),
    "all": normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(), *SENTENCE_PIECE]),
}


# Steps of published tokenizers; of DeepSeek's letters some ranges.
DEEPSEEK = [
    "[\r\n]",
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅḀ-ἕﬀ-ﬆＡ-Ｚａ-ｚ𐐀-𐑏𞤀-𞥃]+",
    r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+$",
    "[一-龥ࠀ-一가-퟿]+",
]


KIMI = (
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


PUBLISHED = {
    "falcon": pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ]
    ),
    "deepseek": behind(
        *(pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in DEEPSEEK),
        pre_tokenizers.Digits(individual_digits=True),
    ),
    "kimi": split(KIMI, "isolated"),
}


# CLIP's steps: words with "</w>" after their last symbol, without white space between them.
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


AFFIXES = {
    "suffix": {"end_of_word_suffix": "</w>"},
    "prefix": {"continuing_subword_prefix": "##"},
    "both": {"continuing_subword_prefix": "@@", "end_of_word_suffix": "⁂"},
}


def clip(rng: random.Random, affixes: dict[str, str], **options: Any) -> Any:
    """Merges trained on random text after CLIP's steps."""
    library = Tokenizer(models.BPE(unk_token="<unk>", **affixes, **options))
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    library.normalizer = normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()])
    library.pre_tokenizer = split(CLIP, "removed", invert=True)
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<unk>"], show_progress=False, **affixes
    )
    library.train_from_iterator([random_text(rng) for _ in range(500)], trainer)
    return library
