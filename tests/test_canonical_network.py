"""Canonical masks of grammars that are not regular, against all encodings of all members."""

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import tokenizers
from canonical_support import (
    FINITE,
    check,
    eos_of,
    following,
    machine_of,
    members,
    random_walks,
)
from grammars import DYCK, JSON, MARKUP, SAMPLES, STATEMENTS, nullable_lnf_of

from constrain.artifacts import tokenset
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.merge.stored import TokenizerTables
from constrain.compiler.parsing import network as networks

TINY = ("tiny-bpe-300", "tiny-bpe-1000", "tiny-bpe-4000")


class Case:
    """A tokenizer, its library and its tables."""

    def __init__(self, path: Path) -> None:
        self.library = tokenizers.Tokenizer.from_file(str(path))
        self.tokenizer: Tokenizer = load_tokenizer(path)
        self.tables = TokenizerTables(self.tokenizer)

    def encode(self, text: str) -> list[int]:
        """The library's own tokens."""
        found: list[int] = self.library.encode(text, add_special_tokens=False).ids
        return found


@pytest.fixture(scope="module")
def case(data: Callable[[str], Path]) -> Callable[[str], Case]:
    """A tokenizer of the test data, loaded once."""

    @cache
    def find(name: str) -> Case:
        return Case(data(f"tokenizers/{name}/tokenizer.json"))

    return find


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
