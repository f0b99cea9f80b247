"""Masks of grammars that nest, bit by bit, against the textbook's recogniser.

Six grammars, three tokenizers, fifty random members each, both engines. With a tiny tokenizer
every bit is looked at. With GPT-2's and Qwen 2.5's, where a row is met for the first time, all
tokens that it allows, and in each place 2,000 of those that it does not; where the same row
comes back, 200 of those that it does.
"""

# Tests here say `expected == actual`.

import random
from collections.abc import Callable

import pytest
from support.grammars import ARITHMETIC, DYCK, JSON, MARKUP, STATEMENTS, lnf_of
from support.mask_oracle import SQL, Oracle, members

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer
from constrain.compiler.pipeline import build_artifact, build_engine

# Grammar, how deep and how long members are.
GRAMMARS = {
    "json": (JSON, 2, 40),
    "arithmetic": (ARITHMETIC, 2, 24),
    "c-like": (STATEMENTS, 1, 40),
    "sql-like": (SQL, 1, 60),
    "xml-like": (MARKUP, 2, 50),
    "dyck": (DYCK, 3, 20),
}
TINY, REAL = "tiny-bpe-300", ("gpt2", "qwen2_5")
ENGINES = ("network", "earley")
DOCUMENTS, DISALLOWED, AGAIN = 50, 2000, 200
# Vocabularies of which every bit is looked at.
TINIEST = 1000

Real = Callable[[str], Tokenizer]


class Checked:
    """Follows documents with both engines and the oracle side by side. ``most``: of larger rows a
    sample of the tokens is looked at from the first time on."""

    def __init__(self, text: str, tokenizer: Tokenizer, most: int, prewarm: int) -> None:
        self.lnf, self.tokenizer, self.most = lnf_of(text), tokenizer, most
        self.artifacts = [self._compiled(text, engine, prewarm) for engine in ENGINES]
        self.eos = self.artifacts[0].manifest.eos
        vocabulary = self.artifacts[0].vocabulary
        self.texts = {int(i): vocabulary.token(int(i)) for i in vocabulary.text_ids()}
        self.rows: set[bytes] = set()
        self.rng = random.Random(4)
        self.bits = self.places = 0

    def _compiled(self, text: str, engine: str, prewarm: int) -> Artifact:
        recogniser = build_engine(text, dialect="kbnf", engine=engine)
        named = {} if self.tokenizer.eos else {"eos": [max(self.tokenizer.tokens)]}
        return build_artifact(
            recogniser, self.tokenizer, tokenization="any", prewarm=prewarm, **named
        ).artifact

    def follow(self, document: bytes, places: int) -> None:
        """Check the mask in front of each token of a member, so many of them, and at its end."""
        ids = self.tokenizer.encode(document.decode("utf-8"))
        checked = {*self.rng.sample(range(len(ids) + 1), min(places, len(ids) + 1))}
        oracle = Oracle(self.lnf)
        matchers = [artifact.matcher() for artifact in self.artifacts]
        for place in range(max(checked) + 1):
            if place in checked:
                first, second = (matcher.mask() for matcher in matchers)
                assert first.tobytes() == second.tobytes(), document
                found = set(tokenset.to_ids(first).tolist())
                for token_id in self.eos:
                    assert oracle.is_accepting == (token_id in found), document
                self._check(oracle, found - set(self.eos), first.tobytes(), document)
            if place < len(ids):
                for matcher in matchers:
                    matcher.advance(ids[place])
                oracle.read(self.texts[ids[place]])
            else:
                assert oracle.is_accepting

    def _check(self, oracle: Oracle, allowed: set[int], row: bytes, document: bytes) -> None:
        wanted = set(self.texts)
        if len(wanted) > TINIEST:
            refused = sorted(wanted - allowed)
            wanted = {*self.rng.sample(refused, min(DISALLOWED, len(refused)))}
            known = row in self.rows or self.most < len(allowed)
            again = self.rng.sample(sorted(allowed), min(AGAIN, len(allowed)))
            self.rows.add(row)
            wanted.update(again if known else allowed)
        fitting = oracle.fitting((self.texts[token_id], token_id) for token_id in wanted)
        assert fitting == allowed & wanted, document
        self.bits += len(wanted)
        self.places += 1


@pytest.mark.parametrize("name", GRAMMARS)
def test_every_bit_with_a_tiny_tokenizer(name: str, real: Real, full: bool) -> None:
    """All tokens in all places of all documents."""
    text, depth, longest = GRAMMARS[name]
    checked = Checked(text, real(TINY), TINIEST, prewarm=50_000 if full else 0)
    for document in members(text, DOCUMENTS, longest, depth, 7)[:: 1 if full else 24]:
        checked.follow(document, 1000 if full else 6)
    assert checked.bits == checked.places * len(checked.texts)


@pytest.mark.parametrize("tokenizer", REAL)
@pytest.mark.parametrize("name", GRAMMARS)
def test_bits_with_a_real_tokenizer(name: str, tokenizer: str, real: Real, full: bool) -> None:
    """What a row allows, and a sample of what it does not."""
    if not full and (name, tokenizer) not in (("sql-like", "gpt2"), ("arithmetic", "qwen2_5")):
        pytest.skip("run with --full")
    text, depth, longest = GRAMMARS[name]
    most = 1 << 30 if full else 1000
    checked = Checked(text, real(tokenizer), most, prewarm=50_000 if full else 0)
    documents = members(text, DOCUMENTS, longest, depth, 8)
    for document in documents if full else documents[:1]:
        checked.follow(document, 1000 if full else 3)
    assert checked.bits > checked.places * AGAIN
