"""CartesianMerge on real tokenizers with all that they do to text, against their own library."""

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from canonical_cases import GRAMMARS, member

from constrain.artifacts import Artifact, ArtifactError, tokenset
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.merge.stored import TokenizerTables

# By default one tokenizer of bytes with cuts and one of characters without.
SAMPLED = ("gpt2", "mistral-v3")
TOKENIZERS = (*SAMPLED, "cl100k_base", "qwen2_5", "mistral_nemo", "whisper-multilingual")


class Case:
    """A tokenizer, its library, and artifacts by grammar."""

    def __init__(self, path: Path) -> None:
        self.library = tokenizers.Tokenizer.from_file(str(path))
        self.tokenizer: Tokenizer = load_tokenizer(path)
        self.tables = TokenizerTables(self.tokenizer)
        self.known: dict[str, Artifact] = {}

    def artifact(self, name: str) -> Artifact:
        """The grammar by CartesianMerge, by way of the file's bytes."""
        if name not in self.known:
            self.known[name] = load_bytes(self.compiled(GRAMMARS[name], "cartesian").to_bytes())
        return self.known[name]

    def compiled(self, regex: str, method: str) -> Artifact:
        """Any regex by any method."""
        return compile_grammar(
            regex,
            dialect="regex",
            tokenizer=self.tokenizer,
            method=method,
            tables=self.tables,
            eos=[] if self.tokenizer.eos else [0],
        )

    def encode(self, text: str) -> list[int]:
        """The library's own tokens."""
        found: list[int] = self.library.encode(text, add_special_tokens=False).ids
        return found


@pytest.fixture(scope="module")
def case(data: Callable[[str], Path]) -> Callable[[str], Case]:
    """A tokenizer of the test data, loaded once."""

    @cache
    def find(name: str) -> Case:
        return Case(data(f"tokenizers/{name}/tokenizer.json"))

    return find


def spelled(case: Case, artifact: Artifact, text: bytes) -> Iterator[list[int]]:
    """Every accepted token sequence that spells ``text``."""
    by_text = ids_by_text(case.tokenizer)
    machine, rows = artifact.machine, artifact.rows
    pending: list[tuple[int, int, list[int]]] = [(0, machine.start, [])]
    while pending:
        position, state, ids = pending.pop()
        if position == len(text) and machine.is_accepting(state):
            yield ids
        row = rows.row(state)
        for end in range(position + 1, min(len(text), position + 128) + 1):
            for token_id in by_text.get(text[position:end], ()):
                if tokenset.contains(row, token_id):
                    pending.append((end, machine.step(state, token_id), [*ids, token_id]))


_BY_TEXT: dict[str, dict[bytes, list[int]]] = {}


def ids_by_text(tokenizer: Tokenizer) -> dict[bytes, list[int]]:
    """All tokens that stand for text by their bytes."""
    found = _BY_TEXT.setdefault(tokenizer.sha256, {})
    if not found:
        for token_id, octets in tokenizer.tokens.items():
            found.setdefault(octets, []).append(token_id)
    return found


def is_left_alone(case: Case, text: str) -> bool:
    """Whether the encoder gives the text back and finds no added token in it."""
    ids = case.encode(text)
    decoded = b"".join(case.tokenizer.decode_bytes([i]) for i in ids)
    added = case.tokenizer.added
    return decoded.removeprefix(b" ").endswith(text.removeprefix(" ").encode()) and not any(
        i in added for i in ids
    )


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_one_sequence_is_accepted_and_it_is_the_tokenizers_own(
    name: str, grammar: str, case: Callable[[str], Case], full: bool
) -> None:
    """For random members; and along it every mask holds the next token, at the end EOS."""
    if not full and name not in SAMPLED:
        pytest.skip("sampled: --full runs all tokenizers")
    here = case(name)
    artifact = here.artifact(grammar)
    rng = random.Random(2024)
    for _ in range(1000 if full else 25):
        text = member(grammar, rng)
        assert re.fullmatch(GRAMMARS[grammar], text), text
        own = here.encode(text)
        expected = [own] if is_left_alone(here, text) else []
        octets = (artifact.text_prefix if text else b"") + text.encode()
        assert expected == list(spelled(here, artifact, octets)), text
        matcher = artifact.matcher()
        for token_id in own if expected else ():
            matcher.advance(token_id)
        assert not expected or tokenset.contains(matcher.mask(), artifact.manifest.eos[0])


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_no_mask_is_empty_before_the_end(
    grammar: str, case: Callable[[str], Case], full: bool
) -> None:
    """Random walks by the masks alone; and what they spell is encoded so."""
    here = case("gpt2")
    artifact = here.artifact(grammar)
    rng = random.Random(11)
    for _ in range(10_000 if full else 25):
        matcher, ids = artifact.matcher(), []
        for _ in range(25):
            allowed = tokenset.to_ids(matcher.mask())
            assert len(allowed)
            token_id = int(rng.choice(allowed))
            if token_id in artifact.manifest.eos:
                break
            matcher.advance(token_id)
            ids.append(token_id)
        if matcher.is_accepting:
            text = b"".join(map(artifact.vocabulary.token, ids)).decode()
            assert ids == here.encode(text)


