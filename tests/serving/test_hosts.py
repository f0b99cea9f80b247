"""Every adapter under hosts that batch, reorder, draft, refuse, stop and pad: each mask is that of
a matcher that has read the text from its start."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pickle
import pickletools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.matcher import Compile, allowed
from support.serving import ADAPTERS, PROMPTS, WITH_BEAMS, Host, fake_modules

from constrain.artifacts import Artifact
from constrain.artifacts.serving import bitmask, llama_cpp, tensorrt, transformers
from constrain.artifacts.serving.texts import DeadEndWarning, ServingError, Texts

pytestmark = pytest.mark.quick

WORDS = 's ::= "the " ("cat" | "dog") (" and " ("cat" | "dog"))* "." | #"[0-9]{4}-[0-9]{2}";'
NUMBERS = 's ::= #"[1-9][0-9]{0,5}" ("," #"[1-9][0-9]{0,5}")*;'
KINDS = ("canonical", "any")


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The hosts' modules, as far as adapters import them."""
    fake_modules(monkeypatch)
    yield
    transformers._subclass.cache_clear()


@pytest.fixture(params=ADAPTERS)
def host(request: pytest.FixtureRequest) -> Callable[..., Host]:
    """A host by each adapter."""

    def made(*artifacts: Artifact, more: int = 0, seed: int = 0, **given: object) -> Host:
        width = artifacts[0].vocab_size + more
        return Host(ADAPTERS[request.param](artifacts, given), artifacts, width, seed)

    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [0, 47])
def test_batches_hold_members_alone(
    host: Callable[..., Host], artifacts: Compile, kind: str, more: int
) -> None:
    """Several answers to each prompt, which end at different times and are padded then; the
    logits are as many as the tokens, or more, as those of padded vocabularies."""
    artifact = artifacts(WORDS, kind)
    running = host(artifact, more=more)
    ended = 0
    for text in running.sample(answers=3):
        matcher = artifact.matcher()
        taken = matcher.accept(text)
        assert taken == len(text) or matcher.is_finished
        assert set(text[taken:]) <= {running.eos}
        ended += matcher.is_finished
    assert ended > 3
    assert 6 * 24 == running.rows


