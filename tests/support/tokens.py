"""A small vocabulary with added tokens, for the tests of token terminals."""

import numpy as np

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import Source, Span
from constrain.compiler.grammar.tree import Grammar, Rule, Token, distinct_tokens
from constrain.compiler.pipeline import build_artifact
from constrain.compiler.tokenizers.definition import AddedToken
from support.automata import build_automaton

KINDS = ("canonical", "any")

EOS, NAMED = 9, 10


def small_tokenizer() -> Tokenizer:
    """Bytes a, b, c; ab, bc, aa, abc; <end> and <t> (special), <u> (added, a text)."""
    texts = dict(enumerate((b"a", b"b", b"c", b"ab", b"bc", b"aa", b"abc")))
    merges = [(0, 1, 3), (1, 2, 4), (0, 0, 5), (3, 2, 6)]
    return Tokenizer(
        name="small",
        sha256="0" * 64,
        tokens=texts,
        added_tokens=(
            AddedToken(EOS, "<end>", special=True),
            AddedToken(NAMED, "<t>", special=True),
            AddedToken(11, "<u>"),
        ),
        merges=np.array(merges, dtype=np.int32),
        base=[b"abc".find(bytes([octet])) for octet in range(256)],
        eos=(EOS,),
        vocab_size=12,
    )


TOKENIZER = small_tokenizer()
# Computed where they are first needed, and once.
TABLES = TokenizerTables(TOKENIZER)
IDS = sorted({*TOKENIZER.tokens, *TOKENIZER.added})


def built(text: str, tokenization: str, **options: int) -> Artifact:
    """The artifact of a GBNF grammar with the small vocabulary."""
    automaton = build_automaton(text, dialect="gbnf")
    return build_artifact(
        automaton, TOKENIZER, tables=TABLES, tokenization=tokenization, **options
    ).artifact


def allowed(artifact: Artifact, *taken: int) -> list[int]:
    """The ids that may follow some tokens."""
    matcher = artifact.matcher()
    for token_id in taken:
        matcher.advance(token_id)
    return tokenset.to_ids(matcher.mask()).tolist()


def grammar_of(*tokens: Token) -> Grammar:
    """A grammar of tokens, for what GBNF cannot write."""
    span = Span(0, 1)
    rules = tuple(Rule("s", span, token, span) for token in tokens)
    return Grammar(Source(".", "g", "gbnf"), rules, "s", distinct_tokens(rules))
