"""Members that a normalizer changes are left out, by the grammar's or a second automaton."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from support import encoded
from support.automata import build_automaton
from support.corpus.encodings import check_masks, following, members_of
from support.corpus.tokenizer_case import Case
from support.normalizer import WIDE, compiled, text_of
from tokenizers import normalizers

from constrain.artifacts import ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.tokenizer_steps import normalized_members as stable_text
from constrain.compiler.tokenizer_steps.character_properties import (
    character_properties,
    first_characters,
    readable_characters,
    text_normalizers,
)
from constrain.compiler.tokenizer_steps.normalized_members import (
    normal_form_automaton,
    normal_form_bytes,
)
from constrain.compiler.tokenizers.definition import Form, Lowercase, Normalize

# Starters that compose, marks of several classes, Hangul, what is never stable, what is inert.
FORMS = {form: getattr(normalizers, form.value)() for form in Form}

LETTERS = "aeéêạ\u0301\u0323\u0302\u0327\u0345\u05b4αのかa\u3099각가각क\u093cक़Å漢x \u0958"


@pytest.mark.parametrize("form", Form)
def test_the_automaton_accepts_what_the_library_leaves_alone(form: Form, full: bool) -> None:
    """On random texts over all classes of characters, mostly of those that compose."""
    characters = character_properties((Normalize(form),))
    whole = normal_form_automaton(characters, np.arange(len(characters.combining)))
    codes = np.setdiff1d(np.arange(0x30000), np.arange(0xD800, 0xE000))
    held = [codes[characters.classes[codes] == k] for k in range(len(characters.combining))]
    some = [k for k in range(len(held)) if len(held[k])]
    composing = [k for k in some if characters.second[k] >= 0]
    rng = random.Random(9)
    answers = [0, 0]
    for _ in range(200_000 if full else 800):
        text = ""
        for _ in range(rng.randrange(1, 7)):
            text += chr(rng.choice(held[rng.choice(some)]))
            row = characters.changes[characters.row[characters.classes[ord(text[-1])]]]
            near = [k for k in composing if row[characters.second[k]]] or composing
            if near and rng.random() < 0.5:
                text += chr(rng.choice(held[rng.choice(near)]))
        state = whole.start
        for char in text:
            state = int(whole.table[state, 0, characters.classes[ord(char)]])
        expected = FORMS[form].normalize_str(text) == text
        answers[expected] += 1
        assert expected == bool(state), [hex(ord(char)) for char in text]
    assert min(answers) > 130


def test_over_bytes_it_accepts_the_same() -> None:
    """After each character the state of the automaton over characters."""
    characters = character_properties((Normalize(Form.NFC),))
    present = np.unique(characters.classes[[ord(char) for char in LETTERS]])
    whole = normal_form_automaton(characters, present)
    table, start = normal_form_bytes(whole, characters.classes)
    rng = random.Random(2)
    for _ in range(3000):
        text = "".join(rng.choice(LETTERS) for _ in range(rng.randrange(6)))
        expected, found = whole.start, start
        for char in text:
            expected = int(whole.table[expected, 0, characters.classes[ord(char)]])
        for octet in text.encode():
            found = int(table[found, octet])
        assert expected == found


def test_lower_case() -> None:
    """Each character by itself; forms side by side are one."""
    characters = character_properties((Lowercase(),))
    stable = characters.classes != 0
    for text in ("a", "A", "ß", "É", "é", "İ", "漢"):
        assert (text.lower() == text) == stable[ord(text)]
    steps = [Normalize(Form.NFKD), Normalize(Form.NFC), Lowercase()]
    assert text_normalizers(steps) == (Normalize(Form.NFKC), Lowercase())


def test_the_characters_of_a_grammar() -> None:
    """Those of some member, whatever their length in bytes."""
    wanted = "aé漢ก😀"
    dfa: Dfa = build_automaton(f"[{wanted}]*x?", dialect="regex").dfa

    found = np.flatnonzero(readable_characters(dfa))

    assert sorted([*wanted, "x"]) == [chr(code) for code in found]
    first = np.flatnonzero(
        readable_characters(first_characters(build_automaton("aé*|漢x", dialect="regex").dfa))
    )
    assert [chr(code) for code in first] == ["a", "漢"]


FINITE = {
    "accents": "(a|e|é|ê|\u0301|\u0323| ){0,4}",
    "marks alone": "[ex](\u0327|\u0323|\u0301|\u0302){0,3}",
    "Hangul": "(가|각|ᄀ|ᅡ|ᆨ){0,4}",
    "no way on": "e(x|\u0301)|(a|o)(\u0323\u0301|\u0301\u0323)",
}


@pytest.mark.parametrize("regex", FINITE.values(), ids=FINITE)
@pytest.mark.parametrize("beside", [False, True], ids=["inside", "beside"])
def test_masks_of_finite_languages(
    regex: str, beside: bool, normalizing: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each prefix of a stable member's encoding exactly what such encodings go on with,
    with the stable texts inside the product or beside it."""
    monkeypatch.setattr(stable_text, "_FEW_STATES", 0 if beside else 10_000)
    monkeypatch.setattr(stable_text, "_GROWTH", 0 if beside else 10_000)
    artifact = load_bytes(normalizing.compiled(regex, "cartesian").to_bytes())
    normalized = normalizing.library.normalizer.normalize_str
    texts = [text for text in members_of(regex) if normalized(text) == text]
    expected = following(map(normalizing.encode, texts), artifact.manifest.eos)
    assert len(expected) > 2
    assert check_masks(artifact.matcher(), expected) > 2


