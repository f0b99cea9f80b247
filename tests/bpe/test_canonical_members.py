"""No wrong bit: of random members of twelve grammars the tokenizer's own sequence alone."""

import base64
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.canonical import GRAMMARS, member
from support.cartesian import SAMPLED, TOKENIZERS, Case, skip_unless_sampled

from constrain.artifacts.tokens import tokenset


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_one_sequence_is_accepted_and_it_is_the_tokenizers_own(
    name: str,
    grammar: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Along it every mask holds the next token, at the end EOS; of members that the tokenizer
    does not give back no sequence is accepted."""
    skip_unless_sampled(name, grammar, full)
    here = case(name)
    artifact = here.artifact(grammar)
    rng = random.Random(2024)
    texts = [member(grammar, rng) for _ in range(1000 if full else 25)]
    kept = 0
    for text, own in zip(texts, here.encode_all(texts), strict=True):
        assert re.fullmatch(GRAMMARS[grammar], text), text
        expected = [own] if here.gives_back(text, own) else []
        octets = (artifact.text_prefix if text else b"") + text.encode()
        assert expected == here.spelled(artifact.matcher(), octets), text
        matcher = artifact.matcher()
        for token_id in own if expected else ():
            matcher.advance(token_id)
        assert not expected or tokenset.contains(matcher.mask(), artifact.manifest.eos[0])
        kept += len(expected)
    assert kept > len(texts) // 2
    record_property("members", len(texts))
    record_property("with a sequence", kept)


RANKS = {
    "gpt2": ("gpt2.tiktoken", "r50k_base"),
    "cl100k_base": ("cl100k_base.tiktoken", "cl100k_base"),
    "whisper-multilingual": ("multilingual.tiktoken", "r50k_base"),
}


@pytest.mark.parametrize("name", RANKS)
def test_both_libraries_encode_alike(
    name: str,
    case: Callable[[str], Case],
    data: Callable[[str], Path],
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oracle of these tests against the library that the ranks were made for."""
    if not full and name not in SAMPLED:
        pytest.skip("sampled: --full runs all tokenizers")
    tiktoken = pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    file, encoding = RANKS[name]
    lines = data(f"tokenizers/{name}/{file}").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: ranks)
    pattern = getattr(public, encoding)()["pat_str"]
    other = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    rng = random.Random(2024)
    for grammar in GRAMMARS:
        texts = [member(grammar, rng) for _ in range(1000 if full else 25)]
        assert other.encode_ordinary_batch(texts, num_threads=1) == case(name).encode_all(texts)
