"""What an inspection says of each kind of artifact, and that it is so."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, compiled, tokenizer_of
from support.wordpiece import compiled as compiled_by_words
from support.wordpiece import tokenizer_of as words_of

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import CompileOptions, Tokenizer, compile_grammar
from constrain.compiler.explain.report import Verdict
from constrain.compiler.inspection.choices import (
    Choice,
    Choices,
    Closure,
    Effort,
    effort_of,
)
from constrain.compiler.inspection.density import Density, MaskFacts
from constrain.compiler.inspection.encoding import fewest_tokens, fewest_via_boundaries
from constrain.compiler.inspection.inspection import (
    Counter,
    EndToken,
    GrammarFacts,
    Inspection,
    TokenDfa,
    TokenizerFacts,
    inspection_of,
)
from constrain.compiler.inspection.report import as_json, as_table
from constrain.compiler.inspection.sizes import Section, Sizes
from constrain.compiler.inspection.texts import Text, TextFacts
from constrain.compiler.merge.direct_merge import CanonicalDfa, Growth
from constrain.compiler.pipeline import build_artifact, build_engine

DATE = "[12][0-9]{3}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
NESTED = 'start ::= "[" (start ("," " "? start)*)? "]" | #"[a-z]{1,4}";'
MUNCH = 'start: "[" (start ("," start)*)? "]" | WORD\nWORD: /[a-z]+/\n%ignore " "\n'
LARGE_LEXEME = MUNCH.replace("]+/", "]{1,3000}/")
COUNTED = 'start ::= "(" start ")" | #"[a-z]{3,9000}";'
LAZY = "~(.*a.{20})"

# Grammar, dialect and options of an artifact of each kind, and how much of its masks is in it.
KINDS = {
    "byte DFA": (DATE, "regex", {"tokenization": "any"}, "all"),
    "byte DFA lazily": (
        DATE,
        "regex",
        {"engine": "dfa", "tokenization": "any", "prewarm": 0},
        "none",
    ),
    "network without calls": (DATE, "regex", {"tokenization": "any", "prewarm": 0}, "none"),
    "token-dfa": (DATE, "regex", {"method": "direct"}, "all"),
    "canonical DFA": (DATE, "regex", {"method": "cartesian"}, "all"),
    "network with large terminals": (LAZY, "regex-extended", {"tokenization": "any"}, "none"),
    "network": (NESTED, "kbnf", {"tokenization": "any"}, "all"),
    "network lazily": (NESTED, "kbnf", {"tokenization": "any", "prewarm": 0}, "none"),
    "network canonical": (NESTED, "kbnf", {}, "all"),
    "network canonical lazily": (NESTED, "kbnf", {"prewarm": 0}, "none"),
    "network counted": (COUNTED, "kbnf", {"tokenization": "any"}, "some"),
    "earley": (NESTED, "kbnf", {"tokenization": "any", "engine": "earley"}, "none"),
    "greedy": (MUNCH, "lark", {"tokenization": "any"}, "all"),
    "greedy lazily": (MUNCH, "lark", {"tokenization": "any", "prewarm": 0}, "none"),
    "greedy of lazy lexemes": (LARGE_LEXEME, "lark", {"tokenization": "any"}, "none"),
    "word-dfa": ("", "", {}, "none"),
}

# Every part of an inspection.
PARTS = (Inspection, Choice, Choices, Closure, Counter, Density, Effort, EndToken, GrammarFacts)
PARTS += (Growth, MaskFacts, Section, Sizes, TextFacts, TokenDfa, TokenizerFacts)

ALPHABET = "0123456789-[], abcdefghijklmnopqrstuvwxyz"


def said(verdict: Verdict, text: Text) -> str:
    """A verdict in a word."""
    return f"{text.name}: {verdict.status.value}"


def inspected(artifact: Artifact, *texts: bytes, tokenizer: Tokenizer | None = None) -> Inspection:
    """The inspection of an artifact alone."""
    named = [Text(f"text {number}", octets) for number, octets in enumerate(texts)]
    return inspection_of(artifact, name="x.cst", say=said, texts=named, tokenizer=tokenizer)


@pytest.fixture(scope="module")
def made(default_tokenizer: Tokenizer) -> Callable[[str], Artifact]:
    """A small artifact of each kind, read from its file."""
    known: dict[str, Artifact] = {}

    def find(name: str) -> Artifact:
        if name not in known:
            text, dialect, options, _ = KINDS[name]
            if name == "word-dfa":
                words = words_of(["a", "b", "##a", "##b", "ab", "##bb", "c"])
                artifact = compiled_by_words("[ab]{1,6}( c)?", words)
            else:
                artifact = compile_grammar(
                    text, dialect=dialect, tokenizer=default_tokenizer, **options
                )
            known[name] = load_bytes(artifact.to_bytes())
        return known[name]

    return find


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_artifact_is_inspected(name: str, made: Callable[[str], Artifact]) -> None:
    """Kind and masks are what they are, the sections add up to the file, and both formats have
    them."""
    artifact = made(name)
    found = inspected(artifact)

    assert ("network" if "DFA" in name else name.split()[0]) == found.kind
    assert KINDS[name][3] == found.precomputed
    assert len(artifact.to_bytes()) == found.sizes.file
    assert found.sizes.file == found.sizes.header + sum(s.bytes for s in found.sizes.sections)
    owned = found.sizes.grammar + found.sizes.tokenizer + found.sizes.both
    assert found.sizes.file == found.sizes.header + owned
    first = artifact.matcher().mask()
    assert len(tokenset.to_ids(first)) == found.masks.first
    assert 0 < found.masks.density.min <= found.masks.density.median <= found.masks.density.max
    assert (name == "network counted") == bool(found.counters)
    table, line = as_table(found), as_json(found)
    assert f"of kind {found.kind}" in table
    assert {"schema": 1, **json.loads(json.dumps(found.to_json()))} == json.loads(line)


@pytest.mark.parametrize("name", ["byte DFA", "token-dfa", "canonical DFA"])
def test_the_density_of_a_table_is_that_of_all_its_states(
    name: str, made: Callable[[str], Artifact]
) -> None:
    """Counted mask by mask along all tokens."""
    artifact = made(name)
    machine, eos = artifact.machine(), set(artifact.manifest.eos)
    states, counts = [machine.start], list[int]()
    for state in states:
        ids = tokenset.to_ids(machine.row(state)).tolist()
        counts.append(len(ids))
        targets = {machine.take(state, token) for token in set(ids) - eos}
        states += sorted(target for target in targets if target not in {None, *states})
    found = inspected(artifact).masks

    assert "states" == found.over
    assert (min(counts), max(counts)) == (found.density.min, found.density.max)
    if name != "canonical DFA":
        assert (len(counts), np.median(counts)) == (found.density.masks, found.density.median)


def test_a_section_is_whose_it_is_said_to_be(
    made: Callable[[str], Artifact], default_tokenizer: Tokenizer, letters: Tokenizer
) -> None:
    """The tokenizer's own are the same in artifacts of two grammars, the grammar's own in those for
    two tokenizers."""
    met = set[str]()
    for name in ("byte DFA lazily", "canonical DFA", "network lazily", "network canonical lazily"):
        text, dialect, options, _ = KINDS[name]
        other = text.replace("9", "8").replace("a-z", "a-y")
        others = {
            "tokenizer": compile_grammar(
                other, dialect=dialect, tokenizer=default_tokenizer, **options
            ),
            "grammar": compile_grammar(text, dialect=dialect, tokenizer=letters, **options),
        }
        artifact = made(name)
        for section in inspected(artifact).sizes.sections:
            met.add(section.owner)
            if section.owner in others:
                changed = others[section.owner].completed.arrays[section.name]
                assert np.array_equal(artifact.arrays[section.name], changed), section.name

    assert {"grammar", "tokenizer", "both"} == met


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A small vocabulary of other tokens, with all that the grammars above need."""
    folder = tmp_path_factory.mktemp("letters")
    merges = ["0 1", "a b", "[ a"]
    return tokenizer_of(folder, ALPHABET, merges, added=[(200, "<eos>", True)])


