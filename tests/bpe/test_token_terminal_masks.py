"""Canonical masks of grammars with token terminals: the texts between them are encoded apart."""

# Tests here say `expected == actual`.

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import sampled, tokenizer_json, written
from support.corpus.encodings import check_masks, following
from support.corpus.languages import PROMPTS
from support.corpus.small_tokenizers import SMALL
from support.corpus.token_languages import random_token_language
from support.corpus.tokenizer_case import TOKENIZERS, Case
from support.network import inline_up_to

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.read import load_bytes
from constrain.artifacts.token_terminals.machine import TokenTerminalMachine
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import TEXT
from constrain.compiler import WeakerMasksWarning, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.drawing import View, draw_tokenizer, draw_tokens
from constrain.compiler.merge.dump import tabulated
from constrain.compiler.pipeline import build_artifact, build_engine

Count = Callable[[str, object], None]

# Options of a compilation, and whether a network copies rules.
ENGINES: dict[str, tuple[dict[str, object], bool]] = {
    "DFA": ({"engine": "dfa"}, True),
    "CartesianMerge": ({"engine": "dfa", "method": "cartesian"}, True),
    "network": ({"engine": "network"}, True),
    "network, calls": ({"engine": "network"}, False),
    "network, calls, lazily": ({"engine": "network", "prewarm": 0}, False),
}
NAMES = (*SMALL, *TOKENIZERS)
RUNS = [(engine, name) for engine in ENGINES for name in NAMES]
SOME = [
    ("DFA", "pieces"),
    ("CartesianMerge", "normalized"),
    ("CartesianMerge", "bytes"),
    ("network", "bytes"),
    ("network, calls", "normalized"),
    ("network, calls, lazily", "pieces"),
    ("network, calls", "characters"),
    ("DFA", "characters"),
]


def compiled(engine: str, text: str, case: Case) -> Artifact:
    """A GBNF grammar, by way of its file."""
    options, copies = ENGINES[engine]
    with pytest.MonkeyPatch.context() as patch:
        if not copies:
            inline_up_to(patch, 0)
        front = build_engine(text, dialect="gbnf", engine=options["engine"])
    made = build_artifact(
        front,
        case.tokenizer,
        tables=case.tables,
        tokenization="canonical",
        eos=case.eos,
        **{name: value for name, value in options.items() if name != "engine"},
    )
    return load_bytes(made.artifact.to_bytes())


def test_tables_of_as_many_terminals_are_made_once(case: Callable[[str], Case]) -> None:
    """Grammars share them, whatever their texts are; one with other terminals makes its own."""
    some = case("tiny-bpe-1000")
    one, two = sorted(some.tokenizer.tokens)[:2]
    made = []
    for text in (f"<[{one}]> [a-z]+", f"[0-9]+ <[{two}]>", f"<[{one}]> [a-z]+ <[{two}]>"):
        compiled("network", f"root ::= {text}", some)
        assert some.tables.with_sentinels is not None
        made.append(some.tables.with_sentinels[1])
    assert made[0] is made[1] is not made[2]


@pytest.fixture
def any_case(case: Callable[[str], Case], small: Callable[[str], Case]) -> Callable[[str], Case]:
    """A small tokenizer or a real one."""
    return cache(lambda name: small(name) if name in SMALL else case(name))


@sampled(("engine", "name"), SOME, RUNS)
def test_masks_are_those_of_all_encodings_of_the_texts_between(
    engine: str,
    name: str,
    any_case: Callable[[str], Case],
    full: bool,
    record_property: Count,
) -> None:
    """Random finite grammars of texts and tokens, also tokens that are texts, and all but one; at
    the start of a text and after prompts."""
    here, rng = any_case(name), random.Random(f"{engine} {name}")
    most = (80 if name in SMALL else 8) if full else 3
    for kind, count in compare(engine, here, rng, most, negations=name in SMALL).items():
        record_property(kind, count)


