"""Where pre-tokens start: the marked automaton against the library's own pre-tokenizers."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
from support import tokenizer_json, written
from tokenizers import Regex, pre_tokenizers

from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizer_steps import character_classes
from constrain.compiler.tokenizer_steps.boundary_automaton import boundary_automaton
from constrain.compiler.tokenizer_steps.character_classes import alphabet_of, over_bytes
from constrain.compiler.tokenizer_steps.fixed_points import without_texts
from constrain.compiler.tokenizer_steps.marked_dfa import MarkedDfa, composed
from constrain.compiler.tokenizers.definition import BYTE_LEVEL_PATTERN, Behaviour, Split, digits
from constrain.compiler.tokenizers.encoding.pattern_program import CharSet, compile_program, sets_of

# Letters, digits, marks, spaces and line ends that the patterns treat each in its own way.
LETTERS = "'sStTrReEvVmMlLdD ab1²  \n\r\t.,-/éñ漢字ก็ิ\u0301ſ\u00a0\u2028😀_"

# Anchors at the ends of texts, lines and words, possessive and lazy counts, sets of sets.
FORMS = [
    *(r"\p{N}", "ab+|a", "-", "a(?!b)|b{2,3}", r"\n+$|a$", r"-+\z|\A.", "^[ab]", r"\ba|b\b|\B1"),
    *("a++b|b?+a|-", "(?>a{1,2})b|b+", "(?>-*)a|(?>b?)a", "a+?b|[1-]*?a|b??1", "(?<=a)b+|(?<!-)1"),
    *("[ab1&&[^b]]+", "[^a-b&&[^b]]", r"[-[^\n1a]]+", "[a-b&&b1&&[1b-]]", "[^a[^b]]", "[^[a-]b]+$"),
]

NAMES = {
    Behaviour.ISOLATED: "isolated",
    Behaviour.REMOVED: "removed",
    Behaviour.CONTIGUOUS: "contiguous",
    Behaviour.MERGED_WITH_NEXT: "merged_with_next",
    Behaviour.MERGED_WITH_PREVIOUS: "merged_with_previous",
}


def automaton(*splits: Split) -> MarkedDfa:
    """The steps one after another, over bytes."""
    programs = [compile_program(split.pattern) for split in splits]
    alphabet = alphabet_of(chars for program in programs for chars in sets_of(program))
    found = [boundary_automaton(s, p, alphabet) for s, p in zip(splits, programs, strict=True)]
    whole = found[0]
    for step in found[1:]:
        whole = composed(whole, step)
    import numpy as np

    return over_bytes(whole, alphabet, np.zeros(alphabet.count, dtype=np.int8))


def markings(dfa: MarkedDfa, text: str) -> list[tuple[int, ...]]:
    """Every accepted marking of the bytes of a text."""
    found: list[tuple[int, tuple[int, ...]]] = [(dfa.start, ())]
    for octet in text.encode():
        found = [
            (int(target), (*marks, mark))
            for state, marks in found
            for mark in (0, 1)
            if (target := dfa.table[state, mark, octet])
        ]
    return [marks for state, marks in found if dfa.final[state]]


def expected(library: pre_tokenizers.PreTokenizer, text: str) -> list[tuple[int, ...]]:
    """The library's own, or none where it drops a part of the text."""
    pieces = [piece for piece, _ in library.pre_tokenize_str(text)]
    if "".join(pieces) != text:
        return []
    return [tuple(int(i == 0) for p in pieces for i in range(len(p.encode())))]


def compared(dfa: MarkedDfa, library: pre_tokenizers.PreTokenizer, letters: str, n: int) -> None:
    """Random texts have exactly one marking, the library's own."""
    rng = random.Random(2024)
    for _ in range(n):
        text = "".join(rng.choice(letters) for _ in range(rng.randrange(12)))
        assert expected(library, text) == markings(dfa, text), text


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "qwen2_5", "mistral_nemo"])
def test_real_patterns(data: Callable[[str], Path], name: str, full: bool) -> None:
    """The patterns of real tokenizers, with look-ahead, case folding and Unicode classes."""
    read = json.loads(data(f"tokenizers/{name}/tokenizer.json").read_bytes())["pre_tokenizer"]
    pattern = BYTE_LEVEL_PATTERN
    if read["type"] == "Sequence":
        pattern = read["pretokenizers"][0]["pattern"]["Regex"]
    library = pre_tokenizers.Split(Regex(pattern), "isolated")

    compared(automaton(Split(pattern)), library, LETTERS, 30_000 if full else 750)


