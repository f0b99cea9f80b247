"""Near bounds of repetitions the walk leaves them out exactly where no token comes to them."""

import random
from pathlib import Path

import pytest
from support import spelling_all_bytes
from support.matcher import check_equal_of_short_tokens

from constrain.compiler import compile_grammar
from constrain.compiler.network import tree_layout

# Items of one and two characters, which begin alike, so that one text is in several copies.
TEXT = 'root ::= ( ( ( ( "s" | [net] ) [iht]  ) ){0,} ( ( ( [e h] ){1,2} )* ){0,2}  )'
MERGES = ["e e", "t h", "th e", "Ġ the", "i n", "in Ġ", "the Ġ", "e !"]


@pytest.mark.quick
@pytest.mark.parametrize("copies", [1, 8])
def test_copies_that_begin_alike(
    copies: int, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """The masks are those of the DFA, whatever is copied and whatever is counted."""
    monkeypatch.setattr(tree_layout, "_FEW_COPIES", copies)
    letters = spelling_all_bytes(tmp_path, "abeinhst ,.!", MERGES)
    options = {"dialect": "gbnf", "tokenizer": letters, "tokenization": "any", "eos": ["<eos>"]}
    whole = compile_grammar(TEXT, engine="dfa", **options)

    for seed in range(60 if full else 20):
        met = compile_grammar(TEXT, engine="auto", prewarm=0, **options)
        check_equal_of_short_tokens(whole, met, random.Random(seed), 12)
