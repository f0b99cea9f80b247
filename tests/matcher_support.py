"""What tests of matchers share; the fixtures ``artifacts`` and ``odd`` give what they match."""

from collections.abc import Callable, Iterator

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
