"""Masks for a prefix given as text: which token boundaries it may have, and what may follow.

No tokenizer is needed: the artifact's own allowed tokens are walked through the prefix. With the
tokens ``ab``, ``a``, ``b`` and ``bc`` the prefix ``ab`` may end after the token ``ab``; after
``a`` ``b``; or inside a token, after ``a`` with ``b`` pending, where ``bc`` may follow.

How tokens are written in a text depends on the tokenizer. Most spell their own bytes. Those of
WordPiece stand in *canonical text*, normalised words between single spaces: a token that begins
a word stands after a space there, one that continues it does not.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .artifact import Artifact
from .container.manifest import WORD_DFA
from .tokens import tokenset
from .tokens.tokenset import Words
from .tokens.vocabulary import TEXT

if TYPE_CHECKING:
    from .wordpiece.machine import WordMachine

Path = tuple[int, ...]

_SPACE = b" "


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """One allowed token path that spells the first ``length`` bytes of the prefix.

    ``ids`` are its tokens, ``pending`` the rest of the prefix, ``allowed`` the tokens that
    may come next: all of the mask where nothing is pending, else those that begin with
    ``pending`` and are longer. ``accepting``: the match may end here.
    """

    length: int
    ids: Path
    pending: bytes
    allowed: Words
    accepting: bool


def boundaries(artifact: Artifact, prefix: bytes) -> list[Boundary]:
    """Every boundary that ``prefix`` may have, the longest first; empty if there is none.

    Where several token paths lead to the same state the one with the fewest tokens stands
    for them (ties: the smaller ids). A path may use any token of text that the mask allows,
    also one that the grammar names as a token; special tokens spell nothing.

    For an artifact of a WordPiece tokenizer ``prefix`` is canonical text in UTF-8; a space at its
    end says that the last word has ended. The unknown token, where members have it, is allowed
    wherever a word that is begun may become unknown or not.
    """
    machine, spelling = artifact.machine(), _spelling_of(artifact)
    put = spelling.put_before(prefix)
    prefix = put + prefix
    spelled = spelling.tokens_within(prefix)
    longest = max(map(len, spelled), default=0)
    paths: defaultdict[int, dict[int, Path]] = defaultdict(dict)
    paths[0][machine.start] = ()
    found: list[Boundary] = []
    for position in range(len(prefix) + 1):
        rest = prefix[position:]
        for state, ids in sorted(paths.pop(position, {}).items()):
            row, accepting = machine.row(state), machine.is_accepting(state)
            steps = [
                (length, token_id)
                for length in range(1, min(longest, len(rest)) + 1)
                for token_id in spelled.get(rest[:length], ())
            ]
            steps += spelling.unknown_words(rest, bool(ids))
            for length, token_id in steps:
                # Where the text may end, a token of EOS ends it, whatever its bytes are.
                ends = accepting and token_id in artifact.manifest.eos
                target = None if ends else machine.take(state, token_id)
                if target is not None:
                    _keep_better(paths[position + length], target, (*ids, token_id))
            allowed = row if not rest else spelling.longer_than(row, rest, bool(ids))
            if not rest or allowed.any():
                length, pending = max(0, position - len(put)), spelling.pending(rest)
                may_end = accepting and spelling.is_end(rest)
                found.append(Boundary(length, ids, pending, allowed, may_end))
    return sorted(found, key=lambda b: (-b.length, len(b.ids), b.ids))


def _keep_better(at: dict[int, Path], state: int, ids: Path) -> None:
    best = at.get(state)
    if best is None or (len(ids), ids) < (len(best), best):
        at[state] = ids


def _spelling_of(artifact: Artifact) -> "_OwnBytes | _CanonicalText":
    """How the tokens of an artifact are written in a text."""
    if artifact.manifest.kind != WORD_DFA:
        return _OwnBytes(artifact)
    from .kinds.wordpiece import WordPieceRuntime

    assert isinstance(artifact.runtime, WordPieceRuntime)
    return _CanonicalText(artifact.runtime.machine())


class _OwnBytes:
    """A token is written as its bytes. ``rest``: of the prefix, from a boundary on; ``begun``:
    whether a token stands before it."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact, self._vocabulary = artifact, artifact.vocabulary

    def put_before(self, prefix: bytes) -> bytes:
        """What the tokenizer puts before a text."""
        return self._artifact.put_before(prefix)

    def tokens_within(self, prefix: bytes) -> dict[bytes, list[int]]:
        """Tokens that may stand somewhere in the prefix, by how they are written there: those whose
        length and first two bytes let them lie inside it."""
        vocabulary = self._vocabulary
        lengths = vocabulary.lengths
        fits = (vocabulary.kinds == TEXT) & (lengths > 0) & (lengths <= len(prefix))
        candidates = np.flatnonzero(fits)
        seen = np.zeros(256, dtype=np.bool_)
        seen[list(prefix)] = True
        starts = vocabulary.offsets[candidates]
        candidates = candidates[seen[vocabulary.data[starts]]]
        followed = np.zeros((256, 256), dtype=np.bool_)
        followed[list(prefix[:-1]), list(prefix[1:])] = True
        starts = vocabulary.offsets[candidates]
        # A token of one byte has no second one; the clipped index then reads any byte.
        seconds = np.minimum(starts + 1, len(vocabulary.data) - 1)
        paired = followed[vocabulary.data[starts], vocabulary.data[seconds]]
        candidates = candidates[paired | (lengths[candidates] == 1)]
        spelled: defaultdict[bytes, list[int]] = defaultdict(list)
        for token_id in candidates.tolist():
            spelled[vocabulary.token(token_id)].append(token_id)
        return dict(spelled)

    def unknown_words(self, rest: bytes, begun: bool) -> list[tuple[int, int]]:
        """Tokens that stand for more than one text: (length, id) of those that ``rest`` begins
        with."""
        return []

    def longer_than(self, row: Words, rest: bytes, begun: bool) -> Words:
        """The tokens of ``row`` that begin with ``rest`` and are longer."""
        vocabulary = self._vocabulary
        ids = tokenset.to_ids(row)
        long_enough = (vocabulary.kinds[ids] == TEXT) & (vocabulary.lengths[ids] > len(rest))
        ids = ids[long_enough]
        ids = ids[vocabulary.data[vocabulary.offsets[ids]] == rest[0]]
        longer = [i for i in ids.tolist() if vocabulary.token(i).startswith(rest)]
        return tokenset.from_ids(longer, vocabulary.size)

    def is_end(self, rest: bytes) -> bool:
        """Whether the text may end before ``rest``."""
        return not rest

    def pending(self, rest: bytes) -> bytes:
        """``rest`` as a boundary shows it."""
        return rest


