"""Recursive transition networks: goals, tail calls, texts and masks, against Earley."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import pytest
from support.grammars import (
    ARITHMETIC,
    DYCK,
    JSON,
    LEFT,
    MARKUP,
    RIGHT,
    SAMPLES,
    lnf_of,
    random_grammars,
    recogniser,
)
from support.maximal_munch import vocabulary_of
from support.network import check_against_earley, minimal_tables

from constrain.artifacts.earley.machine import EarleyMasks
from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits


def network_of(text: str) -> Network:
    """The network of a kbnf grammar."""
    return Network(minimal_tables(text))


def masks_of(text: str, tokens: list[bytes]) -> tuple[MetMasks, EarleyMasks]:
    """Both engines' masks over one vocabulary."""
    vocabulary = vocabulary_of(tokens)
    trie, eos, size = Trie.from_vocabulary(vocabulary), [len(tokens)], len(tokens) + 1
    return (
        MetMasks(TableStates(minimal_tables(text)), lambda: trie, vocabulary, eos, size),
        EarleyMasks(recogniser(lnf_of(text)), trie, vocabulary, eos, size),
    )


@pytest.mark.parametrize("text", [LEFT, RIGHT])
def test_lists_are_loops(text: str) -> None:
    """A left-recursive list calls nothing, and a right-recursive one nothing with something left to
    do."""
    tables = network_of(text).tables
    assert 3 == tables.states
    assert [[], [], []] == tables.calls


def test_a_binary_operator_needs_no_frame() -> None:
    """After e '+' e the inner e can do all that the outer one could: a tail call."""
    assert network_of("start ::= start '+' start | 'n';").tables.calls == [[], [], []]


def test_if_else_keeps_its_frame() -> None:
    """The statement of an if without else is followed by nothing; with else by more."""
    found = network_of("start ::= 'i' start | 'i' start 'e' start | 'x';")
    assert any(found.tables.calls)
    for text in (b"x", b"ix", b"ixex", b"iixex", b"iixexex"):
        assert found.may_end(found.read(found.start, text)), text
    assert found.viable(b"ixexe") == 4


def test_no_frame_just_returns() -> None:
    """What a call comes back to can go on, in every grammar here."""
    for text in SAMPLES:
        tables = network_of(text).tables
        for frame in set(tables.call_returns.tolist()):
            assert (tables.table[frame] != 0).any() or tables.calls[frame]


@pytest.mark.parametrize(
    ("text", "states", "frames", "entries"),
    [(JSON, 44, 4, 3), (ARITHMETIC, 9, 2, 2), (DYCK, 8, 4, 2), (MARKUP, 17, 1, 2)],
    ids=["json", "arithmetic", "dyck", "markup"],
)
def test_networks_are_small(text: str, states: int, frames: int, entries: int) -> None:
    """States (the dead one included), frames and called rules."""
    tables = network_of(text).tables
    found = tables.states, len(set(tables.call_returns.tolist())), len(tables.names)
    assert found == (states, frames, entries)


@pytest.mark.parametrize("text", SAMPLES, ids=["json", "arithmetic", "dyck", "markup", "code"])
def test_samples_are_members(text: str) -> None:
    """Each sample is read to its end, and each prefix of it is as viable as Earley says."""
    sample = SAMPLES[text]
    found, earley = network_of(text), recogniser(lnf_of(text))
    assert found.viable(sample) == len(sample) == earley.feed(sample)
    for length in range(len(sample) + 1):
        earley.truncate(0)
        earley.feed(sample[:length])
        assert earley.is_accepting == found.may_end(found.read(found.start, sample[:length]))


def test_only_the_empty_text_ends_at_the_start() -> None:
    """A text that leads back to the state of the start need not be a member as ε is."""
    found = network_of("start ::= '' | x; x ::= 'a' x | 'b';")
    ends = [found.may_end(found.read(found.start, text)) for text in (b"", b"a", b"ab")]
    assert [True, False, True] == ends


def test_equals_earley(full: bool) -> None:
    """Viable prefixes and members are Earley's on random grammars: ε, cycles, ambiguity."""
    rng = random.Random(7)
    for text, lnf in random_grammars(1000 if full else 11, seed=21):
        check_against_earley(network_of(text), lnf, rng, text)