@pytest.mark.parametrize("name", WIDE)
def test_one_sequence_or_none(name: str, case: Callable[[str], Case], full: bool) -> None:
    """Members that the library changes have no sequence, the others one: its own."""
    qwen = case("qwen2_5")
    artifact = compiled(qwen, name)
    assert "stable.table" in artifact.arrays
    rng = random.Random(4)
    counts = [0, 0]
    for _ in range(1000 if full else 18):
        text = text_of(name, rng)
        stable = qwen.library.normalizer.normalize_str(text) == text
        counts[stable] += 1
        expected = [qwen.encode(text)] if stable else []
        assert expected == qwen.spelled(artifact.matcher(), text.encode()), ascii(text)
    assert min(counts) > 1


@pytest.mark.parametrize("name", WIDE)
def test_no_mask_is_empty_before_the_end(
    name: str, case: Callable[[str], Case], full: bool
) -> None:
    """Random walks, with a liking for tokens that begin or end inside a character."""
    qwen = case("qwen2_5")
    artifact = compiled(qwen, name)
    rng = random.Random(8)
    vocabulary = artifact.vocabulary
    for _ in range(2000 if full else 5):
        matcher, ids = artifact.matcher(), []
        for _ in range(12):
            allowed = tokenset.to_ids(matcher.mask()).tolist()
            assert allowed
            some = rng.sample(allowed, min(20, len(allowed)))
            token_id = max(some, key=lambda i: max(vocabulary.token(i), default=0) >= 0xC3)
            if token_id in artifact.manifest.eos:
                break
            matcher.advance(token_id)
            ids.append(token_id)
        if matcher.is_accepting:
            text = b"".join(map(vocabulary.token, ids)).decode()
            assert ids == qwen.encode(text), ascii(text)


def test_after_a_prompt_the_last_character_counts(case: Callable[[str], Case]) -> None:
    """An accent composes with the prompt's letter, where there is such a character."""
    qwen = case("qwen2_5")
    artifact = compiled(qwen, "any")
    for prompt, text in (("cafe", "\u0301s"), ("x", "\u0301s"), ("e\u0323", "\u0301"), ("q ", "é")):
        before, whole = qwen.encode(prompt), qwen.encode(prompt + text)
        matcher = artifact.matcher(after=before)
        changed = qwen.library.normalizer.normalize_str
        kept = changed(prompt + text) == changed(prompt) + text
        accepted = whole[: len(before)] == before and kept
        for token_id in qwen.encode(text) if not accepted else whole[len(before) :]:
            if not tokenset.contains(matcher.mask(), token_id):
                assert not accepted
                break
            matcher.advance(token_id)
        else:
            assert accepted


OPENING = {
    "maybe a mark": "(\u0323|\u0301)?x?",
    "two marks": "\u0316\u0323x|\u0316\u0301|ab",
    "a mark that must come": "(\u0316|\u0301|ं)(\u0323|\u0301)?(\u0915\u094d|e)",
    "Hangul": "(ᅡ|a)(ᆨ|b)|ᆨ",
    "many": "(\u0323|\u0301|ᅡ| |a|é){0,3}",
}


@pytest.mark.parametrize("regex", OPENING.values(), ids=OPENING)
def test_masks_behind_prompts_of_what_composes_with_them(regex: str, normalizing: Case) -> None:
    """Whole masks: where members alone are stable, and where they are not."""
    artifact = load_bytes(normalizing.compiled(regex, "cartesian").to_bytes())
    texts = members_of(regex)
    count = 0
    for prompt in ("s", "e", "ᄀ", "가", "a\u0316", "q ", "xe\u0323\u0301", "か", "\u0301", "1"):
        before = normalizing.encode(prompt)
        expected = following(normalizing.behind(prompt, texts), artifact.manifest.eos)
        if expected:
            count += check_masks(artifact.matcher(after=before), expected)
        else:
            with pytest.raises(ArtifactError):
                artifact.matcher(after=before)
    assert count > 20
    assert "stable.table" in artifact.arrays


def test_sections_that_do_not_fit_are_refused(case: Callable[[str], Case]) -> None:
    """A state, a class or a token outside its array names the section."""
    artifact = compiled(case("qwen2_5"), "marks")
    for name in ("table", "classes", "start", "tokens", "unsure"):
        name = f"stable.{name}"
        damaged = artifact.arrays[name].copy()
        damaged.flat[-1] = np.iinfo(damaged.dtype).max
        with pytest.raises(ArtifactError, match=name):
            load_bytes(encoded(artifact, {name: damaged}))
