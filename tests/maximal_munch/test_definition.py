"""The meaning of maximal munch by example, and texts and masks against the definition."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import pytest
from support.maximal_munch import (
    BOTH,
    CODE,
    JSON,
    SAMPLES,
    masks_of,
    masks_with,
    maximal_munch_tables,
    plain_of,
    random_larks,
    read,
)
from support.oracles.maximal_munch import MaximalMunchOracle

from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.memo import ENTRY_BYTES
from constrain.compiler import Tokenizer
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexemes import lexeme_grammar

KEYWORDS = 'start: KW NUM | ID ";"\nKW{}: "if"\nID{}: /[a-z]+/\nNUM: /[0-9]+/\n'
OCTETS = [bytes([octet]) for octet in range(256)]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("grammar", "members", "others"),
    [
        # A lexeme is as long as possible, whatever the parser would need.
        ('start: /a+/ "b"\n', ["ab", "aab"], ["a", "b"]),
        ('start: /a+/ "ab" | "c"\n', ["c"], ["aab", "aaab"]),
        # Only what the parser allows is read: "ab" is no lexeme at the beginning.
        ('start: "a" ("ab" | "b")\n', ["aab", "ab"], ["a", "abb"]),
        # Of one length and one priority the string is taken; a longer one beats both.
        (KEYWORDS.format("", ""), ["if1", "ifs;"], ["if;", "ab1", "ifs1"]),
        (KEYWORDS.format("", "").replace('"if"', '"if"i'), ["IF1", "ifs;"], ["If;"]),
        # Of two regexes, and as llguidance reads strings, both are followed.
        (KEYWORDS.format("", "").replace('"if"', "/if/"), ["if;", "if1"], ["ab1"]),
        (BOTH + KEYWORDS.format("", ""), ["if;", "if1", "ifs;"], ["ab1", "ifs1"]),
        (KEYWORDS.format(".1", ""), ["if1", "ifs;"], ["if;"]),
        (KEYWORDS.format("", ".1"), ["if;", "ifs;"], ["if1"]),
        # Ignored text stands at both ends and between; never inside a lexeme.
        ('start: "ab" "c"\n%ignore " "\n', ["abc", " ab c ", "ab   c"], ["a bc"]),
        # Ignored text takes part in maximal munch.
        ('start: "a" "b"\n%ignore /a b?/\n', ["ab", "a bab"], ["a b", "aab"]),
        # A terminal that matches ε may be missing.
        ("start: A B\nA: /a*/\nB: /b*/\n", ["", "aab", "b", "a"], ["ba"]),
        ('start: A\nA: ""\n%ignore " "\n', ["", " "], ["a"]),
        ("start: A~2\nA: /a[xy]/\n", ["axay"], ["ax", "axayax"]),
    ],
)
def test_meaning(grammar: str, members: list[str], others: list[str]) -> None:
    """Members and other texts, by the definition and by the engine."""
    plain, masks = plain_of(grammar), masks_of(grammar, OCTETS)
    for text in [*members, *others]:
        expected = text in members
        reached = masks.configurations.read(masks.start, text.encode())
        assert expected == plain.accepts(text.encode()), text
        assert expected == (reached is not None and masks.is_accepting(reached)), text


@pytest.mark.quick
def test_the_empty_text_is_a_member_only_before_any_lexeme() -> None:
    """What follows the first lexeme may look like the start, which the empty text ends."""
    masks = masks_of('start: | x\nx: "a" x | "b"\n%ignore " "\n', OCTETS)
    ends = []
    for text in (b"", b" ", b"a", b"ab", b"a "):
        ends.append(masks.is_accepting(read(masks, text)))
    assert [True, True, False, True, False] == ends


def test_equal_terminals_are_one_lexeme() -> None:
    """A text, a name for it and a pattern of it are one; another priority makes another, and so
    does that it is ignored, but for llguidance."""
    text = 'start: "if" IF /if/ ONE "x"~3\nIF: "if"\nONE.1: "if"\n%ignore "x"\n'
    for head, expected in (
        ("", [(0, False), (0, False), (0, True), (1, False)]),
        (BOTH, [(0, False), (0, True), (1, False)]),
    ):
        lexemes = lexeme_grammar(read_grammar(head + text, "lark")).lexemes
        found = sorted((lexeme.priority, lexeme.ignored) for lexeme in lexemes)
        assert expected == found


def test_tokens_are_refused() -> None:
    """Token terminals have no text that could be matched."""
    with pytest.raises(CheckError, match="maximal munch"):
        MaximalMunchOracle(read_grammar('start: <think> "a"\n', "lark"))


def test_limits_are_checked() -> None:
    """Too many states are a limit error."""
    with pytest.raises(LimitError, match="20 states"):
        maximal_munch_tables(read_grammar(CODE, "lark"), Limits(states=20))


def test_a_token_that_does_not_fit_is_refused() -> None:
    """As in a damaged artifact."""
    masks = masks_of('start: "a"\n', [b"a", b"b", b"aa"])
    for token in (1, 2, 3):
        with pytest.raises(ArtifactError, match="leads nowhere"):
            masks.step(masks.start, token)


def test_masks_equal_the_definition(full: bool) -> None:
    """Whole masks on random grammars, with tokens that complete up to eight lexemes."""
    rng = random.Random(17)
    checked = 0
    for text, plain in random_larks(1000 if full else 8, seed=31):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 8))) for _ in range(40)}
        tokens = [b"a", b"b", b"c", b" ", b"#", *sorted(words)]
        masks = masks_of(text, tokens)
        for _ in range(3):
            state, reading = masks.start, plain.begin()
            for _ in range(7):
                behind = [plain.read(reading, token) for token in tokens]
                expected = [
                    i for i, t in enumerate(tokens) if behind[i].length == reading.length + len(t)
                ] + [len(tokens)] * plain.may_end(reading)
                assert expected == tokenset.to_ids(masks.row(state)).tolist(), text
                checked += len(tokens) + 1
                choices = [i for i in expected if i < len(tokens)]
                if not choices:
                    break
                token = rng.choice(choices)
                state, reading = masks.step(state, token), behind[token]
    assert checked > 5_000


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_masks_of_a_vocabulary(grammar: str, default_tokenizer: Tokenizer, full: bool) -> None:
    """Masks along a sample with the tokenizer that is built in: a sample of bits, or all."""
    plain = plain_of(grammar)
    masks = masks_with(default_tokenizer, grammar)
    sample = SAMPLES[grammar]
    assert plain.accepts(sample.encode())
    rng = random.Random(5)
    state, reading = masks.start, plain.begin()
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    ids = vocabulary.text_ids().tolist()
    for token in default_tokenizer.encode(sample):
        row = masks.row(state)
        allowed = [i for i in tokenset.to_ids(row).tolist() if i not in default_tokenizer.eos]
        others = ids if full else [*rng.sample(ids, 8), *rng.sample(allowed, min(5, len(allowed)))]
        for other in {token, *others}:
            text = vocabulary.token(other)
            fits = plain.read(reading, text).length == reading.length + len(text)
            assert fits == tokenset.contains(row, other), text
        for eos in default_tokenizer.eos:
            assert plain.may_end(reading) == tokenset.contains(row, eos)
        state = masks.step(state, token)
        reading = plain.read(reading, vocabulary.token(token))
    assert masks.is_accepting(state)


def test_sixty_thousand_brackets() -> None:
    """Depth is frames below the head, one for each bracket; the head stays the same."""
    masks = masks_of('start: "[" start "]" |\n', OCTETS)
    assert masks.is_accepting(read(masks, b"[" * 60_000 + b"]" * 60_000))
    assert len(masks.configurations.heads.threads) < 30


def test_json_has_as_many_heads_at_any_depth() -> None:
    """A head holds no more than what the next lexeme depends on, however deep the text."""
    masks = masks_of(JSON, OCTETS)
    heads = masks.configurations.heads
    opening = b'[{"a":' * 3
    read(masks, opening)
    before = len(heads.threads)
    assert masks.is_accepting(read(masks, opening + b'[{"a":' * 50 + b"1" + b"}]" * 53))
    assert len(heads.threads) <= before + 10


def test_stacks_behind_one_state_are_joined_at_once() -> None:
    """Not pair by pair, which is a node for each beginning of them."""
    heads = masks_of(JSON, OCTETS).configurations.heads
    stacks, frames = heads.stacks, range(1, heads.tables.states)
    nodes = [stacks.push(frame, heads.hole) for frame in frames]
    before = stacks.nbytes

    heads.head_of((1, node) for node in nodes)

    assert stacks.nbytes - before <= 4 * ENTRY_BYTES * len(nodes)
