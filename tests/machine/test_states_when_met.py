"""States that are made when they are met give the masks of the network that is built beforehand."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import gc
import pickle
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import EXAMPLES, sampled, spelling_all_bytes
from support.grammars import JSON, SAMPLES, random_grammars, tree_of
from support.matcher import check_random_texts, json_text, stress, walks_of, whole_of
from support.network import TextbookMasks

from constrain.artifacts import Artifact
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.machine.states import States
from constrain.artifacts.network.configurations import REFUSED, Network, Texts
from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import dialect_of
from constrain.compiler.limits import Limits
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.machine.grammar_states import GrammarStates
from constrain.compiler.network import tree_layout
from constrain.compiler.network.from_tree import network_of_rules, numbered
from constrain.compiler.network.tree_layout import Layout
from constrain.compiler.network.tree_plan import procedures_of
from constrain.compiler.options import with_changes
from constrain.compiler.pipeline import build_artifact, build_engine

# Grammars in this repository that are read so.
OWN = ["date.ebnf", "ipv4.regex", "json.ebnf", "person.ebnf", "tool_call.schema.json", "words.ebnf"]
OWN += ["schemas/tree.schema.json", "csv/rfc4180.gbnf", "xml/drawing.w3c", "arithmetic/python.iso"]
# And in the data.
GBNF = ["arithmetic", "c", "chess", "english", "japanese", "json", "json_arr", "list"]

# Random grammars, by seed and place, whose rules begin with each other and with any character in so
# many ways that masks take seconds: by states made when met the first three of them, the others by
# the networks that they are held against.
SLOW = {(12, 2), (27, 3), (105, 0), (8, 3), (65, 2), (105, 3), (112, 2)}
SLOW |= {(133, 2)}

LIMITS = Limits()
ANY = {"tokenization": "any", "prewarm": 0}


def both(compiler: Compiler, text: str, dialect: str) -> tuple[Artifact, TextbookMasks]:
    """By states that are made when met, and compiled as a whole."""
    growing = compiler.compile(text, dialect=dialect, **ANY)
    assert isinstance(growing, GrowingArtifact)
    return growing, whole_of(compiler.tokenizer, text, dialect)


@sampled("seed", range(5), range(150))
def test_random_grammars_have_the_masks_of_their_networks(
    seed: int, default_tokenizer: Tokenizer
) -> None:
    """Rules that nest and do not, ambiguous ones, and chains of optional parts."""
    compiler = Compiler(default_tokenizer)
    for place, (text, _) in enumerate(random_grammars(4, seed)):
        if (seed, place) in SLOW:
            continue
        artifacts = compiler.compile(text, dialect="kbnf", **ANY)
        if isinstance(artifacts, GrowingArtifact):
            every = [artifacts, artifacts.completed, whole_of(compiler.tokenizer, text)]
            check_random_texts(every, 4, 30, seed=seed, short=0.5)


@sampled("seed", range(3), range(30))
def test_sequences_that_are_written_part_by_part_have_the_same_masks(
    seed: int, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each part is written by itself, and sequences stand in sequences."""
    monkeypatch.setattr(tree_layout, "_FEW_PARTS", 1 + seed % 2)
    compiler = Compiler(default_tokenizer)
    for place, (text, _) in enumerate(random_grammars(4, seed)):
        if (seed, place) in SLOW:
            continue
        found = compiler.compile(text, dialect="kbnf", **ANY)
        if isinstance(found, GrowingArtifact):
            every = [found, found.completed, whole_of(compiler.tokenizer, text)]
            check_random_texts(every, 3, 30, seed=seed, short=0.5)


def test_what_is_behind_a_long_sequence_is_not_written_before_a_text_comes_to_it() -> None:
    """A thousand properties of a schema in a row, of which a text has to have all."""
    items = " ".join(f'"{i}" x' for i in range(1_000))
    rules = numbered(tree_of(f'start ::= "(" {items} ")"; x ::= "x" x | "y" "z" | "z";'), LIMITS)
    layout = Layout(rules, procedures_of(rules), LIMITS, when_met=True)
    for state in [*layout.components.unlaid]:
        layout.components.unlaid.pop(state).lay(state)
    assert 4 < layout.components.states < 20


@pytest.mark.parametrize("text", SAMPLES)
def test_languages_have_the_masks_of_their_networks(
    text: str, default_tokenizer: Tokenizer, gpt2: Tokenizer
) -> None:
    for tokenizer in (default_tokenizer, gpt2):
        compiler = Compiler(tokenizer)
        found = compiler.compile(text, dialect="kbnf", **ANY)
        if isinstance(found, GrowingArtifact):
            every = [found, found.completed, whole_of(compiler.tokenizer, text)]
            check_random_texts(every, 3, 40, seed=5, short=0.5)


