"""Permutations: sets in frames have the masks of all orders written out, in states linear in n."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Sequence

import pytest
from support import spelling_all_bytes
from support.fuzzing.calls import tried
from support.network import (
    Part,
    check_equal,
    in_all_orders,
    keys,
    network_of,
    of_kbnf,
    permuted,
)

from constrain.artifacts.errors import WalkLimitError
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.network.counted_stacks import CountedStacks
from constrain.artifacts.network.sets import AmbiguousPartsError
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer, compile_grammar, thresholds
from constrain.compiler.diagnostics import CheckError, DialectError, LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.network import from_tree, tree_layout
from constrain.compiler.network.minimal_network import minimal_network
from constrain.compiler.pipeline import build_engine

LETTERS = 'abehinmst ,:"{}<>!'
MERGES = ["a b", "ab e", "t h", "th e", "the m", "i n", "in n", ', "', '" :', '": a', "a ,", "t a"]
MERGES += ["th in", "b e", "s ,", "e s", '{ "', "a }", '"t h', "the in", "s s", "m ,"]

WORDS = ["the ", "them ", "a", "an", "the", "b: ", "in", "inn", "t", " a", "e", "es"]


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer small enough for many grammars, some of whose tokens hold several parts."""
    merges = [m for m in MERGES if not m.startswith('"t')]
    return spelling_all_bytes(tmp_path_factory.mktemp("letters"), LETTERS, merges)


@pytest.fixture
def all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every permutation is a set in a frame."""
    monkeypatch.setattr(thresholds, "COPIED_STATES", 0)


def compared(parts: Sequence[Part], separator: str | None, tail: str, *given: object) -> int:
    """Masks of a permutation in brackets against those of a DFA of all orders."""
    tokenizer, rng = given
    assert isinstance(tokenizer, Tokenizer)
    assert isinstance(rng, random.Random)
    text = f'start ::= "<" {permuted(parts, separator)} {tail};'
    orders = f'start ::= "<" o {tail};\n{in_all_orders(parts, separator)}'
    held = load_bytes(of_kbnf(text, tokenizer).to_bytes())
    assert "set.parts" in held.arrays
    met = of_kbnf(text, tokenizer, "auto", prewarm=0)
    assert isinstance(met, GrowingArtifact)
    of_orders = of_kbnf(orders, tokenizer, "dfa")
    others = held, met, load_bytes(met.to_bytes())
    return sum(check_equal(of_orders, other, rng, 6, 30) for other in others)


def test_masks_of_sets_are_those_of_all_orders(
    letters: Tokenizer, all_held: None, full: bool
) -> None:
    """3 to 8 parts, some required, some repeated, with words that begin like others and what
    follows that does, against a DFA of rules for each set of parts."""
    rng = random.Random(7)
    count = 0
    for n in range(3, 9) if full else (3, 4, 5):
        for trial in range(12 if full else 2):
            words = [f'"{word}"' for word in rng.sample(WORDS, n)]
            texts = [word + (' #"[st]*"' if rng.random() < 0.3 else "") for word in words]
            if rng.random() < 0.3:
                texts[0] = '#"[aet]{1,3}"'
            parts = [(t, rng.random() < 0.5, trial % 3 == 2 and rng.random() < 0.4) for t in texts]
            tail = rng.choice(['">"', '"a"? ">"', '""'])
            separator = rng.choice([None, '","', '", "?'])
            count += compared(parts, separator, tail, letters, rng)
    assert count > (2000 if full else 200)


@pytest.mark.parametrize(
    "parts",
    [
        ['"a"', '"a"', '"ab"'],
        ['"a"+', '"a"', '"a"?', '"b"?'],
        ['"a"*', '"a"', '"e"'],
        ['"a"+', '"a"+', '"e"?'],
        ['"a"?', '"a"?', '"a"?', '"a"?', '"a"?', '"a"?'],
    ],
    ids=["twice", "twice and any number", "any number", "two of one or more", "six"],
)
def test_equal_parts_are_a_count(parts: list[str], letters: Tokenizer, all_held: None) -> None:
    """Which of several equal parts have begun does not matter, but how many."""
    kinds = {"?": (False, False), "*": (False, True), "+": (True, True), '"': (True, False)}
    found = [(part.rstrip("?*+"), *kinds[part[-1]]) for part in parts]
    assert compared(found, None, '">"', letters, random.Random(3)) > 10
    text = f'start ::= "<" {permuted(found, None)} ">";'
    network = CountedStacks(network_of(text))
    threads = network.threads[network.read(network.start, b"<aaa")]
    assert 1 == len(threads)
    assert all(1 == len(network.stacks.entries[node]) for _, node in threads)


def test_permutations_in_permutations_and_in_recursion(letters: Tokenizer, all_held: None) -> None:
    """A part may be a permutation, and hold the rule that it stands in."""
    inner: list[Part] = [('"a"', True, False), ('"t"', False, False), ('"e"', False, True)]
    middle: list[Part] = [
        ('"in" x', True, False),
        ('"{" y "}"', False, False),
        ('"b"', True, False),
    ]
    held = f'start ::= "<" {permuted(middle, None)} ">"; y ::= start | "a";'
    held += f" x ::= {permuted(inner, chr(34) + ',' + chr(34))};"
    orders = f'start ::= "<" o ">"; y ::= start | "a"; x ::= i;\n{in_all_orders(middle, None)}'
    orders += "\n" + in_all_orders(inner, '","', "i")
    one, other = of_kbnf(orders, letters, "earley"), of_kbnf(held, letters)
    assert 2 == other.manifest.counts["sets"]
    assert check_equal(one, other, random.Random(5), 12, 30) > 60


def test_counts_in_parts_and_parts_in_counts(
    letters: Tokenizer, all_held: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are written one by one."""
    monkeypatch.setattr(tree_layout, "_FEW_COPIES", 1)
    parts: list[Part] = [
        ('"a" #"[st]{2,4}"', True, False),
        ('"e"', False, False),
        ('"b"', True, False),
    ]
    text = '#"[he]{0,3}" (@ "!")+ ">"'
    held = f"start ::= {text.replace('@', permuted(parts, None))};"
    orders = f"start ::= {text.replace('@', 'o')};\n{in_all_orders(parts, None)}"
    other = load_bytes(of_kbnf(held, letters).to_bytes())
    assert {"repeats.fronts", "set.parts"} <= set(other.arrays)
    assert check_equal(of_kbnf(orders, letters, "dfa"), other, random.Random(5), 8, 40) > 60


