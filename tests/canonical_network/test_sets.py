"""Canonical masks of permutations: sets in frames where the order of parts does not matter."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import encoded, tokenizer_of
from support.cli import Cli, content
from support.fuzzing.calls import tried
from support.network import Part, check_equal, in_all_orders, keys, permuted

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.canonical_network import settled_sets
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.stack_walks import StackWalks
from constrain.artifacts.canonical_network.trie_walk import Walk, WalkKey
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, thresholds
from constrain.compiler.canonical_network import settled_counts
from constrain.compiler.compiler import WeakerMasksWarning
from constrain.compiler.diagnostics import LimitError

LETTERS = 'abehinmst ,:"{}<>!01'
MERGES = ["a b", "ab e", "t h", "th e", "the m", "i n", "in n", ', "', '" :', '": a', "a ,", "t a"]
MERGES += ["th in", "b e", "s ,", "e s", '{ "', "a }", "the in", "s s", "m ,", "0 1", "01 0", "a 0"]

WORDS = ["the ", "them ", "a", "an", "the", "b: ", "in", "inn", "t", " a", "e", "es", "0", "01"]


@pytest.fixture(scope="module", params=[True, False], ids=["pieces", "no pieces"])
def letters(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer small enough for many grammars, with a pre-tokenizer and without."""
    added = [(len(LETTERS) + len(MERGES), "<eos>", True)]
    folder = tmp_path_factory.mktemp("letters")
    return tokenizer_of(folder, LETTERS, MERGES, added=added, splits=request.param)


@pytest.fixture
def all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every permutation is a set in a frame, where it may be."""
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    monkeypatch.setattr(thresholds, "SOON_COPIED_STATES", 0)


@pytest.fixture
def proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """No set is followed by a look at all its values."""
    for module in (settled_sets, settled_counts):
        monkeypatch.setattr(module, "MOST_VALUES", 1)


def made(text: str, tokenizer: Tokenizer, engine: str = "auto", **options: object) -> Artifact:
    """The artifact of a kbnf grammar."""
    eos = ["<eos>"] if "<eos>" in tokenizer.added.values() else None
    return compile_grammar(
        text,
        dialect="kbnf",
        tokenizer=tokenizer,
        tokenization="canonical",
        engine=engine,
        eos=eos,
        **options,  # type: ignore[arg-type]
    )


def random_parts(rng: random.Random, count: int, *, repeats: bool) -> list[Part]:
    """Words that begin alike, some with letters after them, some required, some repeated."""
    texts = [f'"{word}"' for word in rng.sample(WORDS, count)]
    texts = [text + (' #"[st]*"' if rng.random() < 0.3 else "") for text in texts]
    return [(text, rng.random() < 0.5, repeats and rng.random() < 0.4) for text in texts]


@pytest.mark.parametrize("how", ["proved", "by values"])
def test_canonical_masks_of_sets_are_those_of_all_orders(
    how: str,
    letters: Tokenizer,
    all_held: None,
    request: pytest.FixtureRequest,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """3 to 8 parts against a token DFA or a product of rules for each set of parts, bit by bit;
    what is not proved is written out."""
    if how == "proved":
        request.getfixturevalue("proved")
    rng = random.Random(f"{how} {letters.splits}")
    compared = held_as_sets = 0
    for count in range(3, 9) if full else (3, 4):
        for trial in range(12 if full else 2):
            parts = random_parts(rng, count, repeats=trial % 3 == 2)
            separator = rng.choice([None, '","', '", "?'])
            tail = rng.choice(['">"', '"a"? ">"', '""'])
            held = made(f'start ::= "<" {permuted(parts, separator)} {tail};', letters)
            orders = f'start ::= "<" o {tail};\n{in_all_orders(parts, separator)}'
            held_as_sets += "set.parts" in held.arrays
            one, other = made(orders, letters, "dfa"), load_bytes(held.to_bytes())
            compared += check_equal(one, other, rng, 5, 25)
    record_property("masks", compared)
    assert held_as_sets >= (60 if full else 3)
    assert compared > (2000 if full else 150)


@pytest.mark.parametrize("name", ["gpt2", "qwen2_5"])
def test_keys_in_any_order_have_the_masks_of_all_orders(
    name: str,
    real: Callable[[str], Tokenizer],
    default_tokenizer: Tokenizer,
    all_held: None,
    proved: None,
    full: bool,
) -> None:
    """An object's keys settle, with the tokens of real tokenizers."""
    if not full and name != "gpt2":
        pytest.skip("a sample without --full")
    tokenizer, rng = real(name) if full else default_tokenizer, random.Random(9)
    values = ['#"[0-9]+"', '"\\"" #"[a-z ]*" "\\""', '("true" | "null")']
    names = ["id", "name", "names", "user", "use", "age", "a b", "x"][: 8 if full else 4]
    parts: list[Part] = [
        (f'"\\"{key}\\": " {values[i % 3]}', i % 3 == 0, False) for i, key in enumerate(names)
    ]
    held = made(f'start ::= "{{" {permuted(parts, chr(34) + ", " + chr(34))} "}}";', tokenizer)
    orders = f'start ::= "{{" o "}}";\n{in_all_orders(parts, chr(34) + ", " + chr(34))}'
    assert "set.parts" in held.arrays
    one = made(orders, tokenizer, "dfa")
    texts = [
        f'"{key}": {[12, chr(34) + "a b" + chr(34), "true"][i % 3]}' for i, key in enumerate(names)
    ]
    for _ in range(12 if full else 3):
        tokens = tokenizer.encode("{" + ", ".join(rng.sample(texts, len(texts))) + "}")
        matchers = one.matcher(), held.matcher()
        for token in tokens[: rng.randrange(len(tokens))]:
            assert matchers[0].mask().tolist() == matchers[1].mask().tolist()
            for matcher in matchers:
                matcher.advance(token)
        for _ in range(12):
            ids = tokenset.to_ids(matchers[0].mask()).tolist()
            assert tokenset.to_ids(matchers[1].mask()).tolist() == ids
            if not ids or matchers[0].is_finished:
                break
            token = rng.choice(ids)
            for matcher in matchers:
                matcher.advance(token)
    prompt = tokenizer.encode("say: {")[:-1]
    assert one.matcher(prompt).mask().tolist() == held.matcher(prompt).mask().tolist()


