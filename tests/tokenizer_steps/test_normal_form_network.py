"""Members that a normalizer changes are left out of the masks of grammars that nest."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import sampled
from support.canonical import few_members, members
from support.corpus.encodings import check_masks, following
from support.corpus.tokenizer_case import Case
from support.network import inline_up_to, minimal_tables
from support.normalizer import FORMS, PARTS, finite_grammar, random_normalizing

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.compiler import compile_grammar
from constrain.compiler.diagnostics import CheckError

# Rules as calls, with what follows each token under them.
FINITE = {
    "accents": "start ::= '(' w ')' | w w; w ::= l | l m | l m m; l ::= 'a' | 'e' | 'é' | 'ê';"
    "m ::= '\u0301' | '\u0323';",
    "marks alone": "start ::= l m | '[' m ']'; m ::= n | n n | n n n; l ::= 'e' | 'x';"
    "n ::= '\u0327' | '\u0323' | '\u0301';",
    "Hangul": "start ::= s s | '(' s s s ')'; s ::= '가' | '각' | 'ᄀ' | 'ᅡ' | 'ᆨ';",
    "no way on": "start ::= 'e' t | o u; t ::= 'x' | '\u0301'; o ::= 'a' | 'o';"
    "u ::= '\u0323\u0301' | '\u0301\u0323' | '\u212b';",
    "never stable": "start ::= v v | '[' v ']'; v ::= '\u212b' | 'é' | '\u0958' | 'x\u0344';",
}


def compiled(case: Case, grammar: str, prewarm: int | None) -> Artifact:
    """By way of the file's bytes."""
    found = compile_grammar(
        grammar,
        dialect="kbnf",
        tokenizer=case.tokenizer,
        tokenization="canonical",
        engine="network",
        tables=case.tables,
        prewarm=prewarm,
        eos=[] if case.tokenizer.eos else [case.tokenizer.vocab_size - 1],
    )
    return load_bytes(found.to_bytes())


def compare(
    case: Case, grammar: str, prewarm: int | None, rng: random.Random
) -> tuple[int, int, int]:
    """All masks of a finite grammar, also after prompts; how many tokens they hold, how many
    members are left out, and how many tokens were in doubt."""
    texts = [text.decode() for text in members(minimal_tables(grammar))]
    kept = [text for text in texts if case.is_left_alone(text)]
    if not kept:
        with pytest.raises(CheckError):
            compiled(case, grammar, prewarm)
        return 0, len(texts), 0
    artifact = compiled(case, grammar, prewarm)
    eos = artifact.manifest.eos
    count = check_masks(artifact.matcher(), following(map(case.encode, kept), eos))
    for prompt in rng.choices(PARTS, k=3):
        before = case.encode(prompt)
        expected = following(case.behind(prompt, texts), eos)
        if expected:
            count += check_masks(artifact.matcher(after=before), expected)
        else:
            with pytest.raises(ArtifactError):
                artifact.matcher(after=before)
    doubtful = artifact.arrays.get("closed.doubtful", [])
    return count, len(texts) - len(kept), len(doubtful)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A small tokenizer with NFC."""
    return Case(random_normalizing(random.Random(2), "NFC", tmp_path_factory.mktemp("nfc")))


@pytest.mark.parametrize("largest", [0, 200], ids=["calls", "inlined"])
@pytest.mark.parametrize("prewarm", [0, None], ids=["on demand", "ahead"])
@pytest.mark.parametrize("grammar", FINITE.values(), ids=FINITE)
def test_masks_of_finite_grammars_are_those_of_all_encodings(
    grammar: str, prewarm: int | None, largest: int, small: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each prefix of a stable member's encoding exactly what such encodings go on with."""
    inline_up_to(monkeypatch, largest)
    count, changed, _ = compare(small, grammar, prewarm, random.Random(3))
    assert count > 10
    assert changed


@pytest.mark.parametrize("grammar", FINITE.values(), ids=FINITE)
def test_masks_on_a_real_tokenizer(
    grammar: str, case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with Qwen 2.5."""
    inline_up_to(monkeypatch, 0)
    count, changed, _ = compare(case("qwen2_5"), grammar, None, random.Random(5))
    assert count > 4
    assert changed


@sampled("form", FORMS[2:5], FORMS)
def test_masks_of_random_grammars_and_tokenizers(
    form: str, tmp_path: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules as calls or copied; rows ahead, on demand, or some of each."""
    rng = random.Random(form)
    count = changed = doubtful = 0
    for _ in range(20 if full else 1):
        case = Case(random_normalizing(rng, form, tmp_path))
        for _ in range(10 if full else 6):
            inline_up_to(monkeypatch, rng.choice([0, 0, 200]))
            grammar = finite_grammar(rng)
            if few_members(minimal_tables(grammar), 300) is None:
                continue
            found = compare(case, grammar, rng.choice([0, None, 1, 20]), rng)
            count, changed = count + found[0], changed + found[1]
            doubtful += found[2] > 0
    assert count > 30
    assert changed > 1
    assert doubtful or form not in FORMS[:4]
