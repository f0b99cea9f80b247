"""Permutations: sets in frames have the masks of all orders written out, in states linear in n."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from support import encoded, tokenizer_of
from support.cli import Cli, content
from support.container import check_flipped_bits_do_no_harm, walk_two_deep

from constrain.artifacts import Artifact
from constrain.artifacts.counting_network import configurations
from constrain.artifacts.counting_network.configurations import CountedStacks
from constrain.artifacts.counting_network.machine import CountingMasks
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, WeakerMasksWarning, choose, compile_grammar
from constrain.compiler.diagnostics import CheckError, DialectError, LimitError
from constrain.compiler.frontend import Parser
from constrain.compiler.network import from_tree
from constrain.compiler.network.members import NetworkMembers
from constrain.compiler.pipeline import build_engine

LETTERS = 'abehinmst ,:"{}<>!'
MERGES = ["a b", "ab e", "t h", "th e", "the m", "i n", "in n", ', "', '" :', '": a', "a ,", "t a"]
MERGES += ["th in", "b e", "s ,", "e s", '{ "', "a }", '"t h', "the in", "s s", "m ,"]

# A part: its text in KBNF, and whether it is required and repeated.
Part = tuple[str, bool, bool]

WORDS = ["the ", "them ", "a", "an", "the", "b: ", "in", "inn", "t", " a", "e", "es"]


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer small enough for many grammars, some of whose tokens hold several parts."""
    merges = [m for m in MERGES if not m.startswith('"t')]
    added = [(len(LETTERS) + len(merges), "<eos>", True)]
    return tokenizer_of(tmp_path_factory.mktemp("letters"), LETTERS, merges, added=added)


