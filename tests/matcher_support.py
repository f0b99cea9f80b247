"""What tests of matchers share; the fixtures ``artifacts`` and ``odd`` give what they match."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from constrain.artifacts import Artifact, Matcher, tokenset

KINDS = ("canonical", "any")


GRAMMARS = (
    's ::= "";',
    's ::= "a" | "bc";',
    's ::= #"[a-c]{1,4}";',
    's ::= "the " ("cat" | "dog") (" and " ("cat" | "dog"))*;',
    's ::= #"\\\\d{4}-\\\\d\\\\d";',
    's ::= "é" | "日本" | #"[à-ü]+";',
)


Compile = Callable[..., Artifact]


def after(artifact: Artifact, *tokens: int) -> Matcher:
    """A matcher that has taken some tokens."""
    matcher = artifact.matcher()
    for token_id in tokens:
        matcher.advance(token_id)
    return matcher


def allowed(matcher: Matcher) -> list[int]:
    """The ids in the mask."""
    return [int(token_id) for token_id in tokenset.to_ids(matcher.mask())]


def paths(artifact: Artifact, longest: int) -> Iterator[tuple[int, ...]]:
    """All token sequences, of at most so many tokens, that a matcher lets end."""
    eos = set(artifact.manifest.eos)
    pending: list[tuple[int, ...]] = [()]
    for path in pending:
        matcher = after(artifact, *path)
        if matcher.is_accepting:
            yield path
        if len(path) < longest:
            pending.extend((*path, t) for t in allowed(matcher) if t not in eos)


def spelled(artifact: Artifact, token: bytes) -> int:
    """The id of a text token."""
    found = [i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == token]
    return found[0]


def accepted_behind_prompts(artifact: Artifact, library: Any, rng: random.Random) -> int:
    """Random prompts and members of ``(a|b| ){1,4}``: where the library keeps the prompt's last
    boundary, the member's tokens are accepted behind it. How many of forty these were."""
    kept = 0
    for _ in range(40):
        prompt, text = ("".join(rng.choices("ab ", k=rng.randrange(1, 5))) for _ in "12")
        before, ids = library.encode(prompt).ids, library.encode(prompt + text).ids
        if ids[: len(before)] != before:
            continue
        matcher = artifact.matcher(after=before)
        for token in ids[len(before) :]:
            assert tokenset.contains(matcher.mask(), token)
            matcher.advance(token)
        assert matcher.is_accepting
        kept += 1
    return kept
