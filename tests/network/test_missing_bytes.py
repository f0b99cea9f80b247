"""Grammars that nest, for a vocabulary without some byte: the other members stay, with a note."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import EXAMPLES, tokenizer_of

from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.tokenizers import byte_alphabet

pytestmark = pytest.mark.quick

# Bytes as Falcon's vocabulary lacks them: some that begin a character, and here a letter.
MISSING = (0xC3, 0xF1, ord("z"))

WHOLE = r'root ::= "(" root ")" | [wxyzé]+ | "buzz" | "xz" root "y"'
LEFT = 'root ::= "(" root ")" | [wxy]+'

OPTIONS: list[dict[str, Any]] = [
    {"tokenization": "canonical"},
    {"tokenization": "any"},
    {"tokenization": "any", "engine": "earley"},
    {"tokenization": "any", "prewarm": 0},
]


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    """All bytes but some, and a few merges."""
    letters, merges = "xy()", ["x y", "( (", "( x", "y )"]
    others = [o for o in range(256) if o not in {*MISSING, *letters.encode()}]
    extra = {byte_alphabet.encode(bytes([octet])): 8 + i for i, octet in enumerate(others)}
    return tokenizer_of(tmp_path, letters, merges, extra=extra, added=[(300, "<eos>", True)])


@pytest.mark.parametrize("options", OPTIONS)
def test_members_with_a_byte_that_is_no_token_are_left_out(
    tokenizer: Tokenizer, options: dict[str, Any]
) -> None:
    """The masks are those of the grammar without these members, and no dead end is among them."""
    options = {"engine": "network", "dialect": "gbnf", "tokenizer": tokenizer, **options}
    whole, left = (compile_grammar(text, **options) for text in (WHOLE, LEFT))
    assert any("the bytes 0x7A, 0xC3 are left out" in note for note in whole.notes)
    assert not any("left out: the tokenizer has no token" in note for note in left.notes)
    rng = random.Random(5)
    for _ in range(20):
        one, other = whole.matcher(), left.matcher()
        for _ in range(30):
            assert np.array_equal(one.mask(), other.mask())
            allowed = np.flatnonzero(np.unpackbits(one.mask().view(np.uint8), bitorder="little"))
            assert len(allowed)
            token_id = int(rng.choice(allowed))
            one.advance(token_id)
            other.advance(token_id)
            if one.is_finished:
                break


def test_json_compiles_without_some_byte(tokenizer: Tokenizer) -> None:
    """The example of grammars that nest: texts of strings have all bytes."""
    text = (EXAMPLES / "json.ebnf").read_text(encoding="utf-8")
    artifact = compile_grammar(text, dialect="kbnf", tokenizer=tokenizer, tokenization="any")
    assert any("0xC3, 0xF1 are left out" in note for note in artifact.notes)
    accepted = '{"wörd": 1}'.replace("ö", "ŏ").encode()
    assert len(accepted) == artifact.viable_bytes(accepted)
    assert 2 == artifact.viable_bytes(b'{"\xc3\xa9": 1}')


def test_where_each_member_needs_such_a_byte_there_is_none(tokenizer: Tokenizer) -> None:
    """An error that names the byte."""
    with pytest.raises(CheckError, match="spell no member: it has no token for the byte 0x7A"):
        compile_grammar('root ::= "(" root ")" | "z"', dialect="gbnf", tokenizer=tokenizer)


def test_by_maximal_munch_they_are_left_out_as_well(tokenizer: Tokenizer) -> None:
    """Lexemes keep their precedence; one that is left without a text stands nowhere."""
    head = '%ignore " "\nNAME: /[w-z]+/\n'
    whole = 'start: "(" start ")" | NAME "=" NAME | "xy" | BUZZ start\nBUZZ: "buzz"\n'
    left = 'start: "(" start ")" | NAME "=" NAME | "xy"\n'
    one_of, other_of = (
        compile_grammar(
            head.replace("z", last) + rules,
            dialect="lark",
            tokenizer=tokenizer,
            tokenization="any",
        )
        for last, rules in (("z", whole), ("y", left))
    )
    assert "greedy" == one_of.manifest.kind
    assert any("the byte 0x7A are left out" in note for note in one_of.notes)
    rng = random.Random(6)
    for _ in range(20):
        one, other = one_of.matcher(), other_of.matcher()
        for _ in range(20):
            assert np.array_equal(one.mask(), other.mask())
            allowed = np.flatnonzero(np.unpackbits(one.mask().view(np.uint8), bitorder="little"))
            token_id = int(rng.choice(allowed))
            one.advance(token_id)
            other.advance(token_id)
            if one.is_finished:
                break
