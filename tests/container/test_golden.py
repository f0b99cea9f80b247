"""The file format, pinned: a small artifact that is committed."""

import numpy as np
import pytest
from support import ROOT

from constrain.artifacts import load
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.tokenizers.definition import AddedToken

pytestmark = pytest.mark.quick

GOLDEN = ROOT / "tests" / "golden"


def tiny_tokenizer() -> Tokenizer:
    """The 256 bytes, three merges, one special token."""
    merges = np.array([[97, 98, 256], [256, 99, 257], [98, 98, 258]], dtype=np.int32)
    texts = {i: bytes([i]) for i in range(256)} | {256: b"ab", 257: b"abc", 258: b"bb"}
    return Tokenizer(
        name="tiny",
        sha256="0" * 64,
        tokens=texts,
        added_tokens=(AddedToken(259, "<end>", special=True),),
        merges=merges,
        base=range(256),
        eos=(259,),
        vocab_size=260,
    )


@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_golden_file(tokenization: str, update: bool) -> None:
    """Compiling gives the committed bytes, and they load and give masks."""
    text = 'start ::= "ab" tail; tail ::= {"c" | "b"};'
    artifact = compile_grammar(
        text, dialect="kbnf", tokenizer=tiny_tokenizer(), tokenization=tokenization
    )
    path = GOLDEN / f"{tokenization}.cst"
    if update:
        artifact.save(path)
    assert artifact.to_bytes() == path.read_bytes()
    matcher = load(path, verify=True).matcher()
    for token_id in (257, 258):
        matcher.advance(token_id)
    assert matcher.is_accepting
    if tokenization == "canonical":
        allowed = np.flatnonzero(np.unpackbits(matcher.mask().view(np.uint8), bitorder="little"))
        assert allowed.tolist() == [98, 99, 258, 259]


@pytest.mark.parametrize("engine", ["network", "earley", "greedy"])
def test_golden_file_of_a_parser(engine: str, update: bool) -> None:
    """The same for a grammar that nests, by each engine."""
    artifact = compile_grammar(
        'start ::= "ab" start "c" | "b";',
        dialect="kbnf",
        tokenizer=tiny_tokenizer(),
        tokenization="any",
        engine=engine,
        meaning="maximal-munch" if engine == "greedy" else "exact",
    )
    path = GOLDEN / f"{engine}.cst"
    if update:
        artifact.save(path)
    assert artifact.to_bytes() == path.read_bytes()
    matcher = load(path, verify=True).matcher()
    for token_id in (256, 97, 258, 99):
        matcher.advance(token_id)
    allowed = np.flatnonzero(np.unpackbits(matcher.mask().view(np.uint8), bitorder="little"))
    assert allowed.tolist() == [99]
    matcher.advance(99)
    assert matcher.is_accepting
