"""Repetitions of rules that are counted by maximal munch: the masks of their copies."""

# Tests here say `expected == actual`.

import random
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support import encoded, tokenizer_of
from support.container import check_flipped_bits_do_no_harm, refused, walk_two_deep
from support.matcher import about_so_many, check_equal_masks

from constrain.artifacts import Artifact
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_transitions import MOST_FRAMES
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, choose, compile_grammar
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

LETTERS = "abcdn ,.!=;{}[]()+"
MERGES = ["a a", "aa aa", "a b", "ab ab", ", Ġ", "a ,", "a Ġ", "n ,", "a ,Ġ", "Ġ a", "[ [", "] ]"]
IGNORED = '\n%ignore " "\n'

# Grammars with "M..N" for the bounds, what a text of one begins with, and some items.
KINDS = {
    "list": ('start: "[" (item ("," item)~M..N)? "]"\nitem: /[a-z]+/', "[a", [",b", ", ab", " ,a"]),
    "recursion through a count": (
        'start: "[" (start ("," start)~M..N)? "]" | /[a-z]+/',
        "[a",
        [",b", ", []", ",ab"],
    ),
    "words": ('start: WORD~M..N "."\nWORD: /[a-z]+/', "", ["a ", "ab ", "aab  "]),
    "statements": (
        'start: stm~M..N\nstm: NAME "=" expr ";" | "{" stm* "}"\n'
        'expr: expr "+" expr | NAME | "(" expr ")"\nNAME: /[a-z]+/',
        "",
        ["{}", "a=b;", "{{}}", "a=(b+c);"],
    ),
    "counts in counts": (
        'start: list~M..N\nlist: "[" (NAME ("," NAME)~1..50)? "]"\nNAME: /[a-z]/',
        "",
        ["[]", "[a,b]", "[a" + ",c" * 30 + "]", "[a" + ",b" * 50 + "]"],
    ),
    "parts that may be missing": (
        'start: (A B?)~M..N C?\nA: "a"\nB: "b"\nC: "c"',
        "",
        ["a", "ab", "a b"],
    ),
    "what follows begins alike": (
        'start: (NAME ","?)~M..N NAME~0..5 "!"\nNAME: /[a-z]/',
        "",
        ["a", "b,", "a,"],
    ),
    "one after another": (
        'start: (NAME~M..N ";")~0..30 NAME~0..60 "!"\nNAME: /[a-z]/',
        "",
        ["a", "b ", "c"],
    ),
}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer with tokens of several lexemes."""
    added = [(len(LETTERS) + len(MERGES), "<eos>", True)]
    return tokenizer_of(tmp_path_factory.mktemp("letters"), LETTERS, MERGES, added=added)


def made(text: str, tokenizer: Tokenizer, **options: Any) -> Artifact:
    """The artifact of a grammar of Lark."""
    return compile_grammar(
        text + IGNORED,
        dialect="lark",
        tokenizer=tokenizer,
        tokenization="any",
        engine="greedy",
        prewarm=0,
        **{"eos": ["<eos>"], **options},
    )


def of_kind(
    kind: str,
    bounds: tuple[int, int],
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    **options: Any,
) -> tuple[Artifact, Artifact]:
    """The artifacts of copies, and of counts."""
    text = KINDS[kind][0].replace("M..N", f"{bounds[0]}..{bounds[1]}")
    monkeypatch.setattr(choose, "counted_from", lambda *_: 1 << 30)
    copied = made(text, tokenizer, **options)
    monkeypatch.setattr(choose, "counted_from", lambda *_: 0)
    return copied, load_bytes(made(text, tokenizer, **options).to_bytes())


def check_equal(
    copied: Artifact,
    counted: Artifact,
    rng: random.Random,
    steps: int,
    behind: Sequence[int] = (),
) -> int:
    """``check_equal_masks`` along texts that do not end."""
    eos = copied.manifest.eos
    return check_equal_masks(
        copied, counted, rng, steps, lambda ids: [i for i in ids if i not in eos], behind
    )


def check_ends(
    kind: str,
    bounds: tuple[int, int],
    artifacts: tuple[Artifact, Artifact],
    tokenizer: Tokenizer,
    rng: random.Random,
) -> int:
    """``check_equal`` where texts begin, and where few items must or may follow."""
    _, begin, items = KINDS[kind]
    compared = check_equal(*artifacts, rng, 15)
    for _ in range(3):
        behind = tokenizer.encode(begin + about_so_many(items, *bounds, rng))
        compared += check_equal(*artifacts, rng, 12, behind)
    return compared


@pytest.mark.parametrize("kind", KINDS)
def test_masks_of_counted_rules_are_those_of_copies(
    kind: str,
    letters: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Bit by bit, with the end of the text: bounds that a token reaches, and those far from any."""
    rng = random.Random(kind)
    bounds = [(m, n) for n in range(2, 41) for m in range(n + 1)]
    far = [(0, 90), (1, 70), (60, 90), (80, 80)]
    compared = 0
    for some in [*bounds, *far] if full else [rng.choice(bounds), rng.choice(far)]:
        artifacts = of_kind(kind, some, letters, monkeypatch)
        if "count.items" in artifacts[1].arrays:
            compared += check_ends(kind, some, artifacts, letters, rng)
    record_property("masks", compared)
    assert compared > (10_000 if full else 20)


