"""What chance changes in the value of a ``tokenizer.json``: steps, tokens, merges, options."""

import random
from base64 import b64encode
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from constrain.compiler.tokenizers import byte_alphabet

# How a rank file is split; after the name of the file.
PATTERNS: tuple[str, ...] = (
    *(r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", r"\w+|\W", "a|b", r".", r"\s", ""),
    *(r"(a+)+$", r"(a|a)*b", r"(?:a*)*c", r"(a|b|ab)*\1", r"(?:(?:a+)+)+b", r"(x+x+)+y", r"(.*)*"),
    *(r"(?:){1000000}", r"(?:){9999}", r"a{9999}", r"(?:a{9999}){9999}", r"a{0}", r"a{2,1}"),
    *(r"(?<=a)b", r"(?<!a)b", r"(?<=a+)b", r"(?=a)", r"(?!a)", r"(?>a+)b", r"a++b", r"a*+", r"a?+"),
    *(
        r"(?i:SS)",
        r"(?i:a)",
        r"(?i)a",
        r"(?m:a)",
        r"(?<n>a)\k<n>",
        r"(?P<n>a)",
        r"\1",
        r"\G",
        r"\b",
    ),
    *(r"\p{Lu}\p{Ll}*", r"\p{Han}+", r"\p{^L}", r"\P{^L}", r"\p{Foo}", r"\p{Script=Latin}", r"\pL"),
    *(r"[[:alpha:]]", r"[a-z&&[^b]]", r"[^\W\d]", r"[\w-a]", r"[]a]", r"[z-a]", r"[^]", r"[", r"]"),
    *(r"\x{110000}", r"\x{D800}", r"\uD800", r"\x41", r"\u{41}", r"\X", r"\R", r"\h", r"\Z", r"^$"),
    *("(" * 60 + "a" + ")" * 60, "(" * 5_000, "[" * 5_000, "a|" * 5_000, "[ab]?" * 300, "{", "{1}"),
    *(
        "[^a]" * 200,
        "(?=a)" * 49,
        r"(?:a|b){0,40}c",
        r"(?:\p{L}|a){1,30}",
        "*",
        "a**",
        "a{1}{2}{3}",
    ),
    *("é\u0301", "\u202e", "\x00", "ß", "\ud800", "(?#c)", "(?x: a b)", r"\Q.\E", r"(?(1)a|b)"),
)

TEXTS: tuple[str, ...] = (
    *(
        "",
        " ",
        "  ",
        "▁",
        "a",
        "\x00",
        "\ud800",
        "\u202e",
        "\x1b[31m",
        "é",
        "e\u0301",
        "ﬁ",
        "İ",
        "\n",
    ),
    *(
        "a" * 300,
        "▁" * 20_000,
        "😀",
        "\u0120",
        "<s>",
        "<|endoftext|>",
        "\U0010ffff",
        "\u2028",
        "[",
        "\\",
        "ab",
    ),
)

IDS: tuple[Any, ...] = (
    *(
        -1,
        0,
        1,
        2,
        96,
        108,
        110,
        111,
        255,
        256,
        5_000,
        70_000,
        999_999,
        1_000_200,
        9_900_000,
        10**7,
    ),
    *(2**31 - 1, 2**31, 2**32, 2**63, 10**30, 1.0, 0.5, 1e308, True, None, "7", [], {}, "x"),
)

_BEHAVIOURS = (
    *(
        "Isolated",
        "Removed",
        "MergedWithPrevious",
        "MergedWithNext",
        "Contiguous",
        "isolated",
        None,
    ),
    *(7, [], {"type": "Isolated"}),
)
ANY: tuple[Any, ...] = (*(None, True, False, 0, -1, 1.5, 10**20, [], {}, [[]]), *TEXTS)

# The charsmaps of SentencePiece: a length, a trie and texts; and what is none.
_CHARSMAPS = ("", "AAAA", b64encode(b"\xff\xff\xff\x7f" + b"\0" * 40).decode(), "!", "A" * 9_001)


def _normalizer(rng: random.Random, depth: int = 2) -> Any:
    kind = rng.choice((
        *("NFC", "NFD", "NFKC", "NFKD", "Replace", "Replace", "Prepend", "Lowercase", "Strip"),
        *("Sequence", "Sequence", "Precompiled", "StripAccents", "Nmt", "BertNormalizer", "x", 7),
    ))  # fmt: skip
    step: dict[str, Any] = {"type": kind}
    match kind:
        case "Replace":
            step |= {
                "pattern": _pattern(rng),
                "content": one_of(rng, ANY if _odd(rng) else TEXTS),
            }
        case "Prepend":
            step["prepend"] = one_of(rng, ANY if _odd(rng) else TEXTS)
        case "Strip":
            step |= {"strip_left": one_of(rng, ANY), "strip_right": rng.random() < 0.5}
        case "Precompiled":
            step["precompiled_charsmap"] = rng.choice(_CHARSMAPS)
        case "Sequence" if depth:
            steps = [_normalizer(rng, depth - 1) for _ in range(rng.choice((0, 1, 2, 2, 3)))]
            step["normalizers"] = one_of(rng, ANY) if _odd(rng) else steps * rng.choice((1, 1, 30))
    return step


def _pre_tokenizer(rng: random.Random, depth: int = 2) -> Any:
    kind = rng.choice((
        *("Split", "Split", "Split", "ByteLevel", "ByteLevel", "Digits", "Punctuation"),
        *("Metaspace", "Whitespace", "WhitespaceSplit", "CharDelimiterSplit", "Sequence"),
        *("Sequence", "BertPreTokenizer", "UnicodeScripts", "FixedLength", "x", None),
    ))  # fmt: skip
    step: dict[str, Any] = {"type": kind}
    match kind:
        case "Split":
            step |= {"pattern": _pattern(rng), "behavior": _behaviour(rng)}
            step["invert"] = rng.choice((True, False, False))
        case "Punctuation":
            step["behavior"] = _behaviour(rng)
        case "ByteLevel":
            step |= {"use_regex": rng.random() < 0.5, "add_prefix_space": rng.random() < 0.3}
        case "Digits":
            step["individual_digits"] = rng.choice((True, False, None, "x"))
        case "Metaspace":
            step |= {"replacement": rng.choice(("▁", "▁", *TEXTS)), "split": rng.random() < 0.7}
            step["prepend_scheme"] = rng.choice(("always", "first", "never", None, "x", 1))
        case "CharDelimiterSplit":
            step["delimiter"] = rng.choice(TEXTS)
        case "Sequence" if depth:
            steps = [_pre_tokenizer(rng, depth - 1) for _ in range(rng.choice((0, 1, 2, 2, 3)))]
            step["pretokenizers"] = one_of(rng, ANY) if _odd(rng) else steps * rng.choice((1, 1, 9))
    return step


def one_of(rng: random.Random, values: Sequence[Any]) -> Any:
    # A copy: what is changed later must not be what others get.
    return deepcopy(rng.choice(values))


def _odd(rng: random.Random) -> bool:
    return rng.random() < 0.15


def _behaviour(rng: random.Random) -> Any:
    return one_of(rng, _BEHAVIOURS) if _odd(rng) else one_of(rng, _BEHAVIOURS[:5])


def _pattern(rng: random.Random) -> Any:
    if _odd(rng):
        return one_of(rng, (*ANY, {"String": None}, {"Regex": 7}, {"Glob": "*"}))
    if rng.random() < 0.3:
        return {"String": rng.choice(TEXTS)}
    found = rng.choice(PATTERNS)
    if rng.random() < 0.3:
        found = rng.choice((found + rng.choice(PATTERNS), f"(?:{found})+", f"{found}|{found}*"))
    return {"Regex": found}


def _with_normalizer(rng: random.Random, value: dict[str, Any]) -> None:
    value["normalizer"] = _normalizer(rng)


def _with_pre_tokenizer(rng: random.Random, value: dict[str, Any]) -> None:
    kept = value["pre_tokenizer"]
    steps = [_pre_tokenizer(rng), *([kept] if isinstance(kept, dict) else [])]
    if rng.random() < 0.3:
        steps.reverse()
    value["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": steps[: rng.choice((1, 2, 2, 2))],
    }


def _with_added(rng: random.Random, value: dict[str, Any]) -> None:
    def token(content: Any, token_id: Any) -> dict[str, Any]:
        flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
        found = {flag: rng.random() < 0.3 for flag in flags}
        return {"id": token_id, "content": content, **found}

    start, added = 120, value["added_tokens"]
    match rng.randrange(6):
        case 0:
            names = (
                "ab",
                "abc",
                "b",
                "<s",
                "<s>",
                "<s><s>",
                " a ",
                "a",
                "\n",
                "\x00",
                "\x1b[31m",
                "",
            )
            added += [token(name, start + i) for i, name in enumerate(names)]
        case 1:
            many = rng.choice((300, 3_000))
            added += [token(f"<{i}>" + "x" * (i % 7), start + i) for i in range(many)]
        case 2:
            added.append(token(one_of(rng, ANY), one_of(rng, IDS)))
        case 3:
            added.append(token("y" * rng.choice((300, 4_096, 4_097, 60_000)), start))
        case 4:
            names = [*value["model"]["vocab"]]
            name = rng.choice(names)
            added.append(token(name, value["model"]["vocab"][name]))
        case _:
            value["added_tokens"] = one_of(rng, (*ANY, [one_of(rng, ANY)], added * 2))


def _with_vocabulary(rng: random.Random, value: dict[str, Any]) -> None:
    vocab = value["model"]["vocab"]
    names = list(vocab)
    if not names:
        return
    match rng.randrange(7):
        case 0:
            vocab[rng.choice(names)] = one_of(rng, IDS)
        case 1:
            del vocab[rng.choice(names)]
        case 2:
            vocab[rng.choice(TEXTS)] = rng.choice((len(vocab) + 40, vocab[rng.choice(names)]))
        case 3:
            length = rng.choice((300, 4_096, 4_097, 50_000))
            vocab["a" * length] = len(vocab) + 40
        case 4:
            ids = list(vocab.values())
            rng.shuffle(ids)
            vocab.update(zip(names, ids, strict=True))
        case 5:
            more = rng.choice((50, 400))
            alphabet = byte_alphabet.characters()
            for i in range(more):
                vocab["".join(rng.choices(alphabet, k=3))] = 300 + i
        case _:
            value["model"]["vocab"] = one_of(rng, (*ANY, names, [[n, i] for n, i in vocab.items()]))


def _with_merges(rng: random.Random, value: dict[str, Any]) -> None:
    model = value["model"]
    merges, names = model.get("merges"), list(model["vocab"])
    if not isinstance(merges, list) or not names:
        return
    match rng.randrange(8):
        case 0:
            merges.insert(0, f"{rng.choice(names)} {rng.choice(names)}")
        case 1:
            # Cycles: what a merge makes is needed to make its own parts.
            model["vocab"] |= {"aa": 200, "aaa": 201, "aaaa": 202}
            merges[:0] = ["aaa a", "aa a", "aa aa", "a aaa", "a aa", "a a"]
        case 2:
            merges += merges
        case 3:
            rng.shuffle(merges)
        case 4:
            merges[:] = [merge.split(" ") for merge in merges]
        case 5:
            model["vocab"][""] = 203
            merges += [["", ""], ["", "a"], ["a", ""], " a", "a ", " "]
        case 6:
            merges.append(one_of(rng, (*ANY, ["a"], ["a", "b", "c"], [[], {}], "a b c")))
        case _:
            model["merges"] = one_of(rng, (*ANY, {"a": "b"}, merges * 300))


def _with_options(rng: random.Random, value: dict[str, Any]) -> None:
    names = (
        *("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "dropout", "type"),
        *("continuing_subword_prefix", "end_of_word_suffix", "max_input_chars_per_word"),
    )
    wanted = one_of(rng, (*ANY, True, False, "<unk>", "BPE", "WordPiece", "WordLevel", "Unigram"))
    value["model"][rng.choice(names)] = wanted


def _with_others(rng: random.Random, value: dict[str, Any]) -> None:
    nested: Any = "x"
    for _ in range(rng.choice((1, 50, 150))):
        nested = {"type": "Sequence", "decoders": [nested]}
    odd = (
        *(nested, {"type": "ByteFallback"}, {"type": "Strip", "content": " ", "start": -1}),
        *({"type": "TemplateProcessing", "single": "$A:9 [SEP]"}, {"max_length": -1}, [], 7, "x"),
    )
    names = ("decoder", "post_processor", "truncation", "padding", "version", "x")
    value[rng.choice(names)] = one_of(rng, odd)


def _with_word_options(rng: random.Random, value: dict[str, Any]) -> None:
    options = value["normalizer"]
    names = ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars", "type")
    if isinstance(options, dict):
        options[rng.choice(names)] = one_of(rng, (*ANY, True, False))
    value["model"]["max_input_chars_per_word"] = rng.choice((0, -1, 1, 5, 10**6, 10**30, 2.5, "9"))


_Change = Callable[[random.Random, dict[str, Any]], None]
_BPE: tuple[_Change, ...] = (
    *(_with_normalizer, _with_normalizer, _with_pre_tokenizer, _with_pre_tokenizer, _with_added),
    *(_with_added, _with_vocabulary, _with_merges, _with_options, _with_others),
)
CHANGES: dict[str, tuple[_Change, ...]] = {
    "byte-level": _BPE,
    "gpt2-like": _BPE,
    "characters": _BPE,
    "metaspace": _BPE,
    "wordpiece": (_with_word_options, _with_added, _with_vocabulary, _with_options, _with_others),
}
