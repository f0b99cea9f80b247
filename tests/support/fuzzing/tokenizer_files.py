"""Files of tokenizers of all formats, and what chance makes of them.

A ``Bundle`` is what lies in one folder: a file of the format, and what is read beside it.
"""

import json
import random
import re
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import tokenizer_json
from support.fuzzing import mutations
from support.fuzzing.tokenizer_changes import ANY, CHANGES, IDS, PATTERNS, TEXTS, one_of

_LETTERS = "".join(map(chr, range(32, 127))) + "\n\té"
_MERGES = ("a b", "ab c", '{ "', '" }', "1 2", "\u0120 a", "t r", "tr u", "tru e", "l o", "lo w")
_END = "<|endoftext|>"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files by name. ``name``: which of them is loaded, "" for the folder; ``pattern``: what stands
    after it and an @ for rank files."""

    files: dict[str, bytes]
    name: str
    pattern: str = ""

    def written(self, folder: Path) -> str:
        """Put the files into a folder; what ``--tokenizer`` is then given."""
        for old in folder.iterdir():
            old.unlink()
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        return str(folder / self.name) + (f"@{self.pattern}" if self.pattern else "")


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _of_characters(*, metaspace: bool, fallback: bool) -> dict[str, Any]:
    """As SentencePiece's models are written."""
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2}
    if fallback:
        vocab |= {f"<0x{octet:02X}>": 3 + octet for octet in range(256)}
    for token in ("▁", *'abcdelo{}":,0123', "▁a", "lo", "low", "▁lo", "ab", "é", "▁▁"):
        vocab[token] = len(vocab)
    merges = ["▁ a", "l o", "▁ lo", "a b", "▁ ▁"]
    steps: dict[str, Any] = {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
    }
    if metaspace:
        steps = {
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Metaspace",
                "replacement": "▁",
                "prepend_scheme": "first",
                "split": True,
            },
        }
    return {
        "version": "1.0",
        "truncation": {"max_length": 512, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": "BatchLongest", "pad_id": 0, "pad_token": "<unk>"},
        "added_tokens": [
            {"id": 0, "content": "<unk>", "special": True, "normalized": False},
            {"id": 2, "content": "</s>", "special": True, "normalized": False},
            {"id": vocab["▁▁"], "content": "▁▁", "special": False, "normalized": True},
        ],
        **steps,
        "post_processor": {"type": "TemplateProcessing", "single": [], "special_tokens": {}},
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": fallback,
            "vocab": vocab,
            "merges": merges,
        },
    }


def _words() -> dict[str, Any]:
    tokens = ["[UNK]", "[SEP]", "[CLS]", "a", "b", "##a", "##b", "ab", "##ab", "c", "{", "}", ":"]
    tokens += ['"', "é", "2", "##0", "low", "##lo", "-"]
    return {
        "added_tokens": [
            {"id": i, "content": token, "special": True} for i, token in enumerate(tokens[:3])
        ],
        "normalizer": {"type": "BertNormalizer", "lowercase": True, "clean_text": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(tokens)},
        },
    }


def _ranks() -> list[tuple[bytes, int]]:
    tokens = [bytes([octet]) for octet in range(256)]
    tokens += [b"ab", b"abc", b"lo", b"low", b" a", b'{"', b"12", b"abab", "é".encode()]
    return [(token, rank) for rank, token in enumerate(tokens)]


def _tekken() -> dict[str, Any]:
    listed = [{"rank": r, "token_bytes": b64encode(t).decode()} for t, r in _ranks()]
    names = ("<unk>", "<s>", "</s>", "[INST]")
    return {
        "config": {
            "pattern": PATTERNS[0],
            "default_vocab_size": len(listed) + len(names),
            "default_num_special_tokens": len(names),
            "version": "v3",
        },
        "vocab": listed,
        "special_tokens": [{"rank": i, "token_str": n} for i, n in enumerate(names)],
    }


def _unigram() -> dict[str, Any]:
    return {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1.5]]}}


_CONFIG = {"eos_token": "<eos>", "do_lower_case": True, "model_max_length": 1e30}


