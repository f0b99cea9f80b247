"""What is made before a text is read: lexer states, the closed memo, slices."""

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
    plain_of,
    random_larks,
    vocabulary_of,
)

from constrain.artifacts.maximal_munch import lexer_walk as greedy_walk
from constrain.artifacts.maximal_munch.lexer import NONE, Lexer
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.slices import Slices
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexer_tables import (
    json_slices,
    maximal_munch_tables,
    slice_of,
)
from constrain.compiler.maximal_munch.precompute import close
from constrain.compiler.network.precompute import frames_below

NESTED_IF = 'start: "i" start ["e" start] | "x"\n'


def with_tokenizer(
    tokenizer: Tokenizer, grammar: str, *, sliced: bool = False
) -> MaximalMunchMasks:
    """The masks of a Lark grammar over a tokenizer, with the slices for JSON or without."""
    vocabulary = tokenizer.vocabulary(tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    slices = (lambda: Slices(json_slices(), trie, tokenizer.vocab_size)) if sliced else None
    tables = maximal_munch_tables(read_grammar(grammar, "lark"))
    return MaximalMunchMasks(
        tables, lambda: trie, vocabulary, tokenizer.eos, tokenizer.vocab_size, slices=slices
    )


def test_a_lexer_reads_what_is_allowed() -> None:
    """Lexemes that are not allowed at the start are never found; ignored ones always are."""
    text = BOTH + 'start: NAME | "if"\nNAME: /[a-z]+/\n%ignore " "\n'
    tables = maximal_munch_tables(read_grammar(text, "lark")).lexer
    lexer = Lexer(tables)
    name, word, space = (tables.texts.index(t) for t in ("NAME", '"if"', '" "'))
    for allowed in ({name}, {word}, {name, word}, set[int]()):
        start = lexer.start(frozenset(allowed))
        assert allowed | {space} == lexer.lexemes(start)
        state = lexer.rows[lexer.rows[start][ord("i")]][ord("f")]
        assert allowed == lexer.lexemes(state)
        winners = lexer.wins[state]
        assert allowed == (set() if winners == NONE else set(lexer.winners[winners]))


def test_closing_json_leaves_nothing_to_do(default_tokenizer: Tokenizer) -> None:
    """No text leads to a residual that is not known, however deep it nests."""
    masks = with_tokenizer(default_tokenizer, JSON)
    closed = close(masks)
    assert closed.complete
    residuals, visited = len(masks.residual), masks.walks.visited
    deep = '[{"a":' * 20 + "[1, {}]" + "}]" * 20
    for sample in (SAMPLES[JSON], deep):
        state = masks.start
        for token in default_tokenizer.encode(sample):
            assert tokenset.contains(masks.row(state), token)
            state = masks.step(state, token)
        assert masks.is_accepting(state)
    assert (residuals, visited) == (len(masks.residual), masks.walks.visited)


def test_closing_changes_no_mask(full: bool) -> None:
    """Closed to the end, up to a limit, or not at all: the rows are the same."""
    rng = random.Random(3)
    complete = 0
    for text, _ in random_larks(300 if full else 15, seed=41):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(1, 6))) for _ in range(30)}
        tokens = sorted(words)
        machines = [masks_of(text, tokens) for _ in range(3)]
        complete += close(machines[0], Limits(states=300)).complete
        close(machines[1], Limits(states=2_000), most_rows=4)
        states = [masks.start for masks in machines]
        for _ in range(8):
            rows = [masks.row(s) for masks, s in zip(machines, states, strict=True)]
            expected = rows[2].tolist()
            assert [expected, expected] == [row.tolist() for row in rows[:2]], text
            choices = [i for i in tokenset.to_ids(rows[2]).tolist() if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            states = [m.step(s, token) for m, s in zip(machines, states, strict=True)]
    assert complete > 5


def test_runs_of_frames_that_may_return_are_closed() -> None:
    """Any number of ifs may be without an else: as many are followed as a token can tell."""
    tokens = [b"i", b"x", b"e", b"xexe", b"exex", b"ixex", b"xexexexe", b"exexexex"]
    masks, plain = masks_of(NESTED_IF, tokens), plain_of(NESTED_IF)
    (frame,) = set(masks.heads.tables.call_returns.tolist())
    # Four begin in the longest token, one before it, and one is allowed behind it.
    assert 6 == masks.runs.longest(frame)
    assert close(masks).complete
    known = len(masks.residual)
    for depth in range(12):
        for closed in range(depth + 1):
            text = b"i" * depth + b"x" + b"ex" * closed
            state, reading = masks.read(masks.start, text), plain.read(plain.begin(), text)
            assert state is not None
            expected = [
                i
                for i, token in enumerate(tokens)
                if plain.read(reading, token).length == len(text) + len(token)
            ] + [len(tokens)] * plain.may_end(reading)
            assert expected == tokenset.to_ids(masks.row(state)).tolist(), text
    assert known == len(masks.residual)


def test_closing_stops_at_a_limit() -> None:
    """Two readings that nest make ever larger heads; the masks stay right."""
    text = 'start: x\nx: A x B | B x A | "c"\nA: /[ab]/\nB: /[bc]/\n'
    tokens = [b"a", b"b", b"c", b"bb", b"bcb", b"bbcc"]
    machine, plain = masks_of(text, tokens), plain_of(text)
    assert not close(machine, Limits(states=200)).complete
    state, reading = machine.start, plain.begin()
    for token in (1, 1, 0, 3, 2, 1, 1):
        expected = [
            i
            for i, other in enumerate(tokens)
            if plain.read(reading, other).length == reading.length + len(other)
        ] + [len(tokens)] * plain.may_end(reading)
        assert expected == tokenset.to_ids(machine.row(state)).tolist()
        assert token in expected
        state, reading = machine.step(state, token), plain.read(reading, tokens[token])


def test_closing_stops_where_heads_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many heads nothing more is worked out ahead."""
    monkeypatch.setattr("constrain.compiler.maximal_munch.precompute.MOST_HEADS", 20)
    text = 'start: x\nx: A x B | B x A | "c"\nA: /[ab]/\nB: /[bc]/\n'
    closed = close(masks_of(text, [b"a", b"b", b"c"]))
    assert (False, 21) == (closed.complete, closed.heads)


def test_frames_that_can_lie_below() -> None:
    """Only what can call a state's own rule; nothing below the start."""
    tables = maximal_munch_tables(
        read_grammar('start: "(" x ")"\nx: "[" x "]" | "a"\n', "lark")
    ).network
    below = frames_below(tables)
    assert [] == below[tables.start]
    frames = set(tables.call_returns.tolist())
    starts = set(tables.call_starts.tolist())
    assert starts
    assert all(below[start] and frames.issuperset(below[start]) for start in starts)


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_slices_change_no_mask(grammar: str, default_tokenizer: Tokenizer) -> None:
    """Rows along a sample are equal with slices and without."""
    plain = with_tokenizer(default_tokenizer, grammar)
    sliced = with_tokenizer(default_tokenizer, grammar, sliced=True)
    left, right = plain.start, sliced.start
    for token in default_tokenizer.encode(SAMPLES[grammar]):
        assert plain.row(left).tolist() == sliced.row(right).tolist()
        left, right = plain.step(left, token), sliced.step(right, token)


def test_slices_leave_out_most_of_the_trie(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a JSON string is open, less than a quarter of the nodes is visited."""
    monkeypatch.setattr(greedy_walk, "LARGE", 0)
    visited = []
    for sliced in (True, False):
        masks = with_tokenizer(default_tokenizer, JSON, sliced=sliced)
        state = masks.read(masks.start, b'{"a": "b')
        assert state is not None
        masks.row(state)
        visited.append(masks.walks.visited)
    assert visited[0] * 4 < visited[1]


@pytest.mark.parametrize(
    ("pattern", "fits"), [('"', False), ('"C{0,50}"', True), ('"C{0,9}"', False), ('"C*"', True)]
)
def test_where_slices_fit(pattern: str, fits: bool) -> None:
    """A slice of ten characters fits inside a string that can take ten more."""
    body = pattern.replace('"', r"\"").replace("C", r'[^"\\\x00-\x1f]')
    tokens = [b'"', b"a", b"ab", "é".encode()]
    masks = masks_of(f"start: /{body}/\n", tokens)
    trie = Trie.from_vocabulary(vocabulary_of(tokens))
    letters = regex.char_class([(ord("a"), ord("z"))])
    slices = Slices([slice_of(regex.repeat(letters, 1, 10))], trie, 5)
    start = masks.lexer.start(masks.heads.view(masks.heads.start).allowed)
    assert slices.covered(masks.lexer, start) is None
    covered = slices.covered(masks.lexer, masks.lexer.rows[start][ord('"')])
    assert fits == (covered is not None)
    if covered is not None:
        assert [1, 2] == tokenset.to_ids(covered.row).tolist()
        # The root, the quote, and the two bytes of é.
        assert 4 == int(covered.needed.sum())


def test_what_was_closed_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows made ahead do not count against those that may be made later; those do."""
    monkeypatch.setattr("constrain.artifacts.maximal_munch.machine._KEPT_BYTES", 180)
    tokens = [bytes([octet]) for octet in range(256)]
    masks, plain = masks_of(JSON, tokens), masks_of(JSON, tokens)
    close(masks)
    known = len(masks.residual)
    left, right = masks.start, plain.start
    for octet in SAMPLES[JSON].encode():
        assert masks.row(left).tolist() == plain.row(right).tolist()
        left, right = masks.step(left, octet), plain.step(right, octet)
    assert known == len(masks.residual) > len(plain.residual)


def test_a_memo_is_carried_over(default_tokenizer: Tokenizer) -> None:
    """A machine that begins with a closed memo walks no trie, and answers alike."""
    first = with_tokenizer(default_tokenizer, JSON)
    close(first)
    memo = HeadSummaryTables.from_arrays(first.memo().arrays())
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    tables = maximal_munch_tables(read_grammar(JSON, "lark"))

    def no_trie() -> Trie:
        raise AssertionError("a row was not known")

    rest = vocabulary, default_tokenizer.eos, default_tokenizer.vocab_size
    second = MaximalMunchMasks(tables, no_trie, *rest, memo=memo)
    left, right = first.start, second.start
    for token in default_tokenizer.encode(SAMPLES[JSON]):
        assert first.row(left).tolist() == second.row(right).tolist()
        left, right = first.step(left, token), second.step(right, token)
    again = second.memo().arrays()
    assert all((again[name] == array).all() for name, array in memo.arrays().items())


def test_a_memo_that_lacks_something_is_added_to(full: bool) -> None:
    """Masks begun with a part of the memo are those of none; forgetting changes nothing."""
    rng = random.Random(8)
    for text, _ in random_larks(200 if full else 12, seed=43):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(1, 6))) for _ in range(30)}
        tokens = sorted(words)
        plain, part = masks_of(text, tokens), masks_of(text, tokens)
        close(part, Limits(states=2_000), most_rows=3)
        begun = masks_of(text, tokens, memo=part.memo())
        left, right = plain.start, begun.start
        for _ in range(8):
            row = plain.row(left)
            assert row.tolist() == begun.row(right).tolist(), text
            choices = [i for i in tokenset.to_ids(row).tolist() if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            left, right = plain.step(left, token), begun.step(right, token)


def test_the_parser_is_seldom_asked(default_tokenizer: Tokenizer) -> None:
    """In a JSON string, few of the trie nodes that a walk visits end a lexeme."""
    masks = with_tokenizer(default_tokenizer, JSON)
    state = masks.read(masks.start, b'{"a": "b')
    assert state is not None
    masks.row(state)
    assert masks.walks.parsed * 50 < masks.walks.visited


@pytest.mark.parametrize("most_rows", [300, 1 << 16])
def test_code_is_closed(default_tokenizer: Tokenizer, most_rows: int, full: bool) -> None:
    """All of the memo, or a part, is made ahead of time, and the text goes on from there."""
    if most_rows > 300 and not full:
        pytest.skip("closing code takes a while: --full")
    masks = with_tokenizer(default_tokenizer, CODE)
    assert close(masks, most_rows=most_rows).complete == (most_rows > 300)
    visited = masks.walks.visited
    state = masks.start
    for token in default_tokenizer.encode(SAMPLES[CODE]):
        assert tokenset.contains(masks.row(state), token)
        state = masks.step(state, token)
    assert masks.is_accepting(state)
    assert most_rows == 300 or visited == masks.walks.visited