@pytest.mark.parametrize("behaviour", Behaviour)
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("pattern", FORMS)
def test_behaviours(pattern: str, behaviour: Behaviour, invert: bool, full: bool) -> None:
    """What becomes of matches and of the text between them."""
    library = pre_tokenizers.Split(Regex(pattern), NAMES[behaviour], invert=invert)

    compared(automaton(Split(pattern, behaviour, invert)), library, "aab1-\n", 500 if full else 80)


def test_example_of_the_readme() -> None:
    """ " ?[ab]+" splits "ab a" before the space; no other marking is accepted."""
    split = Split(" ?[ab]+")
    program = compile_program(split.pattern)
    alphabet = alphabet_of(sets_of(program))
    operations = ["FORK", "CHAR", "CHAR", "FORK", "CHAR", "FORK", "MATCH"]

    assert operations == [instruction.op.name for instruction in program]
    assert boundary_automaton(split, program, alphabet).states - 1 == 6
    assert markings(automaton(split), "ab a") == [(1, 0, 1, 0)]


@pytest.mark.quick
def test_steps_after_each_other() -> None:
    """Digits, then GPT-2's pattern inside each pre-token."""
    library = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), pre_tokenizers.Split(Regex(BYTE_LEVEL_PATTERN), "isolated")]
    )
    splits = digits(individual=True), Split(BYTE_LEVEL_PATTERN)

    compared(automaton(*splits), library, LETTERS, 1000)


@pytest.mark.quick
@pytest.mark.parametrize(
    "pattern", ["a*?", "(?:ab)++", "(?<=ab)b", "(?!ab)c", "(?=b)", "a{2000}", "a*", r"a|\b", "^"]
)
def test_what_is_not_followed_is_refused(pattern: str) -> None:
    """Possessive groups, long looks, empty matches, also those that only some place has."""
    with pytest.raises(TokenizerError):
        automaton(Split(pattern))


@pytest.mark.quick
def test_texts_without_some_words() -> None:
    """The automaton of Aho and Corasick accepts what holds none of the words."""
    words = [b"ab", b"bba", b"aab"]
    dfa = without_texts(words, 2)
    rng = random.Random(7)
    for _ in range(2000):
        text = bytes(rng.choice(b"ab") for _ in range(rng.randrange(9)))
        state = dfa.start
        for octet in text:
            state = int(dfa.table[state, 0, octet])
        assert bool(dfa.final[state]) == all(word not in text for word in words)


def test_the_library_is_the_version_that_was_compared() -> None:
    """Its classes are those of one version of Unicode, which the tables follow."""
    assert int(tokenizers.__version__.split(".")[1]) >= 20


@pytest.mark.quick
def test_behind_a_contraction(tmp_path: Path) -> None:
    """There the cuts are where they were before any text."""
    value = tokenizer_json("abt'", ["t b"], added=[(5, "<eos>", True)], splits=True)
    tokenizer = load_tokenizer(written(tmp_path, value))
    artifact = compile_grammar("[ab]", dialect="regex", tokenizer=tokenizer)
    for prompt, allowed in (("a't", [0, 1]), ("at", [0]), ("a'", [0, 1]), ("a't't", [0, 1])):
        mask = artifact.matcher(after=tokenizer.encode(prompt)).mask()
        assert tokenset.to_ids(mask).tolist() == allowed, prompt


def test_sets_do_not_divide_what_has_no_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far up one character stands for many, unless a set names some; searches of all agree."""
    patterns = [
        r"\p{L}",
        r"[^\s\p{L}\p{N}]",
        r"\s",
        r"[^a]",
        "a",
        r"\w",
        r"[\p{P}\p{S}]",
        r"\p{Mn}",
    ]
    named = ["[\U000ffff0-\U00100010]", r"[^\x{50000}]", r"[\x{3000}-\x{e0100}]"]
    found = []
    for pattern in patterns + named:
        for chars in (CharSet(pattern), CharSet(pattern, ignore_case=True)):
            found.append((alphabet_of([chars]).atoms.tobytes(), chars))
    monkeypatch.setattr(character_classes, "_EMPTY", ())
    character_classes._bounds_of.cache_clear()
    character_classes._characters.cache_clear()
    for atoms, chars in found:
        assert alphabet_of([chars]).atoms.tobytes() == atoms, chars
    character_classes._bounds_of.cache_clear()
    character_classes._characters.cache_clear()
