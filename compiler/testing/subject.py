"""What is tested: a grammar or an artifact, and its tokens where a case is about them.

One recogniser and one artifact a grammar, made when the first case needs them: no tokenizer is read
where no case is about tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import EARLEY, WORD_DFA
from constrain.artifacts.errors import ConstrainError, visible
from constrain.artifacts.prefix import Boundary, boundaries
from constrain.artifacts.tokens import tokenset

from ..bpe.shared_tables import SharedTables
from ..explain.explainer import Explainer, explainer_of_artifact, explainer_of_grammar
from ..explain.report import Status, Verdict
from ..frontend import Automaton
from ..options import CompileOptions
from ..pipeline import build_artifact, build_engine
from .notation import NotationError, Token, listed, tokens_of

_T = TypeVar("_T")


class SubjectError(ConstrainError):
    """A case asks what its subject cannot say."""


@dataclass(frozen=True)
class Source:
    """Where a subject comes from.

    ``text``: of a grammar called ``name``, None of an ``artifact``; ``tokens``: how the tokenizer
    is read, where one is known; ``draw``: so many members, by a seed; ``note``: hears of masks that
    are weaker than is the default.
    """

    name: str
    options: CompileOptions | None = None
    text: str | None = None
    artifact: Artifact | None = None
    tokens: Callable[[], SharedTables] | None = None
    draw: Callable[[int, int], Sequence[bytes]] | None = None
    note: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a text. ``ids``: its tokens, where the case is written in them."""

    text: bytes
    verdict: Verdict
    subject: "Subject"
    ids: tuple[int, ...] | None = None


