"""Artifacts of the kinds network and earley: masks and matchers."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path

import numpy as np
import pytest
from support import tokenizer_json, tokenizer_of, written
from support.grammars import ARITHMETIC, JSON, MARKUP, SAMPLES, STATEMENTS, random_grammars
from support.matcher import after, allowed
from support.network import ENGINES, made

from constrain.artifacts import Artifact, TokenRefusedError
from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.options import PREWARM
from constrain.compiler.pipeline import build_artifact, build_engine


@pytest.mark.parametrize("text", SAMPLES, ids=["json", "arithmetic", "dyck", "markup", "code"])
def test_loaded_masks_are_those_in_memory(
    text: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Along each sample: as compiled, as loaded, with nothing precomputed, and by Earley."""
    network = made(text, default_tokenizer, "network")
    recogniser = build_engine(text, dialect="kbnf", engine="network")
    cold = build_artifact(recogniser, default_tokenizer, tokenization="any", prewarm=0).artifact
    assert 0 == cold.manifest.counts["answers"]
    others = [network, load_bytes(network.to_bytes()), cold]
    others.append(made(text, default_tokenizer, "earley"))
    matchers = [artifact.matcher() for artifact in others]
    for token_id in default_tokenizer.encode(SAMPLES[text].decode())[: 60 if full else 1]:
        rows = {matcher.mask().tobytes() for matcher in matchers}
        assert 1 == len(rows)
        for matcher in matchers:
            matcher.advance(token_id)
    assert 1 == len({matcher.is_accepting for matcher in matchers})


@pytest.mark.parametrize("text", [JSON, ARITHMETIC, MARKUP, STATEMENTS], ids=str.split)
def test_nothing_is_missing_that_was_precomputed(text: str, default_tokenizer: Tokenizer) -> None:
    """Random texts of every depth find all summaries in the file: the trie is never built."""
    artifact = made(text, default_tokenizer, "network")
    assert artifact.manifest.counts["answers"] < PREWARM
    rng = random.Random(5)
    for _ in range(20):
        matcher = artifact.matcher()
        for _ in range(60):
            ids = tokenset.to_ids(matcher.mask())
            if matcher.is_finished or not len(ids):
                break
            matcher.advance(int(rng.choice(ids)))
    assert "trie" not in vars(artifact)


def test_what_was_not_precomputed_is_computed_lazily(default_tokenizer: Tokenizer) -> None:
    """Few summaries in the file, and the same masks; a note says that some are missing."""
    recogniser = build_engine(JSON, dialect="kbnf")
    found = build_artifact(recogniser, default_tokenizer, tokenization="any", prewarm=20)
    assert any(" precomputed, others when met" in note for note in found.notes)
    assert 20 <= found.artifact.manifest.counts["answers"] < 60
    ids = default_tokenizer.encode('[{"a": [1, {}]}')
    for end in range(len(ids)):
        whole = made(JSON, default_tokenizer)
        assert allowed(after(whole, *ids[:end])) == allowed(after(found.artifact, *ids[:end]))


def test_masks_equal_earleys_on_random_grammars(tmp_path: Path, full: bool) -> None:
    """Whole masks of both kinds after loading, on random grammars that do not fit a DFA."""
    rng = random.Random(3)
    merges = ["a b", "ab c", "b b", "c a", "ca b", "a a"]
    tokenizer = tokenizer_of(tmp_path, "abc", merges, added=[(9, "<eos>", True)])
    seen = 0
    for text, _ in random_grammars(300 if full else 11, seed=17):
        found = []
        try:
            for engine in ENGINES:
                made_one = made(text, tokenizer, engine, eos=["<eos>"])
                found.append(load_bytes(made_one.to_bytes(), verify=True).matcher())
        except TokenizerError:  # It has an exception, which needs all bytes.
            continue
        for _ in range(8):
            left, right = (tokenset.to_ids(matcher.mask()).tolist() for matcher in found)
            assert left == right, text
            if not left:
                break
            token_id = rng.choice(left)
            for matcher in found:
                matcher.advance(token_id)
        seen += 1
    assert seen > 8


# --- matchers


@pytest.mark.parametrize("engine", ENGINES)
def test_matchers_do_not_disturb_each_other(
    json_artifacts: dict[str, Artifact], engine: str, default_tokenizer: Tokenizer
) -> None:
    """Two texts side by side, each with its masks, rollback included."""
    artifact = json_artifacts[engine]
    texts = ['[1, {"a": []}]', '{"b": [true, "x"]}']
    alone = []
    for text in texts:
        matcher, rows = artifact.matcher(), []
        for token_id in default_tokenizer.encode(text):
            rows.append(matcher.mask().tobytes())
            matcher.advance(token_id)
        alone.append(rows)
    both = [(artifact.matcher(), default_tokenizer.encode(text)) for text in texts]
    for place in range(max(len(ids) for _, ids in both)):
        for (matcher, ids), rows in zip(both, alone, strict=True):
            if place < len(ids):
                assert rows[place] == matcher.mask().tobytes()
                matcher.advance(ids[place])
    for (matcher, ids), rows in zip(both, alone, strict=True):
        assert matcher.is_accepting
        matcher.rollback(len(ids) - 2)
        assert rows[2] == matcher.mask().tobytes()
        for token_id in ids[2:]:
            matcher.advance(token_id)
        assert matcher.is_accepting


