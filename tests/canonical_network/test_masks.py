"""Canonical masks of grammars that are not regular, against all encodings of all members."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from support.canonical import (
    FINITE,
    check,
    eos_of,
    following,
    machine_of,
    members,
    random_walks,
)
from support.cartesian import TINY, Case
from support.grammars import DYCK, JSON, MARKUP, SAMPLES, STATEMENTS, nullable_lnf_of

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.lnf.unroll import unroll
from constrain.compiler.network import build as networks
from constrain.compiler.pipeline import build_artifact, build_engine


@pytest.mark.parametrize("largest", [0, 200], ids=["calls", "inlined"])
@pytest.mark.parametrize("grammar", FINITE.values(), ids=FINITE)
@pytest.mark.parametrize("name", [*TINY, "gpt2"])
def test_masks_of_finite_grammars_are_those_of_all_encodings(
    name: str,
    grammar: str,
    largest: int,
    case: Callable[[str], Case],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After each prefix of a member's encoding exactly the tokens that some member's encoding
    goes on with, and EOS where one ends; the rules as calls or copied."""
    monkeypatch.setattr(networks, "INLINED_STATES", largest)
    tables = networks.network(nullable_lnf_of(grammar))
    here = case(name)
    texts = [text.decode() for text in members(tables)]
    eos = eos_of(here.tokenizer)
    expected = following(map(here.encode, texts), eos)
    assert check(machine_of(tables, here.tokenizer, here.tables), expected) > 10
    assert (
        largest
        or len(tables.call_starts)
        or grammar in map(FINITE.get, ("scripts", "optional", "contractions"))
    )


@pytest.mark.parametrize("grammar", [JSON, DYCK, MARKUP, STATEMENTS])
@pytest.mark.parametrize("name", [*TINY, "gpt2"])
def test_no_mask_is_empty_before_the_end(
    name: str, grammar: str, case: Callable[[str], Case], full: bool
) -> None:
    """Random walks by the masks alone; what they spell is encoded so."""
    here = case(name)
    machine = machine_of(networks.network(nullable_lnf_of(grammar)), here.tokenizer, here.tables)
    walks = random_walks(
        machine, eos_of(here.tokenizer), random.Random(5), 2_500 if full else 12, 25
    )
    for ids in walks:
        text = b"".join(here.tokenizer.decode_bytes([i]) for i in ids).decode()
        assert ids == here.encode(text)


@pytest.mark.parametrize("grammar", SAMPLES)
@pytest.mark.parametrize("name", [*TINY, "gpt2"])
def test_members_are_accepted_along_their_own_tokens(
    name: str, grammar: str, case: Callable[[str], Case]
) -> None:
    """And at the end EOS."""
    here = case(name)
    machine = machine_of(networks.network(nullable_lnf_of(grammar)), here.tokenizer, here.tables)
    state = machine.start
    for token in here.encode(SAMPLES[grammar].decode()):
        assert tokenset.contains(machine.row(state), token)
        state = machine.step(state, token)
    assert machine.is_accepting(state)
    assert set(eos_of(here.tokenizer)) <= set(tokenset.to_ids(machine.row(state)).tolist())


@pytest.mark.parametrize(("grammar", "opening", "closing"), [(JSON, "[", "]"), (DYCK, "(", ")")])
def test_nesting_has_no_bound(
    grammar: str, opening: str, closing: str, default_tokenizer: Tokenizer
) -> None:
    """Nor recursion, where the end of the text is a thousand tokens away."""
    artifact = compile_grammar(grammar, dialect="kbnf", tokenizer=default_tokenizer)
    assert artifact.manifest.tokenization == "canonical"
    matcher = artifact.matcher()
    for token in default_tokenizer.encode(opening * 1500 + closing * 1500):
        matcher.advance(token)
    assert matcher.is_accepting


@pytest.mark.parametrize("name", ["gpt2", "mistral-v3"])
def test_behind_a_prompt(name: str, case: Callable[[str], Case]) -> None:
    """A member is accepted along the tokens that it has behind the prompt; by way of the file."""
    here = case(name)
    found = compile_grammar(
        JSON,
        dialect="kbnf",
        tokenizer=here.tokenizer,
        tables=here.tables,
        eos=[] if here.tokenizer.eos else [0],
    )
    artifact = load_bytes(found.to_bytes())
    for prompt in ("Answer:\n", "", "Yes"):
        own = here.encode(prompt)
        whole = here.encode(prompt + SAMPLES[JSON].decode())
        assert whole[: len(own)] == own
        matcher = artifact.matcher(after=own)
        for token in whole[len(own) :]:
            matcher.advance(token)
        assert matcher.is_accepting


def test_damaged_sections_are_refused(default_tokenizer: Tokenizer) -> None:
    """Each section of the tokenizer is checked."""
    artifact = compile_grammar(DYCK, dialect="kbnf", tokenizer=default_tokenizer)
    sections = artifact.arrays
    damaged = {
        "cuts.final": sections["cuts.final"][:-1],
        "cuts.table": sections["cuts.table"] + np.int32(1_000_000),
        "pairs.part": sections["pairs.part"][:-1],
        "pairs.order": sections["pairs.order"] + np.int32(1_000_000),
    }
    for name, section in damaged.items():
        with pytest.raises(ArtifactError, match=name):
            Artifact(artifact.manifest, {**sections, name: section})


@pytest.mark.parametrize("grammar", [JSON, DYCK, MARKUP])
@pytest.mark.parametrize("name", ["tiny-bpe-1000", "gpt2"])
def test_unrolled_grammars_have_the_masks_of_cartesian_merge(
    name: str,
    grammar: str,
    case: Callable[[str], Case],
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """Nested one deep they are regular: the network's masks are those of the product."""
    here = case(name)
    monkeypatch.setattr(networks, "INLINED_STATES", 0)
    tables = networks.network(unroll(nullable_lnf_of(grammar), 1).lnf)
    assert len(tables.call_starts) or grammar == DYCK
    machine = machine_of(tables, here.tokenizer, here.tables)
    product = build_artifact(
        build_engine(grammar, dialect="kbnf", max_depth=1),
        here.tokenizer,
        method="cartesian",
        tables=here.tables,
        eos=eos_of(here.tokenizer),
    ).artifact
    assert product.manifest.kind == "product"
    rng = random.Random(8)
    for _ in range(200 if full else 8):
        matcher, state = product.matcher(), machine.start
        for _ in range(20):
            expected = matcher.mask()
            assert (expected == machine.row(state)).all()
            token = min(rng.choices(tokenset.to_ids(expected).tolist(), k=rng.choice([1, 3])))
            if token in product.manifest.eos:
                break
            matcher.advance(token)
            state = machine.step(state, token)
