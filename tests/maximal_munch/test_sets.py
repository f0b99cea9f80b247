"""Permutations of rules by maximal munch: sets in frames have the masks of all orders."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import encoded, tokenizer_of
from support.cli import Cli, content
from support.network import Part, check_equal, in_all_orders, keys, permuted

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_transitions import MOST_FRAMES
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, choose, compile_grammar
from constrain.compiler.compiler import WeakerMasksWarning
from constrain.compiler.schema import SchemaOptions

LETTERS = 'abehinmst ,:"{}<>!01'
MERGES = ["a b", "ab e", "t h", "th e", "the m", "i n", "in n", ', "', '" :', '": a', "a ,", "t a"]
MERGES += ["th in", "b e", "s ,", "e s", '{ "', "a }", "the in", "s s", "m ,", "0 1", "01 0", "a 0"]

WORDS = ["the ", "them ", "a", "an", "the", "b: ", "in", "inn", "t", " a", "e", "es", "0", "01"]

# Far more than all orders of a few parts have, and fewer than any have.
ALL_COPIED, ALL_HELD = 1 << 40, 0


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer small enough for many grammars, some of whose tokens hold several parts."""
    added = [(len(LETTERS) + len(MERGES), "<eos>", True)]
    return tokenizer_of(tmp_path_factory.mktemp("letters"), LETTERS, MERGES, added=added)


@pytest.fixture
def all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every permutation of rules is a set in a frame."""
    monkeypatch.setattr(choose, "counted_from", lambda *_: ALL_HELD)


def made(text: str, tokenizer: Tokenizer, **options: Any) -> Artifact:
    """The artifact of a kbnf grammar by maximal munch."""
    eos = ["<eos>"] if "<eos>" in tokenizer.added.values() else None
    given = {"tokenization": "any", "engine": "greedy", "prewarm": 0, "eos": eos, **options}
    return compile_grammar(
        text, dialect="kbnf", tokenizer=tokenizer, meaning="maximal-munch", **given
    )


def check_both(held: str, orders: str, tokenizer: Tokenizer, rng: random.Random) -> int:
    """Masks of a grammar with sets against those of one in which all orders are rules."""
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr(choose, "counted_from", lambda *_: ALL_COPIED)
        one = made(orders, tokenizer)
    other = load_bytes(made(held, tokenizer).to_bytes())
    assert "set.parts" in other.arrays
    return check_equal(one, other, rng, 6, 25)


def test_masks_of_sets_of_rules_are_those_of_all_orders(
    letters: Tokenizer, all_held: None, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """3 to 8 parts, some required, some repeated, of lexemes that begin like others and swallow
    them, against rules for each set of parts, bit by bit."""
    rng, compared = random.Random(7), 0
    for count in range(3, 9) if full else (3, 4):
        for trial in range(12 if full else 2):
            texts = [f'"{word}"' for word in rng.sample(WORDS, count)]
            texts = [text + (' #"[st]*"' if rng.random() < 0.3 else "") for text in texts]
            for text in ('#"[aet]{1,3}"', '#"[a-z]+" "!"'):
                if rng.random() < 0.4:
                    texts[rng.randrange(count)] = text
            again = trial % 3 == 2
            parts = [(t, rng.random() < 0.5, again and rng.random() < 0.4) for t in texts]
            separator = rng.choice([None, '","', '", "?'])
            tail = rng.choice(['">"', '"a"? ">"', '""'])
            held = f'start ::= "<" {permuted(parts, separator)} {tail};'
            orders = f'start ::= "<" o {tail};\n{in_all_orders(parts, separator)}'
            compared += check_both(held, orders, letters, rng)
    record_property("masks", compared)
    assert compared > (4000 if full else 300)


def test_permutations_in_permutations_and_in_recursion(letters: Tokenizer, all_held: None) -> None:
    """A part may be a permutation, and hold the rule that it stands in."""
    inner: list[Part] = [('"a"', True, False), ('"t"', False, False), ('"e"', False, True)]
    middle: list[Part] = [
        ('"in" x', True, False),
        ('"{" y "}"', False, False),
        ('("b" ",")+', True, False),
    ]
    held = f'start ::= "<" {permuted(middle, None)} ">"; y ::= start | "a";'
    held += f" x ::= {permuted(inner, chr(34) + ',' + chr(34))};"
    orders = f'start ::= "<" o ">"; y ::= start | "a"; x ::= i;\n{in_all_orders(middle, None)}'
    orders += "\n" + in_all_orders(inner, '","', "i")
    assert check_both(held, orders, letters, random.Random(5)) > 60


def test_counts_in_parts_are_on_one_stack_with_sets(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema's keys in any order, of which one is an array of so many items."""
    array = '{"type": "array", "items": {"enum": [1, 23]}, "minItems": 2, "maxItems": 9}'
    others = ", ".join(f'"{key}": {{"type": "null"}}' for key in "bcd")
    text = f"""start: "call " %json {{"type": "object", "properties": {{"a": {array}, {others}}},
        "required": ["a"], "additionalProperties": false}}"""
    found = []
    for most in (ALL_COPIED, ALL_HELD):
        monkeypatch.setattr(choose, "counted_from", lambda *_, most=most: most)
        found.append(
            compile_grammar(
                text,
                dialect="lark",
                tokenizer=default_tokenizer,
                meaning="maximal-munch",
                tokenization="any",
                engine="greedy",
                prewarm=0,
                schema=SchemaOptions(order="any"),
            )
        )
    assert {"count.items", "set.parts"} <= set(found[1].arrays)
    assert check_equal(found[0], load_bytes(found[1].to_bytes()), random.Random(3), 12, 40) > 200


