"""Engines side by side: what may not change a mask does not."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from support import offenders, sampled
from support.corpus.engines import ENGINES
from support.corpus.languages import FINITE, INFINITE, MARKED, NESTING, SMALL_EXAMPLES, TYPICAL
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import TINY, TOKENIZERS, Case
from support.grammars import nullable_lnf_of
from support.normal_form import network as by_goals

from constrain.artifacts import Artifact
from constrain.artifacts.canonical_network.machine import canonical_machine
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.kinds.generations import always
from constrain.artifacts.kinds.token_dfa import TokenDfaRuntime
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.tokenizer_steps.normalizer import WithNormalForm
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.lnf.unroll import unroll
from constrain.compiler.pipeline import build_artifact, build_engine

Count = Callable[[str, object], None]

# Transitions of DirectMerge up to which the two are compared.
_CAP, _SMALL_CAP = 20_000_000, 25_000
# The others merge characters, or their merges are in no order that DirectMerge can follow.
FOLLOWED = [name for name in (*TOKENIZERS, *TINY) if name != "mistral-v3"]


class Steps:
    """CartesianMerge's targets of many tokens at once.

    They depend on the configuration, on the states of the pre-tokenizer, on the token, and on
    whether that may go on with the piece of the last one. Each such step is taken once.
    """

    def __init__(self, artifact: Artifact) -> None:
        machine = artifact.machine()
        assert isinstance(machine, CanonicalMasks | WithNormalForm)
        self.machine: CanonicalMasks | WithNormalForm[CanonicalMasks] = machine
        self.size = artifact.vocab_size
        self._known: dict[tuple[object, int], NDArray[np.int64]] = {}

    def targets(self, state: int, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """The states after each of the tokens."""
        machine = self.machine
        masks, number, text = machine, state, 0
        if isinstance(machine, WithNormalForm):
            masks, (number, text) = machine.inner, divmod(state, machine.runs.states)
        places, last = masks.places(number)
        key = tuple(places), text
        if key not in self._known:
            self._known[key] = np.full((2, self.size), -1, dtype=np.int64)
        known = self._known[key]
        follows = np.full(self.size, last is not None)
        if last is not None:
            follows[masks.forbidden.ids(last)] = False
        goes_on = follows[tokens].astype(np.int64)
        for place in np.flatnonzero(known[goes_on, tokens] < 0).tolist():
            token = int(tokens[place])
            known[goes_on[place], token] = machine.step(state, token)
        found: NDArray[np.int64] = known[goes_on, tokens]
        return found


def compared(direct: Artifact, cartesian: Artifact) -> tuple[int, int]:
    """Compare the masks of all reachable pairs; their number and that of the transitions."""
    assert isinstance(direct.runtime, TokenDfaRuntime)
    dfa, steps = direct.runtime.token_dfa, Steps(cartesian)
    eos = np.array(direct.manifest.eos)
    start = dfa.start, steps.machine.start
    seen, pending, transitions = {start}, [start], 0
    for one, other in pending:
        row = direct.machine().row(one)
        assert np.array_equal(row, steps.machine.row(other)), (one, other)
        assert dfa.is_accepting(one) == steps.machine.is_accepting(other)
        flags = tokenset.to_flags(row).copy()
        flags[eos] = False
        tokens, targets = dfa.edges_of(one)
        tokens, targets = tokens[flags[tokens]], targets[flags[tokens]]
        assert len(tokens) == flags.sum()
        transitions += len(tokens)
        others = steps.targets(other, tokens.astype(np.int64))
        for pair in zip(*np.unique(np.stack([targets, others]), axis=1).tolist(), strict=True):
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return len(seen), transitions


LANGUAGES = {
    **TYPICAL,
    **{f"finite {name}": language for name, language in FINITE.items()},
    **{f"infinite {name}": language for name, language in INFINITE.items()},
}


@sampled("name", ("gpt2", "tiny-bpe-1000"), FOLLOWED)
def test_both_methods(
    name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """DirectMerge and CartesianMerge side by side, wherever DirectMerge has a table: at every
    pair of states that tokens lead to."""
    here, counts = case(name), {"languages": 0, "pairs": 0, "transitions": 0}
    limits = Limits(transitions=_CAP if full else _SMALL_CAP, seconds=60)

    def check(language: Language) -> None:
        try:
            direct = ENGINES["DirectMerge"].artifact(language, here, limits=limits)
        except LimitError:
            return
        pairs, transitions = compared(direct, ENGINES["CartesianMerge"].stored(language, here))
        counts["languages"] += 1
        counts["pairs"] += pairs
        counts["transitions"] += transitions

    # Without --full each language is compared with one of the two tokenizers.
    chosen = list(LANGUAGES) if full else list(LANGUAGES)[name == "gpt2" :: 2]
    assert {} == offenders({key: LANGUAGES[key] for key in chosen}, check)
    assert counts["languages"] > (12 if full else 6)
    for kind, count in counts.items():
        record_property(kind, count)


def test_both_methods_of_a_large_table(case: Callable[[str], Case], full: bool) -> None:
    """Random walks by the masks of both, in a language without end."""
    here, language = case("gpt2"), SMALL_EXAMPLES["person"]
    one = ENGINES["DirectMerge"].stored(language, here).matcher()
    other = ENGINES["CartesianMerge"].stored(language, here).matcher()
    rng = random.Random(2027)
    assert side_by_side(one, other, rng, 3000 if full else 10, 30) > 100


AHEAD, LAZILY = "canonical network", "canonical network, lazily"


@sampled("name", ("tiny-bpe-1000", "gpt2", "normalizing"), (*TINY, *TOKENIZERS, "normalizing"))
def test_networks_precomputed_and_lazily(
    name: str, case: Callable[[str], Case], normalizing: Case, full: bool
) -> None:
    """Random walks by the masks of both, in grammars that nest."""
    here = normalizing if name == "normalizing" else case(name)

    def check(language: Language) -> None:
        ahead = ENGINES[AHEAD].stored(language, here)
        lazily = ENGINES[LAZILY].stored(language, here)
        liked = ahead.arrays.get("stable.tokens", np.zeros(0, dtype=np.int32))
        rng = random.Random(45)
        walks = 100 if full else 1
        assert side_by_side(ahead.matcher(), lazily.matcher(), rng, walks, 20, liked) >= 5 * walks

    assert {} == offenders(MARKED if name == "normalizing" else NESTING, check)


def test_networks_behind_a_prefix(case: Callable[[str], Case], full: bool) -> None:
    """With tokens of bytes, and no cuts, most is left to decoding, whatever may be precomputed."""
    here, language = case("mistral-v3"), NESTING["statements"]
    ahead = ENGINES[AHEAD].artifact(language, here, prewarm=10**6).matcher()
    lazily = ENGINES[LAZILY].stored(language, here).matcher()
    assert side_by_side(ahead, lazily, random.Random(46), 50 if full else 1, 8) > 5


@sampled("name", ("tiny-bpe-1000", "gpt2", "normalizing"), (*TINY, *TOKENIZERS, "normalizing"))
def test_unrolled_networks(
    name: str,
    case: Callable[[str], Case],
    normalizing: Case,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """Nested one deep grammars are regular: the network's masks are those of CartesianMerge."""
    here = normalizing if name == "normalizing" else case(name)

    def check(language: Language) -> None:
        tables = by_goals.network(unroll(nullable_lnf_of(language.text), 1).lnf)
        assert len(tables.call_starts) or language.name == "dyck"
        stored = ENGINES[LAZILY].stored(language, here).arrays
        vocabulary = here.tokenizer.vocabulary(here.tokenizer.vocab_size)
        machine = canonical_machine(tables, stored, here.eos_ids, vocabulary)
        unrolled = build_artifact(
            build_engine(language.text, dialect="kbnf", max_depth=1),
            here.tokenizer,
            method="cartesian",
            tables=here.tables,
            eos=here.eos,
        ).artifact
        assert (unrolled.manifest.kind, unrolled.is_regular) == ("network", True)
        network = Matcher(partial(always, machine), here.eos_ids, unrolled.vocab_size)
        liked = unrolled.arrays.get("stable.tokens", np.zeros(0, dtype=np.int32))
        walks = 200 if full else 2
        side_by_side(unrolled.matcher(), network, random.Random(8), walks, 20, liked)

    some = ("json", "markup") if name == "normalizing" else ("json", "dyck", "markup")
    assert {} == offenders({key: NESTING[key] for key in some}, check)


def side_by_side(
    one: Matcher,
    other: Matcher,
    rng: random.Random,
    walks: int,
    longest: int,
    liked: NDArray[np.int32] | Sequence[int] = (),
) -> int:
    """Walk both by random tokens and compare all masks; how many they were.

    Of ``liked`` every other token is, where the mask holds some.
    """
    count, wanted = 0, set(np.asarray(liked).tolist())
    for _ in range(walks):
        taken = 0
        for _ in range(longest):
            mask = one.mask()
            assert np.array_equal(mask, other.mask())
            assert one.is_accepting == other.is_accepting
            count += 1
            ids = tokenset.to_ids(mask).tolist()
            some = [token for token in ids if token in wanted]
            if some and rng.random() < 0.5:
                ids = some
            # Short tokens lead into more corners than long ones, which are the most.
            token = min(rng.choices(ids, k=rng.choice([1, 3])))
            one.advance(token)
            other.advance(token)
            taken += 1
            if one.is_finished:
                break
        one.rollback(taken)
        other.rollback(taken)
    return count
