"""What an artifact finds before decoding needs it: masks stay as they are, and no walk is left."""

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.grammars import JSON, STATEMENTS

from constrain.artifacts import Artifact
from constrain.artifacts.canonical_network.lazy_rows import LazyRows
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.dfa.walked_rows import WalkedRows
from constrain.artifacts.maximal_munch.closure import worklist
from constrain.artifacts.maximal_munch.lexer_trie import LexerTrie
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.summaries.node_sets import Nodes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.allowance import Ended, Precomputed
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.notes import PARTLY

LARK = r"""
start: (NAME "=" value ";")+
value: NAME | NUMBER | "(" value ")"
NAME: /[a-z_]+/
NUMBER: /[0-9]+/
%ignore /[ \n]+/
"""


# Palindromes of words: masks depend on all that was written.
PALINDROMES = (
    "s ::= " + " | ".join(f'"{a}{b}" s "{b}{a}"' for a in "abcdefgh" for b in "uvwxyz") + ' | "-";'
)


@pytest.mark.quick
@pytest.mark.parametrize("text", [JSON, PALINDROMES], ids=["all", "some"])
def test_what_is_precomputed_by_default_has_a_bound(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bytes of rows; what is left out is said, a number of summaries asks for more, and masks
    stay as they are."""
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    options["tokenization"] = "any"
    asked = compile_grammar(text, **options, prewarm=50_000)
    most = asked.arrays["memo.rows"].nbytes // 4
    monkeypatch.setattr("constrain.compiler.options.ROWS_BYTES", most)
    found = compile_grammar(text, **options)

    assert found.arrays["memo.rows"].nbytes <= most
    assert PARTLY in found.notes
    assert PARTLY not in asked.notes or text is PALINDROMES
    assert walked(found, seed=3) == walked(asked, seed=3)


@pytest.mark.quick
def test_work_is_counted(default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With less of it fewer rows are precomputed, and the same ones each time."""
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    whole = compile_grammar(JSON, **options)
    monkeypatch.setattr("constrain.compiler.options.DEFAULT_WORK", 1 << 22)
    found = [compile_grammar(JSON, **options) for _ in range(2)]

    assert PARTLY in found[0].notes
    assert found[0].to_bytes() == found[1].to_bytes()
    assert found[0].manifest.counts["answers"] < whole.manifest.counts["answers"]
    assert compile_grammar(JSON, **options, prewarm=50_000).to_bytes() == whole.to_bytes()


@pytest.fixture
def lazy(default_tokenizer: Tokenizer) -> Callable[..., Artifact]:
    """An artifact with nothing precomputed."""

    def compiled(text: str = JSON, dialect: str = "kbnf", **options: object) -> Artifact:
        artifact = compile_grammar(
            text, dialect=dialect, tokenizer=default_tokenizer, **{"prewarm": 0, **options}
        )
        artifact = artifact.completed
        return Artifact(artifact.manifest, artifact.arrays)

    return compiled


def walked(artifact: Artifact, seed: int, most: int = 60) -> list[tuple[bytes, int]]:
    """The masks along a random text, with the tokens taken."""
    rng = random.Random(seed)
    matcher = artifact.matcher()
    found = []
    while len(found) < most and not matcher.is_finished:
        mask = matcher.mask()
        token = rng.choice(tokenset.to_ids(mask).tolist())
        found.append((mask.tobytes(), token))
        matcher.advance(token)
    return found


KINDS = {
    "positions": (STATEMENTS, "kbnf", {"tokenization": "any"}),
    "network": (STATEMENTS, "kbnf", {"engine": "network", "tokenization": "any", "prewarm": 5}),
    "canonical network": (JSON, "kbnf", {"engine": "network", "tokenization": "canonical"}),
    "maximal munch": (LARK, "lark", {"tokenization": "any"}),
}


@pytest.mark.parametrize("name", KINDS)
def test_masks_are_the_same_before_during_and_after(
    name: str, lazy: Callable[..., Artifact]
) -> None:
    """Matchers that began before go on, while another thread precomputes."""
    text, dialect, options = KINDS[name]
    plain, artifact = (lazy(text, dialect, **options) for _ in range(2))
    before = artifact.matcher()
    stop, failures = threading.Event(), list[BaseException]()

    def precompute() -> None:
        try:
            while not stop.is_set() and not artifact.precompute(answers=7).is_complete:
                pass
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=precompute)
    thread.start()
    try:
        for seed in range(6):
            assert walked(artifact, seed) == walked(plain, seed)
    finally:
        stop.set()
        thread.join()
    assert not failures

    artifact.precompute(answers=50)
    for seed in range(6, 12):
        assert walked(artifact, seed) == walked(plain, seed)
    for mask, token in walked(plain, 99):
        assert before.mask().tobytes() == mask
        before.advance(token)


