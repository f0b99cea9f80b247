"""Texts with tokens that a grammar names: a byte that no text has stands for each token.

    start: <think> " ok"     ->   start: "\\xF5" " ok"       explained by whatever reads bytes
    <think> no               ->   F5 " no"                   places are those at the left

Tokens that the same terminals name have one byte. A token that is a text and is named, too, is read
either way, whichever is read further.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.token_terminals.sentinels import SENTINELS
from constrain.artifacts.tokens.vocabulary import SPECIAL

from ..automata import regex_ir as regex
from ..automata.dump import ranges
from ..automata.folding import fold
from ..diagnostics import Span
from ..grammar import tree
from ..options import AnyTokenizer, eos_ids
from ..token_ids import token_ids
from ..tokenizers import Tokenizer
from ..tokenizers.definition import AddedToken
from ..tokenizers.encoding.added_tokens import AddedTokens
from .machines import TextMachine
from .repairs import Repair
from .report import Verdict, position

# Of a token that is no text and that no terminal names; the others are of those that some name.
_UNNAMED = SENTINELS[-1]
_NAMED = SENTINELS[:-1]


class TokenMarksError(ConstrainError):
    """Tokens that cannot be distinguished in a text."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text: ``text`` as it is written, and as it is read: by its bytes, by the mark of
    a token, or by either."""

    text: bytes
    readings: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with marks. ``pieces``: (text as it is written, as it is read), in order."""

    pieces: tuple[tuple[bytes, bytes], ...]

    @property
    def text(self) -> bytes:
        """As it is written."""
        return b"".join(written for written, _ in self.pieces)

    @property
    def marked(self) -> bytes:
        """As it is read."""
        return b"".join(read for _, read in self.pieces)

    def at(self, offset: int) -> int:
        """The place in the text of one in what is read."""
        done = 0
        for written, read in self.pieces:
            if offset < len(read):
                return done + (offset if written == read else 0)
            done, offset = done + len(written), offset - len(read)
        return done

    def token_at(self, offset: int) -> str:
        """The token whose mark is there; empty for none."""
        for written, read in self.pieces:
            if 0 <= offset < len(read):
                return "" if written == read else written.decode("utf-8", "replace")
            offset -= len(read)
        return ""


def stored_tokenizer(artifact: Artifact, grammar: tree.Grammar) -> Tokenizer:
    """What an artifact keeps of its tokenizer: the bytes of each token, and the names of special
    ones and of those that the grammar names. It encodes no text."""
    vocabulary, manifest = artifact.vocabulary, artifact.manifest
    special = {
        int(i): vocabulary.token(int(i)) for i in np.flatnonzero(vocabulary.kinds == SPECIAL)
    }
    named = {name for token in grammar.tokens for name in (token.name, *token.also)}
    found = {vocabulary.find(name) for name in named if isinstance(name, str)} - {None, *special}
    texts = [*filter(None, found)]
    added = tuple(
        AddedToken(i, octets.decode("utf-8", "replace"), special=i in special)
        for i, octets in (special | dict(zip(texts, vocabulary.tokens(texts), strict=True))).items()
    )
    ids = vocabulary.text_ids().tolist()
    tokens = dict(zip(ids, vocabulary.tokens(ids), strict=True))
    merges = np.zeros((0, 3), dtype=np.int32)
    eos, size = manifest.eos, artifact.vocab_size
    sha256 = manifest.tokenizer_sha256
    return Tokenizer("the artifact", sha256, tokens, added, merges, [-1] * 256, eos, size)


