"""The machine of networks with counters: few stacks, sound files, and the tools that read them."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import encoded, tokenizer_of
from support.cli import Cli, content
from support.container import check_every_bit_counts, check_flipped_bits_do_no_harm, walk_two_deep

from constrain.artifacts import Artifact
from constrain.artifacts.counting_network.configurations import CountedStacks
from constrain.artifacts.counting_network.machine import CountingMasks
from constrain.artifacts.kinds.counting_network import CountingRuntime
from constrain.artifacts.network.counts import MOST_ITEMS
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens.allowance import Ended, Precomputed
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.pipeline import build_engine

GRAMMAR = 'root ::= "b" ( "a" | "ab" ){2,90} "b" | "(" root ")"'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """An artifact with a counter, small enough to try much with."""
    folder = tmp_path_factory.mktemp("small")
    tokenizer = tokenizer_of(folder, "ab()", ["a b", "a a"], added=[(6, "<eos>", True)])
    return compile_grammar(
        GRAMMAR,
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine="network",
        prewarm=0,
        eos=["<eos>"],
    )


@pytest.fixture(scope="module")
def ahead(small: Artifact, tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """One whose file has walks of items, and what follows them."""
    folder = tmp_path_factory.mktemp("ahead")
    merges = ["a b", "ab b", "a a", "a )"]
    tokenizer = tokenizer_of(folder, "ab()", merges, added=[(8, "<eos>", True)])
    artifact = compile_grammar(
        'root ::= "b" ( "a" | "ba" ){2,900} ( "b" root )? ")" | "(" root ")"',
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine="network",
        eos=["<eos>"],
    )
    for name in ("walks", "exits", "calls", "values", "levels"):
        assert len(artifact.arrays[f"items.{name}"]), name
    return artifact


def machine_of(artifact: Artifact) -> CountingMasks:
    """The machine of an artifact with counters."""
    machine = artifact.machine()
    assert isinstance(machine, CountingMasks)
    return machine


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep."""
    walk_two_deep(artifact)
    boundaries(artifact, b"baab")


@pytest.mark.parametrize("least", [0, 1, 5])
def test_of_counts_over_one_rest_the_least_that_is_enough_is_kept(least: int) -> None:
    """Where ends of items cannot be told, a set holds at most m + 2 stacks, however long the text
    is: the least count that is enough, those that are not, and the last item's plain frame."""
    found = build_engine(
        f'root ::= ( [a-z] [a-z]* [ t]? ){{{least},900}} "." | "(" root ")"',
        dialect="gbnf",
        tokenization="any",
        engine="network",
        prewarm=0,
    )
    network = CountedStacks(found.network)  # type: ignore[union-attr]
    threads = dict(network.threads[network.start])
    for octet in b"that the tinta tat " * 20:
        threads = network.read_threads(threads, [octet])
        assert max(len(network.stacks.entries[node]) for node in threads.values()) <= least + 2
    assert threads


def test_rows_by_one_stack_are_those_by_sets_of_stacks(small: Artifact) -> None:
    """Counts beside a stack and counts in its frames have the same masks."""
    machine, matcher = machine_of(small), small.matcher()
    state = machine.start
    for token in [1, *[0, 4, 5] * 7, 1]:
        assert machine.row(state).tolist() == machine.row_via_stacks(state).tolist()
        assert machine.row(state).tolist() == matcher.mask().tolist()
        following = machine.take(state, token)
        assert following is not None
        matcher.advance(token)
        state = following
    assert machine.is_accepting(state)


def test_matchers_go_on_when_a_machine_is_full(small: Artifact) -> None:
    """The next machine reads the tokens again, to the same mask."""
    matcher, other = small.matcher(), small.matcher()
    for token in (1, 0, 4, 0):
        matcher.advance(token)
        other.advance(token)
    machine_of(small).is_full = True
    small.matcher()
    assert other.mask().tolist() == matcher.mask().tolist()


@pytest.mark.quick
def test_whole_files_work(small: Artifact) -> None:
    """What the other tests damage is sound, and has a counter."""
    assert isinstance(small.runtime, CountingRuntime)
    exercise(load_bytes(small.to_bytes(), verify=True))


def test_flipped_bits_are_found(small: Artifact, full: bool) -> None:
    """Checksums cover every bit."""
    check_every_bit_counts(small, None if full else 100)