@pytest.fixture
def all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every permutation is a set in a frame."""
    monkeypatch.setattr(choose, "COPIED_STATES", 0)


def made(text: str, tokenizer: Tokenizer, engine: str = "network", **options: object) -> Artifact:
    """The artifact of a KBNF grammar under ``any``."""
    return compile_grammar(
        text,
        dialect="kbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine=engine,
        **{"eos": ["<eos>"], **options},  # type: ignore[arg-type]
    )


def permuted(parts: Sequence[Part], separator: str | None) -> str:
    """The permutation in KBNF."""
    marks = {(True, False): "", (False, False): "?", (True, True): "+", (False, True): "*"}
    items = [f"({text}){marks[required, again]}" for text, required, again in parts]
    if separator is None:
        return f"permute!({', '.join(items)})"
    return f"permute_by!(({separator}), {', '.join(items)})"


def in_all_orders(parts: Sequence[Part], separator: str | None, name: str = "o") -> str:
    """The rules of a rule ``o`` for the same, by the parts that are there so far."""
    rules = [f"{name}p{i} ::= {text};" for i, (text, _, _) in enumerate(parts)]
    for begun in range(1 << len(parts)):
        for first in (True, False) if begun == 0 else (False,):
            options = []
            for i, (_, _, is_repeated) in enumerate(parts):
                if not begun >> i & 1 or is_repeated:
                    between = "" if first or separator is None else f"({separator}) "
                    options.append(f"{between}{name}p{i} {name}s{begun | 1 << i}")
            if all(begun >> i & 1 or not part[1] for i, part in enumerate(parts)):
                options.append('""')
            head = name if first else f"{name}s{begun}"
            rules.append(f"{head} ::= {' | '.join(options)};")
    return "\n".join(rules)


def check_equal(one: Artifact, other: Artifact, rng: random.Random, walks: int, steps: int) -> int:
    """Masks of both along random texts, with tokens taken back; how many were compared."""
    compared = 0
    for _ in range(walks):
        left, right = one.matcher(), other.matcher()
        taken = 0
        for _ in range(steps):
            mask = left.mask()
            assert mask.tolist() == right.mask().tolist()
            assert left.is_accepting == right.is_accepting
            assert left.forced_tokens() == right.forced_tokens()
            compared += 1
            ids = tokenset.to_ids(mask).tolist()
            if not ids or left.is_finished:
                break
            token = rng.choice(ids)
            left.advance(token)
            right.advance(token)
            taken += 1
            if taken > 2 and rng.random() < 0.1:
                left.rollback(2)
                right.rollback(2)
                taken -= 2
    return compared


def compared(parts: Sequence[Part], separator: str | None, tail: str, *given: object) -> int:
    """Masks of a permutation in brackets against those of a DFA of all orders."""
    tokenizer, rng = given
    assert isinstance(tokenizer, Tokenizer)
    assert isinstance(rng, random.Random)
    text = f'start ::= "<" {permuted(parts, separator)} {tail};'
    orders = f'start ::= "<" o {tail};\n{in_all_orders(parts, separator)}'
    held = load_bytes(made(text, tokenizer).to_bytes())
    assert "set.parts" in held.arrays
    return check_equal(made(orders, tokenizer, "dfa"), held, rng, 6, 30)


def test_masks_of_sets_are_those_of_all_orders(
    letters: Tokenizer, all_held: None, full: bool
) -> None:
    """3 to 8 parts, some required, some repeated, with words that begin like others and what
    follows that does, against a DFA of rules for each set of parts."""
    rng = random.Random(7)
    count = 0
    for n in range(3, 9) if full else (3, 4, 5):
        for trial in range(12 if full else 3):
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
    threads = dict(network.threads[network.start])
    for octet in b"<aaa":
        threads = network.read_threads(threads, [octet])
    assert 1 == len(threads)
    assert all(1 == len(network.stacks.entries[node]) for node in threads.values())


def network_of(text: str) -> NetworkTables:
    """The network of a grammar."""
    found = build_engine(text, dialect="kbnf", tokenization="any", engine="network")
    assert isinstance(found, Parser)
    assert found.network is not None
    return found.network


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
    one, other = made(orders, letters, "earley"), made(held, letters)
    assert 2 == other.manifest.counts["sets"]
    assert check_equal(one, other, random.Random(5), 12, 30) > 60


def test_counts_in_parts_and_parts_in_counts(letters: Tokenizer, all_held: None) -> None:
    """Both kinds of frames on one stack."""
    parts: list[Part] = [
        ('"a" #"[st]{2,4}"', True, False),
        ('"e"', False, False),
        ('"b"', True, False),
    ]
    text = '#"[he]{0,3}" (@ "!")+ ">"'
    held = f"start ::= {text.replace('@', permuted(parts, None))};"
    orders = f"start ::= {text.replace('@', 'o')};\n{in_all_orders(parts, None)}"
    other = load_bytes(made(held, letters).to_bytes())
    assert {"count.items", "set.parts"} <= set(other.arrays)
    assert check_equal(made(orders, letters, "dfa"), other, random.Random(5), 8, 40) > 60


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


def keys(count: int, first: str = "key") -> str:
    """An object of so many keys in any order, every third one required."""
    members = ", ".join(f"('\"{first}{i}\": ' v){'' if i % 3 == 0 else '?'}" for i in range(count))
    return f"start ::= '{{' permute_by!(\", \", {members}) '}}'; v ::= #\"[0-9]+\" | start;"


def test_states_are_linear_in_the_parts(default_tokenizer: Tokenizer) -> None:
    """Under ``auto`` a network is chosen, and 200 keys take ten times the states of 20."""
    few, many = (
        compile_grammar(
            keys(n), dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", prewarm=0
        )
        for n in (20, 200)
    )
    assert "network" == few.manifest.kind == many.manifest.kind
    states = [artifact.manifest.counts["network_states"] for artifact in (few, many)]
    assert states[1] < 12 * states[0]
    assert [20, 200] == [len(artifact.arrays["set.parts"]) for artifact in (few, many)]


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


def test_too_many_orders_are_a_limit_by_name(default_tokenizer: Tokenizer) -> None:
    """Where no frame can hold the set: canonical masks that are asked for, and other engines."""
    for options in ({"tokenization": "canonical"}, {"engine": "dfa"}, {"engine": "earley"}):
        with pytest.raises(LimitError, match=r"all orders of a permutation.*'start'"):
            compile_grammar(keys(30), dialect="kbnf", tokenizer=default_tokenizer, **options)


def test_many_parts_are_read_under_any_where_nothing_is_asked_for(
    default_tokenizer: Tokenizer,
) -> None:
    """As for a grammar that has no canonical masks, with a note."""
    with pytest.warns(WeakerMasksWarning, match="permutation of so many parts"):
        artifact = compile_grammar(keys(30), dialect="kbnf", tokenizer=default_tokenizer, prewarm=0)
    assert "any" == artifact.manifest.tokenization


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """An artifact with a set, small enough to try much with."""
    folder = tmp_path_factory.mktemp("small")
    tokenizer = tokenizer_of(folder, "ab(),", ["a b", ", a"], added=[(7, "<eos>", True)])
    part = '(#"[ab]{1,80}" "(")'
    text = f'start ::= permute_by!(",", "a", "ab"?, {part}?, start2?) ")"; start2 ::= "(" start;'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose, "FEW_COPIED_STATES", 0)
        return made(text, tokenizer, prewarm=0)


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


def test_a_set_of_256_parts_is_exact(default_tokenizer: Tokenizer) -> None:
    """Each but one is read; only that one may follow."""
    parts = ", ".join(f"'{i:02x}'" for i in range(256))
    artifact = compile_grammar(
        f"start ::= permute!({parts}) '.';",
        dialect="kbnf",
        tokenizer=default_tokenizer,
        tokenization="any",
        prewarm=0,
    )
    order = random.Random(1).sample(range(256), 256)
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
        assert b'rejected at "4" (byte 16) in start; expected [0-35-9]' in said.out
    assert b"permute_by!(" in cli("convert", path, "--to", "kbnf").out
    assert "30 parts are too many" in cli("convert", path, "--to", "gbnf").err
    assert "all orders of a permutation" in cli("diff", path, path).err
    few = content(tmp_path / "b.ebnf", keys(3).replace("| start", ""))
    again = content(tmp_path / "b.gbnf", cli("convert", few, "--to", "gbnf").out.decode())
    assert 0 == cli("diff", few, again).code


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
    monkeypatch.setattr(from_tree, "_MOST_OVERLAPPING", 5)
    assert not network_of(few).has_sets


def test_threads_of_many_keys_are_found_again_from_what_is_before_them(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key of 60 begins as 60 threads, of which nothing is interned but where they come from; and
    the masks are the same when they are read again."""
    artifact = compile_grammar(
        keys(60), dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", prewarm=0
    )
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


def machine_of(artifact: Artifact) -> CountingMasks:
    """The machine of an artifact with sets."""
    machine = artifact.machine()
    assert isinstance(machine, CountingMasks)
    return machine