def test_each_prompt_may_have_a_grammar_of_its_own(
    host: Callable[..., Host], artifacts: Compile
) -> None:
    """Rows are those of the prompts, in groups of a size."""
    several = artifacts(WORDS, "canonical"), artifacts(NUMBERS, "canonical")
    texts = host(*several).sample(answers=2)
    for row, text in enumerate(texts):
        assert several[row // 2].matcher().accept(text) > 0
        assert several[1 - row // 2].matcher().accept(text) < len(text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("masked", [True, False])
def test_drafts_change_nothing(
    host: Callable[..., Host], artifacts: Compile, kind: str, masked: bool
) -> None:
    """Greedy search by another model's drafts gives what it gives without them, whether the
    processor sees these drafts one by one or only judges them."""
    artifact = artifacts(WORDS, kind)
    for seed in range(4):
        expected = host(artifact, seed=seed).greedy()
        assert artifact.matcher().accept(expected) == len(expected)
        assert expected == host(artifact, seed=seed).assisted(masked=masked)


@pytest.mark.parametrize("name", WITH_BEAMS)
@pytest.mark.parametrize("nests", [False, True])
def test_beams_may_be_reordered(
    name: str, nests: bool, artifacts: Compile, json_artifacts: dict[str, Artifact]
) -> None:
    """Two prompts with four beams each, of which several go on from one; with one grammar, or a
    grammar for each prompt."""
    several = [artifacts(WORDS, "canonical"), artifacts(NUMBERS, "canonical")]
    if nests:
        several = [json_artifacts["network"]]
    running = Host(ADAPTERS[name](several, {}), several, several[0].vocab_size)
    found = running.beams(4)
    for artifact, beam in ((several[0], found[0]), (several[-1], found[4])):
        matcher = artifact.matcher()
        assert matcher.accept(beam) == len(beam) or matcher.is_finished
    assert 8 * 12 == running.rows


def test_rows_and_logits_may_differ_in_width() -> None:
    """What no word of a row is there for becomes -inf, and words beyond the logits count nothing;
    what are no rows, or none for these logits, is refused."""
    rows = np.array([[0b101, 0], [-1, 0]], np.int32)
    for width in (3, 40, 64, 70):
        logits = np.ones((2, width), np.float32)
        bitmask.apply(logits, rows)
        found = [np.flatnonzero(np.isfinite(row)).tolist() for row in logits]
        assert [[0, 2], [*range(min(width, 32))]] == found
    good = np.ones((2, 40), np.float32)
    wrong: list[tuple[Any, Any, str]] = [
        (good, rows[:1], r"logits for 1 rows are \(1, v\), not \(2, 40\)"),
        (good[0], rows, r"not \(40,\)"),
        (good.astype(np.int32), rows, "not floating"),
        (good, rows.astype(np.int64), "int32 or uint32"),
        (good, rows[0], "int32 or uint32"),
    ]
    for logits, each, said in wrong:
        with pytest.raises(ValueError, match=said):
            bitmask.apply(logits, each)
    assert (good == 1).all()


def test_texts_end_with_the_stop_ids_of_the_request(
    host: Callable[..., Host], artifacts: Compile
) -> None:
    """Where they may end, and nowhere else, though they are text."""
    artifact = artifacts(NUMBERS, "any")
    (digit,) = (i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == b"7")
    running = host(artifact, stop_ids=[digit])
    ids = [[*prompt] for prompt in PROMPTS]
    first = running.call(ids, np.zeros((2, artifact.vocab_size), np.float32))
    assert {-np.inf} == {*first[:, digit]}
    (one,) = (i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == b"1")
    then = running.call([[*row, one] for row in ids], np.zeros_like(first))
    assert {0.0} == {*then[:, digit]}
    ended = running.call([[*row, one, digit] for row in ids], np.zeros_like(first))
    assert [[digit]] * 2 == [np.flatnonzero(np.isfinite(row)).tolist() for row in ended]


def test_prompts_are_followed_where_they_are_given(artifacts: Compile) -> None:
    """Under canonical masks, as by ``Artifact.matcher(after=…)``."""
    artifact = artifacts('s ::= #"[a-c ]{1,6}";', "canonical")
    space = next(i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == b" ")
    letter = next(i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == b"a")
    prompts = [[letter], [space]]
    texts = Texts(artifact, prompts=prompts)
    rows = texts.rows(np.array(prompts), artifact.vocab_size)
    expected = [artifact.matcher(after=prompt).mask().tolist() for prompt in prompts]
    assert expected == rows.view(np.uint32).tolist()
    assert expected[0] != expected[1]
    alone = llama_cpp.processor(artifact, prompt=prompts[1])
    scores = alone(np.array(prompts[1], np.intc), np.zeros(artifact.vocab_size, np.single))
    assert np.isfinite(scores).sum() == sum(word.bit_count() for word in expected[1])
    with pytest.raises(ServingError, match="3 prompts do not fit 2 artifacts"):
        Texts([artifact, artifact], prompts=[[1], [2], [3]])


def test_a_processor_refuses_another_generation(artifacts: Compile) -> None:
    """Other prompts, longer and shorter ones, until it is reset; never a silent wrong mask."""
    artifact = artifacts(WORDS, "any")
    texts = Texts(artifact)
    texts.rows(np.array([[1, 2, 3]]), artifact.vocab_size)
    for ids in ([[1, 2]], [[1, 2, 4]], [[1, 2, 3, 4, 5]], [[3, 2, 3, 4]], [[1, 2, 3], [1, 2, 3]]):
        with pytest.raises(ServingError, match="not the texts that the processor has followed"):
            texts.rows(np.array(ids), artifact.vocab_size)
    texts.reset()
    texts.rows(np.array([[1, 2, 3, 4, 5]]), artifact.vocab_size)
    with pytest.raises(ServingError, match="no rows for each of 2 artifacts"):
        Texts([artifact, artifact]).rows(np.array([[1]]), artifact.vocab_size)


def test_an_error_that_a_host_ignores_leaves_the_end_alone(artifacts: Compile) -> None:
    """llama.cpp goes on from errors in processors: then what follows is not masked."""
    artifact = artifacts(WORDS, "any")
    made = llama_cpp.processor(artifact)
    made(np.array([1, 2], np.intc), np.zeros(artifact.vocab_size, np.single))
    for ids in ([1, 3, 4], [1, 2]):
        scores = np.zeros(artifact.vocab_size, np.single)
        with pytest.raises(ServingError, match="not the texts that the processor has followed"):
            made(np.array(ids, np.intc), scores)
        assert [*artifact.manifest.eos] == np.flatnonzero(np.isfinite(scores)).tolist()
    assert isinstance(made.error, ServingError)


def test_a_given_prompt_length_may_be_met_late(artifacts: Compile) -> None:
    """A host that begins to call in the middle of a text says where it began."""
    artifact = artifacts(WORDS, "any")
    (the,) = [i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == b"the"]
    rows = Texts(artifact, prompt_length=2).rows(np.array([[9, 9, the]]), artifact.vocab_size)
    matcher = artifact.matcher()
    matcher.advance(the)
    assert matcher.mask().tolist() == rows[0].view(np.uint32).tolist()


def test_a_dead_end_ends_the_text_and_is_told(artifacts: Compile) -> None:
    """With the rules that are open; it goes on with the end alone, and other rows are as ever."""
    artifact = artifacts(
        'start: "(" inner ")" | A B\ninner: "[" start "]" | "b"\nA: /a/\nB: /b+/\n',
        "any",
        dialect="lark",
        meaning="maximal-munch",
        engine="greedy",
    )
    spelled = [artifact.vocabulary.token(i) for i in range(artifact.vocab_size)]
    eos = artifact.manifest.eos[0]
    # The only tokens that could follow end this text, and are no text of it.
    stops = [i for i, text in enumerate(spelled) if text.startswith(b"b")] + [eos]
    ids = [spelled.index(octet) for octet in (b"(", b"[", b"a")]
    texts = Texts(artifact, stop_ids=stops)
    for length in range(3):
        rows = texts.rows(np.array([[*ids[:length]], [*ids[:length]]]).reshape(2, -1), len(spelled))
        assert {} == texts.problems
    with pytest.warns(DeadEndWarning, match="row 0, after 3 tokens, .* dead end .*, in start"):
        rows = texts.rows(np.array([ids, [*ids[:2], ids[0]]]), len(spelled))
    flags = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    assert sorted(stops) == np.flatnonzero(flags[0]).tolist()
    assert ids[1] in np.flatnonzero(flags[1]).tolist()
    assert [0] == [*texts.problems]
    rows = texts.rows(np.array([[*ids, eos], [*ids[:2], ids[0], ids[0]]]), len(spelled))
    assert [0, 1] == [*texts.problems]
    # What would be allowed before the token that was not: the text does not go on there.
    rows = texts.rows(np.array([[*ids, eos, eos], [*ids[:2], *ids[:1] * 2, ids[1]]]), len(spelled))
    flags = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    assert [sorted(stops)] * 2 == [np.flatnonzero(row).tolist() for row in flags]
    assert f"token {ids[0]}, after 3 others, is not allowed there" == texts.problems[1]


def test_a_text_that_no_token_ends_is_an_error(artifacts: Compile) -> None:
    """Where nothing may follow, a host would choose anything."""
    artifact = artifacts('s ::= "a";', "any")
    letter = [artifact.vocabulary.token(i) for i in range(artifact.vocab_size)].index(b"a")
    texts = Texts(artifact, stop_ids=[])
    texts.rows(np.zeros((1, 0), np.int64), artifact.vocab_size)
    with pytest.raises(ServingError, match="is a member of the grammar, and no token ends it"):
        texts.rows(np.array([[letter]]), artifact.vocab_size)


def test_processors_of_requests_forget_those_that_have_ended(
    artifacts: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only those: the texts of the others go on."""
    monkeypatch.setattr(tensorrt, "_MOST_REQUESTS", 2)
    artifact = artifacts('s ::= "a"*;', "any")
    eos, width = artifact.manifest.eos[0], artifact.vocab_size
    letter = [artifact.vocabulary.token(i) for i in range(width)].index(b"a")
    made = tensorrt.processor(artifact)
    for request, ids in ((1, [9]), (2, [9, 9]), (1, [9, eos]), (2, [9, 9, letter]), (3, [7, 7, 7])):
        logits = np.zeros((1, 1, width), np.float32)
        made(request, logits, [ids], None, None)
        assert np.isfinite(logits[0, 0, eos])
        assert (eos in ids) == (not np.isfinite(logits[0, 0, letter]))
    assert [2, 3] == sorted(made._texts)


def test_processors_of_requests_can_be_pickled(artifacts: Compile) -> None:
    """For the host's own processes, which approve of one class and no other."""
    artifact = artifacts('s ::= "a"*;', "any")
    made = tensorrt.processor(artifact, stop_ids=[3])
    data = pickle.dumps(made)
    named = {a for code, a, _ in pickletools.genops(data) if isinstance(a, str)}
    modules = [each for each in named if each.startswith(("constrain", "numpy", "builtins"))]
    assert ["constrain.artifacts.serving.tensorrt"] == modules
    logits = np.zeros((1, 1, artifact.vocab_size), np.float32)
    pickle.loads(data)(2, logits, [[9, 9]], None, None)
    expected = artifact.matcher(stop_ids=[3])
    assert allowed(expected) == np.flatnonzero(np.isfinite(logits)).tolist()


def test_the_processor_of_transformers_is_one_of_its_own(artifacts: Compile) -> None:
    """Made when it is needed, of the library's class, and not for continuous batching."""
    import transformers as library

    made = transformers.processor(artifacts(WORDS, "any"))
    assert isinstance(made, library.LogitsProcessor)
    assert made.supports_continuous_batching is False