def test_a_part_that_may_be_empty_may_be_missing(letters: Tokenizer, all_held: None) -> None:
    """Without a separator that is the same language."""
    parts: list[Part] = [('"a"?', True, False), ('#"t*"', True, False), ('"e"', True, False)]
    assert compared(parts, None, '">"', letters, random.Random(1)) > 10


def test_an_empty_part_between_separators_is_refused() -> None:
    """It would leave two separators side by side; the message has its place."""
    text = 'start ::= permute_by!(",", "a", x); x ::= y | "b"; y ::= "c"?;'
    with pytest.raises(CheckError, match="must not match the empty text") as caught:
        build_engine(text, dialect="kbnf")
    assert text.index("x);") == caught.value.diagnostics[0].span.start  # type: ignore[union-attr]


def test_states_are_linear_in_the_parts(default_tokenizer: Tokenizer) -> None:
    """Under ``auto`` a network is chosen, and 200 keys take ten times the positions of 20."""
    few, many = (
        compile_grammar(
            keys(n), dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", prewarm=0
        )
        for n in (20, 200)
    )
    assert "network" == few.manifest.kind == many.manifest.kind
    counts = [artifact.manifest.counts for artifact in (few, many)]
    assert counts[1]["positions"] < 12 * counts[0]["positions"]
    assert [1, 1] == [each["sets"] for each in counts]
    assert [20, 200] == [len(artifact.arrays["set.parts"]) for artifact in (few, many)]


