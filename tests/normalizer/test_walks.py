"""Grammars that nest, with tokenizers that normalize: walks, unrolled grammars, damaged files."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import encoded, written
from support.canonical import random_walks
from support.cartesian import Case
from support.grammars import JSON, MARKUP, nullable_lnf_of

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.canonical_network.machine import CanonicalMachine, canonical_machine
from constrain.artifacts.normalizer.machine import WithNormalForm
from constrain.artifacts.pretokenizer.dfa import begins_character
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.canonical_network.sections import normal_form_sections
from constrain.compiler.lnf.unroll import unroll
from constrain.compiler.network import build as networks
from constrain.compiler.pipeline import build_artifact, build_engine

# Marks in brackets, and three marks that must follow an e.
MARKS = "start ::= '(' start ')' | m m m | start 'e' m; m ::= '\u0323' | '\u0301' | '\u0327';"
NESTING = {"json": JSON, "markup": MARKUP, "marks": MARKS}


@pytest.fixture(scope="module")
def normalizing(data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A small tokenizer with NFC before it."""
    read = json.loads(data("tokenizers/tiny-bpe-1000/tokenizer.json").read_bytes())
    path = tmp_path_factory.mktemp("nfc")
    return Case(written(path, {**read, "normalizer": {"type": "NFC"}}))


def compiled(case: Case, grammar: str, prewarm: int | None = None) -> Artifact:
    """By way of the file's bytes."""
    found = compile_grammar(
        grammar, dialect="kbnf", tokenizer=case.tokenizer, tables=case.tables, prewarm=prewarm
    )
    return load_bytes(found.to_bytes())


def machine_of(artifact: Artifact) -> CanonicalMachine:
    """The machine of its matchers."""
    machine = artifact.machine()
    assert isinstance(machine, WithNormalForm)
    return machine


@pytest.mark.parametrize("prewarm", [0, None], ids=["lazily", "precomputed"])
@pytest.mark.parametrize("name", NESTING)
def test_no_mask_is_empty_before_the_end(
    name: str, prewarm: int | None, normalizing: Case, full: bool
) -> None:
    """Random walks by the masks alone, with a liking for tokens that the normal-form DFA follows;
    what they spell is in normal form and encoded so."""
    artifact = compiled(normalizing, NESTING[name], prewarm)
    machine = machine_of(artifact)
    liked = set(artifact.arrays["stable.tokens"].tolist())
    rng = random.Random(name)
    odd = 0
    for ids in random_walks(machine, artifact.manifest.eos, rng, 400 if full else 10, 12, liked):
        text = b"".join(artifact.vocabulary.token(token) for token in ids).decode()
        assert ids == normalizing.encode(text)
        odd += not text.isascii()
    assert odd > 1


@pytest.mark.parametrize("name", NESTING)
def test_precomputed_masks_are_those_computed_lazily(name: str, normalizing: Case) -> None:
    """The same masks along walks; only the grammar that asks for marks has undecided tokens."""
    ahead, lazy = (compiled(normalizing, NESTING[name], prewarm) for prewarm in (None, 0))
    assert ahead.arrays["closed.all"][1]
    assert bool(len(ahead.arrays["closed.doubtful"])) == (name == "marks")
    liked = set(ahead.arrays["stable.tokens"].tolist())
    rng = random.Random(name)
    for ids in random_walks(machine_of(ahead), ahead.manifest.eos, rng, 6, 10, liked):
        first, second = ahead.matcher(), lazy.matcher()
        for token in ids:
            assert (first.mask() == second.mask()).all()
            first.advance(token)
            second.advance(token)