class TokenMarks:
    """The marks of the tokens that a grammar names, for a tokenizer.

    Raises ``CheckError`` for names that the tokenizer has not, ``TokenMarksError`` where terminals
    share tokens in too many ways. ``names_texts``: some terminal stands for tokens that are texts,
    so that texts are encoded to be read.
    """

    def __init__(self, grammar: tree.Grammar, tokenizer: AnyTokenizer) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TokenMarksError("token terminals need a tokenizer of byte pairs, not of words")
        self._tokenizer = tokenizer
        self._eos = eos_ids(tokenizer, ()) if tokenizer.eos else ()
        named = token_ids(grammar, tokenizer, self._eos)
        members = np.zeros((tokenizer.vocab_size, len(named)), dtype=np.bool_)
        for number, ids in enumerate(named):
            members[ids, number] = True
        kinds, kind_of = np.unique(members, axis=0, return_inverse=True)
        marks = iter(_NAMED)
        if sum(map(any, kinds.tolist())) > len(_NAMED):
            raise TokenMarksError(
                f"the tokens that this grammar names are of more than {len(_NAMED)} kinds, by the "
                f"terminals that name them: texts with so many are not explained"
            )
        self._mark = [next(marks) if any(kind) else _UNNAMED for kind in kinds.tolist()]
        self._kind_of: NDArray[np.intp] = kind_of.reshape(-1)
        self._of_terminal: Mapping[object, bytes] = {
            token.meaning: bytes(self._mark[kind] for kind in np.flatnonzero(kinds[:, number]))
            for number, token in enumerate(grammar.tokens)
        }
        self._names = {token.meaning: token.text for token in grammar.tokens}
        plain = [i for i in tokenizer.tokens if i not in tokenizer.added]
        self.names_texts = bool(members[plain].any())

    def over(self, grammar: tree.Grammar) -> tree.Grammar:
        """The grammar with marks in the place of its tokens."""

        def marked(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
            if not isinstance(expr, tree.Token):
                return tree.with_children(expr, tuple(parts))
            marks = self._of_terminal[expr.meaning]
            # A pattern is a terminal by itself; of this one messages have the token's name alone.
            node = regex.alt(*(regex.lit(bytes([mark])) for mark in marks))
            return tree.Pattern(node, "", Span(expr.span.start, expr.span.start))

        rules = (replace(r, body=fold(r.body, tree.children, marked)) for r in grammar.rules)
        ignored = tuple(fold(each, tree.children, marked) for each in grammar.ignored)
        return replace(grammar, rules=tuple(rules), ignored=ignored, tokens=())

    def of_text(self, text: bytes, machine: TextMachine) -> Marked:
        """A text in which the names of added tokens are the tokens, as a tokenizer reads it.
        ``machine``: of the grammar with marks."""
        return self._read([*self._in_text(text)], machine)

    def of_ids(self, ids: Sequence[int], machine: TextMachine) -> Marked:
        """The text of tokens. Raises ``TokenMarksError`` for an id without a token."""
        for each in ids:
            if not 0 <= each < self._tokenizer.vocab_size or not self._tokenizer.known[each]:
                raise TokenMarksError(f"{self._tokenizer.name} has no token {each}")
        return self._read([self._piece(each) for each in ids], machine)

    def _in_text(self, text: bytes) -> Iterator[_Piece]:
        added = {name: i for i, name in self._tokenizer.added.items()}
        searched = {token.content: token for token in self._tokenizer.added_tokens}
        tokens = AddedTokens((name, searched[name]) for name in added if name in searched)
        decoded = text.decode("utf-8", "surrogateescape")
        for start, end, token in tokens.parts(decoded):
            part = decoded[start:end].encode("utf-8", "surrogateescape")
            if token is not None:
                yield replace(self._piece(token.id), text=part)
                continue
            ids = self._tokenizer.encode(decoded[start:end]) if self.names_texts else []
            # What a tokenizer writes otherwise is no row of tokens to the text.
            if ids and self._tokenizer.decode_bytes(ids) == part:
                yield from map(self._piece, ids)
            else:
                yield _Piece(part, (part,))

    def _piece(self, token: int) -> _Piece:
        name = self._tokenizer.added.get(token)
        text = self._tokenizer.tokens[token] if name is None else name.encode("utf-8")
        mark, is_special = self._mark[self._kind_of[token]], token in self._tokenizer.special
        if token in self._eos and mark == _UNNAMED:
            return _Piece(text, ())
        if is_special or mark == _UNNAMED:
            return _Piece(text, (bytes([mark]) if is_special else text,))
        return _Piece(text, (bytes([mark]), text))

    def _read(self, pieces: Sequence[_Piece], machine: TextMachine) -> Marked:
        """The readings of pieces that are read furthest, the first where there are several."""
        if pieces and not pieces[-1].readings:
            pieces = pieces[:-1]  # A token that ends the text.
        unnamed = bytes([_UNNAMED])
        found = [piece.readings or (unnamed,) for piece in pieces]
        choices: dict[int, tuple[bytes, ...]] = {machine.start: ()}
        for readings in found if any(len(each) > 1 for each in found) else ():
            further: dict[int, tuple[bytes, ...]] = {}
            for state, before in choices.items():
                for reading in readings:
                    count, reached = machine.follow(state, reading)
                    if count == len(reading):
                        further.setdefault(reached, (*before, reading))
            if not further:
                break
            choices = further
        best = next(iter(choices.values()))
        chosen = [*best, *(readings[0] for readings in found[len(best) :])]
        return Marked(tuple((p.text, read) for p, read in zip(pieces, chosen, strict=True)))

    def verdict(self, found: Verdict, given: Marked) -> Verdict:
        """A verdict on what is read as one on the text as it is written."""
        offset = given.at(found.offset)
        line, column = position(given.text, offset)
        marks = {octet for first, last in found.following for octet in range(first, last + 1)}
        tokens = tuple(
            self._names[meaning]
            for meaning, of_terminal in self._of_terminal.items()
            if not marks.isdisjoint(of_terminal)
        )
        return replace(
            found,
            offset=offset,
            line=line,
            column=column,
            expected=_without_marks(found.expected),
            following=_without_marks(found.following),
            tokens=tokens,
            stands=given.token_at(found.offset),
        )

    def repair(self, found: Repair, given: Marked) -> Repair:
        """A repair of what is read as one of the text as it is written."""
        written = self._written
        edits = tuple(
            replace(e, start=given.at(e.start), end=given.at(e.end), text=written(e.text))
            for e in found.edits
        )
        before, inside = written(found.before), written(found.fragment)
        behind, read = written(found.behind), found.applied(given.marked)[: found.read]
        result = replace(found, edits=edits, before=before, fragment=inside)
        return replace(result, behind=behind, read=len(written(read)))

    def _written(self, text: bytes) -> bytes:
        """A text with names in the place of marks."""
        if not set(text) & {*SENTINELS}:
            return text
        names = {
            mark: self._names[meaning]
            for meaning, marks in reversed([*self._of_terminal.items()])
            for mark in marks
        }
        parts = (names[o].encode("utf-8") if o in names else bytes([o]) for o in text)
        return b"".join(parts)


def _without_marks(octets: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return ranges(o for first, last in octets for o in range(first, last + 1) if o not in SENTINELS)
