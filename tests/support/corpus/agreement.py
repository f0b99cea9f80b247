"""What an engine makes of a language, held against the definition: what is wrong is yielded.

    offences("canonical network", case, language)  ->  nothing, or lines that say where

Masks are compared after many prefixes with those of a *reference*: of a finite language all
encodings of all members; under ``any`` what the minimal DFA reads; else what the plainest
engine allows, which the tests of witnesses and walks hold against encodings.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from constrain.artifacts import Artifact, TokenRefusedError
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.tokens import tokenset
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.frontend import Automaton
from constrain.compiler.pipeline import build_engine
from support.corpus.encodings import following
from support.corpus.engines import ENGINES, Engine
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import Case
from support.matcher import Places

Ids = tuple[int, ...]
Masks = Mapping[Ids, set[int]]

# Members up to which all encodings are listed; random walks elsewhere, and tokens of each.
MEMBERS, WALKS, LONGEST = 300, 4, 8


def offences(name: str, case: Case, language: Language) -> Iterator[str]:
    """Where an engine's artifact of a language is not as defined."""
    engine = ENGINES[name]
    refusal = why_refused(engine, case, language)
    try:
        artifact = engine.artifact(language, case)
    except ConstrainError as error:
        if not refusal or refusal not in str(error):
            yield f"refused: {error}"
        return
    if refusal:
        yield f"not refused, though {refusal}"
        return
    yield from wrong_masks(artifact.matcher(), reference(engine, case, language))
    check = wrong_texts_of_any if engine.tokenization == "any" else wrong_texts
    yield from check(artifact, case, language)


# Maximal munch leaves them no member: an exclusion's lexeme goes on over what must follow it.
MUNCHED = {"kbnf-except", "kbnf-regex-complement"}


def why_refused(engine: Engine, case: Case, language: Language) -> str:
    """A part of the message with which an engine must refuse a language; empty: it takes it."""
    if language.automaton is None and engine.engine == "dfa":
        return "nest"
    if language.names_tokens:
        if engine.meaning != "exact":
            return "cannot be read by"
    elif engine.tokenization == "canonical":
        if all(case.own(text) is None for text in language.accepted):
            return "the tokenizer can spell no member"
    elif engine.meaning != "exact" and language.name in MUNCHED:
        return "there is no member"
    return ""


def texts_of(language: Language) -> tuple[bytes, ...]:
    """The texts that a language is tried with; the tokens of any text are tokens that a grammar
    may name."""
    return language.accepted + (() if language.names_tokens else language.rejected)


def wrong_texts(artifact: Artifact, case: Case, language: Language) -> Iterator[str]:
    """A member has one sequence of tokens, the tokenizer's own; other texts have none."""
    for text in texts_of(language):
        expected = []
        if text in language.accepted and (own := case.own(text)) is not None:
            expected = [own]
        octets = artifact.put_before(text) + text if text else text
        found = case.spelled(artifact.matcher(), octets)
        if found != expected:
            yield f"{text!r} is spelled {found}, not {expected}"


def wrong_texts_of_any(artifact: Artifact, case: Case, language: Language) -> Iterator[str]:
    """Whatever its tokens, a member is accepted and other texts are not."""
    eos = artifact.manifest.eos
    for text in texts_of(language):
        for ids in case.spellings(text):
            matcher, accepted = artifact.matcher(), True
            try:
                for token in ids:
                    matcher.advance(token)
            except TokenRefusedError:
                accepted = False
            ends = tokenset.contains(matcher.mask(), eos[0])
            if accepted and ends != matcher.is_accepting:
                yield f"{text!r}, {ids}: may end is {matcher.is_accepting}, EOS in the mask {ends}"
            if (accepted and ends) != (text in language.accepted):
                yield f"{text!r}, {ids}: accepted is {accepted and ends}"


def wrong_masks(matcher: Matcher, expected: Masks) -> Iterator[str]:
    """The first prefix of tokens after which a mask is another."""
    for ids, mask in masks_of(matcher, expected):
        if mask != expected[ids]:
            missing, more = sorted(expected[ids] - mask), sorted(mask - expected[ids])
            yield f"after {ids}: without {missing[:9]}, but with {more[:9]}"
            return