def test_what_parts_end_with_is_written_once(all_held: None) -> None:
    """A network with counters and sets is minimal where canonical masks are precomputed: 20 parts
    that end alike are as many states as their beginnings and one end."""
    ends, names = (
        '"," #"[st]{3,9}" ":" #"[aeh]{2,5}" "!"',
        [f"{a}{b}" for a in "abeh" for b in "mint"],
    )
    parts: list[Part] = [(f'"{name}" {ends}', False, False) for name in names]
    tables = network_of(f'start ::= "<" {permuted(parts, None)} ">";')
    assert tables.has_sets
    assert minimal_network(tables, Limits()).states < tables.states


@pytest.mark.parametrize("document", ['{"foo":1, "bar": "baz"}', '{"bar":"x",\n"foo":12}'])
def test_separators_that_are_several_tokens(
    document: str, default_tokenizer: Tokenizer, all_held: None
) -> None:
    """What stands between parts is called by no rule; masks are those of all orders."""
    value = '#"[0-9]+| *\\"[a-z]*\\""'
    keys = [(f'"\\"{key}\\":" {value}', False, False) for key in ("foo", "bar")]
    separator = '"," #"[ \\n]*"'
    held = f'start ::= "{{" {permuted(keys, separator)} "}}";'
    orders = f'start ::= "{{" o "}}";\n{in_all_orders(keys, separator)}'
    here = {"dialect": "kbnf", "tokenizer": default_tokenizer, "tokenization": "any"}
    artifact = compile_grammar(held, **here, engine="network")
    assert "set.parts" in artifact.arrays
    left, right = artifact.matcher(), compile_grammar(orders, **here, engine="dfa").matcher()
    for token in default_tokenizer.encode(document):
        assert left.mask().tolist() == right.mask().tolist()
        left.advance(token)
        right.advance(token)
    assert left.is_accepting


def test_texts_in_any_order_are_members(default_tokenizer: Tokenizer) -> None:
    """All 30 keys in a random order, none twice; then no key is left, and none of those before it
    was refused."""
    artifact = compile_grammar(
        keys(30), dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", prewarm=0
    )
    rng = random.Random(4)
    order = rng.sample(range(30), 30)
    text = "{" + ", ".join(f'"key{i}": {i}' for i in order)
    matcher = artifact.matcher()
    for token in default_tokenizer.encode(text):
        assert tokenset.contains(matcher.mask(), token)
        matcher.advance(token)
    comma, end = (default_tokenizer.encode(c)[0] for c in ",}")
    assert not tokenset.contains(matcher.mask(), comma)
    matcher.advance(end)
    assert matcher.is_accepting
    twice = artifact.matcher()
    for token in default_tokenizer.encode('{"key4": 4, "key'):
        twice.advance(token)
    texts = [artifact.vocabulary.token(i) for i in tokenset.to_ids(twice.mask()).tolist()]
    assert b"9" in texts
    # There is no fourth key any more, nor are there those of forty and more.
    assert b"4" not in texts


def test_a_set_of_many_parts_is_exact(default_tokenizer: Tokenizer, full: bool) -> None:
    """Each but one is read; only that one may follow. ``--full`` takes as many as there may be."""
    count = 256 if full else 50
    parts = ", ".join(f"'{i:02x}'" for i in range(count))
    artifact = compile_grammar(
        f"start ::= permute!({parts}) '.';",
        dialect="kbnf",
        tokenizer=default_tokenizer,
        tokenization="any",
        prewarm=0,
    )
    order = random.Random(1).sample(range(count), count)
    matcher = artifact.matcher()
    for token in default_tokenizer.encode("".join(f"{i:02x}" for i in order[:-1])):
        matcher.advance(token)
    texts = [artifact.vocabulary.token(i) for i in tokenset.to_ids(matcher.mask()).tolist()]
    last = f"{order[-1]:02x}.".encode()
    assert {last[: len(text)] for text in texts} == set(texts)


def test_more_parts_are_refused() -> None:
    """257 parts: the place and the limit."""
    parts = ", ".join(f'"{i};"' for i in range(257))
    with pytest.raises(DialectError, match="at most 256 parts"):
        build_engine(f"start ::= permute!({parts});", dialect="kbnf")


