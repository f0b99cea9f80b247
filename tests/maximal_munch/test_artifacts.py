"""Artifacts of the kind ``greedy``: what is written and read, and the masks that they give."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path

import numpy as np
import pytest
from safetensors import numpy as safetensors_numpy
from support.maximal_munch import (
    BOTH,
    CODE,
    JSON,
    SAMPLES,
    compiled_lark,
    random_larks,
    row_by_steps,
    tokenizer_over,
)
from support.oracles.maximal_munch import MaximalMunchOracle

from constrain.artifacts import Artifact, TokenRefusedError, load
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.block_rows import BLOCK, shared_blocks
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.limits import Limits


@pytest.fixture(scope="module")
def json_artifact(default_tokenizer: Tokenizer) -> Artifact:
    """JSON with the built-in tokenizer."""
    return compiled_lark(JSON, default_tokenizer)


def reloaded(artifact: Artifact) -> Artifact:
    """The same artifact by way of its bytes."""
    return load_bytes(artifact.to_bytes(), verify=True)


def test_reading_undoes_writing(json_artifact: Artifact, tmp_path: Path) -> None:
    """A file read back holds the same manifest and arrays, and is written to the same bytes;
    safetensors itself reads it too. It names its meaning."""
    path = tmp_path / "json.cst"
    json_artifact.save(path)
    found = load(path, verify=True)
    assert ("greedy", "maximal-munch") == (found.manifest.kind, found.manifest.meaning)
    assert json_artifact.manifest == found.manifest
    assert json_artifact.to_bytes() == found.to_bytes() == path.read_bytes()
    assert sorted(json_artifact.arrays) == sorted(safetensors_numpy.load_file(path))


def test_masks_when_met_are_those_of_the_file(full: bool) -> None:
    """Of random grammars whose network is made when texts come to it, up to dead ends."""
    rng, met = random.Random(12), 0
    words = [b"ab", b"bca", b"a ", b"c a", b"aa", b" b"]
    tokenizer = tokenizer_over([*(bytes([octet]) for octet in range(256)), *words])
    for text, _ in random_larks(300 if full else 12, seed=12):
        options = {"dialect": "lark", "tokenization": "any", "prewarm": 0}
        try:
            found = compile_grammar(text, tokenizer=tokenizer, **options)
        except CheckError:  # Maximal munch leaves no member.
            continue
        met += isinstance(found, GrowingArtifact)
        whole = found.completed if isinstance(found, GrowingArtifact) else found
        for _ in range(4):
            matchers = found.matcher(), whole.matcher()
            for _ in range(12):
                masks = [matcher.mask() for matcher in matchers]
                assert np.array_equal(*masks), text
                ids = tokenset.to_ids(masks[0])
                if not len(ids) or matchers[0].is_finished:
                    break
                token = int(rng.choice(ids))
                for matcher in matchers:
                    matcher.advance(token)
    assert met > (60 if full else 1)


def test_stripped_artifacts_hold_no_text(default_tokenizer: Tokenizer) -> None:
    """Neither the grammar nor its lexemes are inside; the masks are the same."""
    text = 'start: "<" start ">" | "needle"\n'
    plain, stripped = (compiled_lark(text, default_tokenizer, strip=s) for s in (False, True))
    assert "needle" not in repr(stripped.manifest.to_json())
    assert plain.matcher().mask().tolist() == stripped.matcher().mask().tolist()


def has_member(plain: MaximalMunchOracle, longest: int) -> bool:
    """Whether a text of a few characters is a member, by the definition."""
    readings = [plain.begin()]
    for length in range(longest + 1):
        if any(map(plain.may_end, readings)):
            return True
        found = [plain.read(reading, bytes([octet])) for reading in readings for octet in b"abc #"]
        readings = [reading for reading in found if reading.length == length + 1]
    return False


def test_masks_equal_the_definition(full: bool) -> None:
    """Through a file, precomputed, precomputed in part or lazy, on random grammars: whole masks."""
    rng = random.Random(23)
    checked = 0
    for number, (text, plain) in enumerate(random_larks(300 if full else 5, seed=77)):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 8))) for _ in range(30)}
        tokens = [b"a", b"b", b"c", b" ", b"#", *sorted(words)]
        prewarm = (2_000, 3, 0)[number % 3]
        try:
            artifact = reloaded(compiled_lark(text, tokenizer_over(tokens), prewarm=prewarm))
        except CheckError as error:
            assert "there is no member" in str(error)
            assert not has_member(plain, 5), text
            continue
        for _ in range(3):
            matcher, reading = artifact.matcher(), plain.begin()
            for _ in range(6):
                read = [plain.read(reading, token) for token in tokens]
                expected = [
                    i for i, t in enumerate(tokens) if read[i].length == reading.length + len(t)
                ] + [len(tokens)] * plain.may_end(reading)
                assert expected == tokenset.to_ids(matcher.mask()).tolist(), text
                checked += len(tokens) + 1
                choices = [i for i in expected if i < len(tokens)]
                if not choices:
                    break
                token = rng.choice(choices)
                matcher.advance(token)
                reading = read[token]
    assert checked > 2_500


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
@pytest.mark.parametrize("prewarm", [None, 2_000, 0])
def test_masks_do_not_depend_on_what_is_precomputed(
    grammar: str, prewarm: int | None, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Along a sample (every fourth token of it without --full), a file's masks are those of a
    machine that reads the text of each token."""
    if prewarm is None and grammar == CODE and not full:
        pytest.skip("precomputing code takes a while: --full")
    artifact = reloaded(compiled_lark(grammar, default_tokenizer, prewarm=prewarm))
    assert ("trie.octets" in artifact.arrays) == (prewarm is not None and grammar == CODE) or (
        prewarm == 0
    )
    trie = Trie.from_vocabulary(artifact.vocabulary)
    eos = artifact.manifest.eos
    rest = artifact.vocabulary, eos, artifact.vocab_size
    plain = MaximalMunchMasks(artifact.runtime.tables, lambda: trie, *rest)
    matcher, state = artifact.matcher(), plain.start
    for place, token in enumerate(default_tokenizer.encode(SAMPLES[grammar])):
        if full or place % 4 == 0:
            assert row_by_steps(plain, state, eos).tolist() == matcher.mask().tolist()
        matcher.advance(token)
        state = plain.step(state, token)
    assert matcher.is_accepting
    with pytest.raises(TokenRefusedError):
        matcher.advance(default_tokenizer.encode("}")[0])