@pytest.mark.sampled(
    ("name", "kind"),
    [("gpt2", "list")],
    [(name, kind) for name in ("gpt2", "qwen2_5") for kind in KINDS],
)
def test_masks_at_both_ends_of_a_thousand_rules_are_those_of_copies(
    name: str,
    kind: str,
    real: Callable[[str], Tokenizer],
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """With the tokens of real tokenizers."""
    rng, tokenizer = random.Random(kind), real(name)
    for bounds in [(0, 1000), (990, 1000), (1000, 1000)] if full else [(990, 1000)]:
        artifacts = of_kind(kind, bounds, tokenizer, monkeypatch, eos=None)
        assert "count.items" in artifacts[1].arrays
        for _ in range(4 if full else 1):
            assert check_ends(kind, bounds, artifacts, tokenizer, rng) > 20


def test_states_do_not_grow_with_counts_of_rules(default_tokenizer: Tokenizer) -> None:
    """A million costs what ten thousand do; masks in the middle are found once."""
    sizes = []
    for most in (10_000, 1_000_000):
        text = KINDS["list"][0].replace("M..N", f"0..{most}") + IGNORED
        artifact = compile_grammar(
            text, dialect="lark", tokenizer=default_tokenizer, tokenization="any", prewarm=0
        )
        sizes.append((artifact.manifest.counts, len(artifact.to_bytes()) // 100))
    assert sizes[0] == sizes[1]
    machine, matcher = artifact.machine(), artifact.matcher()
    assert isinstance(machine, MaximalMunchMasks)
    tokens = default_tokenizer.encode("[" + "ab, cd, e, " * 60)
    for token in tokens[:90]:
        matcher.mask()
        matcher.advance(token)
    found = len(machine.summaries)
    for token in tokens[90:]:
        matcher.mask()
        matcher.advance(token)
    assert found == len(machine.summaries)


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (KINDS["list"][0].replace("M..N", "0..1000000"), "[a" + ", ab, cd" * 1500),
        (
            'start: list~1..1000000\nlist: "[" item ("," item)~0..200 "]"\nitem: /[a-z]+/',
            ("[ab" + ", cd, e" * 80 + "] ") * 20,
        ),
        (KINDS["words"][0].replace("M..N", "900000..1000000"), "the quick brown fox " * 1000),
    ],
    ids=["list", "lists", "words"],
)
def test_a_step_within_a_count_keeps_at_most_64_bytes(
    rules: str, text: str, default_tokenizer: Tokenizer
) -> None:
    """Neither heads nor frames nor steps grow with the items that are read."""
    artifact = made(rules, default_tokenizer, eos=None)
    tokens = default_tokenizer.encode(text)
    matcher = artifact.matcher()
    begun = len(tokens) // 5
    for token in tokens[:begun]:
        matcher.mask()
        matcher.advance(token)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for token in tokens[begun:]:
        matcher.mask()
        matcher.advance(token)
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 64 * (len(tokens) - begun)


def test_counts_that_frames_do_not_hold_are_copied_or_refused(letters: Tokenizer) -> None:
    """Frames have numbers of 31 bits."""
    text = KINDS["words"][0].replace("M..N", f"0..{MOST_FRAMES}")
    with pytest.raises(LimitError, match="needs more than 900 states"):
        made(text, letters, limits=Limits(states=900))


def test_a_small_cache_counts_on(letters: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are heads for too many counts, the next machine goes on."""
    copied, counted = of_kind("list", (0, 300), letters, monkeypatch)
    tight = load_bytes(counted.to_bytes(), cache_bytes=1)
    check_equal(copied, tight, random.Random(2), 200)


def test_damaged_counters_do_no_harm(
    letters: Tokenizer, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Bounds that do not fit are refused, and others walked."""
    _, counted = of_kind("recursion through a count", (1, 9), letters, monkeypatch)

    def exercise(artifact: Artifact) -> None:
        walk_two_deep(artifact)
        boundaries(artifact, b"[a, [b")

    exercise(counted)
    for name, value in (("count.items", 0), ("count.most", MOST_FRAMES), ("count.backs", 99)):
        array = counted.arrays[name].copy()
        array[-1] = value
        assert "section" in refused(encoded(counted, {name: array}))
    check_flipped_bits_do_no_harm(counted, exercise, 1000 if full else 40)