# What must not be called once all is precomputed.
WALKS: dict[str, tuple[type, str]] = {
    "maximal munch": (LexerTrie, "nodes"),
    "canonical network": (LazyRows, "row"),
}


@pytest.mark.parametrize("name", WALKS)
def test_precomputing_comes_to_an_end_and_then_no_walk_is_needed(
    name: str, lazy: Callable[..., Artifact], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few answers at a time; what is found stays, and the file's bytes are the same."""
    text, dialect, options = KINDS[name]
    plain, artifact = (lazy(text, dialect, **options) for _ in range(2))
    size = artifact.to_bytes()

    calls = 0
    while not (found := artifact.precompute(answers=40)).is_complete:
        assert found.answers >= 40
        assert found.ended is Ended.ANSWERS
        calls += 1
    assert calls > 1
    assert artifact.precompute() == Precomputed(0, Ended.COMPLETE)
    assert artifact.to_bytes() == size

    expected = [walked(plain, seed) for seed in range(3)]

    def refused(*_: object) -> None:
        raise AssertionError("a summary is missing")

    monkeypatch.setattr(*WALKS[name], refused)
    assert [walked(artifact, seed) for seed in range(3)] == expected


def tables_of(artifact: Artifact) -> dict[str, NDArray[Any]]:
    """The summaries that its machine begins with."""
    machine = artifact.runtime.machine()
    if isinstance(machine, CanonicalMasks):
        assert machine.precomputed is not None
        arrays = machine.precomputed.arrays.items()
        return {name: array for name, array in arrays if name.startswith("closed.")}
    assert isinstance(machine, MaximalMunchMasks)
    stored = machine.summaries.stored
    assert stored is not None
    return stored.arrays()


@pytest.mark.parametrize("name", WALKS)
def test_so_many_answers_are_the_same_ones(name: str, lazy: Callable[..., Artifact]) -> None:
    """Whatever the clock says; matchers that begin then have them, and more of them later."""
    text, dialect, options = KINDS[name]
    tables = []
    for _ in range(2):
        artifact = lazy(text, dialect, **options)
        assert artifact.precompute(answers=30).answers >= 30
        tables.append(tables_of(artifact))
    for one, other in zip(*(found.values() for found in tables), strict=True):
        assert np.array_equal(one, other)
    artifact.precompute(answers=30)
    more, few = (sum(a.nbytes for a in t.values()) for t in (tables_of(artifact), tables[-1]))
    assert more > few


@pytest.mark.parametrize("name", KINDS)
def test_no_time_finds_nothing(name: str, lazy: Callable[..., Artifact]) -> None:
    """And says why it ended."""
    text, dialect, options = KINDS[name]
    found = lazy(text, dialect, **options).precompute(seconds=0)
    assert (found.answers, found.ended, found.is_complete) == (0, Ended.SECONDS, False)


@pytest.mark.parametrize("name", WALKS)
def test_what_does_not_fit_into_the_caches_is_left(
    name: str, lazy: Callable[..., Artifact]
) -> None:
    """``cache_bytes`` bounds what is found; masks are the same."""
    text, dialect, options = KINDS[name]
    plain = lazy(text, dialect, **options)
    small = Artifact(plain.manifest, plain.arrays, cache_bytes=40_000)
    found = small.precompute()
    assert found.ended is Ended.MEMORY
    assert 0 < found.answers < plain.precompute().answers
    assert sum(array.nbytes for array in tables_of(small).values()) < 60_000
    assert walked(small, 1) == walked(plain, 1)


def test_lexemes_that_texts_have_met_come_first(
    lazy: Callable[..., Artifact],
    default_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part of all answers is enough for a text whose masks were there before."""
    text, dialect, options = KINDS["maximal munch"]
    token_of = {text: token for token, text in default_tokenizer.tokens.items()}
    computed, nodes = 0, LexerTrie.nodes

    def counted(self: LexerTrie, suspended: int) -> Nodes:
        nonlocal computed
        computed += 1
        return nodes(self, suspended)

    def along(artifact: Artifact) -> None:
        matcher = artifact.matcher()
        for octet in b"a = b;c=(((d":
            matcher.mask()
            matcher.advance(token_of[bytes([octet])])

    met, other = lazy(text, dialect, **options), lazy(text, dialect, **options)
    along(met)
    assert met.precompute(answers=40).answers < 60 < other.precompute().answers
    other = lazy(text, dialect, **options)
    other.precompute(answers=40)
    monkeypatch.setattr(LexerTrie, "nodes", counted)
    along(met)
    assert not computed
    along(other)
    assert computed


def test_what_a_file_has_of_lexemes_is_not_found_again(default_tokenizer: Tokenizer) -> None:
    """A file in which all is precomputed says so at once."""
    whole = compile_grammar(LARK, dialect="lark", tokenization="any", tokenizer=default_tokenizer)
    assert Artifact(whole.manifest, whole.arrays).precompute() == Precomputed(0, Ended.COMPLETE)


def test_heads_that_grow_with_texts_are_given_up(
    lazy: Callable[..., Artifact], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then masks are found by walks, as long as these meet new ones."""
    text, dialect, options = KINDS["maximal munch"]
    plain, artifact = (lazy(text, dialect, **options) for _ in range(2))
    monkeypatch.setattr(worklist, "MOST_HEADS", 1)
    found = artifact.precompute()
    assert found.ended is Ended.NOTHING_NEW
    assert found.answers > 0
    for seed in range(5):
        assert walked(artifact, seed) == walked(plain, seed)


def test_rows_of_a_byte_dfa_that_has_none_are_found_by_texts(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then no mask walks any more; where ``cache_bytes`` holds but some, masks stay the same."""
    options: dict[str, Any] = {"dialect": "regex", "tokenizer": default_tokenizer}
    options |= {"tokenization": "any", "engine": "dfa"}
    text = "[a-z]{2,5} [0-9]+(x|y[a-m]*)"
    expected = walked(compile_grammar(text, **options), 3)
    artifact = compile_grammar(text, prewarm=0, **options)
    small = Artifact(artifact.manifest, artifact.arrays, cache_bytes=9_000)

    assert artifact.precompute(answers=2) == Precomputed(2, Ended.ANSWERS)
    assert artifact.precompute().ended is Ended.NOTHING_NEW
    assert small.precompute().ended is Ended.NOTHING_NEW

    assert walked(small, 3) == expected
    monkeypatch.setattr(WalkedRows, "_walked", None)
    assert walked(artifact, 3) == expected


@pytest.mark.parametrize(
    "options",
    [{"engine": "dfa", "tokenization": "canonical"}, {"engine": "earley", "tokenization": "any"}],
)
def test_kinds_that_keep_no_answers_say_so(
    options: dict[str, str], lazy: Callable[..., Artifact]
) -> None:
    """Nothing is done, and nothing is missing."""
    artifact = lazy("s ::= #'[a-z]{2,5}';", **options)
    found = artifact.precompute()
    assert (found.answers, found.ended) == (0, Ended.NOT_LAZY)
    assert "lazily" in found.ended.value


def test_less_than_nothing_is_refused(lazy: Callable[..., Artifact]) -> None:
    """Before anything is computed."""
    artifact = lazy(engine="network", tokenization="any")
    for wrong in ({"seconds": -1.0}, {"answers": -1}):
        with pytest.raises(ValueError, match="less than 0"):
            artifact.precompute(**wrong)