def test_thirty_keys_are_few_states_and_small_frames(default_tokenizer: Tokenizer) -> None:
    """In a random order, none twice; frames are numbered as they are met."""
    artifact = made(keys(30), default_tokenizer)
    assert artifact.manifest.counts["network_states"] < 150
    rng = random.Random(4)
    text = "{" + ", ".join(f'"key{i}": {i}' for i in rng.sample(range(30), 30)) + "}"
    matcher = artifact.matcher()
    for token in default_tokenizer.encode(text):
        assert tokenset.contains(matcher.mask(), token)
        matcher.advance(token)
    assert matcher.is_accepting
    machine = artifact.machine()
    assert isinstance(machine, MaximalMunchMasks)
    heads = machine.configurations.heads
    frames = [frame for entries in heads.stacks.entries for frame, _ in entries]
    assert heads.tables.states < max(frames) < 1000 < MOST_FRAMES
    twice = artifact.matcher()
    for token in default_tokenizer.encode('{"key4": 4, "key'):
        twice.advance(token)
    texts = [artifact.vocabulary.token(i) for i in tokenset.to_ids(twice.mask()).tolist()]
    assert b"9" in texts
    assert b"4" not in texts


def test_parts_that_one_lexeme_may_begin_are_written_out(
    letters: Tokenizer, all_held: None
) -> None:
    """A text would lead to as many sets as they have subsets."""
    classes = [(f'#"[a-{last}]"', False, False) for last in "bcdefghijkl"]
    many, few = (f'start ::= "<" {permuted(parts, None)} ">";' for parts in (classes, classes[:5]))
    assert "set.parts" in made(few, letters).arrays
    assert "set.parts" not in made(many, letters).arrays


def test_canonical_masks_go_before_sets_where_there_are_some(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is asked for few parts are a DFA, and of many any sequences are allowed."""
    monkeypatch.setattr(choose, "counted_from", lambda *_: ALL_HELD)
    parts = [f'"{a}{b}"' for a in "cdef" for b in "ghij"]
    open_ = {"tokenization": None, "engine": "auto"}
    few = made(f'start ::= permute!({", ".join(parts[:4])}) ".";', default_tokenizer, **open_)
    assert "canonical" == few.manifest.tokenization
    with pytest.warns(WeakerMasksWarning, match="a permutation of many parts a set"):
        many = made(f'start ::= permute!({", ".join(parts)}) ".";', default_tokenizer, **open_)
    assert "set.parts" in many.arrays


def test_tools_know_sets_of_rules(cli: Cli, tmp_path: Path) -> None:
    """``explain``, ``show`` and ``sample`` of 20 keys; a damaged set is refused."""
    path, out = content(tmp_path / "a.kbnf", keys(20)), str(tmp_path / "a.cst")
    munch = ("--meaning", "maximal-munch")
    assert 0 == cli("compile", path, *munch, "--tokenization", "any", "-o", out).code
    text = content(tmp_path / "x.txt", '{"key3": 1, "key3')
    for said in (cli("explain", out, text), cli("explain", path, *munch, text)):
        assert (1, True) == (said.code, b'rejected at "' in said.out)
    assert b"set 1:" in cli("show", path, *munch, "--stage", "network").out
    assert b"key" in cli("sample", out, "--max-bytes", "90").out
    artifact = load_bytes(Path(out).read_bytes())
    for name, value in (("set.parts", 0), ("set.backs", 9999), ("set.most", 99)):
        array = artifact.arrays[name].copy()
        array[-1] = value
        with pytest.raises(ArtifactError, match="section"):
            load_bytes(encoded(artifact, {name: array}))
