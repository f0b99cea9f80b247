"""Files of positions with long repetitions, permutations and tokens: they do what the grammar says,
and damaged ones are refused or end."""

# Tests here say `expected == actual`.

import random
from collections.abc import Iterator

import numpy as np
import pytest
from support import encoded, sampled, spelling_all_bytes, tokenizer_of
from support.container import (
    Arrays,
    Change,
    changed,
    check_every_bit_counts,
    check_flipped_bits_do_no_harm,
    refused,
    walk_two_deep,
)
from support.grammars import random_counts
from support.matcher import check_random_texts
from support.network import permuted

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.kinds.met_states import MetStates
from constrain.artifacts.machine.repetitions import Item, Times
from constrain.artifacts.machine.stored_fronts import StoredFronts
from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.sets import SetRule
from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.limits import Limits
from constrain.compiler.machine.whole_tables import network_in, with_dfa
from constrain.compiler.network import tree_layout

ANY = {"tokenization": "any", "prewarm": 0, "eos": ["<eos>"]}
LIMITS = Limits()
LETTERS = "aehint s.()"
# In the place of an item that a file has elsewhere.
NOTHING = Item([], [], reads_characters=True)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Each byte, and tokens that hold several items."""
    merges = ["t h", "th e", "i n", "a n", "e e", "a a", "aa aa", "s s", "Ġ t"]
    return spelling_all_bytes(tmp_path_factory.mktemp("letters"), "aehints", merges, ["<eos>"])


@pytest.fixture(autouse=True)
def all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every repetition of more than one item is one."""
    monkeypatch.setattr(tree_layout, "_FEW_COPIES", 1)


