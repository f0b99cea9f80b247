"""Read tiktoken's rank files: each line has a token in base64 and its rank, which is its id.

Such a file has no merges: two adjacent tokens merge if together they are a token, the lowest rank
first. ``recovered_merges`` finds an equivalent merge list, with one merge for most tokens. The file
does not say either how text is split into pre-tokens; ``NAMED`` has OpenAI's and Meta's encodings.
"""

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from .definition import BYTE_LEVEL_PATTERN, AddedToken, ByteLevel, Split
from .encoding.patterns import check_pattern
from .encoding.rust_patterns import in_oniguruma
from .sizes import check_lengths, check_lines
from .tokenizer import Tokenizer, TokenTable
from .vocabulary import check_ids, eos_ids

_END = "<|endoftext|>"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """What a rank file lacks: the pattern that splits text, in Rust's syntax, and the special
    tokens.

    ``end``: the special token that ends a text, None for the conventional ones.
    ``special_in_text``: whether special tokens are found in a text by their names.
    """

    pattern: str
    special: Mapping[str, int] = field(default_factory=dict)
    end: str | None = None
    special_in_text: bool = True


def _of_llama3(*named: str) -> Encoding:
    """Meta's: 256 special tokens after the ranks, with names for the first and numbers for the
    others, where no two of one name are reserved."""
    numbers = (f"<|reserved_special_token_{i}|>" for i in range(256))
    free = (name for name in numbers if name not in named)
    names = [*named, *islice(free, 256 - len(named))]
    return Encoding(CL100K, {name: 128_000 + i for i, name in enumerate(names)})


NAMED = {
    "gpt2": Encoding(BYTE_LEVEL_PATTERN, {_END: 50256}),
    "r50k_base": Encoding(BYTE_LEVEL_PATTERN, {_END: 50256}),
    "p50k_base": Encoding(BYTE_LEVEL_PATTERN, {_END: 50256}),
    "p50k_edit": Encoding(
        BYTE_LEVEL_PATTERN,
        {_END: 50256, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283},
    ),
    "cl100k_base": Encoding(
        CL100K,
        {
            _END: 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": Encoding(O200K, {_END: 199999, "<|endofprompt|>": 200018}),
    "llama3": _of_llama3(
        *("<|begin_of_text|>", "<|end_of_text|>"),
        *(f"<|reserved_special_token_{i}|>" for i in range(4)),
        *("<|start_header_id|>", "<|end_header_id|>", "<|reserved_special_token_4|>"),
        "<|eot_id|>",
    ),
    "llama3.1": _of_llama3(
        *("<|begin_of_text|>", "<|end_of_text|>"),
        *("<|reserved_special_token_0|>", "<|reserved_special_token_1|>"),
        *("<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>"),
        *("<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>"),
    ),
}


def encoding_of(stem: str, given: str | None) -> Encoding:
    """The encoding given by name or as a pattern, else the one that a file is named after."""
    if given is None:
        if stem in NAMED:
            return NAMED[stem]
        raise TokenizerError(
            f"a rank file does not say how text is split: add @ and a regular expression, or one "
            f"of {', '.join(NAMED)}"
        )
    if given in NAMED:
        return NAMED[given]
    return Encoding(given)


def read_ranks(name: str, raw: bytes, encoding: Encoding) -> Tokenizer:
    """The tokenizer of a rank file's content. Raises ``TokenizerError``, not naming the file."""
    ranks = _ranks(raw)
    return tokenizer_of_ranks(name, sha256(raw).hexdigest(), ranks, encoding)


def tokenizer_of_ranks(
    name: str, digest: str, ranks: Mapping[bytes, int], encoding: Encoding
) -> Tokenizer:
    """The tokenizer with these ranks, token to id. ``digest``: the SHA-256 of its source.

    Raises ``TokenizerError`` for a pattern that is not understood.
    """
    pattern = in_oniguruma(encoding.pattern)
    check_pattern(pattern)
    taken = set(ranks.values())
    special = {text: i for text, i in encoding.special.items() if i not in taken}
    check_ids([*map(repr, ranks), *special], [*ranks.values(), *special.values()])
    check_lengths(list(ranks))
    merges, is_whole = recovered_merges(ranks)
    return Tokenizer(
        name=name,
        sha256=digest,
        tokens=TokenTable.of({i: octets for octets, i in ranks.items()}),
        added_tokens=tuple(
            AddedToken(i, text, special=True, searched=encoding.special_in_text)
            for text, i in special.items()
        ),
        merges=merges,
        base=[ranks.get(bytes([octet]), -1) for octet in range(256)],
        eos=eos_ids(special, encoding.end),
        vocab_size=max([*taken, *special.values()], default=-1) + 1,
        pre_tokenizers=(Split(pattern), ByteLevel(use_regex=False)),
        ignore_merges=is_whole,
    )


def recovered_merges(ranks: Mapping[bytes, int]) -> tuple[NDArray[np.int32], bool]:
    """Merges equivalent to the ranks, int32 (n, 3), and whether whole pre-tokens are looked up.

    Merged by the ranks below its own, a token usually ends as two parts. Their merge suffices:
    what happens inside the token before it is made depends on lower ranks alone. Where it ends as
    more parts, every division of the token into two tokens is listed, and the token may be one that
    is given for a whole pre-token only.
    """
    merges: list[tuple[int, int, int]] = []
    is_whole = False
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) < 2:
            continue
        parts = _merged(token, ranks, rank)
        if len(parts) == 2:
            merges.append((ranks[parts[0]], ranks[parts[1]], rank))
            continue
        is_whole = True
        for cut in range(1, len(token)):
            left, right = ranks.get(token[:cut]), ranks.get(token[cut:])
            if left is not None and right is not None:
                merges.append((left, right, rank))
    return np.array(merges, dtype=np.int32).reshape(-1, 3), is_whole


def _merged(token: bytes, ranks: Mapping[bytes, int], below: int) -> list[bytes]:
    """The parts of a token after all merges of ranks below ``below``, lowest and leftmost first.

    Empty if a part is no token.
    """
    parts = [token[i : i + 1] for i in range(len(token))]
    found = [ranks.get(token[i : i + 2], below) for i in range(len(token) - 1)]
    while len(parts) > 2:
        rank = min(found)
        if rank >= below:
            break
        place = found.index(rank)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        del found[place]
        for pair in (place - 1, place):
            if 0 <= pair < len(found):
                found[pair] = ranks.get(parts[pair] + parts[pair + 1], below)
    return parts if all(part in ranks for part in parts) else []


def _ranks(raw: bytes) -> dict[bytes, int]:
    check_lines(raw)
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(raw.splitlines(), 1):
        # The empty token is written as base64's padding alone.
        text, _, rank = line.rpartition(b" ")
        if not line.strip():
            continue
        try:
            token = b"" if text == b"=" else b64decode(text, validate=True)
            ranks[token] = int(rank)
        except (Error, ValueError):
            raise TokenizerError(
                f"line {number} is not a token in base64 and a rank: {line[:40]!r}"
            ) from None
    if not ranks:
        raise TokenizerError("it has no tokens")
    return ranks