def _byte_level() -> dict[str, Any]:
    found = tokenizer_json(_LETTERS, _MERGES, added=[(110, "<eos>", True), (111, "<t>", False)])
    steps = [
        {"type": "Split", "pattern": {"Regex": PATTERNS[0]}, "behavior": "Isolated"},
        {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
    ]
    found["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    return {**found, "normalizer": {"type": "NFC"}, "decoder": {"type": "ByteLevel"}}


# What is changed, by the format: the value of the file that is JSON.
VALUES: dict[str, Callable[[], Any]] = {
    "byte-level": _byte_level,
    "gpt2-like": lambda: tokenizer_json(_LETTERS, _MERGES, added=[(110, _END, True)], splits=True),
    "characters": lambda: _of_characters(metaspace=False, fallback=True),
    "metaspace": lambda: _of_characters(metaspace=True, fallback=False),
    "wordpiece": _words,
    "unigram": _unigram,
    "tekken": _tekken,
    "merges": lambda: tokenizer_json(_LETTERS, _MERGES, added=[])["model"]["vocab"] | {_END: 120},
}
FORMATS = (*VALUES, "ranks", "words")


def mutant(format_: str, rng: random.Random, seed: Any = None) -> Bundle:
    """Files of a format with something wrong, or odd; now and then with nothing. ``seed``: the
    value that is changed, None for that of ``VALUES``."""
    if format_ == "ranks":
        return _changed_ranks(rng)
    if format_ == "words":
        text = "\n".join(_words()["model"]["vocab"]).encode()
        return Bundle({"vocab.txt": _scribbled(rng, text), **_config(rng)}, "vocab.txt")
    value = VALUES[format_]() if seed is None else deepcopy(seed)
    changes = CHANGES.get(format_, ())
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3)) if changes else 0):
        # What an earlier one has put there may have nothing that can be changed so.
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            rng.choice(changes)(rng, value)
    text = _text(value)
    if rng.random() < (0.25 if changes else 0.8):
        text = mutations.json_text(rng, value, [text])
    if rng.random() < 0.08:
        text = rng.choice((_with_numbers, _with_numbers, _nested))(rng, text)
    if format_ == "merges":
        lines = "\n".join(["#version: 0.2", *_MERGES, ""]).encode()
        names = rng.choice((("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")))
        files = dict(zip(names, (text, _scribbled(rng, lines)), strict=True))
        return Bundle(files | _config(rng), rng.choice(("", names[0])))
    name = "tekken.json" if format_ == "tekken" else "tokenizer.json"
    return Bundle({name: text, **_config(rng)}, rng.choice(("", name, name)))


def _config(rng: random.Random) -> dict[str, bytes]:
    if rng.random() < 0.6:
        return {}
    value = {**_CONFIG, "eos_token": one_of(rng, (*ANY, "<eos>", {"content": "<eos>"}, {}))}
    if rng.random() < 0.5:
        value |= {"sep_token": one_of(rng, ANY), "do_lower_case": one_of(rng, ANY)}
    text = mutations.json_text(rng, value, [b"{}"]) if rng.random() < 0.3 else _text(value)
    return {"tokenizer_config.json": text}


def _scribbled(rng: random.Random, text: bytes) -> bytes:
    """A text of lines that has changed, or not."""
    if rng.random() < 0.2:
        return text
    match rng.randrange(6):
        case 0:
            lines = text.split(b"\n")
            lines *= rng.choice((2, 40))
            return b"\n".join(lines)
        case 1:
            return text + b"\n" + b"x" * rng.choice((100, 5_000, 100_000))
        case 2:
            return text.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" ", b"\xe2\x80\xa8")))
    return mutations.text(rng, text, [text])


def _with_numbers(rng: random.Random, text: bytes) -> bytes:
    """Numbers that are none, or that have no end."""
    wrong = rng.choice(
        (b"NaN", b"-Infinity", b"1e999", b"-0", b"0.0", b"1" * 5_000, b"00", b"1e5", b"+1", b"0x1")
    )
    places = list(re.finditer(rb"(?<=[:,\[ ])\d+(?=[,\]}])", text))
    if not places:
        return wrong
    start, end = rng.choice(places).span()
    return text[:start] + wrong + text[end:]


def _nested(rng: random.Random, text: bytes) -> bytes:
    """Brackets inside brackets, where a value was."""
    depth, place = rng.choice((100, 5_000, 100_000)), text.rfind(b":") + 1
    opening, ending = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return text[:place] + opening * depth + b"1" + ending * depth + text[place:]


def _changed_ranks(rng: random.Random) -> Bundle:
    ranks = _ranks()
    for _ in range(rng.choice((0, 1, 2))):
        match rng.randrange(6):
            case 0:
                del ranks[rng.randrange(len(ranks))]
            case 1:
                ranks.append((rng.choice(TEXTS).encode("utf-8", "replace"), len(ranks)))
            case 2:
                ranks.append(
                    (rng.choice(ranks)[0] * rng.choice((2, 30, 3_000)), rng.choice(ranks)[1])
                )
            case 3:
                place = rng.randrange(len(ranks))
                ranks[place] = ranks[place][0], rng.choice([i for i in IDS if type(i) is int])
            case 4:
                values = [rank for _, rank in ranks]
                rng.shuffle(values)
                ranks = [(token, rank) for (token, _), rank in zip(ranks, values, strict=True)]
            case _:
                runs = rng.choice((10, 60, 400))
                ranks += [(b"a" * n, 300 + n) for n in range(2, runs)]
    text = b"\n".join(b64encode(token) + b" %d" % rank for token, rank in ranks)
    if rng.random() < 0.4:
        text = _scribbled(rng, text)
    if rng.random() < 0.15:
        return Bundle({"cl100k_base.tiktoken": text}, "cl100k_base.tiktoken")
    pattern = rng.choice(("gpt2", "o200k_base", *PATTERNS))
    return Bundle({"x.tiktoken": text}, "x.tiktoken", pattern.encode("utf-8", "replace").decode())