@pytest.mark.parametrize("grammar", [JSON, MARKUP])
def test_unrolled_grammars_have_the_masks_of_cartesian_merge(
    grammar: str, normalizing: Case, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Nested one deep they are regular: the network's masks are those of the product."""
    monkeypatch.setattr(networks, "INLINED_STATES", 0)
    tables = networks.network(unroll(nullable_lnf_of(grammar), 1).lnf)
    sections = dict(compiled(normalizing, grammar, 0).arrays)
    case, eos = normalizing, normalizing.tokenizer.eos
    vocabulary = case.tokenizer.vocabulary(case.tokenizer.vocab_size)
    machine = canonical_machine(tables, sections, eos, vocabulary)
    product = build_artifact(
        build_engine(grammar, dialect="kbnf", max_depth=1),
        case.tokenizer,
        method="cartesian",
        tables=case.tables,
    ).artifact
    assert product.manifest.kind == "product"
    liked = set(product.arrays["stable.tokens"].tolist())
    rng = random.Random(8)
    for _ in range(200 if full else 8):
        matcher, state = product.matcher(), machine.start
        for _ in range(20):
            expected = matcher.mask()
            assert (expected == machine.row(state)).all()
            ids = tokenset.to_ids(expected).tolist()
            some = [token for token in ids if token in liked]
            token = rng.choice(some if some and rng.random() < 0.5 else ids)
            if token in product.manifest.eos:
                break
            matcher.advance(token)
            state = machine.step(state, token)


@pytest.mark.parametrize(
    ("letters", "noted", "beside"),
    [
        ("'a'", False, False),
        ("'é'", False, False),
        ("'漢'", False, False),
        ("'\u212b'", True, False),
        ("'\u0301'", True, True),
    ],
)
def test_what_grammars_read_decides_what_is_followed(
    letters: str, noted: bool, beside: bool, normalizing: Case
) -> None:
    """Inert characters need nothing, those in no normal form the pre-tokenizer DFA, others a
    normal-form DFA. Where members may be left out it is noted."""
    grammar = f"start ::= '(' start ')' | 'x' | {letters};"
    engine = build_engine(grammar, dialect="kbnf")
    found = build_artifact(engine, normalizing.tokenizer, tables=normalizing.tables)
    assert noted == ("members that the tokenizer's normalizers change are left out" in found.notes)
    assert beside == ("stable.table" in found.artifact.arrays)


def test_behind_a_prompt(normalizing: Case) -> None:
    """What a member begins with does not compose with what the prompt ends in."""
    artifact = compiled(normalizing, "start ::= '(' start ')' | '\u0301' | 'x' | '\u0323';")
    for prompt, allowed in (("e", "x("), ("x", "\u0301\u0323x("), ("x\u0301", "\u0301x(")):
        matcher = artifact.matcher(after=normalizing.encode(prompt))
        vocabulary = artifact.vocabulary
        first = {vocabulary.token(i)[:2] for i in tokenset.to_ids(matcher.mask()).tolist()}
        marks = {found for found in first if found[0] >= 0xC0}
        assert {found[:1] for found in first - marks} == {b"x", b"("}
        whole = {found for found in marks if len(found) == 2}
        assert whole <= {c.encode() for c in allowed}
        # A lead byte alone is a token where some end of the character is left.
        assert bool(marks) == (prompt != "e")


def test_the_inert_pretokenizer_agrees_inside_characters(normalizing: Case) -> None:
    """The patch replaces rows of states between characters, and adds states inside them."""
    tables = TokenizerTables(normalizing.tokenizer)
    assert tables.normal_form is not None
    sections = normal_form_sections(tables.pretokenizer, tables.normal_form)
    table, states = sections["cuts.table"], sections["inert.states"]
    old = states[states < len(table)]
    assert begins_character(table, sections["cuts.classes"])[old].all()
    assert len(states) > len(old) > 0


def test_sections_that_do_not_fit_are_refused(normalizing: Case) -> None:
    """A state or a token outside its array names the section."""
    artifact = compiled(normalizing, MARKS)
    for name in ("inert.states", "inert.rows", "stable.table", "closed.doubtful"):
        damaged = artifact.arrays[name].copy()
        damaged.flat[-1] = np.iinfo(damaged.dtype).max
        with pytest.raises(ArtifactError, match=name):
            load_bytes(encoded(artifact, {name: damaged}))
