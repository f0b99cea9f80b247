"""Counts of a thousand with real tokens: where they begin and end, the masks of their copies."""

# Tests here say `expected == actual`.

import random
from collections.abc import Callable

import pytest

from constrain.artifacts import Artifact
from constrain.artifacts.errors import TokenRefusedError
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar

CHARACTER = r'( [^\x00-\x1f"\\] | "\\" ( ["\\/bfnrt] | "u" [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] ) )'

# Grammars of about a thousand items, what a text begins with, and texts of which it goes on.
GRAMMARS = {
    "letters": ('"<" [a-z]{990,1000} ">"', "<", ["information", "about", "the"]),
    "characters": (
        f'"\\"" {CHARACTER}{{0,1000}} "\\", \\"x\\""',
        '"',
        ["The quick brown fox, ", "    ", "\\n\\u00e9", "東京"],
    ),
    "so many characters": (f'"\\"" {CHARACTER}{{1000}} "\\""', '"', ["        ", "words, and "]),
    "words": ('( [a-z]+ " " ){1000} "."', "", ["of the ", "a ", "information "]),
    "items": ('"[" [0-9]+ ( ", " [0-9]+ ){500,999} "]"', "[1", [", 12", ", 3", ", 1, 2"]),
}


def pair(text: str, tokenizer: Tokenizer) -> tuple[Artifact, Artifact]:
    """The artifacts of a grammar's copies and counts."""
    copied, counted = (
        compile_grammar(
            f"root ::= {text}",
            dialect="gbnf",
            tokenizer=tokenizer,
            tokenization="any",
            engine=engine,
            prewarm=0,
        )
        for engine in ("dfa", "network")
    )
    assert "repeats.fronts" in counted.arrays
    return copied, counted


@pytest.mark.sampled(
    ("name", "kind"),
    [("gpt2", "letters"), ("gpt2", "items")],
    [(name, kind) for name in ("gpt2", "qwen2_5") for kind in GRAMMARS],
)
def test_masks_where_counts_of_a_thousand_begin_and_end(
    name: str, kind: str, real: Callable[[str], Tokenizer], full: bool
) -> None:
    """Bit by bit, with the end of the text, at the first tokens, and from 100 to 150 tokens before
    the last on, where texts go on at random."""
    text, begin, parts = GRAMMARS[kind]
    tokenizer, rng = real(name), random.Random(2)
    artifacts = pair(text, tokenizer)
    one, other = (artifact.matcher() for artifact in artifacts)
    vocabulary = artifacts[0].vocabulary

    def advance(token: int) -> None:
        one.advance(token)
        other.advance(token)

    def compare() -> list[int]:
        mask = one.mask()
        assert mask.tolist() == other.mask().tolist()
        assert one.is_accepting == other.is_accepting
        return tokenset.to_ids(mask).tolist()

    for token in tokenizer.encode(begin + "".join(rng.choices(parts, k=6))):
        compare()
        advance(token)
    # As far as it goes, then back.
    while tokens := tokenizer.encode("".join(rng.choices(parts, k=20))):
        try:
            for token in tokens:
                advance(token)
        except TokenRefusedError:
            break
    for _ in range(3 if full else 1):
        back = rng.randrange(100, 150)
        one.rollback(back)
        other.rollback(back)
        for _ in range(back):
            ids = [i for i in compare() if vocabulary.is_text(i)]
            if not ids:
                break
            short = [i for i in ids if len(vocabulary.token(i)) < 4]
            advance(rng.choice(short if short and rng.random() < 0.7 else ids))