@sampled("name", [*OWN[1::3], *GBNF[::3]], [*OWN, *GBNF])
def test_real_grammars_have_the_masks_of_their_networks(
    name: str, gpt2: Tokenizer, full: bool, request: pytest.FixtureRequest
) -> None:
    if name in GBNF:
        data: Callable[[str], Path] = request.getfixturevalue("data")
        path = data(f"grammars/gbnf/{name}.gbnf")
    else:
        path = EXAMPLES / name
    text = path.read_text(encoding="utf-8")
    artifacts = both(Compiler(gpt2), text, dialect_of(path.name))
    loaded = load_bytes(artifacts[0].to_bytes())
    check_random_texts([*artifacts, loaded], 40 if full else 1, 60, seed=17, short=0.5)


@pytest.mark.quick
def test_all_short_texts_are_read_as_by_the_network(full: bool) -> None:
    """Texts of up to six letters: whether they may end, and whether anything may follow; by states
    that are fewer in all, though nothing unites equal ones."""
    compared = named = least = 0
    for text, _ in random_grammars(800 if full else 16, 11):
        rules = numbered(without_exceptions(tree_of(text), LIMITS), LIMITS)
        tables = network_of_rules(rules, LIMITS)
        met = Texts(States(GrammarStates(rules, procedures_of(rules), LIMITS)))
        whole = Network(tables)
        pending = [(met.start, whole.start, 0)]
        for mine, other, length in pending:
            assert whole.may_end(other) == met.may_end(mine)
            compared += 1
            for octet in b"abc" if length < 6 else b"":
                behind, expected = met.read(mine, [octet]), whole.read(other, [octet])
                assert (expected == REFUSED) == (behind == REFUSED)
                if behind != REFUSED:
                    pending.append((behind, expected, length + 1))
        assert isinstance(met.tables, States)
        named, least = named + met.tables.named, least + tables.states
    assert compared > 2_000
    assert named <= least


@sampled("seed", range(12), range(600))
def test_grammars_may_name_tokens(seed: int, tmp_path: Path) -> None:
    """Anywhere, beside texts and inside of each other, in choices with all tokens but some."""
    rng = random.Random(seed)

    def expression(depth: int) -> str:
        kind = rng.randrange(6 if depth else 3)
        if kind < 2:
            return rng.choice(['"a"', '"ab"', "/[ab]+/", '"b"'])
        if kind == 2:
            return rng.choice(["<call>", "<end>", "<[^0-5]>", "<[3-7]>"])
        left, right = expression(depth - 1), expression(depth - 1)
        inside = ' "a" start "b"' if rng.random() < 0.2 else ""
        marks = rng.choice(["*", "?", "+"])
        return [f"({left} | {right})", f"{left} {right}{inside}", f"({left}){marks}"][kind - 3]

    special = ["<call>", "<end>", "<eos>"]
    tokenizer = spelling_all_bytes(tmp_path, "ab", ["a b", "b b", "a a", "aa b"], special)
    text = f"start: {expression(3)} {rng.choice(['<end>', '']) or '/b/'}\n"
    try:
        compiler = Compiler(tokenizer, options=with_changes(None, {"dialect": "lark", **ANY}))
        growing = compiler.compile(text, eos=["<eos>"])
    except CheckError as error:
        assert "empty language" in str(error)
        return
    if isinstance(growing, GrowingArtifact):
        loaded = load_bytes(growing.to_bytes())
        whole = compiler.compile(text, engine="earley", eos=["<eos>"])
        assert growing.names_tokens == loaded.names_tokens == whole.names_tokens
        check_random_texts([growing, loaded, whole], 6, 14, seed=seed, short=0.4)
    assert growing.names_tokens or "<" not in text


def test_the_file_is_that_of_a_compilation(default_tokenizer: Tokenizer) -> None:
    """The same bytes, notes and counts, also pickled."""
    text = (EXAMPLES / "json.ebnf").read_text(encoding="utf-8")
    options = with_changes(None, {"dialect": "kbnf", **ANY})
    recogniser = build_engine(text, options)
    expected = build_artifact(recogniser, default_tokenizer, options).artifact
    growing = Compiler(default_tokenizer).compile(text, dialect="kbnf", **ANY)
    assert isinstance(growing, GrowingArtifact)
    check_random_texts([growing], 2, 30, seed=3)

    assert expected.to_bytes() == growing.to_bytes()
    assert expected.notes == growing.notes
    assert "network" == growing.manifest.kind
    again = pickle.loads(pickle.dumps(growing))
    assert not isinstance(again, GrowingArtifact)
    check_random_texts([growing, again], 2, 30, seed=4)