@pytest.mark.parametrize("name", ["small", "ahead"])
def test_flipped_bits_do_no_harm_unverified(
    name: str, request: pytest.FixtureRequest, full: bool
) -> None:
    """A file with right checksums is refused or walked, and no other error comes of it."""
    check_flipped_bits_do_no_harm(request.getfixturevalue(name), exercise, 2000 if full else 200)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("walks", (0, 0), 99),
        ("walks", (0, 1), 0),
        ("walks", (0, 2), 256),
        ("walks", (0, 3), 9),
        ("exits", (0, 0), 9),
        ("exits", (0, 1), 99),
        ("calls", (0, 0), -1),
        ("calls", (0, 1), 0),
        ("levels", -1, 200),
        ("offsets", 1, 9999),
        ("values", 0, -1),
        ("values", -1, 9999),
        ("needs", None, 0),
        ("walks", None, 0),
    ],
)
@pytest.mark.quick
def test_walks_that_do_not_fit_are_refused(
    ahead: Artifact,
    name: str,
    place: object,
    value: int,
    refused_by: Callable[[bytes], str],
) -> None:
    """Sets, states, nodes and tokens that are not there, levels beyond the last; missing parts."""
    array = None
    if place is not None:
        array = ahead.arrays[f"items.{name}"].copy()
        array[place] = value
    assert f"section 'items.{name}'" in refused_by(encoded(ahead, {f"items.{name}": array}))