def test_a_precomputed_file_walks_no_trie(
    json_artifact: Artifact, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All masks of texts of any depth are in the file."""
    artifact = reloaded(json_artifact)

    def no_trie(*_: object) -> Trie:
        raise AssertionError("a row was not precomputed")

    monkeypatch.setattr(Trie, "from_vocabulary", no_trie)
    for text in (SAMPLES[JSON], '[{"a":' * 30 + "[1, {}]" + "}]" * 30):
        matcher = artifact.matcher()
        for token in default_tokenizer.encode(text):
            matcher.advance(token)
        assert matcher.is_accepting
    assert (4, b"") == (
        boundaries(artifact, b'{"a"')[0].length,
        boundaries(artifact, b" ")[0].pending,
    )


def test_limits_on_the_file_leave_masks_to_the_run_time(default_tokenizer: Tokenizer) -> None:
    """Less is precomputed until the file is as small as wanted; a note says so."""
    whole = len(compiled_lark(JSON, default_tokenizer).to_bytes())
    smaller = compiled_lark(JSON, default_tokenizer, max_artifact_bytes=whole - 20_000)
    assert smaller.manifest.counts["answers"] < 400
    assert smaller.matcher().mask().any()


def test_what_cannot_be_compiled(default_tokenizer: Tokenizer) -> None:
    """Other engines, tokens in the grammar, and bytes without a token."""
    grammar = 'start: "a" start "b" |\n%ignore " "\n'
    cases: list[tuple[type[Exception], str, dict[str, object]]] = [
        (CheckError, "network is for --meaning exact", {"engine": "network"}),
        (LimitError, "3 states", {"limits": Limits(states=3)}),
        (ValueError, "meaning must be one of", {"meaning": "longest"}),
    ]
    for error, message, options in cases:
        with pytest.raises(error, match=message):
            compiled_lark(grammar, default_tokenizer, **options)
    with pytest.raises(CheckError, match="maximal munch"):
        compiled_lark('start: <think> "a"\n', default_tokenizer)
    with pytest.raises(CheckError, match="no token for the byte 0x63"):
        compiled_lark('start: "c"\n', tokenizer_over([b"a", b"b"]))


@pytest.mark.parametrize(
    ("text", "dialect", "meaning"),
    [
        ('start: "a"\n', "lark", "exact"),
        ('start: A\nA: "a"\n', "lark", "exact"),
        ('start: A\nA: "a"\n%ignore " "\n', "lark", "maximal-munch"),
        (BOTH + 'start: "a"\n', "lark", "maximal-munch"),
        ('start ::= "a" start "b" | "c";', "kbnf", "exact"),
    ],
)
def test_which_meaning_is_taken(
    text: str, dialect: str, meaning: str, default_tokenizer: Tokenizer
) -> None:
    """Grammars that are written for a lexer are read with one; all can be read exactly."""
    made = compile_grammar(text, dialect=dialect, tokenizer=default_tokenizer)
    assert meaning == made.manifest.meaning
    exact = compile_grammar(text, dialect=dialect, tokenizer=default_tokenizer, meaning="exact")
    assert "exact" == exact.manifest.meaning


def test_rows_as_shared_blocks() -> None:
    """Every row comes back, whatever the number of words; damaged codes are refused."""
    rng = np.random.default_rng(4)
    for words in (1, BLOCK - 1, BLOCK, 3 * BLOCK + 5):
        base = rng.integers(0, 1 << 32, (5, words), dtype=np.uint32)
        rows = base[rng.integers(0, 5, 40)] & base[rng.integers(0, 5, 40)]
        found = shared_blocks(rows)
        assert [r.tolist() for r in rows] == [
            found.row(i, words * 32).tolist() for i in range(len(found))
        ]


def test_no_rows_have_no_blocks() -> None:
    """A grammar whose masks are all short lists of ids has no row: that is none, not damage."""
    none = shared_blocks(np.zeros((0, 3 * BLOCK), dtype=np.uint32))
    assert (0, 3 * BLOCK) == none.rows(slice(None), 3 * BLOCK * 32).shape


@pytest.mark.parametrize("fewest", ["_FEWEST_HEAD_BYTES", "FEWEST_BYTES"])
def test_a_new_machine_takes_the_place_of_one_that_is_full(
    monkeypatch: pytest.MonkeyPatch, default_tokenizer: Tokenizer, fewest: str
) -> None:
    """Matchers share a machine until it has met too much, and go on with the next one."""
    room = "tokens.interning" if fewest == "FEWEST_BYTES" else "maximal_munch.machine"
    monkeypatch.setattr(f"constrain.artifacts.{room}.{fewest}", 0)
    nothing = compiled_lark(JSON, default_tokenizer, prewarm=0).to_bytes()
    artifact = load_bytes(nothing, cache_bytes=0)
    first = artifact.machine()
    assert first is artifact.machine()
    matcher, other = artifact.matcher(), artifact.matcher()
    monkeypatch.setattr("constrain.artifacts.maximal_munch.machine._STEPS_BETWEEN_LOOKS", 1)
    for token in default_tokenizer.encode('[[[{"a": [1, 2, {}, "b"]}]]]'):
        matcher.advance(token)
        assert matcher.mask().any()
    assert first is not artifact.machine()
    assert matcher.is_accepting
    for token in default_tokenizer.encode('[{"a": 1}]'):
        other.advance(token)
    assert other.is_accepting


def test_a_long_and_a_deep_text(json_artifact: Artifact, deep: int, full: bool) -> None:
    """A megabyte of JSON and tens of thousands of brackets in bounded memory, without
    recursion."""
    artifact = reloaded(json_artifact)
    matcher = artifact.matcher()
    ids = {artifact.vocabulary.token(i): i for i in range(256)}
    part = '{"name": "größe", "list": [1, -2.5e3, true, null, {"x": "\\u00e9"}]},\n'.encode()
    text = b"[" + part * ((1_000_000 if full else 27_500) // len(part)) + b"1" + b"]"
    text += b" " * 10
    for octet in text:
        matcher.advance(ids[bytes([octet])])
    assert matcher.is_accepting
    machine = artifact.machine()  # type: ignore[union-attr]
    assert machine.walks.rows.in_memory < 1_000  # type: ignore[union-attr]
    assert len(machine.configurations.transitions.frames.entries) < 1_000  # type: ignore[union-attr]
    matcher = artifact.matcher()
    for octet in b"[" * deep + b"]" * deep:
        matcher.advance(ids[bytes([octet])])
        matcher.mask()
    assert matcher.is_accepting


def test_the_first_mask_of_a_file_makes_no_flag_for_each_token(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sets of few ids, such as those that end a text, are made as they are packed."""
    data = compiled_lark(JSON, default_tokenizer).to_bytes()

    def refuse(flags: object) -> None:
        raise AssertionError("a flag for each token")

    monkeypatch.setattr(tokenset, "from_flags", refuse)
    assert load_bytes(data).matcher().mask().any()
