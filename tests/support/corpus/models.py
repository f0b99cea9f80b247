"""Models that SentencePiece trains on random text, and files that hold tokenizers, for tests."""

import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import gguf
import sentencepiece

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from support.library_steps import random_text

_WORDS = "the a of in is grammar token mask text words merges pieces scores 2024 12 it's don't Σας"

# Texts of which members of random grammars are put together.
PARTS = (
    "a",
    "b",
    "th",
    "the",
    " the",
    " ",
    "  ",
    "é",
    "1",
    "20",
    "ab",
    "in",
    " in",
    "日",
    "\n",
    "'s",
)


def texts(count: int, seed: int = 1) -> list[str]:
    """Lines of words, and random texts that try every step."""
    rng = random.Random(seed)
    words = _WORDS.split()
    lines = (" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(count))
    return [line if rng.random() < 0.5 else random_text(rng) for line in lines]


@cache
def model(kind: str, **options: Any) -> bytes:
    """A ``.model`` trained on such texts. ``kind``: ``unigram`` or ``bpe``."""
    written = io.BytesIO()
    chosen = {"vocab_size": 400, "hard_vocab_limit": False, "character_coverage": 0.98, **options}
    symbols = chosen.get("user_defined_symbols")
    if symbols is not None:
        chosen["user_defined_symbols"] = list(symbols)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts(1_500)),
        model_writer=written,
        model_type=kind,
        num_threads=1,
        minloglevel=2,
        **chosen,
    )
    return written.getvalue()


def encoder_of(raw: bytes) -> Callable[[str], list[int]]:
    """SentencePiece's own ids of a text."""
    found: Callable[[str], list[int]] = sentencepiece.SentencePieceProcessor(model_proto=raw).encode
    return found


def written_gguf(path: Path, kind: str, tokens: Sequence[str], **values: Any) -> Path:
    """A GGUF file without tensors. ``values``: of ``types``, ``scores``, ``merges``, ``pre``,
    ``eos``, and others by the end of their keys."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("other.array", [1, 2, 3])
    writer.add_tokenizer_model(kind)
    writer.add_token_list(list(tokens))
    known = {
        "types": writer.add_token_types,
        "scores": writer.add_token_scores,
        "merges": writer.add_token_merges,
        "pre": writer.add_tokenizer_pre,
        "eos": writer.add_eos_token_id,
        "charsmap": writer.add_precompiled_charsmap,
        "prefix": writer.add_add_space_prefix,
        "removes": writer.add_remove_extra_whitespaces,
    }
    for name, value in values.items():
        known[name](value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def gguf_of_json(path: Path, source: Path, pre: str) -> Path:
    """A byte-level ``tokenizer.json`` as GGUF has it: ids without a token are padded."""
    data = json.loads(source.read_text(encoding="utf-8"))
    by_id = {i: (text, 1) for text, i in data["model"]["vocab"].items()}
    added = {a["id"]: (a["content"], 3 if a["special"] else 4) for a in data["added_tokens"]}
    by_id |= added
    tokens = [by_id.get(i, (f"[PAD{i}]", 5)) for i in range(max(by_id) + 1)]
    merges = [m if isinstance(m, str) else " ".join(m) for m in data["model"]["merges"]]
    values = {"types": [kind for _, kind in tokens], "merges": merges, "pre": pre, "eos": 0}
    return written_gguf(path, "gpt2", [text for text, _ in tokens], **values)


def finite(rng: random.Random) -> tuple[str, list[str]]:
    """A grammar in GBNF, two to three choices one after the other, and its members."""
    choices = [rng.sample(PARTS, rng.randint(1, 4)) for _ in range(rng.randint(2, 3))]
    rules = " ".join(f"({' | '.join(json.dumps(text) for text in texts)})" for texts in choices)
    return f"root ::= {rules}", sorted({"".join(parts) for parts in product(*choices)})


def spellings_checked(rng: random.Random, tokenizer: Tokenizer, walks: int) -> int:
    """Hold masks of any tokens of a random grammar against all tokens; how many there were."""
    text, members = finite(rng)
    octets = [member.encode() for member in members]
    artifact = compile_grammar(
        text, dialect="gbnf", tokenizer=tokenizer, tokenization="any", cache=None
    )
    count = 0
    for _ in range(walks):
        matcher, read = artifact.matcher(), b""
        while True:
            expected = {
                i
                for i, token in tokenizer.tokens.items()
                if token and any(member.startswith(read + token) for member in octets)
            }
            found = set(tokenset.to_ids(matcher.mask()).tolist())
            assert expected | (set(tokenizer.eos) if read in octets else set()) == found
            count += 1
            if not expected:
                break
            token = rng.choice(sorted(expected))
            matcher.advance(token)
            read += tokenizer.tokens[token]
    return count


def canonical_checked(
    rng: random.Random, tokenizer: Tokenizer, encode: Callable[[str], list[int]]
) -> int:
    """Hold canonical masks of a random grammar against the encodings of all its members that spell
    them; how many masks there were."""
    text, members = finite(rng)
    wanted = [ids for member in members if spells(tokenizer, ids := encode(member), member)]
    if not wanted:
        return 0
    artifact = compile_grammar(
        text, dialect="gbnf", tokenizer=tokenizer, tokenization="canonical", cache=None
    )
    for ids in wanted:
        for place in range(len(ids) + 1):
            begun = [other for other in wanted if other[:place] == ids[:place]]
            ends = set(tokenizer.eos) if any(len(o) == place for o in begun) else set()
            expected = {other[place] for other in begun if len(other) > place} | ends
            assert expected == _mask(artifact, ids[:place]), (text, ids, place)
    return sum(map(len, wanted))


def spells(tokenizer: Tokenizer, ids: Sequence[int], text: str) -> bool:
    """Whether tokens that are not user-defined spell a text after the space that is put there."""
    if any(i in tokenizer.added or i not in tokenizer.tokens for i in ids):
        return False
    prefix = tokenizer.decode_bytes(tokenizer.encode("a")).removesuffix(b"a") if text else b""
    return tokenizer.decode_bytes(ids) == prefix + text.encode()


def _mask(artifact: Artifact, ids: Sequence[int]) -> set[int]:
    matcher = artifact.matcher()
    for token in ids:
        matcher.advance(token)
    return set(tokenset.to_ids(matcher.mask()).tolist())


def damaged(rng: random.Random, raw: bytes) -> bytes:
    """Bytes of which some are cut off, changed, repeated or left out."""
    found = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place, length = rng.randrange(len(found) + 1), rng.randrange(1, 64)
        match rng.randrange(5):
            case 0:
                del found[place:]
            case 1:
                found[place : place + length] = rng.randbytes(length)
            case 2:
                found[place:place] = found[place : place + length]
            case 3:
                del found[place : place + length]
            case _ if place < len(found):
                found[place] ^= 1 << rng.randrange(8)
    return bytes(found)


def begun_at(rng: random.Random, raw: bytes, count: int) -> Iterator[bytes]:
    """So many damaged files; changes near the beginning, where sizes are, in half of them."""
    for _ in range(count):
        head = rng.choice((len(raw), 256))
        yield damaged(rng, raw[:head]) + raw[head:]
