"""Masks of WordPiece tokenizers: exactly the token sequences that the tokenizer gives."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.automata import build_automaton
from support.wordpiece import accepted, compiled, member, real, tokenizations, tokenizer_of

from constrain.artifacts.prefix import boundaries
from constrain.artifacts.tokens import tokenset
from constrain.compiler.diagnostics import CheckError, TokenizerError
from constrain.compiler.pipeline import build_artifact

# The vocabulary of the example that README.md of compiler/wordpiece carries through.
EXAMPLE = ["a", "abc", "##b", "##c"]

# Small languages with several spaces, capitals, accents, punctuation and CJK.
FINITE = [
    r"(É|e| |a){3}",
    r"[0-9]{2}-[0-3][0-9]",
    r"(abc|abd|north|northern|northerly|playing|unaffable) ?(x|yz!)",
    r"[a-d]{1,4}",
    r"( *| +)(Été|ÉTÉ|中文a|a-b|a--b) {0,2}(of|OFF)?",
    r"(re|un)(do|play|load|set)(ing|ed|s|able)?",
    r"(q|z|x){1,5}",
    r"[aAáÁ]{1,3}[ -]?(m|n)",
    r"(각|가나|가)(a|b|。)?",
]

# Grammars for texts at random: white space, capitals and accents, punctuation, CJK, free text.
OPEN = {
    "dates": r"(19|20)[0-9]{2} *- *(0[1-9]|1[0-2])-[0-3][0-9]",
    "names": r"([A-ZÀÉÜ][a-zàéü]{1,14}  ?){1,3}",
    "json": r'\{ *"[a-z_]{1,12}" *: *("[^"\\]{0,20}"|-?[0-9]{1,6}(\.[0-9]+)?) *\}',
    "mixed": r"([一-三中文a-f0-9,.!]|  ?){1,24}",
    "words": r"([a-z]{1,12}( |, |\. ))*[a-z]+",
}


def test_the_example_of_the_readme() -> None:
    """The masks of the grammar ``ab+c?( a)?``, of ``abc``, and the tokens of a word."""
    tokenizer = tokenizer_of(EXAMPLE)
    names = {i: name for name, i in tokenizer.ids.items()}

    def masks(grammar: str, *paths: str) -> list[set[str]]:
        machine, found = compiled(grammar, tokenizer).machine(), []
        for path in paths:
            state = machine.start
            for name in path.split():
                state = machine.take(state, tokenizer.ids[name])
            found.append({names[i] for i in tokenset.to_ids(machine.row(state)).tolist()})
        return found

    assert [{"a", "abc"}, {"##b"}, {"##b", "a", "[SEP]"}, {"a", "[SEP]"}] == masks(
        "ab+c?( a)?", "", "a", "a ##b", "abc"
    )
    assert [{"abc"}] == masks("abc", "")
    assert ["abc", "##b"] == [names[i] for i in tokenizer.encode("abcb")]


@pytest.mark.parametrize("pattern", FINITE)
@pytest.mark.parametrize("name", ["tiny-wordpiece-500", "bert-base-uncased"])
def test_finite_languages(data: Callable[[str], Path], name: str, pattern: str) -> None:
    """The sequences that the masks allow are exactly those of Hugging Face's library."""
    library = pytest.importorskip("tokenizers")
    folder = data(f"tokenizers/{name}")
    reference = library.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer = real(folder)
    expected = tokenizations(
        pattern, tokenizer, lambda text: list(reference.encode(text, add_special_tokens=False).ids)
    )
    if not expected:
        with pytest.raises(CheckError, match="can spell no member"):
            compiled(pattern, tokenizer)
        return

    assert expected == accepted(compiled(pattern, tokenizer))


def test_random_vocabularies(full: bool) -> None:
    """The same on vocabularies that lack letters at some place, and with short longest words."""
    draw = random.Random(11)
    patterns = [
        "[abc]{1,5}", "(ab|abc|c)( (a|cb)){0,2}", "a{0,3}b?c{2}", "(abc){1,3}", "(a|b) ?-(c|ab)",
        "[abÉ]{2,4} ?é?", "ab?c?( ab?c?)?", "(aaaa|b){1,3}", "(가|각){1,2}",
    ]  # fmt: skip
    empty = 0
    for number in range(3_000 if full else 5):
        tokens = {
            draw.choice(("", "##")) + "".join(draw.choices("abce", k=draw.randint(1, 4)))
            for _ in range(draw.randint(1, 12))
        }
        letters = "abce-\u1100\u1161\u11a8"
        tokens |= {p + c for c in letters for p in ("", "##") if draw.random() < 0.75}
        tokenizer = tokenizer_of(sorted(tokens), max_chars=draw.choice((2, 3, 5, 100)))
        pattern = patterns[number % len(patterns)]
        expected = tokenizations(pattern, tokenizer)
        if expected:
            assert expected == accepted(compiled(pattern, tokenizer)), (pattern, sorted(tokens))
        else:
            empty += 1
            with pytest.raises(CheckError, match="can spell no member"):
                compiled(pattern, tokenizer)
    assert empty


def test_pairs_do_not_decide() -> None:
    """Both pairs of ``a ##b ##c`` are the tokenizer's own, the three tokens are not."""
    tokenizer = tokenizer_of(["a", "##b", "##c", "abc"])
    a, b, c, abc = range(2, 6)

    assert {(a, b), (abc,)} == accepted(compiled("ab|abc", tokenizer))
    assert {(a, c), (a, b), (abc,)} == accepted(compiled("ac|ab|abc", tokenizer))
    assert {(abc,)} == accepted(compiled("abc", tokenizer))