def random_texts(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Grammars with repetitions, and with permutations of what repeats and nests."""
    yield "root ::= " + random_counts(rng, 3) + rng.choice([' "."', ' "e"', ""]), "gbnf"
    words = ["'a'", "'t'", "'in'", "'th'", "#'[st]{2,5}'", "'e' #'[ai]{0,3}'", "'(' start ')'"]
    parts = [
        (text, rng.random() < 0.5, rng.random() < 0.2)
        for text in rng.sample(words, rng.randint(2, 4))
    ]
    separator = rng.choice([None, "' '", "' '?"])
    yield f"start ::= 'n' {permuted(parts, separator)} #'[.h]{{1,3}}';", "kbnf"


@sampled("seed", range(8), range(300))
def test_all_states_of_such_files_are_those_that_are_met(seed: int, letters: Tokenizer) -> None:
    """Counters and sets of a network read the same short texts; copies are a DFA of the same masks;
    and the file is the same when it is written again."""
    compiler = Compiler(letters)
    for text, dialect in random_texts(random.Random(seed)):
        try:
            found = compiler.compile(text, dialect=dialect, **ANY)
        except CheckError:  # There is no member.
            continue
        assert isinstance(found, GrowingArtifact)
        check_random_texts([found], 2, 12, seed=seed)
        data = found.to_bytes()
        loaded = load_bytes(data)
        assert data == loaded.to_bytes()
        assert isinstance(loaded.runtime, MetStates)
        whole = with_dfa(loaded, LIMITS)
        check_random_texts([loaded, found, whole], 3, 20, seed=seed)
        mine, other = loaded.runtime.texts(), network_over(network_in(loaded, LIMITS))
        pending = [(mine.start, other.start, 0)]
        for first, second, length in pending:
            assert other.may_end(second) == mine.may_end(first)
            for octet in LETTERS.encode() if length < 4 and len(pending) < 300 else b"":
                ways = mine.read(first, [octet]), other.read(second, [octet])
                assert (ways[0] == REFUSED) == (ways[1] == REFUSED)
                if REFUSED not in ways:
                    pending.append((*ways, length + 1))


def test_terminals_of_no_token_are_left_out(letters: Tokenizer) -> None:
    """No mask leads to where only they could follow, whatever recognises the grammar."""
    none = f"<[^0-{letters.vocab_size - 1}]>"
    text = f'start: "a" "n" {none} | "a" start? ("e" | {none} "s") | {none}'
    every = [
        compile_grammar(text, dialect="lark", tokenizer=letters, **(ANY | given))
        for given in ({}, {"prewarm": None}, {"engine": "network"}, {"engine": "earley"})
    ]
    check_random_texts([*every, load_bytes(every[0].to_bytes())], 20, 8, seed=1)
    for engine in ("auto", "network", "earley"):
        with pytest.raises(CheckError, match="every one needs a token"):
            compile_grammar(
                f'start: "a" {none}', dialect="lark", tokenizer=letters, engine=engine, **ANY
            )


# --- damage


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """Two repetitions, of characters and of calls; and a permutation with a separator."""
    folder = tmp_path_factory.mktemp("small")
    tokenizer = tokenizer_of(folder, "abc", ["a b", "b b", "bb bb"], added=[(6, "<eos>", True)])
    text = "start ::= 'a' permute_by!('c'?, 'b', 'b', start, 'c'+) | x #'([ab]b?){2,40}' | "
    text += "'c' #'(ab){10,}'; x ::= 'a' x? 'c';"
    return compile_grammar(text, dialect="kbnf", tokenizer=tokenizer, **ANY).completed


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """Tokens, also as what is repeated."""
    folder = tmp_path_factory.mktemp("named")
    tokenizer = tokenizer_of(folder, "ab", ["a b", "b b"], added=[(4, "<eos>", True)])
    text = 'root ::= "a" <[1]>{2,40} root? "b" | !<[0]> "a"'
    return compile_grammar(text, dialect="gbnf", tokenizer=tokenizer, **ANY).completed


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep; and what reads texts."""
    walk_two_deep(artifact)
    artifact.viable_bytes(b"abababcabbbbbcb")
    with_dfa(artifact, LIMITS)
    network_in(artifact, LIMITS)


def nullable_item(arrays: Arrays, name: str) -> np.ndarray:
    """The first position of the first item is the end's beginning: it reads nothing."""
    items = arrays[name].copy()
    offsets = arrays["positions.arc_offsets"]
    items[0, 0] = int(np.flatnonzero(np.diff(offsets) == 0)[1])
    return items


DAMAGE: list[tuple[str, Change]] = [
    ("repeats.fronts", changed((0, 0), 0)),
    ("repeats.fronts", changed((0, 0), 9_999)),
    ("repeats.fronts", changed((0, 0), 1)),
    ("repeats.fronts", changed((0, 1), 99)),
    ("repeats.fronts", changed((0, 1), -1)),
    ("repeats.fronts", changed((0, 2), 9_999)),
    ("repeats.fronts", changed((0, 2), -1)),
    ("repeats.fronts", lambda a, n: a[n][:, :2]),
    ("repeats.fronts", lambda a, n: a[n][::-1]),
    ("repeats.fronts", lambda a, n: a[n][:1]),
    ("repeats.fronts", lambda a, n: a[n].astype(np.int64)),
    ("repeats.bounds", changed((0, 0), -1)),
    ("repeats.bounds", changed((0, 1), -2)),
    ("repeats.bounds", changed((0, 1), 1)),
    ("repeats.bounds", changed((0, 1), 1 << 40)),
    ("repeats.bounds", lambda a, n: a[n][:1]),
    ("repeats.bounds", lambda a, n: a[n][:, :1]),
    ("repeats.items", changed((0, 0), 0)),
    ("repeats.items", changed((0, 0), 9_999)),
    ("repeats.items", changed((0, 1), 0)),
    ("repeats.items", changed((0, 1), 65)),
    ("repeats.items", nullable_item),
    ("repeats.items", lambda a, n: a[n][:, :1]),
    ("repeats.items", lambda a, n: a[n][::-1]),
    ("set.fronts", changed(0, 0)),
    ("set.fronts", changed(0, 9_999)),
    ("set.fronts", lambda a, n: a["repeats.fronts"][:1, 0]),
    ("set.fronts", lambda a, n: np.append(a[n], a[n])),
    ("set.fronts", lambda a, n: a[n][:0]),
    ("set.parts", changed(0, 1)),
    ("set.parts", changed(0, 9_999)),
    ("set.separators", changed(0, 1)),
    ("set.flags", changed(0, 4)),
    ("set.backs", changed(0, 9_999)),
    ("set.least", changed(0, -1)),
    ("set.most", changed(0, 99)),
    ("set.offsets", changed(-1, 99)),
]


@pytest.mark.quick
@pytest.mark.parametrize(("name", "change"), DAMAGE)
def test_values_that_do_not_fit_are_refused(small: Artifact, name: str, change: Change) -> None:
    """Right checksums, wrong contents: the section is named, also without verifying."""
    arrays = dict(small.arrays)
    found = refused(encoded(small, {name: np.ascontiguousarray(change(arrays, name))}), False)
    assert name.split(".")[0] in found


@pytest.mark.quick
def test_sections_that_are_left_out_are_missed(small: Artifact) -> None:
    """All of what is repeated, and all of what is permuted, or none."""
    for name in small.arrays:
        if name.startswith(("repeats.", "set.")):
            assert f"section '{name}'" in refused(encoded(small, {name: None}), False)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("terminals.ids", changed(0, 99)),
        ("terminals.ids", changed(0, -1)),
        ("terminals.offsets", changed(-1, 99)),
        ("terminals.offsets", lambda a, n: a[n][:-1]),
        ("terminals.offsets", lambda a, n: a[n][:0]),
    ],
)
def test_terminals_that_do_not_fit_are_refused(named: Artifact, name: str, change: Change) -> None:
    """Tokens that there are, and as many terminals as symbols."""
    refused(encoded(named, {name: change(dict(named.arrays), name)}), False)


