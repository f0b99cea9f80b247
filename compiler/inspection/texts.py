"""What of a text is forced: the tokens and bytes that a model would not have to choose.

The text is read token by token (``encoding``), a mask before each.
"""

from collections.abc import Callable
from dataclasses import dataclass

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import TokenRefusedError, visible
from constrain.artifacts.tokens import tokenset

from ..diagnostics import LimitError
from ..explain.explainer import explainer_of_artifact, explainer_of_grammar
from ..explain.report import Status, Verdict, position, without_line_break
from ..limits import Limits
from ..options import AnyTokenizer, CompileOptions
from ..progress import Step
from .density import Density, count_of, density_of
from .encoding import Encoding, encoding_of

# The text is a member, and the tokens that it is encoded as are not allowed.
REFUSED = "refused"

OWN_TOKENS = "a member that the masks do not allow as the tokenizer writes it"

# The longest run of forced bytes that is looked for at one place.
_RUN = 256
_STAGE = "reading the text"


@dataclass(frozen=True, slots=True)
class Text:
    """A text to read."""

    name: str
    octets: bytes


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What of a text is forced.

    ``status``: ``accepted``, ``rejected`` or ``incomplete`` as of ``explain``, or ``refused``: a
    member whose tokens are not allowed. Of those that are not accepted ``line``, ``column`` (from
    1), ``byte`` and ``message`` say where and why, and nothing else is counted.

    ``without_line_break``: it is a member without the line break at its end, which was left out.
    ``bytes``: of the text. ``encoding``: by the ``tokenizer``, or by the ``fewest`` tokens.
    ``tokens``: that it is encoded as. ``forced_tokens``: those of them that were alone in their
    mask. ``forced_bytes``: bytes that all texts go on with from the end of some token, forced
    tokens included; at most ``spelled`` bytes, what the tokens spell. ``masks``: before each token
    and at the end.
    """

    name: str
    status: str
    bytes: int
    without_line_break: bool = False
    line: int | None = None
    column: int | None = None
    byte: int | None = None
    message: str | None = None
    encoding: str | None = None
    tokens: int = 0
    forced_tokens: int = 0
    spelled: int = 0
    forced_bytes: int = 0
    masks: Density | None = None

    @property
    def forced_share(self) -> float:
        """Forced tokens among all, 0 of no tokens."""
        return self.forced_tokens / self.tokens if self.tokens else 0.0


def explain_of(
    artifact: Artifact, text: str | None = None, options: CompileOptions | None = None
) -> Callable[[bytes], Verdict]:
    """What explains texts: of the grammar ``text`` that was compiled by ``options``, where there is
    such, in whose words also members are that the tokenizer cannot spell; else of the artifact."""
    if text is not None and options is not None:
        try:
            return explainer_of_grammar(text, options).verdict
        except LimitError as error:
            if error.is_measured:
                raise
    return explainer_of_artifact(artifact).verdict


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """What reads the texts of one artifact. ``explain``: the verdict on one, and ``say`` that in
    words. ``tokenizer``: the artifact's, if it is there."""

    artifact: Artifact
    explain: Callable[[bytes], Verdict]
    say: Callable[[Verdict, Text], str]
    tokenizer: AnyTokenizer | None
    limits: Limits

    @Step("read texts")
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
        tokens = encoding_of(self.artifact, octets, self.tokenizer)
        if tokens is None:
            return _refused(text.name, octets, 0, "no tokens of the tokenizer spell this member")
        return _read(self.artifact, text.name, octets, tokens, is_shorter, self.limits)


def _read(
    artifact: Artifact, name: str, octets: bytes, tokens: Encoding, is_shorter: bool, limits: Limits
) -> TextFacts:
    """Read the tokens of a member, a mask before each."""
    matcher, counts, forced_tokens = artifact.matcher(), list[int](), 0
    # Where the next token begins, what is forced up to there, and how far it goes on. What the
    # tokenizer puts before a text does not count.
    place = -len(artifact.put_before(octets))
    forced_bytes, end = 0, place
    for token_id, behind in zip(tokens.ids, tokens.ends, strict=True):
        limits.check_resources(_STAGE)
        mask = matcher.mask()
        counts.append(count_of(mask))
        is_forced = tokenset.only_id(mask) == token_id
        run = len(matcher.forced_bytes(_RUN))
        try:
            matcher.advance(token_id)
        except TokenRefusedError:
            token = artifact.vocabulary.token(token_id).decode("utf-8", "backslashreplace")
            why = f"{OWN_TOKENS}: {token!r} ({token_id}) is refused"
            return _refused(name, octets, max(0, place), why)
        forced_tokens += is_forced
        end = max(end, place + run, behind if is_forced else end)
        forced_bytes += max(0, min(end, behind) - max(0, place))
        place = behind
    counts.append(count_of(matcher.mask()))
    if not matcher.is_accepting:
        return _refused(name, octets, len(octets), f"{OWN_TOKENS}: the end is refused")
    return TextFacts(
        name,
        Status.ACCEPTED.value,
        len(octets),
        is_shorter,
        encoding=tokens.by,
        tokens=len(tokens.ids),
        forced_tokens=forced_tokens,
        spelled=max(0, place),
        forced_bytes=forced_bytes,
        masks=density_of(counts, artifact.vocab_size),
    )


def _refused(name: str, octets: bytes, byte: int, why: str) -> TextFacts:
    line, column = position(octets, byte)
    message = f"{visible(name)}:{line}:{column}: {REFUSED}: {why}"
    return TextFacts(name, REFUSED, len(octets), False, line, column, byte, message)