def test_artifacts_say_what_masks_need_without_their_file(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server's calls compile nothing."""
    growing = Compiler(default_tokenizer).compile(JSON, dialect="kbnf", **ANY)
    expected = growing.completed
    growing = Compiler(default_tokenizer).compile(JSON, dialect="kbnf", **ANY)
    monkeypatch.setattr(growing, "_complete", None)
    matcher = growing.matcher(stop_ids=[5])

    assert matcher.fill(np.zeros(len(matcher.mask()), dtype=np.int32)) is None
    assert expected.vocab_size == growing.vocab_size
    assert expected.eos == growing.eos
    assert not growing.is_canonical
    assert not growing.names_tokens
    assert growing.spells_bytes
    assert b"" == growing.text_prefix
    assert expected.vocabulary.token(300) == growing.vocabulary.token(300)
    for text in (b'{"a": [1, tru', b"{]", b""):
        assert expected.viable_bytes(text) == growing.viable_bytes(text)


def test_threads_share_states(default_tokenizer: Tokenizer) -> None:
    """Eight threads make states at once, and all of their masks are right."""
    text = (EXAMPLES / "json.ebnf").read_text(encoding="utf-8")
    growing, whole = both(Compiler(default_tokenizer), text, "kbnf")
    walks = walks_of(
        whole, random.Random(7), 12, 40, lambda rng: default_tokenizer.encode(json_text(rng))
    )
    count, wrong = stress(growing, walks)

    assert [] == wrong
    assert count > 500


def test_full_machines_are_replaced(default_tokenizer: Tokenizer) -> None:
    """States count as what is interned does; matchers go on where they are on a machine that has
    met nothing."""
    growing, whole = both(Compiler(default_tokenizer), JSON, "kbnf")
    first = growing.machine()
    assert isinstance(first, MetMasks)
    check_random_texts([growing, whole], 1, 10, seed=8)
    left, right = growing.matcher(), whole.matcher()
    for token_id in default_tokenizer.encode('{"a": [1, "b'):
        left.advance(token_id)
        right.advance(token_id)
    first.is_full = True
    growing.matcher()
    second = growing.machine()

    assert first is not second
    assert second.states.nbytes < first.states.nbytes
    assert right.mask().tolist() == left.mask().tolist()


def test_states_that_are_half_made_are_not_used(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where making them is broken off, the same error comes again; new texts have all masks."""
    growing, whole = both(Compiler(default_tokenizer), JSON, "kbnf")
    matcher, expected = growing.matcher(), whole.matcher()
    token_id = default_tokenizer.encode("[")[0]
    with monkeypatch.context() as patch:

        def broken_off(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(Layout, "_lay_rule", broken_off)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                matcher.advance(token_id)
                matcher.mask()
    with pytest.raises(KeyboardInterrupt):
        matcher.advance(token_id)
        matcher.mask()
    check_random_texts([growing, whole], 2, 30, seed=9)
    expected.accept(matcher.taken)
    assert expected.mask().tolist() == matcher.mask().tolist()


def test_grammars_leave_nothing_behind(default_tokenizer: Tokenizer) -> None:
    """As many again take no more memory, but for entries of caches with bounds of their own."""
    compiler = Compiler(default_tokenizer)

    def compiled(count: int) -> int:
        for number in range(count):
            text = f'start ::= "a{number}" start? "]" | #"[a-z]*{number}";'
            growing = compiler.compile(text, dialect="kbnf", **ANY)
            growing.matcher().mask()
        del growing
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = compiled(50)
        # A grammar alone is some kilobytes.
        assert compiled(50) - before < 20_000
    finally:
        tracemalloc.stop()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("start ::= '(' start ')' | 'a';", {"engine": "network"}),
        ("start ::= '(' start ')' | 'a';", {"tokenization": "canonical"}),
        ("start ::= '(' start ')' | 'a';", {"prewarm": 10}),
    ],
)
def test_others_are_compiled_as_a_whole(
    text: str, changes: dict[str, object], default_tokenizer: Tokenizer
) -> None:
    found = Compiler(default_tokenizer).compile(text, dialect="kbnf", **ANY | changes)
    assert not isinstance(found, GrowingArtifact)


@pytest.mark.quick
def test_errors_come_when_a_grammar_is_compiled(default_tokenizer: Tokenizer) -> None:
    """Not with the first mask."""
    compiler = Compiler(default_tokenizer)
    with pytest.raises(CheckError, match="not defined"):
        compiler.compile("start ::= x;", dialect="kbnf", **ANY)
    with pytest.raises(CheckError, match="empty language"):
        compiler.compile("start ::= 'a' start;", dialect="kbnf", **ANY)


@sampled("seed", range(2), range(80))
def test_nodes_that_a_state_began_with_are_not_read_again(
    seed: int, default_tokenizer: Tokenizer
) -> None:
    """Masks of lists, whose items begin where one may end, are Earley's."""
    rng, compiler = random.Random(seed), Compiler(default_tokenizer)
    names = ["root", "a", "b"]
    parts = ["[a-c]+", "[ab]", '"c"', '"(" root ")"', '"ab"?', *(f"{n}+" for n in names)]
    for _ in range(3):
        rules = [
            f"{n} ::= [{c}] | " + " | ".join(" ".join(rng.choices(parts, k=2)) for _ in range(2))
            for n, c in zip(names, "cab", strict=True)
        ]
        options = {"dialect": "gbnf", **ANY}
        found = compiler.compile("\n".join(rules), **options)
        earley = compiler.compile("\n".join(rules), **options, engine="earley")
        check_random_texts([found, earley], 3, 20, seed=seed)