@pytest.mark.quick
def test_forced_tokens_and_bytes_are_counted(letters: Tokenizer) -> None:
    """By hand: "ab" of one token is forced, "0" is not, and "1" after it is forced only where it
    is a token of its own."""
    text = 'start ::= "ab" ("0" "1" | "0" "c");'
    canonical = compile_grammar(text, dialect="kbnf", tokenizer=letters)
    found = inspected(canonical, b"ab01", b"ab0c\n", b"ab0d", b"ab", tokenizer=letters).texts

    # ab, then 01 or 0: the byte 0 is forced, no token is.
    assert ("accepted", 2, 1, 3) == of_text(found[0])
    # ab, 0, c: after 0 comes c alone, as 1 would have been merged.
    assert ("accepted", 3, 2, 4) == of_text(found[1])
    assert found[1].without_line_break
    assert ("rejected", 1, 4, 3) == place(found[2])
    assert ("incomplete", 1, 3, 2) == place(found[3])
    assert "text 2: rejected" == found[2].message


def test_texts_are_read_without_the_tokenizer_as_with_it(
    made: Callable[[str], Artifact], default_tokenizer: Tokenizer
) -> None:
    """Where masks are canonical their tokens are the tokenizer's."""
    for name in ("canonical DFA", "network canonical"):
        text = b"2024-02-29" if name == "canonical DFA" else b"[[abc, de],fgh]"
        alone = inspected(made(name), text)
        beside = inspected(made(name), text, tokenizer=default_tokenizer)

        assert (replace(alone.texts[0], encoding="tokenizer"),) == beside.texts
        assert ("accepted", "fewest") == (alone.texts[0].status, alone.texts[0].encoding)


