"""One corpus, every engine, every option: ``tests/cases`` by rows of ``support.corpus.engines``.

Members are accepted along their tokens, by no others under ``canonical``; other texts are not;
and all masks, of finite languages after every prefix, are as ``support.corpus.agreement`` defines
them. What an engine does not take it must refuse, and say why.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable
from typing import Any

import pytest
from support import sampled
from support.corpus.agreement import offences
from support.corpus.engines import ANY, CANONICAL, DIRECT, MUNCH
from support.corpus.recorded import recorded
from support.corpus.small_tokenizers import SMALL
from support.corpus.tokenizer_case import Case
from support.wordpiece import accepted, tokenizer_of

from constrain.compiler.diagnostics import CheckError
from constrain.compiler.pipeline import build_artifact

# DirectMerge refuses merges of characters, and takes long beside NFC.
RUNS = [(engine, "bytes") for engine in (*ANY, *MUNCH)]
RUNS += [(engine, name) for engine in DIRECT for name in ("bytes", "pieces")]
RUNS += [(engine, name) for engine in CANONICAL if engine not in DIRECT for name in SMALL]

# Without --full each option of the canonical networks is tried with one or two tokenizers.
SAMPLED = {
    ("canonical network", "bytes"),
    ("canonical network", "normalized"),
    ("canonical network, lazily", "pieces"),
    ("canonical network, calls", "characters"),
    ("canonical network, calls, lazily", "normalized"),
}
# The engines of the quick subset; the others are quick in their own rooms.
QUICK = {("DFA", "bytes"), ("network, lazily", "bytes"), ("DirectMerge, rows lazily", "bytes")}
SOME = [run for run in RUNS if run in SAMPLED or not run[0].startswith("canonical network")]


def _marked(runs: list[tuple[str, str]]) -> list[Any]:
    return [
        pytest.param(*run, marks=[pytest.mark.quick] * (run in QUICK), id="-".join(run))
        for run in runs
    ]


@sampled(("engine", "name"), _marked(SOME), _marked(RUNS))
def test_members_and_masks(
    engine: str, name: str, small: Callable[[str], Case], full: bool
) -> None:
    """Nothing of any language is wrong; without --full each is tried with some of the rows."""
    case, languages = small(name), recorded()
    if not full:
        few = 5 if (engine, name) in QUICK else 16
        languages = languages[SOME.index((engine, name)) % few :: few]
    found = {language.name: list(offences(engine, case, language)) for language in languages}

    assert {} == {name: wrong for name, wrong in found.items() if wrong}


def test_wordpiece(full: bool) -> None:
    """Of finite languages exactly the sequences of all members, of others those of some; without
    --full every sixth language."""
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()] + ["é", "日", "本"]
    words = ["the", "ab", "abc", "12", "日本", "##the", "##ab", "##bc", "##aa", "##00"]
    tokenizer = tokenizer_of([*letters, *(f"##{letter}" for letter in letters), *words])

    def encoded(texts: list[bytes]) -> set[tuple[int, ...]]:
        known = [text.decode() for text in texts if text == text.decode(errors="replace").encode()]
        found = {tuple(tokenizer.encode(text)) for text in known}
        return {ids for ids in found if tokenizer.unk not in ids}

    wrong, tried = [], 0
    for language in recorded()[:: 1 if full else 20]:
        if language.automaton is None or language.names_tokens:
            continue
        members = language.members(1000)
        expected = encoded(list(language.accepted) if members is None else members)
        try:
            artifact = build_artifact(language.automaton, tokenizer).artifact
        except CheckError:
            wrong += [language.name] if expected else []
            continue
        tried += 1
        if members is not None:
            wrong += [] if expected == accepted(artifact) else [language.name]
            continue
        for ids in expected:
            matcher = artifact.matcher()
            for token in ids:
                matcher.advance(token)
            wrong += [] if matcher.is_accepting else [f"{language.name}: {ids}"]

    assert [] == wrong
    assert tried > (100 if full else 8)
