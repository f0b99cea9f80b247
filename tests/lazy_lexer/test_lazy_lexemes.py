"""Lexemes whose states are made while decoding: masks are those of the lexer that is built."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import encoded
from support.cli import Cli
from support.container import (
    Change,
    changed,
    check_every_bit_counts,
    check_flipped_bits_do_no_harm,
    refused,
    walk_two_deep,
)
from support.maximal_munch import compiled_lark, tokenizer_over

from constrain.artifacts import Artifact
from constrain.artifacts.lazy_lexer.check import LEXEMES
from constrain.artifacts.lazy_lexer.machine import LazyLexerMasks
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, thresholds
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.explain.maximal_munch import explain_maximal_munch
from constrain.compiler.lazy_dfa import conjunctions, signed_parts
from constrain.compiler.pipeline import build_engine

LETTERS = [b"a", b"b", b",", b"<", b">", b" ", b"\xc3", b"\xa9", b'"']
WORDS = [*b'ab aa bb aaaa abab, b, a> <a >, a" "" "a ,, a,b "," ba'.split(), "é".encode(), b"a "]
WORDS += ["éa".encode(), b"\xa9a", b" a", b"a,", b"a>,", b"a b", b'a",', b" b ", b"bbbbbb", b">>"]

# Counts alone, between others and in alternatives; beside names and keywords that begin alike;
# that are ignored, or match nothing; exceptions, with and without a bound of the length.
LARKS = {
    "count": 'start: "<" start ">" | A\nA: /[ab]{1,9}/\n%ignore " "\n',
    "quoted": 'start: "<" (start ("," start)*)? ">" | A\nA: /"[abé]{2,11}"/\n',
    "least": 'start: "<" start ">" | (A ",")+ A\nA: /[ab]{7,}/\n%ignore " "\n',
    "both": 'start: "<" start ">" | A start? | B\nA: /[abé]{3,8}/\nB: /b[ab]{1,5}/\n'
    "%ignore /[ ]{1,4}/\n",
    "names": 'start: "<" start ">" | "aa" start | A | B\nA: /[a]{1,8}b/\nB: /(ab|b)+/\n'
    '%ignore " "\n',
    "options": 'start: "<" start ">" | A+\nA: /[ab]{0,6}|é{3,9}|,/\n',
    # Ended by others as soon as these may end: a small one and large ones, of one text too.
    "ended": 'start: "<" start ">" | (h ",")* A\nh[lazy]: /[ab]*ba/\nA: /[abé]{1,9}/\n'
    '%ignore " "\n',
    "ending": 'start: "<" start ">" | (h ",")* A\nA: /[abé,]*/\nh[lazy]: /[abé]{7}/\n',
    "both end": 'start: "<" start ">" | (h "," | i | "b")* A\nA: /[abé]{2,12}/\n'
    "h[lazy]: /[abé]{7}/\ni[lazy]: /[ab]{2,8}é|aab/\n",
}
EXCEPTIONS = {
    "host": """s = "<", s, ">" | host, [" ", host];
               c = "a" | "b"; label = c, 2 * [c | ","], c; hosts = label, {",", label};
               host = hosts - (9 * (c | ","), {c | ","});""",
    "hidden": """s = "<", s, ">" | t | t, ",", s;
                 c = "a" | "b"; t = {c} - ({c}, "a", c, c);""",
    "long": """s = "<", s, ">" | t | t, ",", s;
               c = "a" | "b" | " "; t = {c} - ({c}, "a", c, 5 * c, {c} | {c}, "b", " ", {c});""",
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """Single bytes, and tokens over the borders of lexemes and of characters."""
    return tokenizer_over(LETTERS + list(dict.fromkeys(WORDS)))


def check_equal(eager: Artifact, lazy: Artifact, rng: random.Random, texts: int, most: int) -> None:
    """All masks along random texts, with what is loaded, forgotten and taken back."""
    assert (LEXEMES in eager.arrays, LEXEMES in lazy.arrays) == (False, True)
    loaded = load_bytes(lazy.to_bytes(), verify=True)
    tight = load_bytes(lazy.to_bytes(), cache_bytes=0)
    for _ in range(texts):
        matchers = [each.matcher() for each in (eager, lazy, loaded, tight)]
        for _ in range(most):
            one, *others = (matcher.mask() for matcher in matchers)
            assert all(np.array_equal(one, other) for other in others), matchers[0].taken
            ids = tokenset.to_ids(one).tolist()
            if not ids:
                break
            # Bounds are met sooner by the shorter ones.
            token = min(rng.sample(ids, min(len(ids), rng.randint(1, 4))))
            for matcher in matchers:
                matcher.advance(token)
            if matchers[0].is_finished:
                break
            if rng.random() < 0.1:
                for matcher in matchers:
                    matcher.rollback(1)


def both(
    text: str, tokenizer: Tokenizer, patch: pytest.MonkeyPatch, dialect: str
) -> list[Artifact]:
    """The artifacts with a lexer that is built, and with one whose states are made."""
    found = []
    for states in (1 << 63, 2):
        patch.setattr(signed_parts, "MANY", 2)
        patch.setattr(thresholds, "LARGE_STATES", states)
        options = {"dialect": dialect, "prewarm": 0}
        found.append(compiled_lark(text, tokenizer, **options))
    return found


@pytest.mark.quick
@pytest.mark.parametrize("name", LARKS)
def test_masks_are_those_of_the_built_lexer_bit_by_bit(
    name: str, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    eager, lazy = both(LARKS[name], tokenizer, monkeypatch, "lark")
    check_equal(eager, lazy, random.Random(name), 200 if full else 4, 40)


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_are_read_as_their_automata_read_them(
    name: str, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """By bounds of the length, and by sets of states where an operand has no automaton."""
    if name != "host":
        monkeypatch.setattr(conjunctions, "_FEW_STATES", 0)
        monkeypatch.setattr(conjunctions, "_TIMES_NFA", 0)
    eager, lazy = both(EXCEPTIONS[name], tokenizer, monkeypatch, "iso14977")
    assert (name == "host") != bool(len(lazy.arrays["lazy.set_of"]))
    check_equal(eager, lazy, random.Random(name), 200 if full else 4, 40)


@pytest.mark.parametrize(
    "text",
    [
        'start: "[" start "]" | S | N start?\nS: /"[^"\\n]{0,30}"/\nN: /[a-zé]{2,24}/\n',
        'start: "[" start "]" | (h "," | i "=")* N\nh[lazy]: /[a-z]*(ed|o)/\ni[lazy]: /[a-z ]{7}/\n'
        "N: /[a-zé ]{2,24}/\n",
    ],
    ids=["bounds", "ended"],
)
def test_masks_near_bounds_are_those_of_the_built_lexer_on_a_real_vocabulary(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Also where one of them ends, or a small one, and all others with it."""
    eager, lazy = both(text, default_tokenizer, monkeypatch, "lark")
    check_equal(eager, lazy, random.Random(5), 30 if full else 1, 40)