@pytest.mark.parametrize(
    "name", ["byte DFA", "canonical DFA", "network", "network canonical", "greedy"]
)
def test_the_fewest_tokens_are_those_of_the_boundaries(
    name: str, made: Callable[[str], Artifact], default_tokenizer: Tokenizer
) -> None:
    """As many as by the search for all boundaries, and where masks are canonical the same."""
    artifact = made(name)
    members = [b"1999-12-31", b"2024-02-01", b"1000-10-10"]
    if KINDS[name][0] != DATE:
        members = [b"[[abc,de],fgh]", b"the", b"[]", b"[a,[[then]],[],word]"]
    for octets in members:
        found = fewest_tokens(artifact, octets)
        slowly = fewest_via_boundaries(artifact, octets)
        assert found is not None
        assert slowly is not None
        assert len(slowly) == len(found)
        assert octets == b"".join(artifact.vocabulary.tokens(found))
        if artifact.is_canonical:
            assert default_tokenizer.encode(octets.decode()) == found
        assert fewest_tokens(artifact, octets[:-1] + b"!") is None


def test_the_fewest_tokens_pass_places_where_the_text_may_end(tmp_path: Path) -> None:
    """Of any tokens, by trying all sequences; also where a token of text ends texts."""
    tokenizer = tokenizer_of(tmp_path, "abc", ["a b", "b a", "ab a"])
    for ends in ("c", "b"):
        artifact = compiled("[ab]*", tokenizer, "any", dialect="regex", eos=[ends])
        tokens = artifact.vocabulary.tokens(range(6))
        for octets in map(bytes, product(b"ab", repeat=4)):
            tried = (ids for n in range(5) for ids in product(range(6), repeat=n))
            taken = (ids for ids in tried if b"".join(tokens[i] for i in ids) == octets)
            # What ends texts is read nowhere, as they may end anywhere.
            fewest = next((ids for ids in taken if tokens.index(ends.encode()) not in ids), None)
            found = fewest_tokens(artifact, octets)
            assert (None if fewest is None else len(fewest)) == (found and len(found))


def test_a_member_that_the_tokenizer_changes_is_refused(default_tokenizer: Tokenizer) -> None:
    """Where masks are canonical: a place is named, and nothing is counted. Under any tokenization
    it is read by the fewest tokens."""
    grammar, octets = 'start ::= "a<|endoftext|>" | "b";', b"a<|endoftext|>"
    found = list[TextFacts]()
    for tokenization in ("canonical", "any"):
        options = CompileOptions(dialect="kbnf", tokenization=tokenization)
        made = build_artifact(build_engine(grammar, options), default_tokenizer, options)
        inspection = inspection_of(
            made.artifact,
            name="g.ebnf",
            say=said,
            compilation=made,
            options=options,
            tokenizer=default_tokenizer,
            texts=[Text("text", octets)],
        )
        assert "the grammar is regular" == inspection.choices.engine.reason
        assert "as asked for" == inspection.choices.tokenization.reason
        found += inspection.texts

    assert ("refused", 1, 1, 0) == place(found[0])
    assert "as the tokenizer writes it: 'a' (" in str(found[0].message)
    assert (0, None) == (found[0].tokens, found[0].masks)
    assert ("accepted", "fewest") == (found[1].status, found[1].encoding)
    assert len(octets) == found[1].spelled


def of_text(found: TextFacts) -> tuple[str, int, int, int]:
    """What became of a text, its tokens, and what of it is forced."""
    return found.status, found.tokens, found.forced_tokens, found.forced_bytes


def place(found: TextFacts) -> tuple[str, int | None, int | None, int | None]:
    """Where a text stops."""
    return found.status, found.line, found.column, found.byte


def test_each_field_is_documented() -> None:
    """README.md names them all."""
    text = (ROOT / "compiler" / "inspection" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"`[^`]+`", text))))
    wanted = {field.name for part in PARTS for field in fields(part)}

    assert set() == wanted - named


def test_the_growth_of_an_automaton_is_shown_evenly(default_tokenizer: Tokenizer) -> None:
    """All of few steps; of many some twenty, the first, the last and the largest among them."""
    options = CompileOptions(dialect="regex", method="direct")
    compilation = build_artifact(build_engine("a", options), default_tokenizer, options)
    assert isinstance(compilation.canonical, CanonicalDfa)
    for count in (1, 2, 19, 20, 21, 45, 500):
        growth = tuple(Growth(i, 1, i if i == count // 3 else -i) for i in range(count))
        canonical = replace(compilation.canonical, growth=growth)
        shown = [s.merges for s in effort_of(replace(compilation, canonical=canonical)).growth]

        assert {0, count // 3, count - 1} <= set(shown)
        assert shown == sorted(set(shown))
        assert min(count, 20) <= len(shown) <= 42
        assert all(after - before <= 1 + count // 20 for before, after in pairwise(shown))
