"""A tokenizer beside its own library, and what artifacts accept, for tests of canonical masks."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import pytest
import tokenizers

from constrain.artifacts import Artifact
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits, Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.bpe.cached_tables import TokenizerTables
from constrain.compiler.cartesian.product import Product
from constrain.compiler.pipeline import build_automaton
from support.canonical import GRAMMARS

# By default one tokenizer of bytes with cuts and one of characters without.
SAMPLED = ("gpt2", "mistral-v3")
TOKENIZERS = (*SAMPLED, "cl100k_base", "qwen2_5", "mistral_nemo", "whisper-multilingual")
TINY = ("tiny-bpe-300", "tiny-bpe-1000", "tiny-bpe-4000")

_LONG = {("mistral-v3", name) for name in ("scripts", "object", "string")}

# Languages whose members can all be encoded.
FINITE = {
    "date": r"20[0-9]{2}-(0[1-9]|1[0-2])-01",
    "white space": r"(a|\n| |1){0,6}",
    "contractions": r"(I|we|they)('s|'t|'re|'ll|s| s|'S)?( [a-d]{0,2})?[ .]{0,3}",
    "scripts": r"(é|漢|ก็|😀|x| ){0,4}",
    "quotes": r'"[ab ]{0,4}"(, "[ab]{0,2}")?',
}
# Few letters, so that all ways on can be encoded; spaces and digits are cut off.
INFINITE = {
    "words": "[te]+( [te]+)*",
    "spaces": "( |t|\n)*",
    "letters": "(th|he|in|er)*(s|!)?",
    "numbers": "[1e]*(, ?[1e]+)*",
}


def skip_unless_sampled(
    name: str, grammar: str, full: bool, sampled: Sequence[str] = SAMPLED
) -> None:
    """Without --full only some tokenizers, and of them not what takes longest to compile."""
    if not full and (name not in sampled or (name, grammar) in _LONG):
        pytest.skip("sampled: --full runs all tokenizers")


class Case:
    """A tokenizer, its library, and compiled grammars.

    Artifacts are kept as the bytes of their files, so that what one test has worked out is
    neither held nor seen by the next.
    """

    def __init__(self, path: Path) -> None:
        self.library = tokenizers.Tokenizer.from_file(str(path))
        self.tokenizer: Tokenizer = load_tokenizer(path)
        self.tables = TokenizerTables(self.tokenizer)
        self._files: dict[tuple[str, str], bytes] = {}

    def artifact(self, name: str) -> Artifact:
        """One of the twelve grammars by CartesianMerge, by way of the file's bytes."""
        return self.of(GRAMMARS[name], "cartesian")

    def of(self, regex: str, method: str) -> Artifact:
        """Any regex by any method, by way of the file's bytes."""
        key = regex, method
        if key not in self._files:
            self._files[key] = self.compiled(regex, method).to_bytes()
        return load_bytes(self._files[key])

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
        """What the library puts behind the prompt's tokens, wherever they stay as they are."""
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


def members_of(regex: str, longest: int = 24) -> list[str]:
    """All members of at most ``longest`` bytes."""
    found = build_automaton(regex, dialect="regex").dfa
    return [bytes(word).decode() for word in found.members(longest)]


def check_masks(matcher: Matcher, expected: Mapping[tuple[int, ...], set[int]]) -> int:
    """Compare the masks behind all prefixes that ``expected`` has; the number of their tokens."""
    taken: tuple[int, ...] = ()
    count = 0
    for prefix in sorted(expected):
        pairs = zip(taken, prefix, strict=False)
        common = sum(accumulate((a == b for a, b in pairs), operator.and_))
        matcher.rollback(len(taken) - common)
        for token_id in prefix[common:]:
            matcher.advance(token_id)
        taken = prefix
        assert expected[prefix] == set(tokenset.to_ids(matcher.mask()).tolist()), prefix
        count += len(expected[prefix])
    return count


REGEXES = {
    "counted words": "[a-c ]{1,12}",
    "scripts": "[a-zéñ漢字 ]{0,7}",
    "quoted": r'"([^"\\]|\\.)*"',
    "one way out": "(in|ing|the){1,5}s",
    "white space": r"( |\n|x)*y",
}


def lifted_via_running(product: Product, tables: TokenizerTables) -> dict[tuple[int, int], int]:
    """(row, token) to target, by running every token from every state."""
    trie = tables.pairs.trie
    tokens = tables.tokenizer.tokens
    found = {}
    for state in range(1, product.states):
        for plane in (0, 1):
            for token in trie.ids.tolist():
                here, first = state, plane
                for octet in tokens[token]:
                    here, first = int(product.table[here, first, product.classes[octet]]), 0
                if here:
                    found[2 * state + plane, token] = here
    return found
