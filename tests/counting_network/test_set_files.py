"""The machine of sets: sound files, members and tools, and threads that are found again."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from support import encoded, tokenizer_of
from support.cli import Cli, content
from support.container import check_flipped_bits_do_no_harm, walk_two_deep
from support.network import (
    check_equal,
    in_all_orders,
    keys,
    machine_of,
    network_of,
    of_kbnf,
    permuted,
)

from constrain.artifacts import Artifact
from constrain.artifacts.counting_network import configurations
from constrain.artifacts.counting_network.machine import CountingMasks
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, thresholds
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.network.members import NetworkMembers


@pytest.fixture
def all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every permutation is a set in a frame."""
    monkeypatch.setattr(thresholds, "COPIED_STATES", 0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """An artifact with a set, small enough to try much with."""
    folder = tmp_path_factory.mktemp("small")
    tokenizer = tokenizer_of(folder, "ab(),", ["a b", ", a"], added=[(7, "<eos>", True)])
    part = '(#"[ab]{1,80}" "(")'
    text = f'start ::= permute_by!(",", "a", "ab"?, {part}?, start2?) ")"; start2 ::= "(" start;'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "SOON_COPIED_STATES", 0)
        return of_kbnf(text, tokenizer, prewarm=0)


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep."""
    walk_two_deep(artifact)
    boundaries(artifact, b"a,ab")


def test_flipped_bits_do_no_harm_unverified(small: Artifact, full: bool) -> None:
    """A file with right checksums is refused or walked, and no other error comes of it."""
    exercise(small)
    check_flipped_bits_do_no_harm(small, exercise, 1500 if full else 300)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("set.parts", 0),
        ("set.parts", 999),
        ("set.parts", "accepting"),
        ("set.parts", None),
        ("set.separators", 999),
        ("set.separators", "accepting"),
        ("set.adjoining", 2),
        ("set.flags", 4),
        ("set.flags", 2),
        ("set.least", 9),
        ("set.least", -1),
        ("set.most", 0),
        ("set.most", 99),
        ("set.backs", 0),
        ("set.backs", 999),
        ("set.offsets", 3),
        ("set.offsets", None),
        ("network.call_returns", 9999),
    ],
)
@pytest.mark.quick
def test_sets_that_do_not_fit_are_refused(
    small: Artifact, name: str, value: int | str | None
) -> None:
    """Parts and states that are not there, parts that match ε, counts that no text has."""
    from support.container import refused

    array = None
    if value is not None:
        array = small.arrays[name].copy()
        ends = small.arrays["network.accepting"].nonzero()[0]
        array[-1] = ends[0] if value == "accepting" else value
        # A set with a part that is repeated does not count its parts.
        if (name, value) == ("set.flags", 2):
            least = small.arrays["set.least"].copy()
            least[-1] = 1
            assert "set.flags" in refused(encoded(small, {name: array, "set.least": least}))
            return
    assert "section" in refused(encoded(small, {name: array}))


def test_rows_by_one_stack_are_those_by_sets_of_stacks(small: Artifact) -> None:
    """Sets beside a stack and sets in its frames have the same masks."""
    machine = small.machine()
    assert isinstance(machine, CountingMasks)
    state, rng = machine.start, random.Random(2)
    for _ in range(60):
        assert machine.row(state).tolist() == machine.row_via_stacks(state).tolist()
        ids = [i for i in tokenset.to_ids(machine.row(state)).tolist() if i != 7]
        if not ids:
            state = machine.start
            continue
        following = machine.take(state, rng.choice(ids))
        assert following is not None
        state = following


def test_masks_beside_a_prompt_and_a_small_cache_are_the_same(small: Artifact) -> None:
    """What is forgotten is found again."""
    tight = load_bytes(small.to_bytes(), cache_bytes=1)
    assert check_equal(small, tight, random.Random(9), 6, 20) > 30
    matcher = small.matcher(after=[0, 1])
    assert matcher.mask().tolist() == small.matcher().mask().tolist()


def test_tools_know_permutations(cli: Cli, tmp_path: Path) -> None:
    """``check`` finds nothing wrong with 30 parts, ``show`` and ``viz`` name the set, ``explain``
    says which keys are left, and ``convert`` writes them as they are or refuses by name."""
    path = content(tmp_path / "a.ebnf", keys(30).replace("| start", ""))
    out = str(tmp_path / "a.cst")
    assert 0 == cli("check", path).code
    done = cli("compile", path, "--tokenization", "any", "-o", out)
    assert 0 == done.code
    assert "a permutation of 30 parts is a set in a frame" in done.err
    assert b"sets: 1" in cli("show", out).out
    assert b"separated by" in cli("show", path, "--stage", "network").out
    assert b"permutation of #1 #2?" in cli("show", path, "--stage", "tree").out
    drawn = str(tmp_path / "a.dot")
    assert 0 == cli("viz", path, "--stage", "parser", "-o", drawn).code
    assert "permute 30 parts of set 1" in Path(drawn).read_text()
    text = content(tmp_path / "x.txt", '{"key4": 1, "key4"')
    for subject in (path, out):
        said = cli("explain", subject, text)
        assert 1 == said.code
        assert b'rejected at "4" (byte 16) in start; expected [0-35-9] inside ' in said.out
    assert b"permute_by!(" in cli("convert", path, "--to", "kbnf").out
    assert "30 parts are too many" in cli("convert", path, "--to", "gbnf").err
    assert "all orders of a permutation" in cli("diff", path, path).err
    few = content(tmp_path / "b.ebnf", keys(3).replace("| start", ""))
    again = content(tmp_path / "b.gbnf", cli("convert", few, "--to", "gbnf").out.decode())
    assert 0 == cli("diff", few, again).code


def test_written_out_orders_are_explained_by_rules_and_parts(cli: Cli, tmp_path: Path) -> None:
    """In place of the rules that all orders become stand the author's, and the part."""
    text = 'start ::= "{" permute!(x, ("y: " start | "z"), n?) "}";'
    text += ' x ::= "x: " n ";"; n ::= #"[0-9]+";'
    path = content(tmp_path / "a.kbnf", text)
    said = cli("explain", path, content(tmp_path / "x.txt", "{x: 1;y: {x")).out
    assert b"in start > start part 2 > start > x; expected" in said
    compiled = cli("compile", path, "-o", str(tmp_path / "a.cst"))
    assert "(start → start part 2 → start)" in compiled.err


