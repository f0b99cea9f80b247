"""Canonical masks of regular grammars of which nothing is precomputed: those of their networks."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support import spelling_all_bytes, wordpiece
from support.grammars import random_grammar
from support.matcher import check_random_texts

from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer, load_tokenizer
from constrain.compiler.diagnostics import GrammarError

GRAMMARS = {
    "regex": ("[a-c]{2,5}|ab*,", "regex"),
    "rules": ("s ::= x ',' x | ''; x ::= 'a' | 'ab' y; y ::= #'[abc]*';", "kbnf"),
    "to the right": ('root ::= "a" root | b\nb ::= "," b | "c"', "gbnf"),
    "counted": ("s ::= '(' #'[ab]{3,400}' ')';", "kbnf"),
    "excluded": ("[abc]{1,4}&~(.*ca.*)", "regex-extended"),
}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Tokens of several letters, which merges give in some texts alone."""
    merges = ["a b", "b b", "ab b", ", a", "a c", "( a", "b )", "c a"]
    return spelling_all_bytes(tmp_path_factory.mktemp("letters"), "abc(),", merges)


def both(compiler: Compiler, text: str, dialect: str) -> list[Any]:
    """Nothing is precomputed, read from a file; and a DFA beside it."""
    options: dict[str, Any] = {"dialect": dialect, "tokenization": "canonical"}
    soon = compiler.compile(text, prewarm=0, **options)
    return [load_bytes(soon.to_bytes()), compiler.compile(text, engine="dfa", **options)]


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_those_of_a_dfa(name: str, letters: Tokenizer, full: bool) -> None:
    """Token for token, the end of the text with them."""
    soon, dfa = both(Compiler(letters), *GRAMMARS[name])
    assert (soon.manifest.kind, soon.manifest.tokenization) == ("network", "canonical")
    assert (soon.is_regular, dfa.is_regular) == (False, True)
    check_random_texts([soon, dfa], 200 if full else 6, 30, seed=2)


def test_random_regular_grammars(letters: Tokenizer, full: bool) -> None:
    """Of which none is a DFA, and none nests."""
    rng, compared, compiler = random.Random(4), 0, Compiler(letters)
    while compared < (300 if full else 4):
        try:
            every = both(compiler, random_grammar(rng), "kbnf")
        except GrammarError:
            continue
        check_random_texts(every, 4, 20, seed=compared)
        compared += 1


def test_a_dfa_stands_in_where_networks_have_no_canonical_masks(tmp_path: Path) -> None:
    """A tokenizer that takes a space away before it puts one may change members that begin so; and
    words that are cut into pieces need a DFA."""
    found = Compiler(tokenizer_that_strips(tmp_path)).compile(
        'root ::= " a" | "b"', dialect="gbnf", prewarm=0, tokenization="canonical"
    )
    assert found.is_regular
    words = wordpiece.tokenizer_of(["a", "b", "##b"])
    assert Compiler(words).compile("ab*", dialect="regex", prewarm=0).manifest.kind == "word-dfa"


def tokenizer_that_strips(folder: Path) -> Tokenizer:
    """It strips texts, and puts a space before those that do not begin with one."""
    model = {"vocab": {"▁": 0, "a": 1, "b": 2, "▁a": 3}, "merges": ["▁ a"], "type": "BPE"}
    end = {"id": 4, "content": "<eos>", "special": True, "single_word": False, "lstrip": False}
    end |= {"rstrip": False, "normalized": False}
    described = {
        "version": "1.0",
        "added_tokens": [end],
        "normalizer": {"type": "Strip", "strip_left": True, "strip_right": False},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
        "model": model,
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(described), encoding="utf-8")
    found = load_tokenizer(path)
    assert isinstance(found, Tokenizer)
    return found