class _CanonicalText:
    """The same where a token of WordPiece is written after a space if it begins a word, but for
    the first."""

    def __init__(self, machine: "WordMachine") -> None:
        self._machine = machine

    def put_before(self, prefix: bytes) -> bytes:
        return b""

    def tokens_within(self, prefix: bytes) -> dict[bytes, list[int]]:
        spelled: defaultdict[bytes, list[int]] = defaultdict(list)
        for token_id in np.flatnonzero(self._machine.nodes >= 0).tolist():
            text = self._written(token_id)
            if text in prefix:
                spelled[text].append(token_id)
            if text.startswith(_SPACE) and prefix.startswith(text[1:]):
                spelled[text[1:]].append(token_id)
        return dict(spelled)

    def unknown_words(self, rest: bytes, begun: bool) -> list[tuple[int, int]]:
        """The next word as the unknown token, if members have it and the word has no tokens: its
        length with the space before it, and the id."""
        machine = self._machine
        if machine.unknown < 0 or begun != rest.startswith(_SPACE):
            return []
        word = rest.removeprefix(_SPACE).split(_SPACE)[0]
        if not word or machine.trie.tokenize(word, machine.longest) is not None:
            return []
        return [(len(rest) - len(rest.removeprefix(_SPACE)) + len(word), machine.unknown)]

    def longer_than(self, row: Words, rest: bytes, begun: bool) -> Words:
        """Also EOS, where a space alone is left: the last word has ended."""
        machine, found = self._machine, []
        for token_id in tokenset.to_ids(row).tolist():
            if machine.nodes[token_id] < 0:
                if rest == _SPACE:
                    found.append(token_id)
                continue
            text = self._written(token_id)
            text = text if begun else text.lstrip()
            if token_id == machine.unknown and begun == rest.startswith(_SPACE):
                found += [token_id] * (_SPACE not in rest[1:])
            elif text.startswith(rest) and len(text) > len(rest):
                found.append(token_id)
        return tokenset.from_ids(found, machine.vocab_size)

    def is_end(self, rest: bytes) -> bool:
        return rest in (b"", _SPACE)

    def pending(self, rest: bytes) -> bytes:
        return rest.lstrip()

    def _written(self, token_id: int) -> bytes:
        text = self._machine.text(token_id)
        return text if self._machine.is_suffix(token_id) else _SPACE + text