def test_members_are_counted_and_drawn_as_of_all_orders(all_held: None, full: bool) -> None:
    """Readings by length, and members in order, are those of rules for each set of parts; each is
    drawn, about as often as the others."""
    rng = random.Random(3)
    for _ in range(60 if full else 5):
        words = rng.sample("abcdefgh", rng.randrange(2, 6))
        texts = [f'"{w}"' + rng.choice(["", ' #"[01]{1,2}"', ' #"[01]*"']) for w in words]
        parts = [(text, rng.random() < 0.5, rng.random() < 0.25) for text in texts]
        separator = rng.choice([None, '","', '","?', '";"+'])
        held, orders = (
            NetworkMembers(network_of(f'start ::= "<" {part} ">" ("!" start)?;\n{rules}'))
            for part, rules in (
                (permuted(parts, separator), ""),
                ("o", in_all_orders(parts, separator)),
            )
        )
        readings = [orders.readings(length) for length in range(9)]
        assert readings == [held.readings(length) for length in range(9)]
        members = list(orders.up_to(7))
        assert members == list(held.up_to(7))
        if 0 < len(members) < 60 and sum(readings[:8]) == len(members):
            drawn = Counter(islice(held.draws(7, 1), 40 * len(members)))
            assert set(members) == set(drawn)
            assert sum((count - 40) ** 2 / 40 for count in drawn.values()) < 3 * len(members) + 30


def test_threads_of_many_keys_are_found_again_from_what_is_before_them(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key of 60 begins as 60 threads, of which nothing is interned but where they come from; and
    the masks are the same when they are read again."""
    given = {"dialect": "kbnf", "tokenization": "any", "engine": "network", "prewarm": 0}
    artifact = compile_grammar(keys(60), tokenizer=default_tokenizer, **given)  # type: ignore[arg-type]
    order = random.Random(2).sample(range(60), 60)
    ids = default_tokenizer.encode("{" + ", ".join(f'"key{i}": {i}' for i in order) + "}")
    matcher = artifact.matcher()
    before = machine_of(artifact).interned_bytes
    masks = []
    for token in ids:
        masks.append(matcher.mask().tolist())
        matcher.advance(token)
    assert matcher.is_accepting
    assert machine_of(artifact).interned_bytes - before < 256 * len(ids)
    monkeypatch.setattr(configurations, "_MOST_CACHED", 0)
    again = load_bytes(artifact.to_bytes()).matcher()
    monkeypatch.setattr(configurations, "_MOST_BEHIND", 4)
    for token, mask in zip(ids, masks, strict=True):
        assert again.mask().tolist() == mask
        again.advance(token)


def test_too_many_orders_are_a_limit_by_name(default_tokenizer: Tokenizer) -> None:
    """Where no frame can hold the set: other engines."""
    for options in ({"engine": "dfa"}, {"engine": "earley"}):
        with pytest.raises(LimitError, match=r"all orders of a permutation.*'start'"):
            compile_grammar(keys(30), dialect="kbnf", tokenizer=default_tokenizer, **options)