def test_a_terminal_may_be_too_large_to_be_built(default_tokenizer: Tokenizer) -> None:
    """A hundred thousand characters, or two million sets of places."""
    text = 'start: "(" start ")" | A\nA: /[a-z]{1,100000}/\n%ignore " "\n'
    artifact = compiled_lark(text, default_tokenizer, engine="auto")
    assert LEXEMES in artifact.arrays
    assert artifact.viable_bytes(b"((" + b"a" * 100_001) == 100_002
    assert any("a terminal is too large to be built" in note for note in artifact.manifest.notes)
    hidden = 's ::= "(" s ")" | t\nt ::= [ab]* - ([ab]* "a"' + " [ab]" * 20 + ")"
    other = compiled_lark(hidden, default_tokenizer, engine="auto", dialect="w3c")
    assert LEXEMES in other.arrays
    assert other.viable_bytes(b"(" + b"a" * 30 + b")") == 31
    assert other.viable_bytes(b"(" + b"a" + b"b" * 20 + b")") == 22


def test_masks_far_from_all_bounds_are_found_once(default_tokenizer: Tokenizer) -> None:
    """Whatever the number of characters is, no node is visited again."""
    text = 'start: "(" start ")" | A\nA: /[a-z]{1,100000}/\n%ignore " "\n'
    artifact = compiled_lark(text, default_tokenizer)
    matcher = artifact.matcher()
    machine = artifact.machine()
    assert isinstance(machine, LazyLexerMasks)
    (letter,) = default_tokenizer.encode("a")
    visited = []
    for _ in range(60):
        matcher.advance(letter)
        visited.append((matcher.mask().tobytes(), machine.walks.visited))
    assert len(set(visited)) == 1


def test_states_are_forgotten_with_the_machine(tokenizer: Tokenizer) -> None:
    """However many texts were read, a machine with little room has few states; masks stay right."""
    text = 's ::= "<" s ">" | t\nt ::= [ab]* - ([ab]* "a"' + " [ab]" * 20 + ")"
    artifact = compiled_lark(text, tokenizer, dialect="w3c")
    tight = load_bytes(artifact.to_bytes(), cache_bytes=0)
    rng, machines, most = random.Random(3), list[LazyLexerMasks](), 0
    for _ in range(100):
        ids = [3, *rng.choices((0, 1), k=30)]
        assert artifact.matcher().accept(ids) == tight.matcher().accept(ids)
        machine = tight.machine()
        assert isinstance(machine, LazyLexerMasks)
        most = max(most, machine.configurations.lexer.states)
        machines += [machine] * (machine not in machines)
    assert len(machines) > 1
    assert most < 2000


def test_small_terminals_and_canonical_masks_are_built(tokenizer: Tokenizer) -> None:
    """Only what would have many states is made while decoding, and only under any tokenization."""
    short = compiled_lark('start: "<" start ">" | A\nA: /[ab]{1,50}/\n', tokenizer, prewarm=0)
    assert short.manifest.kind == "greedy"
    text, lark = "start: A\nA: /[ab]{1,2100}/\n", {"dialect": "lark", "meaning": "maximal-munch"}
    engines = [
        build_engine(text, **lark, tokenization=tokenization).choice.engine
        for tokenization in (None, "canonical", "any")
    ]
    assert engines == ["dfa", "dfa", "greedy"]


