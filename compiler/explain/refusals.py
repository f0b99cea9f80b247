"""Why a token may not come next: by the grammar, by the tokenization, or as a dead end.

    date.ebnf after "2024-"
      "x"    grammar        no member goes on with x; expected [01]
      "-1"   grammar        it dies at its first byte
      "1"    dead-end       a month has one more digit, and the tokenizer makes one token of both

``DEAD_END``: in some text the tokenizer would write the token there, but in none of the grammar's
members. ``TOKENIZATION``: it would in no text at all. To distinguish them, the regex of all texts
is compiled for the same tokenizer: does its mask refuse the token, too? The mask itself is not made
here but by the artifact's machine (``artifacts/canonical_network/masks.py``).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, lru_cache
from itertools import pairwise

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.kinds.parser import named_in
from constrain.artifacts.prefix import Boundary
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.vocabulary import HOLE, SPECIAL

from ..automata.dump import ranges
from ..options import AnyTokenizer
from ..tokenizers.definition import AddedToken
from ..tokenizers.tokenizer import Tokenizer
from .machines import DfaMachine, TextMachine, machine_in
from .report import Verdict
from .spellings import Spellings

# A regular expression of all texts.
_ALL_TEXTS = r"[\s\S]*"


class Reason(Enum):
    """Why a token is refused, if it is."""

    ALLOWED = "allowed"
    PENDING = "pending"
    GRAMMAR = "grammar"
    TOKENIZATION = "tokenization"
    DEAD_END = "dead-end"
    NOT_AT_END = "not-at-end"
    ENDED = "ended"
    SPECIAL = "special"
    UNKNOWN = "unknown"
    NO_TEXT = "no-text"
    NO_TOKEN = "no-token"


class Step(Enum):
    """The step of a tokenizer that writes otherwise."""

    NORMALIZER = "normalizer"
    ADDED_TOKENS = "added-tokens"
    PRE_TOKENIZER = "pre-tokenizer"
    MERGES = "merges"
    LONGEST_MATCH = "longest-match"


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """What becomes of a token after others.

    ``text``: its bytes. ``reason``:

    - ``PENDING``: the prefix ends inside a token, and this one does not begin with what is pending.
    - ``GRAMMAR``: no member goes on with its text. ``byte``: the place in ``text`` of the first
      byte that none goes on with; ``expected``: the bytes that could stand there, as ranges;
      ``may_end``: the text could end there; ``rules`` and ``terminals``: as of a ``Verdict``.
    - ``TOKENIZATION``: its text may come, but the tokenizer writes it so in no text.
    - ``DEAD_END``: the tokenizer does, but in no member.
    - ``NOT_AT_END``: it ends the text, which is not complete; ``expected`` could come.
    - ``ENDED``: an end token came before.
    - ``SPECIAL``: it stands for no text, and the grammar does not name it there.
    - ``UNKNOWN``: it stands for what has no tokens, and members with that are left out.
    - ``NO_TEXT``: it has no bytes. ``NO_TOKEN``: no token has this id.

    ``instead``: of ``TOKENIZATION`` and ``DEAD_END`` the tokens that may replace this one and the
    last ``rewritten`` ones before it: those that the tokenizer writes of this text, if they are
    allowed; else the shortest allowed sequence that covers the text, which may be longer, and of
    several the one with the lowest ids; empty if none was found. ``place``: the first byte, from
    the beginning of the replaced tokens, where only one of the two sequences has a boundary.
    ``step``: the tokenizer's step that is the cause, where it is known.
    """

    token: int
    text: bytes
    reason: Reason
    byte: int | None = None
    expected: tuple[tuple[int, int], ...] = ()
    may_end: bool = False
    rules: tuple[str, ...] = ()
    terminals: tuple[str, ...] = ()
    instead: tuple[int, ...] = ()
    rewritten: int = 0
    place: int | None = None
    step: Step | None = None

    @property
    def is_allowed(self) -> bool:
        """Whether the mask has it."""
        return self.reason is Reason.ALLOWED


class Refusals:
    """Says of tokens why they are refused.

    ``tokenizer``: the artifact's; without it what the tokenizer writes in no text may be called a
    dead end, and its step is not known. ``explain``: the verdict on a text by the grammar, for
    rules and terminals.
    """

    def __init__(
        self,
        artifact: Artifact,
        tokenizer: AnyTokenizer | None = None,
        explain: Callable[[bytes], Verdict] | None = None,
    ) -> None:
        self._artifact, self._tokenizer = artifact, tokenizer
        self._spellings = Spellings(artifact)
        # What was found last, as many tokens are asked of at one place.
        self._states: tuple[tuple[int, ...], set[int]] | None = None
        self._behind = lru_cache(1)(self._written_behind)
        self._explain = None if explain is None else lru_cache(1)(explain)

    def why(self, ids: Sequence[int], token: int, cut: Boundary | None = None) -> TokenVerdict:
        """What becomes of ``token`` after ``ids``; ``cut``: where a prefix was cut after them, if
        bytes of it are left over, with which the token must begin.

        Raises ``TokenRefusedError`` if one of ``ids`` is not allowed.
        """
        matcher = self._artifact.matcher()
        for each in ids:
            matcher.advance(each)
        found = self.why_after(matcher, token)
        if cut is None:
            return found
        if found.is_allowed:
            fits = tokenset.contains(cut.allowed, token)
        else:
            is_text = found.text and self._artifact.vocabulary.is_text(token)
            written = self._spellings.spelled(token, bool(ids)) if is_text else cut.pending
            # A boundary of words shows no space before what is pending.
            written = written.removeprefix(b" ") if self._spellings.is_words else written
            fits = written.startswith(cut.pending)
        return found if fits else TokenVerdict(token, found.text, Reason.PENDING)

    def why_after(self, matcher: Matcher, token: int) -> TokenVerdict:
        """The same after what a matcher of the artifact has taken from the start of a text; it
        stays where it is."""
        vocabulary = self._artifact.vocabulary
        if not 0 <= token < vocabulary.size or vocabulary.kinds[token] == HOLE:
            return TokenVerdict(token, b"", Reason.NO_TOKEN)
        found = TokenVerdict(token, vocabulary.token(token), Reason.ALLOWED)
        if tokenset.contains(matcher.mask(), token):
            return found
        if matcher.is_finished:
            return replace(found, reason=Reason.ENDED)
        reason = None
        if token in self._artifact.manifest.eos:
            reason = Reason.NOT_AT_END
        elif token == self._unknown:
            reason = Reason.UNKNOWN
        elif vocabulary.kinds[token] == SPECIAL:
            reason = Reason.SPECIAL
        if reason is not None:
            return self._at(replace(found, reason=reason), matcher, b"")
        if not found.text:
            return replace(found, reason=Reason.NO_TEXT)
        spelled = self._spellings.spelled(token, bool(matcher.taken))
        count = self._readable(matcher.taken, spelled)
        if count == len(spelled):
            return self._by_tokenization(found, matcher)
        # What stands before the text of a token of words, or marks it, is not in the text.
        place = max(0, count - len(spelled) + len(found.text))
        return self._at(replace(found, reason=Reason.GRAMMAR, byte=place), matcher, spelled[:count])

    @cached_property
    def _unknown(self) -> int | None:
        return None if self._tokenizer is None else self._tokenizer.unk

    # By the grammar.

    @cached_property
    def _machine(self) -> TextMachine:
        """Of texts, or of the words that WordPiece sees, between single spaces."""
        if self._spellings.is_words:
            return DfaMachine(self._spellings.word_machine.words.dfa)
        return machine_in(self._artifact)

    @cached_property
    def _named(self) -> dict[int, list[int]]:
        """Of each token that the grammar names the numbers of its terminals."""
        found: dict[int, list[int]] = {}
        named = named_in(self._artifact.manifest, self._artifact.arrays)
        for number, ids in enumerate(named):
            for token in ids.tolist():
                found.setdefault(token, []).append(number)
        return found

    def _states_after(self, ids: tuple[int, ...]) -> set[int]:
        """The states of the grammar's machine that these tokens may lead to."""
        if self._states is not None and self._states[0] == ids:
            return self._states[1]
        machine, states, done = self._machine, {self._machine.start}, 0
        if self._states is not None and ids[: len(self._states[0])] == self._states[0]:
            done, states = len(self._states[0]), self._states[1]
        for place in range(done, len(ids)):
            token = ids[place]
            found = set[int]()
            if self._artifact.vocabulary.is_text(token):
                found = self._after(states, self._spellings.spelled(token, place > 0), place > 0)
            for number in self._named.get(token, ()):
                after = {machine.named(state, number) for state in states}
                found |= {state for state in after if state is not None}
            states = found
        self._states = ids, states
        return states

    def _after(self, states: set[int], text: bytes, begun: bool) -> set[int]:
        found = set()
        for state in states:
            for skipped in self._skipped(text, begun):
                count, reached = self._machine.follow(state, text[skipped:])
                if skipped + count == len(text):
                    found.add(reached)
        return found

    def _skipped(self, text: bytes, begun: bool) -> list[int]:
        """How much of a text may be what the tokenizer puts before it."""
        put = b"" if begun or self._spellings.is_words else self._artifact.text_prefix
        return [0, len(put)] if put and text.startswith(put) else [0]

    def _readable(self, ids: tuple[int, ...], text: bytes) -> int:
        """How many bytes of ``text`` some member goes on with."""
        return max(
            (
                skipped + self._machine.follow(state, text[skipped:])[0]
                for state in self._states_after(ids)
                for skipped in self._skipped(text, bool(ids))
            ),
            default=0,
        )

    def _at(self, found: TokenVerdict, matcher: Matcher, read: bytes) -> TokenVerdict:
        """With what was expected after the matcher's tokens and ``read``."""
        machine, taken = self._machine, matcher.taken
        states = self._after(self._states_after(taken), read, bool(taken))
        octets = {octet for state in states for octet in machine.next_bytes(state)}
        may_end = any(machine.may_end(state) for state in states)
        found = replace(found, expected=ranges(sorted(octets)), may_end=may_end)
        if self._explain is None or self._spellings.is_words or self._named:
            return found
        text = self._text_of(taken) + read
        for skipped in reversed(self._skipped(text, begun=False)):
            verdict = self._explain(text[skipped:])
            if verdict.offset == len(text) - skipped:
                rules = verdict.path or verdict.rules
                return replace(found, rules=rules, terminals=verdict.terminals)
        return found

    def _text_of(self, ids: Sequence[int]) -> bytes:
        vocabulary = self._artifact.vocabulary
        return b"".join(vocabulary.token(i) for i in ids if vocabulary.is_text(i))

    # By the tokenization.

    def _by_tokenization(self, found: TokenVerdict, matcher: Matcher) -> TokenVerdict:
        taken, is_canonical = matcher.taken, self._artifact.is_canonical
        is_other = is_canonical and not self._is_written(taken, found.token)
        found = replace(found, reason=Reason.TOKENIZATION if is_other else Reason.DEAD_END)
        rewritten, instead = self._own(taken, found.token) if is_canonical else (0, ())
        if not instead:
            rewritten, instead = self._spellings.instead(matcher, found.token)
        kept = taken[: len(taken) - rewritten]
        refused = [*taken[len(kept) :], found.token]
        ours = self._spellings.ends(refused, bool(kept))
        step = self._step((*kept, *(instead or refused)), kept, ours) if is_canonical else None
        if not instead:
            # All members with this text are rewritten, and none of them has an encoding.
            is_rewritten = step is Step.MERGES and "stable.start" in self._artifact.arrays
            return replace(found, step=Step.NORMALIZER if is_rewritten else step)
        theirs = self._spellings.ends(instead, bool(kept))
        if not kept and self._spellings.missing_before(self._text_of(refused)):
            theirs = [0, *theirs]
        place = min(set(ours) ^ set(theirs), default=None)
        return replace(found, instead=instead, rewritten=rewritten, place=place, step=step)

    def _own(self, ids: tuple[int, ...], token: int) -> tuple[int, tuple[int, ...]]:
        """How many of ``ids`` the tokenizer writes otherwise in their text and that of ``token``,
        and what in their place; nothing where that is not allowed, either."""
        if not all(map(self._artifact.vocabulary.is_text, (*ids, token))):
            return 0, ()
        kept, instead = self.written(ids, self._artifact.vocabulary.token(token))
        own = (*ids[:kept], *instead)
        is_allowed = self._artifact.matcher().accept(own) == len(own)
        return (len(ids) - kept, instead) if is_allowed else (0, ())

    def written(self, ids: Sequence[int], text: bytes) -> tuple[int, tuple[int, ...]]:
        """How many of ``ids`` the tokenizer writes if ``text`` follows them, and the tokens after
        these; none where that is not known, and for tokens of words."""
        own = list[int]()
        with suppress(UnicodeDecodeError):
            whole = (self._text_of(ids) + text).removeprefix(self._artifact.text_prefix).decode()
            own = self._tokenizer.encode(whole) if isinstance(self._tokenizer, Tokenizer) else []
        pairs = enumerate(zip(own, ids, strict=False))
        kept = next((place for place, (a, b) in pairs if a != b), min(len(own), len(ids)))
        return kept, tuple(own[kept:])

    def _is_written(self, ids: tuple[int, ...], token: int) -> bool:
        """Whether the tokenizer writes ``token`` after ``ids`` in some text."""
        matcher, text = self._behind(ids)
        if matcher is None:
            return self._may_follow(text, token)
        return bool(matcher.validate([token]))

    def _written_behind(self, ids: tuple[int, ...]) -> tuple[Matcher | None, Sequence[int]]:
        """Masks of all texts after ``ids``, and those of them that are in one text."""
        vocabulary = self._artifact.vocabulary
        apart = [place for place, each in enumerate(ids) if not vocabulary.is_text(each)]
        text = ids[apart[-1] + 1 :] if apart else ids
        if self._all_texts is None:
            return None, text
        matcher = self._all_texts.matcher()
        # A text begins after a token that was read as itself.
        while (count := matcher.accept(text)) < len(text):
            text = text[max(count, 1) :]
            matcher.reset()
        return matcher, text

    @cached_property
    def _all_texts(self) -> Artifact | None:
        """The masks of all texts."""
        if self._tokenizer is None:
            return None
        from ..compiler import Compiler

        manifest = self._artifact.manifest
        return Compiler(self._tokenizer).compile(
            _ALL_TEXTS,
            dialect="regex",
            tokenization="canonical",
            eos=[*manifest.eos],
            vocab_size=manifest.vocab_size,
        )

    def _may_follow(self, ids: Sequence[int], token: int) -> bool:
        """What the artifact itself says of that: by its merges alone."""
        if "pairs.index" not in self._artifact.arrays or not ids:
            return True
        pairs = ForbiddenPairs.from_arrays(self._artifact.arrays, "pairs.")
        return not pairs.forbids(ids[-1], token)

    def _step(self, ids: Sequence[int], kept: Sequence[int], ends: Sequence[int]) -> Step | None:
        """Which step is the cause that ``ids`` are written, and not tokens after ``kept`` that end
        at ``ends``."""
        if self._spellings.is_words:
            return Step.LONGEST_MATCH
        if not isinstance(self._tokenizer, Tokenizer):
            return None
        begin, whole = len(self._text_of(kept)), self._text_of(ids)
        put = self._artifact.text_prefix
        try:
            text = whole[: len(whole) - _unfinished(whole)].decode("utf-8")
        except UnicodeDecodeError:
            return Step.MERGES
        if put and whole.startswith(put):
            text = text[len(put.decode("utf-8")) :]
        boundaries, spelled, added = _boundaries(self._tokenizer, text)
        if added > begin:
            return Step.ADDED_TOKENS
        if not whole.startswith(spelled):
            return Step.NORMALIZER
        starts = [begin, *(begin + end for end in ends)]
        if any(a < place < b for a, b in pairwise(starts) for place in boundaries):
            return Step.PRE_TOKENIZER
        return Step.MERGES


def _boundaries(tokenizer: Tokenizer, text: str) -> tuple[list[int], bytes, int]:
    """The offsets at which pre-tokens begin, what all of them spell, and where the last added token
    ends, 0 if there is none."""
    found, spelled, added = list[int](), bytearray(), 0
    for part in tokenizer.encoder.parts(text):
        if isinstance(part, AddedToken):
            spelled += part.content.encode("utf-8")
            added = len(spelled)
            continue
        for piece in part:
            found.append(len(spelled))
            spelled += tokenizer.decode_bytes(tokenizer.encoder.ids_of(piece))
    return found, bytes(spelled), added


def _unfinished(text: bytes) -> int:
    """How many bytes at the end begin a character that is not complete."""
    for count in range(1, min(4, len(text)) + 1):
        octet = text[-count]
        if octet >= 0xC0:
            return count if count < 2 + (octet >= 0xE0) + (octet >= 0xF0) else 0
        if octet < 0x80:
            return 0
    return 0