class Subject:
    """A grammar or an artifact under test."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name = source.name
        self._failed: ConstrainError | None = None

    @property
    def explainer(self) -> Explainer:
        """What reads texts. Raises ``GrammarError`` and ``LimitError``, at once where it did so
        before."""
        return self._made(lambda: self._explainer)

    def _made(self, make: Callable[[], _T]) -> _T:
        if self._failed is not None:
            raise self._failed
        try:
            return make()
        except ConstrainError as error:
            self._failed = error
            raise

    @cached_property
    def _explainer(self) -> Explainer:
        if self.source.artifact is not None:
            return explainer_of_artifact(self.source.artifact)
        assert self.source.text is not None
        assert self.source.options is not None
        return explainer_of_grammar(self.source.text, self.source.options, self.source.name)

    def verdict(self, text: bytes) -> Verdict:
        """The verdict on a text."""
        return self.explainer.verdict(text)

    def accepts(self, text: bytes) -> bool:
        """Whether a text is a member."""
        return self.verdict(text).status is Status.ACCEPTED

    def drawn(self, number: int, seed: int) -> Sequence[bytes]:
        """Members, by a seed."""
        if self.source.draw is None:
            raise SubjectError(f"{visible(self.name)}: no members are drawn of this")
        return self.source.draw(number, seed)

    # --- tokens

    @property
    def artifact(self) -> Artifact:
        """What gives masks: compiled here where a grammar is tested. Raises as ``explainer``."""
        return self._made(lambda: self._artifact)

    @cached_property
    def _artifact(self) -> Artifact:
        if self.source.artifact is not None:
            return self.source.artifact
        assert self.source.text is not None
        wanted = self.source.options
        assert wanted is not None
        recogniser = build_engine(self.source.text, wanted, name=self.source.name)
        if not isinstance(recogniser, Automaton) and recogniser.engine != EARLEY:
            # A few masks are wanted: there is no use in precomputing others.
            wanted = replace(wanted, prewarm=0)
        shared = self._shared
        built = build_artifact(recogniser, shared.tokenizer, wanted, shared=shared)
        if built.weakened and self.source.note is not None:
            self.source.note(f"{visible(self.name)}: {built.weakened}")
        return built.artifact

    @cached_property
    def _shared(self) -> SharedTables:
        if self.source.tokens is None:
            raise SubjectError(
                f"{visible(self.name)}: this case needs a tokenizer; say --tokenizer"
            )
        return self.source.tokens()

    def encoded(self, text: bytes) -> tuple[int, ...]:
        """The canonical tokens of a text."""
        if self.source.tokens is None and self.artifact.is_canonical:
            whole = [b.ids for b in boundaries(self.artifact, text) if b.length == len(text)]
            return whole[0] if whole else ()
        try:
            return tuple(self._shared.tokenizer.encode(text.decode("utf-8")))
        except UnicodeDecodeError as error:
            raise SubjectError(f"a text that is not UTF-8 has no tokens: {error}") from None

    def listed(self, ids: Sequence[int]) -> str:
        """Tokens as case files write them: by id where another has the same text."""
        vocabulary = self.artifact.vocabulary

        def named(i: int) -> bytes | None:
            octets = vocabulary.token(i)
            is_alone = self._ids.get(octets) == {i}
            return octets if octets and (is_alone or vocabulary.is_text(i)) else None

        return listed((i, named(i)) for i in ids)

    def ids_of(self, token: Token) -> set[int]:
        """The ids that a written token has."""
        if token.token_id is not None:
            return {token.token_id} if token.token_id < self.artifact.vocab_size else set()
        assert token.octets is not None
        return self._ids.get(token.octets, set())

    @cached_property
    def _ids(self) -> dict[bytes, set[int]]:
        vocabulary = self.artifact.vocabulary
        found = dict[bytes, set[int]]()
        for i in range(self.artifact.vocab_size):
            found.setdefault(vocabulary.token(i), set()).add(i)
        found.pop(b"", None)
        return found

    def taken(self, ids: Sequence[int]) -> int:
        """How many of these tokens the masks allow, one after the other."""
        return self.artifact.matcher().validate(ids)

    def mask(self, outcome: Outcome) -> set[int]:
        """The tokens that may follow a text, or complete the token that it ends in."""
        if outcome.ids is not None:
            matcher = self.artifact.matcher()
            is_read = matcher.accept(outcome.ids) == len(outcome.ids)
            return set(tokenset.to_ids(matcher.mask()).tolist()) if is_read else set()
        found = self._boundary(outcome.text)
        return set() if found is None else set(tokenset.to_ids(found.allowed).tolist())

    def forced(self, outcome: Outcome) -> bytes:
        """What a text must go on with."""
        matcher, pending = self.artifact.matcher(), b""
        ids = outcome.ids
        if ids is None:
            found = self._boundary(outcome.text)
            if found is None:
                return b""
            ids, pending = found.ids, found.pending
            if pending:
                allowed = tokenset.to_ids(found.allowed)
                return self.artifact.vocabulary.common_prefix(allowed)[len(pending) :]
        if matcher.accept(ids) < len(ids):
            return b""
        return matcher.forced_bytes()

    def _boundary(self, text: bytes) -> Boundary | None:
        """The last token boundary of a text, as ``constrain mask --prefix`` takes it."""
        if self.artifact.manifest.kind == WORD_DFA:
            raise SubjectError(
                f"{visible(self.name)}: after a text WordPiece's masks are of normalised words; "
                "write the case with ':tokens'"
            )
        return next(iter(boundaries(self.artifact, text)), None)

    # --- cases in tokens

    def ids(self, body: str) -> tuple[tuple[int, ...], bytes]:
        """The ids of a list of tokens, and the text that they spell. Raises ``NotationError``."""
        ids, text, vocabulary = list[int](), bytearray(), self.artifact.vocabulary
        for token in tokens_of(body):
            found = self.ids_of(token)
            if not found:
                raise NotationError(f"the tokenizer has no token {token.shown}", 0)
            ids.append(min(found))
            text += vocabulary.token(ids[-1]) if vocabulary.is_text(ids[-1]) else b""
        return tuple(ids), bytes(text)

    def verdict_on_ids(self, ids: Sequence[int]) -> Verdict:
        """The verdict on tokens; ``offset``, ``column`` count tokens, and ``tokens`` are some of
        those that could have come."""
        matcher = self.artifact.matcher()
        taken = matcher.accept(ids)
        may_end = matcher.is_accepting
        status = Status.REJECTED
        if taken == len(ids):
            status = Status.ACCEPTED if may_end else Status.INCOMPLETE
        allowed = [] if matcher.is_finished else tokenset.to_ids(matcher.mask()).tolist()
        shown = (self.listed([i]) for i in allowed[:_SHOWN] if i not in self.artifact.manifest.eos)
        more = ("…",) * (len(allowed) > _SHOWN)
        return Verdict(
            status=status,
            offset=taken,
            line=1,
            column=taken + 1,
            tokens=(*shown, *more),
            may_end=may_end,
        )


# Tokens that a verdict names.
_SHOWN = 12