def test_canonical_masks_are_of_all_orders(default_tokenizer: Tokenizer) -> None:
    """With few parts; the same as of the rules by hand."""
    parts: list[Part] = [('"the "', True, False), ('"then "', False, False), ('"in "', True, False)]
    rng = random.Random(2)
    one, other = (
        compile_grammar(text, dialect="kbnf", tokenizer=default_tokenizer)
        for text in (
            f"start ::= {permuted(parts, None)} '.';",
            f"start ::= o '.';\n{in_all_orders(parts, None)}",
        )
    )
    assert "canonical" == one.manifest.tokenization
    assert check_equal(one, other, rng, 4, 20) > 10


def test_parts_that_overlap_are_written_out_or_refused(
    all_held: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text would lead to as many sets as they have subsets; parts that begin alike are not such,
    nor are parts that a separator ends."""
    begin_alike = ", ".join(f"'name{i} '" for i in range(40))
    assert network_of(f"start ::= permute!({begin_alike});").has_sets
    separated = ", ".join(f"'{'a' * i}'" for i in range(1, 15))
    assert network_of(f'start ::= permute_by!(",", {separated});').has_sets
    lengths = ", ".join(f"'{'a' * i}'" for i in range(1, 21))
    with pytest.raises(LimitError, match=r"all orders of a permutation.*'start'"):
        network_of(f"start ::= permute!({lengths});")
    classes = [(f'#"[a-{last}]"', False, False) for last in "cdefgh"]
    few = f"start ::= {permuted(classes, None)} '.';"
    assert network_of(few).has_sets
    monkeypatch.setattr(from_tree, "MOST_OVERLAPPING", 5)
    assert not network_of(few).has_sets


@pytest.mark.parametrize(
    ("tokenization", "meaning"),
    [("any", "exact"), ("canonical", "exact"), ("any", "maximal-munch")],
)
def test_parts_that_cannot_be_distinguished_are_followed_within_bounds(
    tokenization: str, meaning: str, letters: Tokenizer
) -> None:
    """Of each of 16 pairs of parts a text tells that one has begun and not which: that is 2 to the
    16 sets, which are not followed, and not guessed either."""
    words = [first + second for first in "abeh" for second in "abeh"]
    parts = [(f'"{word}" ("i" | "{end}")', False, False) for word in words for end in "nm"]
    text = f'start ::= "<" {permuted(parts, ",".join(chr(34) * 2))} ">";'
    artifact = compile_grammar(
        text, dialect="kbnf", tokenizer=letters, tokenization=tokenization, meaning=meaning
    )

    def walk(word: str, count: int) -> None:
        matcher = artifact.matcher()
        for token in letters.encode("<" + ",".join(first + word for first in words[:count])):
            assert matcher.mask()[token >> 5] >> (token & 31) & 1
            matcher.advance(token)

    walk("n", 16)
    walk("i", 8)
    ended = tried(lambda: walk("i", 16))
    assert not ended.flaw
    assert 2 == ended.code
    assert "parts cannot be distinguished" in ended.err


def test_sets_of_parts_are_made_within_bounds(default_tokenizer: Tokenizer) -> None:
    """Also where they are made when a text or a mask meets them; these, or threads over them."""
    overlapping = ", ".join(f'#"[a-z]{{1,{i}}}"' for i in range(2, 16))
    found = Compiler(default_tokenizer).compile(
        f'start ::= "<" permute!({overlapping}) ">";',
        dialect="kbnf",
        tokenization="any",
        prewarm=0,
    )
    assert isinstance(found, GrowingArtifact)
    matcher = found.matcher()
    assert matcher.mask().any()
    matcher.advance(default_tokenizer.encode("<")[0])
    with pytest.raises((AmbiguousPartsError, WalkLimitError), match=r"sets of parts|threads"):
        matcher.mask()


def test_a_mask_of_too_many_sets_of_parts_is_a_limit_by_name(default_tokenizer: Tokenizer) -> None:
    """Tokens hold several parts, each of which is another, too."""
    parts = ", ".join(f'"{a}"?, #"[{a}{a.upper()}]"?' for a in "abcdefghijklmnopqrstuvwxyz")
    with pytest.raises(LimitError, match=r"parts of a permutation that cannot be.*'start'"):
        compile_grammar(
            f"start ::= permute!({parts});",
            dialect="kbnf",
            tokenizer=default_tokenizer,
            tokenization="any",
        )
