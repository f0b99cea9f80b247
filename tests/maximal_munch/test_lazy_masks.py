"""Masks computed one by one, by walks of the token trie, against reading the text of each token."""

import random

import pytest
from support.maximal_munch import (
    BOTH,
    CODE,
    JSON,
    SAMPLES,
    SWALLOWING,
    masks_of,
    masks_with,
    random_larks,
    read,
    row_by_steps,
)

from constrain.artifacts.maximal_munch import lexer_walk
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.walk import kernel as as_it_stands
from constrain.artifacts.walk.forms import kernel
from constrain.compiler import Tokenizer
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.precompute import precompute

_PIECES = ["a", "b", " ", "#", '"', "'", "\n", "é", "€", "日本", "😀"]
_PARTS = [piece.encode() for piece in _PIECES]
_PARTS += [b"\xc3", b"\xa9", b"\xe6\x97", b"\xa5", b"\xf0\x9f", b"\xff"]


@pytest.fixture(params=["chosen", "as it stands"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk that is used, compiled if that was made, and as Python runs it."""
    chosen = kernel() if request.param == "chosen" else as_it_stands.Kernel
    monkeypatch.setattr(lexer_walk, "kernel", lambda: chosen)


def words(rng: random.Random, count: int) -> list[bytes]:
    """Tokens of several characters, of parts of one, and of bytes that make none."""
    found = {b"".join(rng.choices(_PARTS, k=rng.randint(1, 5))) for _ in range(count)}
    return sorted(found | set(_PARTS))


def check_walk(
    rng: random.Random, masks: MaximalMunchMasks, tokens: int, length: int, text: str
) -> None:
    """Compare the masks along a text that is drawn from them. ``tokens``: the number of the token
    that ends a text."""
    state = masks.start
    for _ in range(length):
        row = masks.row(state)
        assert row_by_steps(masks, state, [tokens]).tolist() == row.tolist(), text
        choices = [i for i in tokenset.to_ids(row).tolist() if i < tokens]
        if not choices:
            break
        state = masks.step(state, rng.choice(choices))


@pytest.mark.usefixtures("form")
def test_masks_are_those_of_the_tokens_that_can_be_read(full: bool) -> None:
    """On random grammars; also where some summaries are there."""
    rng = random.Random(3)
    for text, _ in random_larks(300 if full else 3, seed=12):
        tokens = sorted({bytes(rng.choices(b"abc #", k=rng.randint(1, 7))) for _ in range(60)})
        part = precompute(masks_of(text, tokens), Limits(states=500), most_rows=3).summaries
        for stored in (None, part):
            check_walk(rng, masks_of(text, tokens, stored), len(tokens), 6, text)


@pytest.mark.usefixtures("form")
def test_as_many_nodes_as_the_root_has_are_not_those_of_the_root() -> None:
    """A lexeme ends at as many nodes as tokens begin with bytes, the first of them one of these."""
    text = 'start: NAME "b" NAME\nNAME: /(ab)+/\n%ignore /[ c]+/\n'
    tokens = [b" ", b"a", b"ab", b"ab c", b"b", b"cb"]
    masks = masks_of(text, tokens)
    state = read(masks, b"abbab")
    assert row_by_steps(masks, state, [len(tokens)]).tolist() == masks.row(state).tolist()
    assert tokenset.contains(masks.row(state), tokens.index(b"ab c"))


@pytest.mark.usefixtures("form")
def test_subtrees_change_no_mask(full: bool) -> None:
    """Where lexemes swallow text outside ASCII, and tokens begin and end inside characters."""
    rng = random.Random(4)
    for _ in range(60 if full else 3):
        tokens = words(rng, 300)
        check_walk(rng, masks_of(SWALLOWING, tokens), len(tokens), 25, SWALLOWING)


@pytest.mark.parametrize("grammar", [JSON, CODE, BOTH + CODE], ids=["json", "code", "both"])
def test_masks_along_a_sample(grammar: str, default_tokenizer: Tokenizer, full: bool) -> None:
    """At each place of a sample (every fourth without --full), and a small part of the trie is
    visited."""
    masks = masks_with(default_tokenizer, grammar)
    state, count = masks.start, 0
    for token in default_tokenizer.encode(SAMPLES[grammar.removeprefix(BOTH)]):
        row = masks.row(state)
        if full or count % 4 == 0:
            expected = row_by_steps(masks, state, default_tokenizer.eos)
            assert expected.tolist() == row.tolist()
        state = masks.step(state, token)
        count += 1
    assert masks.walks.visited * 4 < count * len(masks.walks.trie().octets)


def test_a_first_mask_reads_a_name_once(default_tokenizer: Tokenizer) -> None:
    """What a name allows is kept with the trie: another grammar visits what leaves the name."""
    grammar = 'start: NAME ("+" NAME)*\nNAME: /[a-z]+/\n'
    visited = []
    for text in (grammar, grammar.replace('"+"', '"-"')):
        masks = masks_with(default_tokenizer, text)
        masks.row(read(masks, b"ab"))
        visited.append(masks.walks.visited)
    assert max(visited) * 5 < len(masks.walks.trie().octets)


def test_what_is_pending_waits_for_the_frame_below() -> None:
    """A token that closes more than the head knows of is decided by the frames below it."""
    masks = masks_of('start: "(" start ")" | "[" start "]" | "x"\n', [b"(", b"[", b"x", b"x)])"])
    for text, fits in ((b"([(", True), (b"([[", False), (b"(((", False)):
        assert fits == tokenset.contains(masks.row(read(masks, text)), 3)