def compare(
    engine: str, here: Case, rng: random.Random, grammars: int, *, negations: bool
) -> dict[str, int]:
    """Hold the masks of random grammars against all encodings; what was counted."""
    counts = dict.fromkeys(("grammars", "without members", "prompts", "masks", "tokens"), 0)
    for number in range(grammars):
        language = random_token_language(rng, here, negations=negations and number % 2 == 0)
        encodings = language.encodings(here)
        counts["grammars"] += 1
        if not encodings:
            counts["without members"] += 1
            with pytest.raises(CheckError):
                compiled(engine, language.text, here)
            continue
        expected = following(encodings, here.eos_ids)
        artifact = compiled(engine, language.text, here)
        counts["masks"] += len(expected)
        counts["tokens"] += check_masks(artifact.matcher(), expected)
        # A table knows after a prompt which tokens may come first, and no more.
        is_table = artifact.manifest.kind == "token-dfa"
        for prompt in [] if is_table else rng.sample(PROMPTS, 2):
            before = here.encode(prompt)
            expected = following(language.encodings(here, prompt), here.eos_ids)
            if not expected:
                with pytest.raises(ArtifactError):
                    artifact.matcher(after=before)
                continue
            counts["prompts"] += 1
            counts["masks"] += len(expected)
            counts["tokens"] += check_masks(artifact.matcher(after=before), expected)
    assert counts["masks"] > 100
    return counts


# Free text after a token, then a token, then JSON; of the same texts regular ones.
THINKING = r"""root ::= {open} [^<]* {close} value
value ::= "{{" ws (pair ("," ws pair)*)? "}}" | array | string | "-"? [0-9]+ | "true" | "null"
array ::= "[" ws (value ("," ws value)*)? "]"
pair ::= string ":" ws value
string ::= "\"" [^"\\]* "\""
ws ::= " "?
"""
REGULAR = r"""root ::= {open} [^<]* {close} "[" (string ("," " "? string)*)? "]"
string ::= "\"" [^"\\]* "\""
"""


def walk(artifact: Artifact, rng: random.Random, length: int) -> list[int]:
    """Random tokens that the masks allow, up to the end of the text or ``length`` of them."""
    matcher = artifact.matcher()
    while len(matcher.taken) < length and not matcher.is_finished:
        ids = tokenset.to_ids(matcher.mask())
        # Tokens that end something come often.
        few = ids[artifact.vocabulary.kinds[ids] != TEXT]
        chosen = few if len(few) and rng.random() < 0.3 else ids
        matcher.advance(int(chosen[rng.randrange(len(chosen))]))
    return [i for i in matcher.taken if i not in artifact.manifest.eos]


