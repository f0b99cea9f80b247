"""Terminals that are too large to be built, in grammars that nest, with real vocabularies."""

from pathlib import Path

import pytest
from support import grows, tokenizer_of
from support.matcher import check_random_texts

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer, thresholds
from constrain.compiler.lazy_dfa import conjunctions

LIST = """list ::= '[' (item (', ' item)*)? ']'
          item ::= list | '"' text '"' """
HOST = """text ::= labels - (any ANY any*)
          labels ::= label ('.' label)*
          label ::= alnum | alnum (alnum | '-') MOST alnum
          alnum ::= [a-z0-9]
          any ::= [a-z0-9.#x2D]"""
DIGIT = """text ::= word - ([^0-9]* | any ANY any*)
           word ::= [^"#xA]*
           any ::= [^#xA]"""
WITHOUT = """text ::= any* - (any* 'a' ANY)
             any ::= [^"#xA]"""
BEHIND = """text ::= any* 'a' ANY
            any ::= [^"#xA]"""


def grammar(rules: str, *, most: int = 0, times: int) -> str:
    """Lists of texts in quotes."""
    labels = " ".join(["(alnum | '-')?"] * most)
    rules = rules.replace("(alnum | '-') MOST", labels)
    return LIST + "\n" + rules.replace("ANY", "any " * times)


SMALLER = {
    "host": grammar(HOST, most=4, times=17),
    "digit": grammar(DIGIT, times=8),
    "without": grammar(WITHOUT, times=5),
    "behind": grammar(BEHIND, times=9),
}


def compiled(compiler: Compiler, text: str, **options: object) -> Artifact:
    """An artifact that allows any token sequences, its first mask found."""
    given = {"dialect": "w3c", "tokenization": "any", "prewarm": 0} | options
    artifact = compiler.compile(text, **given)
    assert artifact.matcher().mask().any()
    return artifact


@pytest.mark.parametrize("few", [512, 0])
@pytest.mark.parametrize("name", SMALLER)
def test_masks_of_smaller_bounds_are_those_of_the_built_network(
    name: str,
    few: int,
    gpt2: Tokenizer,
    default_tokenizer: Tokenizer,
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With DFAs of operands, and with sets of NFA states in their place."""
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    monkeypatch.setattr(conjunctions, "_FEW_STATES", few)
    monkeypatch.setattr(conjunctions, "_TIMES_NFA", 2 if few else 0)
    for each in (default_tokenizer, gpt2):
        lazy = compiled(Compiler(each), SMALLER[name])
        eager = compiled(Compiler(each), SMALLER[name], engine="network")
        assert grows(lazy)
        assert eager.manifest.kind == "network"
        check_random_texts([lazy, eager], 60 if full else 2, 25, seed=5, short=0.3)


def test_members_with_a_byte_without_a_token_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the network, or of a terminal; where there are tokens of all bytes nothing is said."""
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    text = "list ::= '[' list ']' | text\ntext ::= any* 'a' " + "any " * 9 + "\nany ::= [abc]"
    for letters, lost in {"[]abc": "", "[]ac": "0x62", "[abc": "0x5D", "]ab": "0x5B, 0x63"}.items():
        compiler = Compiler(tokenizer_of(tmp_path, letters))
        found = compiled(compiler, text, eos=["a"])
        whole = compiled(compiler, text, eos=["a"], engine="network")
        assert grows(found)
        assert bool(lost) == any(f" {lost} are left out" in note for note in found.notes)
        check_random_texts([found, load_bytes(found.to_bytes()), whole], 4, 20, seed=1)