def test_what_follows_settled_parts_is_what_all_orders_say(
    default_tokenizer: Tokenizer, all_held: None
) -> None:
    """Contexts of a set's values by their parts are those found one by one."""
    artifact = made(keys(5), default_tokenizer, prewarm=0)
    machine = artifact.machine()
    assert isinstance(machine, CanonicalMasks)
    contexts = machine.pretokenized.contexts
    found = contexts._of_sets
    assert found.settles(0, 0)
    rule = found.rules[0]
    for begun in range(1, rule.all_parts):
        for value in (rule.value(begun), rule.value(begun) + 1):
            if not rule.is_full(value):
                assert found.one_by_one(0, value, 0) == found.of(0, value, 0), value


def test_parts_whose_order_matters_are_written_out_or_weakened(
    default_tokenizer: Tokenizer, all_held: None, proved: None
) -> None:
    """Where a run of blanks is cut depends on what follows it. Few parts are written out; of many
    any sequences are allowed, with a note, or the error is raised."""
    blanks = ['" "', '"  "', '"\\n"', '"a"', '"b"']
    artifact = made(f'start ::= "<" permute!({", ".join(blanks)}) ">";', default_tokenizer)
    assert "set.parts" not in artifact.arrays
    many = [*blanks, *(f'"{a}{b}"' for a in "cdef" for b in "ghij")]
    text = f'start ::= "<" permute!({", ".join(many)}) ">";'
    with pytest.raises(LimitError, match="all orders of a permutation"):
        made(text, default_tokenizer)
    with pytest.warns(WeakerMasksWarning, match="all orders of a permutation"):
        weaker = compile_grammar(text, dialect="kbnf", tokenizer=default_tokenizer, prewarm=0)
    assert "any" == weaker.manifest.tokenization
    assert "set.parts" in weaker.arrays


def test_parts_in_which_no_piece_ends_are_written_out(letters: Tokenizer, all_held: None) -> None:
    """A mask would be searched to the end of all parts that must be there."""
    texts = []
    for first in ("a", "abeh"):
        parts = ", ".join(f'", {a}{b}"' for a in first for b in "inst")
        texts.append(f'start ::= "<" permute!({parts});')
    few, many = texts
    assert "set.parts" in made(few, letters).arrays
    if letters.splits:
        assert "set.parts" in made(many, letters).arrays
    else:
        with pytest.raises(LimitError, match="all orders of a permutation"):
            made(many, letters)