FINITE = {
    "date": r"20[0-9]{2}-(0[1-9]|1[0-2])-01",
    "white space": r"(a|\n| |1){0,6}",
    "contractions": r"(I|we|they)('s|'t|'re|'ll|s| s|'S)?( [a-d]{0,2})?[ .]{0,3}",
    "scripts": r"(é|漢|ก็|😀|x| ){0,4}",
    "quotes": r'"[ab ]{0,4}"(, "[ab]{0,2}")?',
}


@pytest.mark.parametrize("regex", FINITE.values(), ids=FINITE)
@pytest.mark.parametrize("name", ["tiny-bpe-300", "tiny-bpe-1000", "tiny-bpe-4000"])
@pytest.mark.parametrize("method", ["cartesian", "direct"])
def test_masks_of_finite_languages_are_those_of_all_encodings(
    name: str, regex: str, method: str, case: Callable[[str], Case], full: bool
) -> None:
    """Whole masks: after each prefix of a member's encoding exactly the tokens that some
    member's encoding goes on with, and EOS where one ends. By default after 200 of these."""
    here = case(name)
    artifact = here.compiled(regex, method)
    following: dict[tuple[int, ...], set[int]] = {}
    eos = artifact.manifest.eos[0]
    for text in members(artifact):
        ids = here.encode(text)
        for place, token_id in enumerate([*ids, eos]):
            following.setdefault(tuple(ids[:place]), set()).add(token_id)
    assert len(following) > 10
    prefixes = sorted(following)
    if not full:
        prefixes = random.Random(3).sample(prefixes, min(200, len(prefixes)))
    for prefix in prefixes:
        expected = following[prefix]
        matcher = artifact.matcher()
        for token_id in prefix:
            matcher.advance(token_id)
        assert expected == set(tokenset.to_ids(matcher.mask()).tolist()), prefix


def members(artifact: Artifact) -> Iterator[str]:
    """All members of a finite language, by its byte DFA."""
    dfa = artifact.byte_dfa
    pending = [(dfa.start, b"")]
    for state, text in pending:
        if dfa.accepting[state]:
            yield text.decode()
        targets = dfa.table[state, dfa.classes]
        for octet in np.flatnonzero(targets).tolist():
            pending.append((int(targets[octet]), text + bytes([octet])))


@pytest.mark.parametrize("regex", FINITE.values(), ids=FINITE)
def test_both_methods_allow_the_same(regex: str, case: Callable[[str], Case]) -> None:
    """DirectMerge and CartesianMerge, walked side by side over every reachable pair."""
    here = case("gpt2")
    direct, cartesian = (here.compiled(regex, m) for m in ("direct", "cartesian"))
    start = direct.machine.start, cartesian.machine.start
    seen, pending = {start}, [start]
    for one, other in pending:
        row = direct.rows.row(one)
        assert np.array_equal(row, cartesian.rows.row(other))
        for token_id in set(tokenset.to_ids(row).tolist()) - set(direct.manifest.eos):
            pair = direct.machine.step(one, token_id), cartesian.machine.step(other, token_id)
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    assert len(seen) > 10


PROMPTS = ["The answer is", "x = ", "It's 20", "a\n\n", "Größe: ", "don'", "  ", "1", '{"', "東京"]


@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.parametrize("grammar", ["date", "words", "string", "any"])
def test_after_a_prompt(name: str, grammar: str, case: Callable[[str], Case], full: bool) -> None:
    """Where the tokenizer keeps the prompt's last boundary, prompt and member are accepted as
    the tokenizer encodes them; where it does not, no sequence is."""
    here = case(name)
    artifact = here.artifact(grammar)
    rng = random.Random(3)
    kept = 0
    for _ in range(300 if full else 40):
        prompt, text = rng.choice(PROMPTS), member(grammar, rng)
        before, whole = here.encode(prompt), here.encode(prompt + text)
        if not text or not is_left_alone(here, prompt + text):
            continue
        keeps = whole[: len(before)] == before
        kept += keeps
        try:
            matcher = artifact.matcher(after=before)
        except ArtifactError:
            assert not keeps
            continue
        rest = whole[len(before) :]
        if keeps:
            for token_id in rest:
                matcher.advance(token_id)
            assert matcher.is_accepting
        elif not artifact.text_prefix:
            assert not accepts(matcher, here.encode(text))
    assert kept > 5


def accepts(matcher: Matcher, ids: list[int]) -> bool:
    """Whether the ids are accepted one after another, to the end."""
    for token_id in ids:
        if not tokenset.contains(matcher.mask(), token_id):
            return False
        matcher.advance(token_id)
    return matcher.is_accepting
