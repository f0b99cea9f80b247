"""A tokenizer beside its own library, for tests of canonical masks."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import tokenizers

from constrain.artifacts import Artifact
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.store.folders import default_folder
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits, Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.files.cache import Cache

# By default one tokenizer of bytes with cuts and one of characters without.
SAMPLED = ("gpt2", "mistral-v3")
TOKENIZERS = (*SAMPLED, "cl100k_base", "qwen2_5", "mistral_nemo", "whisper-multilingual")
TINY = ("tiny-bpe-300", "tiny-bpe-1000", "tiny-bpe-4000")


class Case:
    """A tokenizer, its tables, and the library that it was made for."""

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        """``shared``: the tables are kept in the folder that all tests of a session share."""
        self.path = path
        cache = Cache(default_folder() if shared else None)
        self.tokenizer: Tokenizer = load_tokenizer(path, cache=cache)
        self.tables = TokenizerTables(self.tokenizer, cache)

    @cached_property
    def library(self) -> tokenizers.Tokenizer:
        """The library's own tokenizer of the same file."""
        return tokenizers.Tokenizer.from_file(str(self.path))

    def compiled(self, regex: str, method: str, limits: Limits | None = None) -> Artifact:
        """Any regex by any method, or ``network`` for the engine of grammars that nest."""
        nests = method == "network"
        return compile_grammar(
            regex,
            dialect="regex",
            tokenizer=self.tokenizer,
            tokenization="canonical",
            engine="network" if nests else "dfa",
            method="auto" if nests else method,
            tables=self.tables,
            limits=limits,
            eos=[] if self.tokenizer.eos else [0],
        )

    @property
    def eos(self) -> list[int]:
        """What a compilation is told to end texts with, beyond the tokenizer's own."""
        return [] if self.tokenizer.eos else [0]

    @property
    def eos_ids(self) -> list[int]:
        """The tokens that end a text."""
        return list(self.tokenizer.eos) or [0]

    def encode(self, text: str) -> list[int]:
        """The library's own tokens."""
        found: list[int] = self.library.encode(text, add_special_tokens=False).ids
        return found

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The library's own tokens of many texts."""
        return [e.ids for e in self.library.encode_batch(texts, add_special_tokens=False)]

    def is_left_alone(self, text: str) -> bool:
        """Whether the encoder gives the text back and finds no added token in it."""
        return self.gives_back(text, self.encode(text))

    def gives_back(self, text: str, ids: Sequence[int]) -> bool:
        """The same for a text whose tokens are known."""
        # The library gives some added tokens ids of its own.
        known, added = self.tokenizer.tokens, self.tokenizer.added
        if any(i in added or i not in known for i in ids):
            return False
        decoded = b"".join(known[i] for i in ids)
        return decoded.removeprefix(b" ").endswith(text.removeprefix(" ").encode())

    def own(self, text: bytes) -> list[int] | None:
        """The library's tokens of a text that it gives back; None for others."""
        try:
            ids = self.encode(text.decode())
        except UnicodeDecodeError:
            return None
        return ids if self.gives_back(text.decode(), ids) else None

    def spellings(self, text: bytes) -> list[list[int]]:
        """Two sequences that spell a text: of the longest tokens, from the left, and of bytes."""
        ids = self.ids_by_text
        found = []
        for most in (max(map(len, ids)), 1):
            place, taken = 0, list[int]()
            while place < len(text):
                parts = (text[place : place + size] for size in range(most, 0, -1))
                part = next(part for part in parts if part in ids)
                place += len(part)
                taken.append(ids[part][0])
            found.append(taken)
        return found

    def behind(self, prompt: str, texts: Sequence[str]) -> Iterator[list[int]]:
        """What the library puts after the prompt's tokens, wherever they stay as they are."""
        before = self.encode(prompt)
        wholes = self.encode_all([prompt + text for text in texts])
        for text, whole in zip(texts, wholes, strict=True):
            rest = whole[len(before) :]
            if whole[: len(before)] == before and (not text or self.gives_back(text, rest)):
                yield rest

    @cached_property
    def ids_by_text(self) -> dict[bytes, list[int]]:
        """All tokens that stand for text by their bytes."""
        found: dict[bytes, list[int]] = {}
        for token_id, octets in self.tokenizer.tokens.items():
            found.setdefault(octets, []).append(token_id)
        return found

    def spelled(self, matcher: Matcher, text: bytes) -> list[list[int]]:
        """Every token sequence that ``matcher`` accepts to the end and that spells ``text``."""
        longest = max(map(len, self.ids_by_text))
        found, ids = [], list[int]()
        # Tokens taken, bytes that they spell, and the last of them.
        pending: list[tuple[int, int, int | None]] = [(0, 0, None)]
        while pending:
            taken, position, token = pending.pop()
            if token is not None:
                matcher.rollback(len(ids) - taken + 1)
                matcher.advance(token)
                ids[taken - 1 :] = [token]
            if position == len(text) and matcher.is_accepting:
                found.append(ids.copy())
            mask = matcher.mask()
            for end in range(position + 1, min(len(text), position + longest) + 1):
                for token_id in self.ids_by_text.get(text[position:end], ()):
                    if tokenset.contains(mask, token_id):
                        pending.append((taken + 1, end, token_id))
        return found