def test_thirty_keys_are_read_as_they_are_encoded(default_tokenizer: Tokenizer) -> None:
    """In a random order and taken back, none twice; and only the tokenizer's own tokens."""
    artifact = made(keys(30), default_tokenizer, prewarm=0)
    rng = random.Random(4)
    text = "{" + ", ".join(f'"key{i}": {i}' for i in rng.sample(range(30), 30)) + "}"
    matcher = artifact.matcher()
    tokens = default_tokenizer.encode(text)
    for place, token in enumerate(tokens):
        assert tokenset.contains(matcher.mask(), token)
        if place % 40 == 20:
            matcher.rollback(7)
            for again in tokens[place - 7 : place]:
                matcher.advance(again)
        matcher.advance(token)
    assert matcher.is_accepting
    twice = artifact.matcher()
    for token in default_tokenizer.encode('{"key4": 4, "key'):
        twice.advance(token)
    texts = [artifact.vocabulary.token(i) for i in tokenset.to_ids(twice.mask()).tolist()]
    assert b"9" in texts
    assert b"4" not in texts


def test_tools_read_canonical_artifacts_with_sets(cli: Cli, tmp_path: Path) -> None:
    """``explain``, ``mask``, ``show`` and ``sample``; and a damaged set is refused."""
    path = content(tmp_path / "a.kbnf", keys(20))
    out = str(tmp_path / "a.cst")
    assert 0 == cli("compile", path, "--lazy", "-o", out).code
    shown = cli("show", out).out
    assert b"sets: 1" in shown
    assert b"canonical" in shown
    said = cli("explain", out, content(tmp_path / "x.txt", '{"key3": 1, "key3'))
    assert 1 == said.code
    assert 0 == cli("mask", out, "--prefix", '{"key3": 1, "').code
    assert b"key" in cli("sample", out, "--max-bytes", "90").out
    artifact = load_bytes(Path(out).read_bytes())
    for name, value in (("set.parts", 0), ("set.backs", 9999), ("set.most", 99)):
        array = artifact.arrays[name].copy()
        array[-1] = value
        with pytest.raises(ArtifactError, match="section"):
            load_bytes(encoded(artifact, {name: array}))


def test_parts_that_are_read_in_few_places_of_tokens_take_few_walks(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 26 letters in any order nearly all may follow each, and few go on in tokens."""
    parts = [(f'"{letter}"', False, False) for letter in string.ascii_lowercase]
    artifact = made(f'start ::= "<" {permuted(parts, None)} ">";', default_tokenizer)
    walks: list[tuple[WalkKey, Walk]] = []
    of = StackWalks.of

    def counted(*place: int) -> Iterator[tuple[WalkKey, Walk, int]]:
        for key, walk, below in of(*place):
            walks.append((key, walk))
            yield key, walk, below

    monkeypatch.setattr(StackWalks, "of", counted)
    matcher = artifact.matcher()
    for token in default_tokenizer.encode("<"):
        matcher.advance(token)
    masked = tokenset.to_ids(matcher.mask()).tolist()
    words = [artifact.vocabulary.token(token) for token in masked]
    assert len(words) > 1_000
    idle = [key for key, walk in walks if not walk.parts and not walk.suspended]
    assert len(idle) < len(words) / 10
    assert len(walks) < 3 * len(words)


def test_parts_that_begin_alike_are_followed_within_bounds(default_tokenizer: Tokenizer) -> None:
    """Each letter of a token is one part of a pair or the other: 2 to the length of it in ways."""
    parts = [
        (part, False, False)
        for a in string.ascii_lowercase[:18]
        for part in (f'"{a}"', f'#"[{a}{a.upper()}]"')
    ]
    artifact = made(f'start ::= "<" {permuted(parts, None)} ">";', default_tokenizer)
    matcher = artifact.matcher()
    for token in default_tokenizer.encode("<"):
        matcher.advance(token)
    ended = tried(matcher.mask)
    assert not ended.flaw
    assert "parts cannot be distinguished" in ended.err