@sampled("name", ["normalized"], ["normalized", "qwen2_5", "mistral_nemo"])
def test_thinking_and_then_json_is_what_the_library_encodes(
    name: str, any_case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """Along documents that the library encodes the masks hold each token; and what random walks by
    masks come to is encoded so."""
    here = any_case(name)
    ends = set(here.eos_ids)
    opened, closed = [i for i in sorted(here.tokenizer.added) if i not in ends][-2:]
    names = [here.tokenizer.added[i] for i in (opened, closed)]
    text = THINKING.format(open=f"<[{opened}]>", close=f"<[{closed}]>")
    artifact = compiled("network", text, here)
    documents = [
        ("\nLet's see: I'll call 2024  times.\n\n", '{"a": [1, 22, true], "é": {"x": "don\'t"}}'),
        ("", "[]"),
        (" ", '"the  end"'),
        ("e\u0301ts 日本", "-12345"),
    ]
    for thought, value in documents:
        ids = here.encode(f"{names[0]}{thought}{names[1]}{value}")
        matcher = artifact.matcher()
        assert len(ids) == matcher.accept(ids)
        assert matcher.is_accepting
    rng, tokens = random.Random(5), 0
    for _ in range(200 if full else 12):
        ids = walk(artifact, rng, 60)
        # What a walk did not finish may be encoded otherwise at its end.
        whole = here.tokenizer.decode_bytes(ids).decode("utf-8", "ignore")
        settled = max(0, len(ids) - 4)
        assert ids[:settled] == here.encode(whole)[:settled]
        tokens += len(ids)
    assert tokens > 100
    record_property("tokens", tokens)


@sampled("name", ["characters", "normalized"], NAMES)
def test_engines_agree_on_texts_of_any_length(
    name: str, any_case: Callable[[str], Case], full: bool
) -> None:
    """A byte DFA and a network, along random walks of either."""
    here = any_case(name)
    ends = set(here.eos_ids)
    special = [i for i in sorted(here.tokenizer.added) if i not in ends]
    # A token that is a text, too, closes.
    opened, closed = special[0] if special else 300, here.ids_by_text[b" a"][0]
    text = REGULAR.format(open=f"<[{opened}]>", close=f"<[{closed}]>")
    both = [compiled(engine, text, here) for engine in ("CartesianMerge", "network")]
    rng = random.Random(name)
    masks = 0
    for number in range(60 if full else 6):
        ids = walk(both[number % 2], rng, 40)
        matchers = [artifact.matcher() for artifact in both]
        for token in ids:
            one, other = (matcher.mask().tolist() for matcher in matchers)
            assert one == other
            masks += 1
            for matcher in matchers:
                matcher.advance(token)
    assert masks > 50


@pytest.mark.parametrize("engine", ["CartesianMerge", "network", "network, calls, lazily"])
def test_matchers_do_beside_tokens_what_they_do_elsewhere(
    engine: str, any_case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forced tokens, prompts, stop ids, what is taken back, forks, drafts, and the next machine
    when one is full."""
    here = any_case("pieces")
    token, stop = (i for i, name in here.tokenizer.added.items() if name in ("<think>", "<|end|>"))
    text = f'root ::= "a" <[{token}]> "the" | "th" <[{token}]> "e" <[{token}]>?'
    artifact = compiled(engine, text, here)
    a, th, e, the = (here.encode(text)[0] for text in ("a", "th", "e", "the"))
    eos = here.eos_ids[0]

    def mask(matcher: Matcher) -> set[int]:
        return set(tokenset.to_ids(matcher.mask()).tolist())

    matcher = artifact.matcher()
    assert ({a, th}, []) == (mask(matcher), matcher.forced_tokens())
    matcher.advance(a)
    assert ([token, the], b"") == (matcher.forced_tokens(), matcher.forced_bytes())
    assert matcher.validate([token, the, the]) == 2
    matcher.advance(token)
    assert matcher.forced_bytes() == b"the"
    other = matcher.fork()
    matcher.rollback(2)
    assert matcher.accept([th, token, e]) == 3
    assert ({token, eos}, {the}) == (mask(matcher), mask(other))
    stopped = artifact.matcher(stop_ids=[stop])
    stopped.accept([th, token, e])
    assert {token, stop} == mask(stopped)
    # After a token a text begins as after nothing; "the" is one piece, but not after "th".
    assert {a, th} == mask(artifact.matcher(after=[*here.encode("x"), token]))
    assert {a} == mask(artifact.matcher(after=here.encode("t"))) - {th}
    rows = np.zeros((4, len(matcher.mask())), dtype=np.int32)
    assert artifact.matcher().fill_window(rows, [a, token, e]) == 2
    monkeypatch.setattr(TokenTerminalMachine, "is_full", True)
    matcher = artifact.matcher()
    for taken in (th, token, e, token):
        matcher.advance(taken)
    assert {eos} == mask(matcher)


def test_byte_dfas_with_terminals_are_drawn_and_tabulated(any_case: Callable[[str], Case]) -> None:
    """What stands for terminals inside is in no drawing, and in no table of the same masks."""
    here = any_case("characters")
    added = min(here.tokenizer.added)
    artifact = compiled("DFA", f'root ::= "a" <[{added}]> "the" | " b"{{1,2}}', here)
    assert (artifact.manifest.kind, artifact.is_regular) == ("network", True)
    table = tabulated(artifact)
    assert table.manifest.kind == "token-dfa"
    for ids in ([], here.encode("a"), [*here.encode("a"), added], here.encode(" b")):
        one, other = (found.matcher() for found in (artifact, table))
        assert len(ids) == one.accept(ids) == other.accept(ids)
        assert one.mask().tolist() == other.mask().tolist()
    assert here.tokenizer.added[added].strip("<|>") in draw_tokens(artifact, View("g")).dot
    assert "the" in draw_tokenizer(artifact, View("g")).dot


def test_terminals_that_canonical_masks_cannot_follow_are_refused_by_name(tmp_path: Path) -> None:
    """A token that takes in the space beside it, more terminals than there are sentinels, a step
    that puts more than a space before each text; by default any tokens are allowed, with a note."""
    added = [(20 + number, f"<{number}>", True) for number in range(15)]
    value = tokenizer_json("ab<>", [], added=added, splits=True)
    value["added_tokens"][1]["rstrip"] = True
    prefixed = {**value, "normalizer": {"type": "Prepend", "prepend": "ab"}}
    many = " ".join(f"<{number}>" for number in (0, *range(2, 15)))
    for number, (definition, text, reason) in enumerate(
        [
            (value, 'root ::= "a" <1> "b"', "added token <1>, which takes in"),
            (value, 'root ::= "a" !<2> "b"', "added token <1>, which takes in"),
            (value, f"root ::= {many}", "more than 13 different token terminals"),
            (prefixed, 'root ::= "a" <2> "b"', "has the step Prepend"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        tokenizer = load_tokenizer(written(folder, definition))
        with pytest.raises(CheckError, match=reason) as refused:
            compile_grammar(
                text, dialect="gbnf", tokenizer=tokenizer, tokenization="canonical", eos=[20]
            )
        assert refused.value.diagnostics[0].span is not None
        with pytest.warns(WeakerMasksWarning, match=reason):
            compile_grammar(text, dialect="gbnf", tokenizer=tokenizer, eos=[20])
    others = compile_grammar(
        'root ::= "a" <2> "b"',
        dialect="gbnf",
        tokenizer=load_tokenizer(written(tmp_path, value)),
        eos=[20],
    )
    assert others.is_canonical


_SPACES = {"type": "Metaspace", "replacement": "▁", "split": False}
_BYTES = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
# The tokenizer that is changed, and its other steps.
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    f"spaces, {scheme}": (
        "characters",
        {"normalizer": None, "pre_tokenizer": {**_SPACES, "prepend_scheme": scheme}},
    )
    for scheme in ("first", "always", "never")
}
STEPS |= {
    "a space before bytes": ("pieces", {"pre_tokenizer": {**_BYTES, "add_prefix_space": True}}),
    "lower case": ("pieces", {"normalizer": {"type": "Lowercase"}}),
    "NFKD": ("pieces", {"normalizer": {"type": "NFKD"}}),
}


@sampled("engine", ["DFA"], ["DFA", "network, calls"])
@sampled("steps", ["spaces, first", "a space before bytes"], STEPS)
def test_masks_beside_other_steps(
    steps: str,
    engine: str,
    any_case: Callable[[str], Case],
    tmp_path: Path,
    full: bool,
    record_property: Count,
) -> None:
    """The same for a space that is put before each text, or before the first one alone, unless it
    begins with one; and for other normalizers."""
    name, changes = STEPS[steps]
    value = json.loads(any_case(name).path.read_bytes())
    here = Case(written(tmp_path, {**value, **changes}))
    counts = compare(engine, here, random.Random(steps), 40 if full else 3, negations=True)
    for kind, count in counts.items():
        record_property(kind, count)
