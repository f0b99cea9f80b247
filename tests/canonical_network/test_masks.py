"""Canonical masks of networks: nesting without bound, what is precomputed, damaged sections.

That the masks are those of all encodings is tested in ``tests/corpus``.
"""

from collections.abc import Callable

import numpy as np
import pytest
from support.corpus.encodings import check_masks, following
from support.corpus.engines import ENGINES
from support.corpus.languages import FINITE, NESTING
from support.corpus.tokenizer_case import Case
from support.grammars import DYCK, JSON

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.canonical_network.certificates import Certificates, Place
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.pipeline import build_artifact, build_engine

CALLS = ENGINES["canonical network, calls"]


@pytest.mark.parametrize(("grammar", "opening", "closing"), [(JSON, "[", "]"), (DYCK, "(", ")")])
def test_nesting_has_no_bound(
    grammar: str, opening: str, closing: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Nor recursion, where the end of the text is hundreds of tokens away."""
    depth = 1500 if full else 30
    # Of JSON all masks are precomputed, of the other none.
    options = {} if grammar == JSON else {"prewarm": 0}
    artifact = compile_grammar(grammar, dialect="kbnf", tokenizer=default_tokenizer, **options)
    assert artifact.manifest.tokenization == "canonical"
    matcher = artifact.matcher()
    for token in default_tokenizer.encode(opening * depth + closing * depth):
        matcher.advance(token)
    assert matcher.is_accepting


@pytest.mark.parametrize("name", ["gpt2", "tiny-bpe-4000"])
def test_nothing_is_left_to_be_computed_lazily(name: str, case: Callable[[str], Case]) -> None:
    """At the start of a text and after prompts, in grammars without end and in finite ones."""
    here = case(name)
    artifact = ENGINES["canonical network"].stored(NESTING["json"], here)
    (text,) = (text.decode() for text in NESTING["json"].accepted)
    for prompt in ("", "Answer:\n", "Yes"):
        before, whole = here.encode(prompt), here.encode(prompt + text)
        assert whole[: len(before)] == before
        matcher = artifact.matcher(after=before)
        for token in whole[len(before) :]:
            matcher.advance(token)
        assert matcher.is_accepting
    check_nothing_was_computed(artifact)
    for language in FINITE.values() if name != "gpt2" else ():
        artifact = CALLS.stored(language, here)
        members = (text.decode() for text in language.members(10_000) or ())
        check_masks(artifact.matcher(), following(map(here.encode, members), here.eos_ids))
        check_nothing_was_computed(artifact)


def check_nothing_was_computed(artifact: Artifact) -> None:
    """What computes rows lazily was not even made."""
    machine = artifact.machine()
    assert isinstance(machine, CanonicalMasks)
    assert "lazy_rows" not in vars(machine)
    assert "contexts" not in vars(machine.pretokenized)


def test_what_is_precomputed_is_bounded(default_tokenizer: Tokenizer) -> None:
    """None where none are wanted; where some are left out, a note says so."""
    engine = build_engine(DYCK, dialect="kbnf")
    none = build_artifact(engine, default_tokenizer, prewarm=0)
    assert "closed.keys" not in none.artifact.arrays
    assert "answers" not in none.artifact.manifest.counts
    some = build_artifact(engine, default_tokenizer, prewarm=1)
    assert some.artifact.manifest.counts["answers"] > 0
    assert not some.artifact.arrays["closed.all"][0]
    assert some.notes[-1].startswith("masks: ")


@pytest.mark.quick
def test_damaged_sections_are_refused(default_tokenizer: Tokenizer) -> None:
    """Each section of the tokenizer, and of the precomputed rows, is checked."""
    artifact = compile_grammar(
        DYCK, dialect="kbnf", tokenizer=default_tokenizer, prewarm=100
    ).completed
    sections = artifact.arrays
    damaged = {
        "cuts.final": sections["cuts.final"][:-1],
        "cuts.table": sections["cuts.table"] + np.int32(1_000_000),
        "pairs.part": sections["pairs.part"][:-1],
        "pairs.order": sections["pairs.order"] + np.int32(1_000_000),
        "closed.all": sections["closed.all"] + np.uint8(2),
        "closed.answers": sections["closed.answers"] + np.int32(1_000_000),
        "closed.contexts": sections["closed.contexts"] - np.int32(1_000_000),
        "closed.id_offsets": sections["closed.id_offsets"][::-1].copy(),
        "closed.ids": sections["closed.ids"] + np.int32(1_000_000),
        "closed.keys": sections["closed.keys"][::-1].copy(),
        "closed.pending_offsets": sections["closed.pending_offsets"] + 1,
        "closed.rows": sections["closed.rows"][:, :-1].copy(),
        "closed.suffixes": sections["closed.suffixes"] + np.int32(1),
    }
    for name, section in damaged.items():
        with pytest.raises(ArtifactError, match=name):
            Artifact(artifact.manifest, {**sections, name: section})


WORDS = "root ::= list; list ::= w | '[' list ']'; w ::= 'aardvark' | 'bat' | 'bear' | 'beaver';"


# Several bytes lead to one place.
DATES = "root ::= list; list ::= d | '[' list ']'; d ::= #'20[0-9]{2}-(0[1-9]|1[012])-01';"
TEXTS = {WORDS: ["[[beaver]]", "aardvark"], DATES: ["[2024-12-01]"], JSON: ['{"a": [tr', "fals"]}


@pytest.mark.parametrize("grammar", [WORDS, DATES, JSON])
def test_all_texts_that_may_follow_show_the_same_as_a_search(
    grammar: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along texts, and after each token that a mask has; some places have few texts after them."""
    looked_at = Certificates.of_all_texts
    found = list[set[int] | None]()

    def noted(self: Certificates, place: Place) -> set[int] | None:
        found.append(looked_at(self, place))
        return found[-1]

    def masks(of_all_texts: Callable[[Certificates, Place], set[int] | None]) -> list[list[int]]:
        monkeypatch.setattr(Certificates, "of_all_texts", of_all_texts)
        tokenizer = default_tokenizer
        artifact = compile_grammar(grammar, dialect="kbnf", tokenizer=tokenizer, prewarm=0)
        masks, every = [], 29 if grammar == JSON else 1
        for text in TEXTS[grammar]:
            matcher = artifact.matcher()
            for token in tokenizer.encode(text):
                for next_ in tokenset.to_ids(matcher.mask()).tolist()[::every]:
                    matcher.advance(next_)
                    masks.append(tokenset.to_ids(matcher.mask()).tolist())
                    matcher.rollback(1)
                if not tokenset.contains(matcher.mask(), token):
                    break
                matcher.advance(token)
        return masks

    by_texts = masks(noted)
    # What follows a date inside of a token is read by no frame: that is known above any stacks.
    assert any(found) is (grammar != DATES)
    assert by_texts == masks(lambda _self, _place: None)