@pytest.mark.parametrize(
    ("pattern", "viable"),
    [
        (r"[a-z ]*\\bfoo\\b[a-z ]*", {b"((a foo": 7, b"(afoo)": 5, b"(foo)": 5, b"(a foo)": 7}),
        (r"(\\Bb|^a)+", {b"((a": 3, b"(abb)": 5, b"(b": 1, b"(aa": 2}),
    ],
)
def test_terminals_may_look_around(pattern: str, viable: dict[bytes, int]) -> None:
    """Assertions of a regex are about its own text, whatever calls it."""
    text = f's ::= "(" s ")" | #"{pattern}";'
    found, earley = network_of(text), recogniser(lnf_of(text))
    for word, length in viable.items():
        earley.truncate(0)
        assert length == found.viable(word) == earley.feed(word), word
        earley.truncate(length)
        assert earley.is_accepting == found.may_end(found.read(found.start, word[:length])), word


def test_masks_equal_earleys(full: bool) -> None:
    """Whole masks on random grammars with random tokens, as long as eight bytes."""
    rng = random.Random(13)
    for text, _ in random_grammars(1000 if full else 4, seed=23):
        words = {bytes(rng.choice(b"abc") for _ in range(rng.randint(2, 8))) for _ in range(40)}
        tokens = [b"a", b"b", b"c", *sorted(words)]
        fast, slow = masks_of(text, tokens)
        left, right = fast.start, slow.start
        for _ in range(8):
            expected = tokenset.to_ids(slow.row(right)).tolist()
            assert expected == tokenset.to_ids(fast.row(left)).tolist(), text
            choices = [i for i in expected if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            left, right = fast.step(left, token), slow.take(right, token)


@pytest.mark.parametrize("text", SAMPLES, ids=["json", "arithmetic", "dyck", "markup", "code"])
def test_masks_of_a_vocabulary(text: str, default_tokenizer: Tokenizer, full: bool) -> None:
    """Whole masks along each sample with the tokenizer that is built in."""
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    rest = default_tokenizer.eos, default_tokenizer.vocab_size
    fast = MetMasks(TableStates(minimal_tables(text)), lambda: trie, vocabulary, *rest)
    slow = EarleyMasks(recogniser(lnf_of(text)), trie, vocabulary, *rest)
    left, right = fast.start, slow.start
    for token in default_tokenizer.encode(SAMPLES[text].decode())[: 40 if full else 2]:
        assert (slow.row(right) == fast.row(left)).all()
        left, right = fast.step(left, token), slow.take(right, token)


def test_sixty_thousand_brackets() -> None:
    """Depth is nodes of a shared stack, one for each bracket."""
    found = network_of("start ::= '[' start ']' | '';")
    reached = found.read(found.start, b"[" * 60_000 + b"]" * 60_000)
    assert found.may_end(reached)
    assert len(found.stacks.entries) <= 60_001


def test_precedence_levels_grow_linearly() -> None:
    """Twice the levels of operators give twice the states, not a power of them."""

    def states(levels: int) -> int:
        rules = [f"l{i} ::= l{i + 1} | l{i} '{chr(97 + i)}' l{i + 1};" for i in range(levels)]
        last = f"l{levels} ::= 'x' | '(' l0 ')';"
        return network_of("start ::= l0;" + "".join(rules) + last).tables.states

    assert states(20) - states(10) == states(10) - states(0)


def test_goals_called_often_are_not_copied() -> None:
    """A large rule that is used in many places is called, and the network stays small."""
    words = " ".join(f"#'[a-z]{{{n}}}'" for n in range(20, 30))
    uses = " | ".join(f"'{chr(65 + i)}' big '{chr(65 + i)}'" for i in range(20))
    found = network_of(f"start ::= {uses}; big ::= {words};")
    assert "big" in found.tables.names
    assert found.tables.states < 400


def test_limits_hold() -> None:
    """Too many states are a limit error."""
    with pytest.raises(LimitError, match="40 states"):
        minimal_tables(JSON, Limits(states=40))


def test_few_goals_stay_procedures() -> None:
    """JSON needs one procedure, the value; its strings stand in two places, and are shared."""
    assert ["v", "s"] == list(minimal_tables(JSON).names[1:])
