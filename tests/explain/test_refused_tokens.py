"""Why a token may not come next, against the members' own encodings by the tokenizers library."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from support.corpus.small_tokenizers import EOS, SMALL, small_tokenizer
from support.corpus.tokenizer_case import Case

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.explain.refusals import Reason, Refusals

# What tokenizers join, cut or rewrite, with what stands beside it.
TEXTS = ["a", "b", " a", " ", "  ", "ab", "the", " the", "th", "e", "1", "12", "\n", "\n\n"]
TEXTS += [", ", '":', "é", "e", "\u0301", "日", "本", "x", "y", "in", "er", "if", "--", "<", "z"]

# Characters that complete any beginning of one, some of which have tokens.
OTHERS = [
    "é",
    "日",
    "本",
    "\u0301",
    "ü",
    "ÿ",
    "語",
    "€",
    "😀",
    "\U0010ffff",
    "ø",
    "߿",
    "\ufffd",
    "č",
]


@dataclass(frozen=True)
class Language:
    """A finite grammar and its members."""

    grammar: str
    members: tuple[str, ...]


def languages(rng: random.Random) -> Iterator[Language]:
    """Random ones: two or three parts, each a choice of texts."""
    while True:
        parts = [rng.sample(TEXTS, rng.randint(1, 4)) for _ in range(rng.randint(2, 4))]
        bodies = (" | ".join(map(literal, part)) for part in parts)
        yield Language(
            f"start ::= {' '.join(f'({body})' for body in bodies)};",
            tuple(sorted({"".join(each) for each in product(*parts)})),
        )


def literal(text: str) -> str:
    """A terminal of kbnf."""
    return json.dumps(text)


class Oracle:
    """What the library's own encodings say."""

    def __init__(self, case: Case, artifact: Artifact, members: Sequence[str]) -> None:
        self.case, self.artifact = case, artifact
        self.members = [member.encode() for member in members]
        written = {text: ids for text in members if case.gives_back(text, ids := case.encode(text))}
        self.encodings = [*written.values()]
        self._written = [artifact.text_prefix + text.encode() for text in written]
        self._behind: dict[bytes, list[list[int]]] = {}

    def allowed(self, ids: list[int], eos: int) -> set[int]:
        """The mask after some tokens."""
        found = {each[len(ids)] for each in self.encodings if begins(each, ids, 1)}
        return found | ({eos} if ids in self.encodings else set())

    def text(self, ids: Sequence[int]) -> bytes:
        """What tokens spell."""
        return b"".join(self.artifact.vocabulary.token(i) for i in ids)

    def readable(self, text: bytes) -> int:
        """How many bytes of what tokens spell begin a member, with or without what is put before
        it."""
        put = self.artifact.text_prefix
        plain = max(common(text, each) for each in self.members)
        return max(plain, *(common(text, put + each) for each in self.members))

    def goes_on(self, text: bytes) -> bool:
        """Whether a member that has an encoding begins so."""
        return any(each.startswith(text) for each in self._written)

    def is_written(self, ids: list[int]) -> bool:
        """Whether some text's encoding begins so."""
        spelled = self.text(ids)
        put = self.artifact.text_prefix
        if not (spelled.startswith(put) or put.startswith(spelled)):
            return False
        if spelled not in self._behind:
            self._behind[spelled] = list(self._encodings(spelled[len(put) :]))
        return any(begins(each, ids) for each in self._behind[spelled])

    def _encodings(self, begin: bytes) -> Iterator[list[int]]:
        followers = [
            a + b for a in ["", *TEXTS, *OTHERS] for b in ["", "a", "z", " ", "1", "\u0301"]
        ]
        for missing in completions(begin):
            for follower in followers:
                text = (begin + missing).decode() + follower
                if self.case.gives_back(text, ids := self.case.encode(text)):
                    yield ids


