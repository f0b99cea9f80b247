"""What of a text is forced: the tokens and bytes that a model would not have to choose.

The text is read as its tokenizer encodes it, a mask before each token. Without the tokenizer it is
read by the tokens that the artifact allows, the fewest: under canonical masks these are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import WORD_DFA
from constrain.artifacts.errors import TokenRefusedError
from constrain.artifacts.tokens import tokenset

from ..explain.explainer import explainer_of_artifact
from ..explain.report import Status, Verdict, position, without_line_break
from ..limits import Limits
from ..options import AnyTokenizer
from .density import Density, count_of, density_of

# The text is a member, and the tokens that it is encoded as are not allowed.
REFUSED = "refused"

# The longest run of forced bytes that is looked for at one place.
_RUN = 256
_STAGE = "reading the text"


@dataclass(frozen=True, slots=True)
class Text:
    """A text to read. ``said``: a verdict on it in words, as ``explain`` writes it."""

    name: str
    octets: bytes


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What of a text is forced.

    ``status``: ``accepted``, ``rejected`` or ``incomplete`` as of ``explain``, or ``refused``: a
    member whose tokens are not allowed. Of those that are not accepted ``line``, ``column`` (from
    1), ``byte`` and ``message`` say where and why, and nothing else is counted.

    ``without_line_break``: it is a member without the line break at its end, which was left out.
    ``bytes``: of the text. ``tokens``: that it is encoded as. ``forced_tokens``: those of them that
    were alone in their mask. ``forced_bytes``: bytes that all texts go on with from the end of
    some token, forced tokens included; at most ``spelled`` bytes, what the tokens spell.
    ``masks``: before each token and at the end.
    """

    name: str
    status: str
    bytes: int
    without_line_break: bool = False
    line: int | None = None
    column: int | None = None
    byte: int | None = None
    message: str | None = None
    tokens: int = 0
    forced_tokens: int = 0
    spelled: int = 0
    forced_bytes: int = 0
    masks: Density | None = None

    @property
    def forced_share(self) -> float:
        """Forced tokens among all, 0 of no tokens."""
        return self.forced_tokens / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """What reads the texts of one artifact. ``tokenizer``: the artifact's, if it is there."""

    artifact: Artifact
    explain: Callable[[bytes], Verdict]
    say: Callable[[Verdict, Text], str]
    tokenizer: AnyTokenizer | None
    limits: Limits

    @classmethod
    def of(
        cls,
        artifact: Artifact,
        say: Callable[[Verdict, Text], str],
        tokenizer: AnyTokenizer | None,
        limits: Limits,
    ) -> "Reader":
        """``say``: a verdict on a text in words."""
        return cls(artifact, explainer_of_artifact(artifact).verdict, say, tokenizer, limits)

    def facts(self, text: Text) -> TextFacts:
        """The facts of one text. Raises ``LimitError`` for time and resident memory."""
        octets, verdict = text.octets, self.explain(text.octets)
        is_shorter = verdict.status is not Status.ACCEPTED and verdict.but_for_line_break
        if is_shorter:
            octets = without_line_break(octets)
        elif verdict.status is not Status.ACCEPTED:
            return TextFacts(
                text.name,
                verdict.status.value,
                len(octets),
                line=verdict.line,
                column=verdict.column,
                byte=verdict.offset,
                message=self.say(verdict, text),
            )
        ids = ids_of(self.artifact, octets, self.tokenizer)
        if ids is None:
            return _refused(text.name, octets, 0, "no tokens of the tokenizer spell this member")
        return _read(self.artifact, text.name, octets, ids, is_shorter, self.limits)


def ids_of(artifact: Artifact, octets: bytes, tokenizer: AnyTokenizer | None) -> list[int] | None:
    """The tokens of a text; None if it has none: it is not UTF-8, or no member."""
    if tokenizer is not None:
        try:
            return tokenizer.encode(octets.decode("utf-8"))
        except UnicodeDecodeError:
            return None
    from constrain.artifacts.prefix import boundaries

    if artifact.manifest.kind == WORD_DFA:
        octets = _canonical(artifact, octets.decode("utf-8", "replace"))
    found = boundaries(artifact, octets)
    return next((list(b.ids) for b in found if b.length == len(octets) and b.accepting), None)


def _canonical(artifact: Artifact, text: str) -> bytes:
    """What a WordPiece tokenizer sees of a text: words between single spaces."""
    from ..wordpiece.normalizer import BertNormalizer

    normalizer = BertNormalizer(*map(bool, artifact.arrays["words.normalizer"].tolist()))
    return normalizer.canonical(text).encode("utf-8")


def _read(
    artifact: Artifact, name: str, octets: bytes, ids: list[int], is_shorter: bool, limits: Limits
) -> TextFacts:
    """Read the tokens of a member, a mask before each."""
    matcher, lengths = artifact.matcher(), artifact.vocabulary.lengths
    begin = len(artifact.put_before(octets))
    counts, forced_tokens = list[int](), 0
    # Where the next token begins, what is forced up to there, and how far it goes on.
    place = forced_bytes = end = 0
    for token_id in ids:
        limits.check_resources(_STAGE)
        mask = matcher.mask()
        counts.append(count_of(mask))
        behind = place + int(lengths[token_id])
        is_forced = tokenset.only_id(mask) == token_id
        run = len(matcher.forced_bytes(_RUN))
        try:
            matcher.advance(token_id)
        except TokenRefusedError as refusal:
            token = artifact.vocabulary.token(token_id).decode("utf-8", "backslashreplace")
            message = f"the text is a member, but the tokenizer writes {token!r} here: {refusal}"
            return _refused(name, octets, max(0, place - begin), message)
        forced_tokens += is_forced
        end = max(end, place + run, behind * is_forced)
        forced_bytes += max(0, min(end, behind) - place)
        place = behind
    counts.append(count_of(matcher.mask()))
    if not matcher.is_accepting:
        return _refused(name, octets, len(octets), "the text is a member, but not by its tokens")
    return TextFacts(
        name,
        Status.ACCEPTED.value,
        len(octets),
        is_shorter,
        tokens=len(ids),
        forced_tokens=forced_tokens,
        spelled=place,
        forced_bytes=forced_bytes,
        masks=density_of(counts, artifact.vocab_size),
    )


def _refused(name: str, octets: bytes, byte: int, why: str) -> TextFacts:
    line, column = position(octets, byte)
    message = f"{name}:{line}:{column}: {REFUSED}: {why}"
    return TextFacts(name, REFUSED, len(octets), False, line, column, byte, message)