def masks_of(matcher: Matcher, prefixes: Iterable[Ids]) -> Iterator[tuple[Ids, set[int]]]:
    """The mask after each of some prefixes, as far as the masks allow these."""
    taken: Ids = ()
    refused: Ids | None = None
    for prefix in sorted(prefixes):
        if refused is not None and prefix[: len(refused)] == refused:
            continue
        common = 0
        while common < min(len(taken), len(prefix)) and taken[common] == prefix[common]:
            common += 1
        matcher.rollback(len(taken) - common)
        taken = prefix[:common]
        for token in prefix[common:]:
            try:
                matcher.advance(token)
            except TokenRefusedError:
                # The mask before it was found to be another; where it is not listed, this tells.
                refused = (*taken, token)
                yield prefix, set()
                break
            taken = (*taken, token)
        else:
            yield prefix, set(tokenset.to_ids(matcher.mask()).tolist())


_KNOWN: dict[tuple[str, str, str, str], Masks] = {}


def reference(engine: Engine, case: Case, language: Language) -> Masks:
    """The masks after some prefixes, by the definition."""
    key = engine.tokenization, engine.meaning, case.tokenizer.sha256, language.name
    if key not in _KNOWN:
        found = canonical_masks if engine.tokenization == "canonical" else masks_of_any
        _KNOWN[key] = found(engine, case, language)
    return _KNOWN[key]


def canonical_masks(engine: Engine, case: Case, language: Language) -> Masks:
    """All encodings of all members, or the masks of the plainest engine."""
    if language.automaton is None:
        plain = ENGINES["canonical network, calls, lazily"]
    else:
        members = None if language.names_tokens else language.members(MEMBERS)
        if members is not None:
            kept = [own for text in members if (own := case.own(text)) is not None]
            return following(kept, case.eos_ids)
        plain = ENGINES["CartesianMerge"]
    matcher = plain.artifact(language, case).matcher()
    texts = (*language.accepted, *language.rejected)
    starts = [own for text in texts if (own := case.own(text)) is not None]
    return explored(lambda ids: after(matcher, ids), starts, case, language)


def masks_of_any(engine: Engine, case: Case, language: Language) -> Masks:
    """What the minimal DFA reads, or the masks of the plainest engine."""
    starts = [
        ids for text in (*language.accepted, *language.rejected) for ids in case.spellings(text)
    ]
    dfa = dfa_of(engine, language)
    if dfa is None or language.names_tokens:
        if language.automaton is not None:
            plain = ENGINES["DFA"]
        elif engine.meaning == "exact":
            plain = ENGINES["Earley"]
        else:
            plain = ENGINES["maximal munch, lazily"]
        matcher = plain.artifact(language, case).matcher()
        return explored(lambda ids: after(matcher, ids), starts, case, language)
    places = Places(dfa.tables(), b"", case.tokenizer.vocabulary())

    def read(ids: Sequence[int]) -> set[int]:
        place = places.run(places.start, b"".join(case.tokenizer.tokens[token] for token in ids))
        found = set(places.after(place).nonzero()[0].tolist())
        return found | set(case.eos_ids) if places.accepting[place] else found

    return explored(read, starts, case, language)


def dfa_of(engine: Engine, language: Language) -> Dfa | None:
    """The minimal DFA of what an engine's meaning makes of a language; None if it nests."""
    if language.automaton is None:
        return None
    if engine.meaning == "exact":
        return language.automaton.dfa
    found = build_engine(
        language.text, dialect=language.dialect, engine="dfa", meaning=engine.meaning
    )
    assert isinstance(found, Automaton)
    return found.dfa


def explored(
    allowed: Callable[[Sequence[int]], set[int]],
    starts: Iterable[Sequence[int]],
    case: Case,
    language: Language,
) -> Masks:
    """Masks along some sequences, as far as these are allowed, and along random walks."""
    found: dict[Ids, set[int]] = {}

    def mask(ids: Ids) -> set[int]:
        if ids not in found:
            found[ids] = allowed(ids)
        return found[ids]

    for ids in starts:
        for place, token in enumerate(ids):
            if token not in mask(tuple(ids[:place])):
                break
        else:
            mask(tuple(ids))
    rng = random.Random(language.name)
    for _ in range(WALKS):
        walk: Ids = ()
        for _ in range(LONGEST):
            some = sorted(mask(walk) - set(case.eos_ids))
            if not some:
                break
            # Long tokens are few, and lead into more corners.
            drawn = rng.choices(some, k=rng.choice([1, 4]))
            walk = (*walk, max(drawn, key=lambda token: len(case.tokenizer.tokens.get(token, b""))))
        mask(walk)
    return found


def after(matcher: Matcher, ids: Sequence[int]) -> set[int]:
    """The mask after some tokens."""
    for token in ids:
        matcher.advance(token)
    found = set(tokenset.to_ids(matcher.mask()).tolist())
    matcher.rollback(len(ids))
    return found