def common(a: bytes, b: bytes) -> int:
    """How many bytes are the same at the beginning."""
    return next(
        (n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def completions(text: bytes) -> list[bytes]:
    """What makes whole characters of a beginning; b"" of one that is some."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        if error.end < len(text) or "unexpected end" not in error.reason:
            return []
        begun = text[error.start :]
        tails = [char.encode()[len(begun) :] for char in OTHERS if char.encode().startswith(begun)]
        lead = begun[0]
        second = {0xE0: 0xA0, 0xF0: 0x90}.get(lead, 0x80)
        usual = bytes([lead, second, 0x80, 0x80])[: 2 + (lead >= 0xE0) + (lead >= 0xF0)]
        usual = begun + usual[len(begun) :] if len(begun) > 1 else usual
        return [*tails, usual[len(begun) :]]
    return [b""]


def begins(ids: list[int], with_: list[int], more: int = 0) -> bool:
    """Whether tokens begin with others, and so many more follow."""
    return len(ids) >= len(with_) + more and ids[: len(with_)] == with_


def check(case: Case, language: Language, rng: random.Random, engine: str, most: int) -> int:
    """Every token that masks refuse after some prefixes has the reason that the oracle has; how
    many there were."""
    try:
        artifact = compile_grammar(
            language.grammar,
            dialect="kbnf",
            tokenizer=case.tokenizer,
            tokenization="canonical",
            engine=engine,
            eos=[EOS],
        )
    except CheckError:
        return 0
    oracle = Oracle(case, artifact, language.members)
    refusals = Refusals(artifact, case.tokenizer)
    (eos,) = artifact.manifest.eos
    vocabulary, count = artifact.vocabulary, 0
    prefixes = sorted({tuple(ids[:n]) for ids in oracle.encodings for n in range(len(ids) + 1)})
    for prefix in rng.sample(prefixes, min(most, len(prefixes))):
        ids = [*prefix]
        matcher = artifact.matcher()
        assert len(ids) == matcher.accept(ids)
        allowed = oracle.allowed(ids, eos)
        assert allowed == set(tokenset.to_ids(matcher.mask()).tolist())
        for token in range(vocabulary.size):
            if token in allowed:
                continue
            found = refusals.why_after(matcher, token)
            where = language, ids, token, vocabulary.token(token), found
            count += 1
            if token == eos:
                assert Reason.NOT_AT_END is found.reason, where
                continue
            if not vocabulary.is_text(token):
                assert found.reason in (Reason.SPECIAL, Reason.NO_TOKEN), where
                continue
            text = oracle.text([*ids, token])
            read = oracle.readable(text)
            if read < len(text):
                assert Reason.GRAMMAR is found.reason, where
                assert max(0, read - len(text) + len(found.text)) == found.byte, where
            elif oracle.is_written([*ids, token]):
                assert Reason.DEAD_END is found.reason, where
            else:
                assert Reason.TOKENIZATION is found.reason, where
            if found.instead:
                written = [*ids[: len(ids) - found.rewritten], *found.instead]
                assert any(begins(each, written) for each in oracle.encodings), where
                is_begun = text.startswith(artifact.text_prefix)
                before = b"" if ids or is_begun else artifact.text_prefix
                assert oracle.text(written).startswith(before + text), where
            elif found.reason is not Reason.GRAMMAR:
                assert not oracle.goes_on(text), where
    return count


@pytest.mark.parametrize("name", SMALL)
def test_every_refused_token_has_the_reason_that_the_encodings_say(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Of random finite grammars, each token that is not in the mask: by the grammar where no member
    goes on with its text, and at which byte; else by the tokenization where no text is encoded so,
    or as a dead end. What stands in its place is how members are encoded."""
    case = Case(small_tokenizer(name, tmp_path))
    rng = random.Random(7)
    full = request.config.getoption("--full")
    count = 0
    for number, language in zip(range(60 if full else 2), languages(rng), strict=False):
        count += check(case, language, rng, ("dfa", "network")[number % 2], 3 if full else 1)
    assert count > (10_000 if full else 500)
