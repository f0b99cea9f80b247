"""Terminals whose states are made when met give the masks of the networks that are built."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from support import grows, sampled
from support.matcher import check_random_texts

from constrain.artifacts.dfa.emptiness import UndecidedError
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.machine.terminal_masks import TerminalMasks
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer, thresholds
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.lazy_dfa import conjunctions

ANY = {"tokenization": "any", "prewarm": 0, "dialect": "w3c"}

# What stands around a text, and after it: other texts, what its own bytes are, and nothing.
AROUND = [
    's ::= text ("," text)*',
    's ::= "<" s? text ">" | text',
    's ::= text text "a"? | "<" text',
    's ::= (text "<")? [ab]* text',
    's ::= x "b" | "<" s ">"  x ::= text | x "," text',
    's ::= ("a" | text) ("," s)? | "b" text? ">"',
    "s ::= text",
]
PARTS = ["[ab]*", "[ab,]*", "([ab] [ab] [ab])*", "([ab] [ab])+", '("ab" | "ba")+', '[^"#xA]*']
PARTS += ['[ab]* "aa" [ab]*', '[ab]* "b" [ab] [ab]', '[ab]* "," [ab]*', '"abba"', '"a" | "b"']


def grammars(seed: int, count: int) -> Iterator[str]:
    """Operations, what operates on operations among them, in grammars that nest and do not."""
    rng = random.Random(seed)
    for _ in range(count):
        texts = [f"({part})" for part in rng.sample(PARTS, 3)]
        text = f"{texts[0]} - {texts[1]}"
        if rng.random() < 0.4:
            text = f"{texts[2]} - ({text})"
        yield f"{rng.choice(AROUND)}\ntext ::= {text}"


@sampled("seed", range(4), range(120))
@pytest.mark.parametrize("few", [512, 0])
def test_masks_are_those_of_the_built_network_bit_by_bit(
    seed: int, few: int, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made when met, from a file, and with next to no caches; with DFAs of operands, and with sets
    of NFA states in their place."""
    compiler, compared = Compiler(default_tokenizer), 0
    monkeypatch.setattr(conjunctions, "_FEW_STATES", few)
    monkeypatch.setattr(conjunctions, "_TIMES_NFA", 2 if few else 0)
    for text in grammars(seed, 4):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(thresholds, "LARGE_STATES", 0)
            try:
                growing = compiler.compile(text, **ANY)
                file = growing.to_bytes()
            except CheckError:
                # Without a member, as the network is.
                with pytest.raises(CheckError):
                    compiler.compile(text, engine="network", **ANY)
                continue
        eager = compiler.compile(text, engine="network", **ANY)
        if not grows(growing):
            continue
        assert isinstance(growing, GrowingArtifact)
        tight = load_bytes(file, cache_bytes=0)
        artifacts = [growing, eager, load_bytes(file, verify=True), tight]
        check_random_texts(artifacts, 3, 25, seed=seed, short=0.5)
        compared += 1
    assert compared


@pytest.mark.parametrize(
    "behind", ["#'[ab,]{3,90}' ';'", "(#'[ab,]{2,70}' ',')? start", "#'[a,]{70}'?"]
)
def test_long_repetitions_stand_beside_them(
    behind: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which what may follow a terminal is found without a look at each copy."""
    text = f"start ::= '(' start ')' | #'[ab]{{2,900000}}' ';' | '<' grows {behind};"
    rules = text.replace("900000", "80") + " grows ::= #'[ab]*a[ab]{8}';"
    compiler, options_of = Compiler(default_tokenizer), {**ANY, "dialect": "kbnf"}
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    growing = compiler.compile(rules, **options_of)
    eager = compiler.compile(rules, engine="network", **options_of)
    assert isinstance(growing, GrowingArtifact)
    assert isinstance(growing.machine(), TerminalMasks)
    check_random_texts([growing, eager], 6, 40, seed=2, short=0.7)
    endless = compiler.compile(text + " grows ::= #'[ab]*a[ab]{30}';", **options_of)
    assert isinstance(endless.machine(), TerminalMasks)
    matcher = endless.matcher()
    for token in default_tokenizer.encode("(<" + "a" * 31):
        matcher.advance(token)
    states = endless.machine().states
    assert matcher.mask().any()
    assert states.named < 1_000


def test_a_search_without_a_result_is_an_error_of_its_text_alone(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other texts on the same machine go on, and so does it when it is asked again."""
    text = 's ::= "<" text ">"\ntext ::= [ab]* - ([ab]* "a"' + " [ab]" * 20 + ")"
    artifact = Compiler(default_tokenizer).compile(text, **ANY)
    machine = artifact.machine()
    assert isinstance(machine, TerminalMasks)
    matcher, other = artifact.matcher(), artifact.matcher()
    for each in (matcher, other):
        each.advance(default_tokenizer.encode("<")[0])
    other.mask()
    searches = machine.terminals.readers[0].walked[0].emptiness

    def endless(*_: object) -> int:
        raise UndecidedError("not decided")

    ids = default_tokenizer.encode("ab")
    with monkeypatch.context() as patched:
        patched.setattr(searches, "fewest", endless)
        with pytest.raises(UndecidedError):
            matcher.advance(ids[0])
        assert other.mask().any()
    for token in ids:
        matcher.advance(token)
        other.advance(token)
    assert np.array_equal(matcher.mask(), other.mask())
    assert len(tokenset.to_ids(matcher.mask()))
    assert artifact.machine() is machine