@pytest.mark.parametrize("engine", ENGINES)
def test_a_whole_match(engine: str, default_tokenizer: Tokenizer) -> None:
    """Forced tokens, a refused token, logits, the end, and going back after it."""
    artifact = made("s ::= '<' s '>' | 'x' 'yz';", default_tokenizer, engine)
    eos = artifact.manifest.eos[0]
    matcher = artifact.matcher()
    for token_id in default_tokenizer.encode("<<x"):
        matcher.advance(token_id)
    with pytest.raises(TokenRefusedError):
        matcher.advance(eos)
    logits = np.zeros(artifact.vocab_size, dtype=np.float32)
    matcher.apply(logits)
    assert np.isfinite(logits).nonzero()[0].tolist() == tokenset.to_ids(matcher.mask()).tolist()
    for token_id in default_tokenizer.encode("yz>"):
        matcher.advance(token_id)
    (closing,) = default_tokenizer.encode(">")
    assert [closing] == matcher.forced_tokens()
    matcher.advance(closing)
    matcher.advance(eos)
    assert matcher.is_finished
    matcher.rollback(2)
    assert [closing] == tokenset.to_ids(matcher.mask()).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["s ::= '';", "s ::= 'a'?;", "s ::= 'a' s | '';"])
def test_the_empty_text(engine: str, text: str, default_tokenizer: Tokenizer) -> None:
    """ε is a member, also where it is the only one."""
    artifact = load_bytes(made(text, default_tokenizer, engine).to_bytes())
    matcher = artifact.matcher()
    assert matcher.is_accepting
    assert artifact.manifest.eos[0] in tokenset.to_ids(matcher.mask())
    assert ("a" in text) == (len(tokenset.to_ids(matcher.mask())) > 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_prefixes_of_bytes(json_artifacts: dict[str, Artifact], engine: str) -> None:
    """All boundaries of a text, in which tokens may end anywhere, are those of the other kind."""
    listed = {
        name: [(b.length, b.ids, b.allowed.tolist()) for b in boundaries(artifact, b'[{"a": tr')]
        for name, artifact in json_artifacts.items()
    }
    assert listed["network"] == listed[engine] != []


def test_a_new_network_takes_the_place_of_one_that_is_full(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded over many texts; matchers that run go on as if nothing had happened, and
    whoever holds the old machine keeps it."""
    monkeypatch.setattr("constrain.artifacts.tokens.interning.FEWEST_BYTES", 1_000)
    artifact = made("s ::= '[' s ']' | 'x';", default_tokenizer)
    artifact = load_bytes(artifact.to_bytes(), cache_bytes=0)
    first = artifact.machine()
    assert isinstance(first, MetMasks)
    running = artifact.matcher()
    for token_id in default_tokenizer.encode("[" * 7):
        running.advance(token_id)
    mask = running.mask().tolist()
    deep = first.network.read(first.start, b"[" * 20)
    first.look()
    assert first.is_full
    other = artifact.matcher()
    assert first is not artifact.machine()
    assert running.mask().tolist() == mask
    running.advance(default_tokenizer.encode("x")[0])
    assert not running.is_accepting
    for token_id in default_tokenizer.encode("]" * 7):
        running.advance(token_id)
    assert running.is_accepting
    running.rollback(1)
    assert not running.is_accepting
    assert other.mask().tolist() == first.row(first.start).tolist()
    assert first.row(deep).any()


# --- tokens that a grammar names


@pytest.mark.parametrize("engine", ENGINES)
def test_a_token_can_be_a_text_and_a_terminal(engine: str, tmp_path: Path) -> None:
    """Both readings are followed: <[2]> is the token ab, which is a text as well."""
    described = tokenizer_json("ab", ["a b"], added=[(3, "<eos>", True)])
    tokenizer = load_tokenizer(written(tmp_path, described))
    artifact = compile_grammar(
        'root ::= "a" root "b" | "ab" "a" | <[2]> "b"',
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine=engine,
        eos=["<eos>"],
    )
    assert [0, 2] == allowed(
        after(
            artifact,
        )
    )
    # After ab: a (the text aba), or b (the terminal, and its b).
    assert [0, 1] == allowed(after(artifact, 2))
    assert [3] == allowed(after(artifact, 2, 1)) == allowed(after(artifact, 2, 0))
    # After a and b it is the text alone; after a and ab both again, one level deeper.
    assert [0] == allowed(after(artifact, 0, 1))
    assert [0, 1, 2] == allowed(after(artifact, 0, 2))
    assert [1] == allowed(after(artifact, 0, 2, 1))
