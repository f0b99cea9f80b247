"""No wrong bit: of a member the tokenizer's own sequence alone, at the start and after prompts."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import base64
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import offenders, sampled
from support.corpus.engines import ENGINES, NETWORKS
from support.corpus.languages import NESTING, PROMPTS, SMALL_EXAMPLES, TYPICAL, member, typical
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import SAMPLED, TINY, TOKENIZERS, Case

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.tokens import tokenset

Count = Callable[[str, object], None]

LAZILY = "canonical network, lazily"
SOME = [("CartesianMerge", name) for name in SAMPLED] + [(LAZILY, TINY[1])]
RUNS = [("CartesianMerge", name) for name in TOKENIZERS]
RUNS += [(engine, name) for engine in NETWORKS for name in (*SAMPLED, *TINY)]


def is_accepted(artifact: Artifact, ids: list[int], prompt: list[int] | None = None) -> bool:
    """Whether each mask holds the next of some tokens, and the last one EOS."""
    matcher = artifact.matcher(after=prompt)
    for token in ids:
        if not tokenset.contains(matcher.mask(), token):
            return False
        matcher.advance(token)
    return matcher.is_accepting and tokenset.contains(matcher.mask(), artifact.manifest.eos[0])


def check_members(
    here: Case, engine: str, language: Language, count: int, counts: dict[str, int]
) -> None:
    """Of random members that the tokenizer gives back its own sequence is accepted, of others
    none is."""
    artifact = ENGINES[engine].stored(language, here)
    rng = random.Random(2024)
    texts = [member(language, rng) for _ in range(count)]
    kept = 0
    for text, own in zip(texts, here.encode_all(texts), strict=True):
        assert language.automaton is not None
        assert language.automaton.dfa.accepts(text.encode()), text
        expected = [own] if here.gives_back(text, own) else []
        octets = (artifact.text_prefix if text else b"") + text.encode()
        assert expected == here.spelled(artifact.matcher(), octets), text
        assert not expected or is_accepted(artifact, own), text
        kept += len(expected)
    assert kept > len(texts) // 2
    counts["members"] += len(texts)
    counts["with a sequence"] += kept


@sampled(("engine", "name"), SOME, RUNS)
def test_one_sequence_is_accepted_and_it_is_the_tokenizers_own(
    engine: str, name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """Of twelve grammars."""
    here, counts = case(name), dict.fromkeys(("members", "with a sequence"), 0)
    count = 1000 if full else 5

    def check(language: Language) -> None:
        check_members(here, engine, language, count, counts)

    assert {} == offenders(typical(name, full), check)
    for kind, number in counts.items():
        record_property(kind, number)


def test_one_sequence_is_accepted_by_tables(
    case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """Of the examples by DirectMerge, with the cuts of GPT-2."""
    here, counts = case("gpt2"), dict.fromkeys(("members", "with a sequence"), 0)
    count = 1000 if full else 15

    def check(language: Language) -> None:
        check_members(here, "DirectMerge", language, count, counts)

    assert {} == offenders(SMALL_EXAMPLES, check)
    assert counts["members"] == counts["with a sequence"] == 4 * count
    record_property("members", counts["members"])


@sampled(("engine", "name"), SOME, RUNS)
def test_behind_prompts(
    engine: str, name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """Where the tokenizer keeps the prompt's last boundary, the one sequence of a member is what
    the tokenizer puts after the prompt; where it does not, the member has none."""
    here, total = case(name), {"kept": 0, "not kept": 0}

    def check(language: Language) -> None:
        artifact = ENGINES[engine].stored(language, here)
        rng = random.Random(3)
        counts = {"kept": 0, "not kept": 0}
        while sum(counts.values()) < (250 if full else 7):
            prompt, text = rng.choice(PROMPTS), member(language, rng)
            before, whole = here.encode(prompt), here.encode(prompt + text)
            if not text or not here.gives_back(prompt + text, whole):
                continue
            keeps = whole[: len(before)] == before
            counts["kept" if keeps else "not kept"] += 1
            rest = whole[len(before) :]
            try:
                matcher = artifact.matcher(after=before)
            except ArtifactError:
                assert not keeps, (prompt, text)
                continue
            expected = [rest] if keeps else []
            assert expected == here.spelled(matcher, text.encode()), (prompt, text)
            assert not keeps or is_accepted(artifact, rest, before), (prompt, text)
        assert counts["kept"] > 2
        for kind in total:
            total[kind] += counts[kind]

    assert {} == offenders(typical(name, full), check)
    for kind, number in total.items():
        record_property(kind, number)


@sampled(
    ("engine", "name"),
    [(LAZILY, name) for name in (*TINY, *SAMPLED)]
    + [("canonical network", name) for name in (*TINY[1:], "gpt2")],
    [(engine, name) for engine in NETWORKS for name in (*TINY, *TOKENIZERS)],
)
def test_members_of_grammars_that_nest(engine: str, name: str, case: Callable[[str], Case]) -> None:
    """Along their own tokens, at the start and after prompts that the tokenizer keeps."""
    here = case(name)

    def check(language: Language) -> None:
        artifact = ENGINES[engine].stored(language, here)
        (text,) = (text.decode() for text in language.accepted)
        for prompt in ("", "Answer:\n", "Yes"):
            before, whole = here.encode(prompt), here.encode(prompt + text)
            if whole[: len(before)] == before:
                assert is_accepted(artifact, whole[len(before) :], before or None), prompt
        assert [here.encode(text)] == here.spelled(
            artifact.matcher(), artifact.put_before(text.encode()) + text.encode()
        )

    assert {} == offenders(NESTING, check)


RANKS = {
    "gpt2": ("gpt2.tiktoken", "r50k_base"),
    "cl100k_base": ("cl100k_base.tiktoken", "cl100k_base"),
    "whisper-multilingual": ("multilingual.tiktoken", "r50k_base"),
}


@sampled("name", ["gpt2"], RANKS)
def test_both_libraries_encode_alike(
    name: str,
    case: Callable[[str], Case],
    data: Callable[[str], Path],
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oracle of these tests against the library that the ranks were made for."""
    tiktoken = pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    file, encoding = RANKS[name]
    lines = data(f"tokenizers/{name}/{file}").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: ranks)
    pattern = getattr(public, encoding)()["pat_str"]
    other = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    rng = random.Random(2024)
    for language in TYPICAL.values():
        texts = [member(language, rng) for _ in range(1000 if full else 25)]
        assert other.encode_ordinary_batch(texts, num_threads=1) == case(name).encode_all(texts)