@pytest.mark.quick
@pytest.mark.parametrize("which", ["small", "named"])
def test_bits_count(which: str, full: bool, request: pytest.FixtureRequest) -> None:
    """A flipped one is found; unverified it does no harm."""
    artifact = request.getfixturevalue(which)
    assert {"small": "set.parts", "named": "terminals.ids"}[which] in artifact.arrays
    assert "repeats.items" in artifact.arrays
    exercise(load_bytes(artifact.to_bytes()))
    check_every_bit_counts(artifact, None if full else 60)
    check_flipped_bits_do_no_harm(artifact, exercise, 3000 if full else 40)


@sampled("seed", range(1), range(40))
def test_random_fronts_are_refused_or_end(seed: int, small: Artifact) -> None:
    """Whatever is repeated and permuted, and wherever: no walk goes on for ever."""
    rng = random.Random(seed)
    walked = 0
    states = len(small.arrays["positions.arc_offsets"]) - 1
    called = len(small.manifest.to_json()["parser"]["called"])
    before = StoredFronts.from_arrays(small.arrays)
    free = [*before.times, *before.rules]
    for _ in range(150):
        fronts, cut = sorted(rng.sample(free, len(free))), rng.randint(0, len(free))
        first, count = rng.choice([*before.items.tolist(), (rng.randrange(1, states), 1)])
        repeated, permutations = [], []
        for front in fronts[:cut]:
            least = rng.randrange(4)
            times = Times(NOTHING, least, rng.choice([None, least + 2, 1 << 39]), 0)
            repeated.append((front, rng.randrange(2), rng.randrange(states), times))
        for front in fronts[cut:]:
            parts = sorted(rng.choices(range(256, 256 + called), k=rng.randint(1, 4)))
            flags = [rng.randrange(2) for _ in parts]
            between = rng.choice([0, 256])
            rule = SetRule(parts, flags, between, 1, 0, len(parts), rng.randrange(states))
            permutations.append((front, rule))
        items = [[first, count], *before.items.tolist()][: rng.randint(1, 3)]
        stored = StoredFronts.of(repeated, sorted(map(tuple, items)), permutations)
        none = dict.fromkeys(n for n in small.arrays if n.split(".")[0] in ("set", "repeats"))
        try:
            found = load_bytes(encoded(small, {**none, **stored.arrays()}))
        except ArtifactError as error:
            assert any(name in str(error) for name in ("repeats", "set", "positions"))
            continue
        walked += 1
        walk_two_deep(found)
    assert walked > 5