def test_files_have_all_that_masks_near_the_ends_of_counts_need(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along a text that comes to the end of its count the trie is not walked, and the masks are
    those of an artifact that finds them all."""
    string = r'"\"" ( [^"\\] | "\\" ["n] ){0,120} "\""'
    lazy, found = (
        compile_grammar(
            f'root ::= "[" ( {string} ", "? ){{1,100000}} "]"',
            dialect="gbnf",
            tokenizer=default_tokenizer,
            tokenization="any",
            **options,  # type: ignore[arg-type]
        )
        for options in ({"prewarm": 0}, {})
    )
    stored = load_bytes(found.to_bytes(), verify=True)
    monkeypatch.setattr(machine_of(stored).summaries, "_make_trie", None)
    one, other = lazy.matcher(), stored.matcher()
    for token in default_tokenizer.encode('["a", "' + "the quick brown fox " * 6 + '", "'):
        assert one.mask().tolist() == other.mask().tolist()
        one.advance(token)
        other.advance(token)
    assert 0 == machine_of(stored).summaries.computed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count.items", 0),
        ("count.items", 99),
        ("count.items", "accepting"),
        ("count.items", None),
        ("count.backs", 0),
        ("count.backs", 99),
        ("count.backs", None),
        ("count.least", 0),
        ("count.least", 91),
        ("count.least", MOST_ITEMS),
        ("count.most", 0),
        ("count.most", 1),
        ("count.most", -2),
        ("count.most", MOST_ITEMS),
        ("network.call_returns", 99),
    ],
)
@pytest.mark.quick
def test_counters_that_do_not_fit_are_refused(
    small: Artifact, name: str, value: int | str | None, refused_by: Callable[[bytes], str]
) -> None:
    """Bounds that are none, items and states that are not there, sections that are missing."""
    array = None
    if value is not None:
        array = small.arrays[name].copy()
        accepting = int(np.flatnonzero(small.arrays["network.accepting"])[0])
        array[-1] = accepting if value == "accepting" else value
    message = refused_by(encoded(small, {name: array}))
    assert "section" in message


@pytest.fixture
def refused_by() -> Callable[[bytes], str]:
    """The message of a refusal."""
    from support.container import refused

    return refused


@pytest.mark.parametrize("kind", ["network", "greedy"])
def test_counters_elsewhere_are_refused(
    small: Artifact, kind: str, refused_by: Callable[[bytes], str]
) -> None:
    """Canonical masks need a tokenizer's sections, and a lexer's counters are others."""
    manifest = {"kind": kind, "tokenization": "canonical" if kind == "network" else "any"}
    assert "file.cst" in refused_by(encoded(small, None, manifest))


def test_tools_read_artifacts_with_counters(cli: Cli, tmp_path: Path) -> None:
    """``show`` names the counters, ``explain`` and ``sample`` go by the grammar's copies, ``viz``
    draws them, and ``diff`` refuses by name."""
    path = content(tmp_path / "a.gbnf", 'root ::= "\\"" [a-z]{2,1200} "\\"" | "(" root ")"')
    out = str(tmp_path / "a.cst")
    done = cli("compile", path, "--tokenization", "any", "-o", out)
    assert 0 == done.code
    assert "repetitions are counted" in done.err
    assert b"counters: 1" in cli("show", out).out
    text = content(tmp_path / "x.txt", '("abC')
    said = cli("explain", out, text)
    assert 1 == said.code
    assert b'rejected at "C" (byte 4) in root' in said.out
    assert b'"' in cli("sample", out, "--max-bytes", "12").out
    drawn = str(tmp_path / "a.dot")
    assert 0 == cli("viz", path, "--stage", "parser", "--tokenization", "any", "-o", drawn).code
    assert "{2,1200}" in Path(drawn).read_text()
    assert "kind network" in cli("diff", out, path, "--max-depth", "3").err


def test_stripped_artifacts_with_counters_are_not_explained(cli: Cli, tmp_path: Path) -> None:
    """Without the grammar's text there are no productions, and the message says so."""
    path = content(tmp_path / "a.gbnf", 'root ::= [a-z]{2,1200} | "(" root ")"')
    out = str(tmp_path / "a.cst")
    assert 0 == cli("compile", path, "--tokenization", "any", "--strip", "-o", out).code
    done = cli("explain", out, content(tmp_path / "x.txt", "ab"))
    assert 2 == done.code
    assert "whose text was stripped" in done.err


def test_canonical_masks_are_of_copies_where_these_are_few(default_tokenizer: Tokenizer) -> None:
    """Their rows can be precomputed."""
    artifact = compile_grammar(
        'root ::= [a-c]{2,60} | "(" root ")"',
        dialect="gbnf",
        tokenizer=default_tokenizer,
        prewarm=0,
    )
    assert "canonical" == artifact.manifest.tokenization
    assert "count.items" not in artifact.arrays


def test_what_cannot_be_counted_is_copied(default_tokenizer: Tokenizer) -> None:
    """Sets of stacks would hold as many counts as there are items whose end cannot be told."""
    text = 'root ::= ( "a" | "aa" ){500,600} "." | "(" root ")"'
    artifact = compile_grammar(
        text, dialect="gbnf", tokenizer=default_tokenizer, tokenization="any", prewarm=0
    )
    assert "count.items" not in artifact.arrays


def test_precomputing_leaves_nothing_to_texts_far_from_their_bounds(
    default_tokenizer: Tokenizer,
) -> None:
    """As many answers as were asked for, then all; and then a text finds no new one. A file that
    has the large ones has the same masks."""
    text = 'root ::= "<" ( [a-z] | "\\\\" [a-z] ){0,100000} ">" | "(" root ")"'
    lazy, ahead = (
        compile_grammar(
            text, dialect="gbnf", tokenizer=default_tokenizer, tokenization="any", **options
        )
        for options in ({"prewarm": 0, "engine": "network"}, {})
    )
    assert 0 == lazy.manifest.counts["answers"] < ahead.manifest.counts["answers"]
    assert (3, Ended.ANSWERS) == ended(lazy.precompute(answers=3))
    assert Ended.COMPLETE == lazy.precompute().ended
    assert (0, Ended.COMPLETE) == ended(lazy.precompute())
    computed = machine_of(lazy).summaries.computed
    one, other = lazy.matcher(), load_bytes(ahead.to_bytes()).matcher()
    for token in default_tokenizer.encode("((<the quick brown fox".replace(" ", "")):
        assert one.mask().tolist() == other.mask().tolist()
        one.advance(token)
        other.advance(token)
    assert computed == machine_of(lazy).summaries.computed


def ended(found: Precomputed) -> tuple[int, Ended]:
    """How many answers, and why no more."""
    return found.answers, found.ended


def test_a_small_cache_gives_the_same_masks(small: Artifact) -> None:
    """What is found for a mask is forgotten when it is full, and found again."""
    tight = load_bytes(small.to_bytes(), cache_bytes=1)
    one, other = small.matcher(), tight.matcher()
    for token in [1, *[0, 4, 5] * 7, 1]:
        assert one.mask().tolist() == other.mask().tolist()
        one.advance(token)
        other.advance(token)
    assert machine_of(tight).summaries.is_full
    assert not machine_of(small).summaries.is_full