def test_members_with_bytes_without_a_token_are_left_out(tokenizer: Tokenizer) -> None:
    artifact = compiled_lark("start: A | B\nA: /[az]{1,3000}/\nB: /z{9,3000}/\n", tokenizer)
    assert any("the byte 0x7A are left out" in note for note in artifact.manifest.notes)
    assert artifact.viable_bytes(b"aaz") == 2
    with pytest.raises(CheckError, match="there is no member"):
        compiled_lark("start: B\nB: /z{9,3000}/\n", tokenizer)


@pytest.fixture(scope="module")
def tiny() -> Artifact:
    """An artifact with all that such a file may have, of few tokens."""
    tokenizer = tokenizer_over([*LETTERS[:6], b"ab", b"a,", b"b>", b"b "])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "LARGE_STATES", 2)
        patch.setattr(conjunctions, "_FEW_STATES", 0)
        patch.setattr(conjunctions, "_TIMES_NFA", 0)
        return compiled_lark(EXCEPTIONS["long"], tokenizer, dialect="iso14977", prewarm=0)


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep; and a verdict."""
    walk_two_deep(artifact)
    explain_maximal_munch(artifact.machine().configurations, b"<<ab> a")  # type: ignore[attr-defined]


def test_flipped_bits_are_found_and_do_no_harm(tiny: Artifact, full: bool) -> None:
    exercise(load_bytes(tiny.to_bytes(), verify=True))
    check_every_bit_counts(tiny, 500 if full else 5)
    check_flipped_bits_do_no_harm(tiny, exercise, 1500 if full else 40)


DAMAGE: dict[str, Change] = {
    "lazy.lexemes": changed(0, 99),
    "lazy.terminals": changed(-1, 99),
    "lazy.bounds": changed((0, 1), 0),
    "lazy.accepting": changed(slice(None), 2),
    "lazy.table": changed((0, 0), 1),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_sections_that_do_not_fit_are_refused_by_name(name: str, tiny: Artifact) -> None:
    arrays = {name: DAMAGE[name](tiny.arrays, name)}
    if name == "lazy.accepting":
        arrays["lazy.bounds"] = np.zeros_like(tiny.arrays["lazy.bounds"])
    message = refused(encoded(tiny, arrays), verify=False)
    assert "lazy." in message


def test_the_tools_answer_for_a_grammar_with_such_a_lexeme(cli: Cli, tmp_path: Path) -> None:
    """Texts are explained as masks are found; the lexer, which has no states, is not drawn."""
    grammar, text, artifact = (str(tmp_path / name) for name in ("s.lark", "text", "s.cst"))
    Path(grammar).write_text('start: "(" start ")" | NAME\nNAME: /[a-z]{1,2500}/\n%ignore " "\n')
    said = cli("compile", grammar, "-o", artifact)
    assert said.code == 0
    assert "a terminal is too large to be built" in said.err
    Path(text).write_text("(abc]")
    for source in (grammar, artifact):
        said = cli("explain", source, text)
        assert f'{text}:1:5: rejected at "]" (byte 4) in start; expected [a-z]' in said.out.decode()
        assert '")"' in said.out.decode()
    Path(text).write_text("( abc )")
    assert cli("explain", artifact, text).code == 0
    assert b"kind: greedy" in cli("show", artifact).out
    assert b"NAME   ; made while decoding" in cli("show", grammar, "--stage", "lexemes").out
    assert cli("sample", grammar, "-n", "3", "--seed", "1").code == 0
    said = cli("viz", grammar, "--stage", "lexer", "-o", str(tmp_path / "l.dot"))
    assert said.code == 2
    assert "the states of NAME are made while decoding" in said.err
    assert cli("viz", grammar, "--stage", "parser", "-o", str(tmp_path / "p.dot")).code == 0


@pytest.mark.sampled("folder", ["gpt2"], ["gpt2", "qwen2_5", "mistral_nemo"])
def test_masks_at_the_ends_of_long_lexemes_are_those_of_the_built_lexer(
    folder: str,
    real: Callable[[str], Tokenizer],
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After so many characters that the next tokens reach the bound, or go beyond it."""
    if not full:
        pytest.skip("a real tokenizer takes some seconds: --full")
    tokenizer = real(folder)
    text = 'start: "(" start ")" | S\nS: /"[^"\\n]{0,400}"/\n%ignore " "\n'
    eager, lazy = both(text, tokenizer, monkeypatch, "lark")
    rng = random.Random(folder)
    for length in (0, 1, 250, 330, 380, 390, 396, 398, 399, 400):
        prompt = '("' + "".join(rng.choices("abc de", k=length))
        matchers = [each.matcher() for each in (eager, lazy)]
        for token in tokenizer.encode(prompt):
            for matcher in matchers:
                matcher.advance(token)
        for _ in range(12):
            masks = [matcher.mask() for matcher in matchers]
            assert np.array_equal(*masks)
            token = rng.choice(tokenset.to_ids(masks[0]).tolist())
            for matcher in matchers:
                matcher.advance(token)
            if matchers[0].is_finished:
                break