def test_long_words_are_left_out() -> None:
    """Words of more than a hundred characters are unknown; the masks stop before them."""
    tokenizer = tokenizer_of(["a", "##a", "##aa"])
    artifact = compiled("a+", tokenizer)
    longest = max(accepted(artifact), key=len)

    assert tuple(tokenizer.encode("a" * 100)) == longest
    assert len(accepted(compiled("a{98,130}", tokenizer))) == 3
    with pytest.raises(CheckError, match="can spell no member"):
        compiled("a{101}", tokenizer)


def test_states_do_not_multiply_with_the_count() -> None:
    """Rows far from the longest word do not depend on how long the word is already."""
    tokenizer = tokenizer_of(["a", "##a", "b", "##b"])
    matcher = compiled("[ab]+", tokenizer).matcher()
    rows = set()
    for token in [2, *[3] * 90]:
        matcher.advance(token)
        rows.add(id(matcher.mask()))

    # One after the first token, one after those that continue the word.
    assert 2 == len(rows)


@pytest.mark.parametrize("grammar", sorted(OPEN))
@pytest.mark.parametrize("name", ["bert-base-uncased", "bert-base-multilingual-cased"])
def test_members_at_random(
    data: Callable[[str], Path], full: bool, name: str, grammar: str
) -> None:
    """Random members are accepted as the real tokenizer encodes them, token by token."""
    if "multilingual" in name and grammar != "names" and not full:
        pytest.skip("the larger vocabulary takes some seconds a grammar: --full")
    library = pytest.importorskip("tokenizers")
    folder = data(f"tokenizers/{name}")
    reference = library.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer = real(folder)
    dfa = build_automaton(OPEN[grammar], dialect="regex").dfa
    artifact = compiled(OPEN[grammar], tokenizer)
    draw = random.Random(grammar)
    checked = 0
    while checked < (1_000 if full else 2):
        text = member(dfa, draw)
        ids = reference.encode(text, add_special_tokens=False).ids
        if tokenizer.unk in ids:
            continue
        matcher = artifact.matcher()
        for token_id in ids:
            matcher.advance(token_id)
        assert matcher.is_accepting, text
        checked += 1


def test_what_is_left_out_is_said(data: Callable[[str], Path]) -> None:
    """Characters without a token are named, and so are words that grow too long."""
    tokenizer = real(data("tokenizers/tiny-wordpiece-500"))
    notes = build_artifact(build_automaton(r"[ab\-é]+", dialect="regex"), tokenizer).notes

    assert 2 == len(notes)
    assert "a word that becomes [UNK] are left out: no token has the characters U+002D" in notes[0]
    assert "more than 100 characters" in notes[1]

    # Of Greek no letter has a token, but of U+037E, which is the semicolon.
    greek = [chr(code) for code in range(0x370, 0x400)]
    unknown = sum(tokenizer.encode(char) == [tokenizer.unk] for char in greek)
    pattern = r"[a\u0370-\u03ff]+"
    notes = build_artifact(build_automaton(pattern, dialect="regex"), tokenizer).notes
    shown, others = notes[0].split("the characters ")[1].split(" and ")
    assert unknown == len(shown.split(", ")) + int(others.removesuffix(" others"))


def test_what_masks_do_not_support() -> None:
    """An indicator that words could hold, and tokenization `any`, are refused by name."""
    with pytest.raises(TokenizerError, match="continuing_subword_prefix"):
        compiled("a", tokenizer_of(["a", "xb"], mark="x"))
    with pytest.raises(TokenizerError, match="'canonical' only"):
        build_artifact(build_automaton("a", dialect="regex"), tokenizer_of("a"), tokenization="any")


def test_a_file_is_the_same_artifact(tmp_path: Path) -> None:
    """What is written and read again gives the same sequences, and the same bytes."""
    from constrain.artifacts import load

    artifact = compiled("(a|b){1,3}( c)?", tokenizer_of(["a", "##b", "b", "##a", "c", "ab"]))
    artifact.save(tmp_path / "x.cst")
    again = load(tmp_path / "x.cst", verify=True)

    assert accepted(artifact) == accepted(again)
    assert artifact.to_bytes() == again.to_bytes()


def test_boundaries_of_a_prefix() -> None:
    """A text prefix is normalised; it may end inside a token, after one, or after a word."""
    tokenizer = tokenizer_of(["a", "##b", "##bc", "b", "-", "##c"])
    artifact = compiled("A(b|bc)? ?-b", tokenizer)
    normalizer = tokenizer.normalizer
    assert normalizer is not None

    def found(text: str) -> list[tuple[int, tuple[int, ...], bytes, list[int], bool]]:
        prefix = normalizer.canonical(text).encode()
        return [
            (b.length, b.ids, b.pending, tokenset.to_ids(b.allowed).tolist(), b.accepting)
            for b in boundaries(artifact, prefix)
        ]

    assert [(0, (), b"", [2], False)] == found("")
    assert [(1, (2,), b"", [3, 4, 6], False)] == found("Á")
    assert [(2, (2, 3), b"", [6], False), (1, (2,), b"b", [4], False)] == found("Ab")
    assert [(1, (2,), b"", [6], False)] == found("A ")
    assert [(3, (2, 6), b"", [5], False)] == found("A-")
    assert [(5, (2, 6, 5), b"", [1], True)] == found("A -b")
    assert [] == found("b")


def test_matchers_of_several_threads_share_states() -> None:
    """States get one number each, whichever thread reaches them first."""
    artifact = compiled("([ab]{1,3} ){1,3}c", tokenizer_of(["a", "##b", "b", "##a", "c", "ab"]))
    expected = accepted(
        compiled("([ab]{1,3} ){1,3}c", tokenizer_of(["a", "##b", "b", "##a", "c", "ab"]))
    )
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(accepted, [artifact] * 4))

    assert [expected] * 4 == results
