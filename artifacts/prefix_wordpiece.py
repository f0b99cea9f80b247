"""Masks for a prefix of canonical text: which token boundaries it may have.

As ``prefix``, for artifacts of WordPiece tokenizers: tokens that begin a word stand behind a
space there, those that continue one do not.
"""

from collections import defaultdict

import numpy as np

from .artifact import Artifact
from .prefix import Boundary, Path
from .tokens import tokenset
from .tokens.tokenset import Words
from .wordpiece.machine import WordMachine
from .wordpiece.trie import NONE

_SPACE = b" "


def word_boundaries(artifact: Artifact, prefix: bytes) -> list[Boundary]:
    """Every boundary that ``prefix`` may have, the longest first; empty if there is none.

    ``prefix``: normalised words between single spaces, in UTF-8; a space at its end says that
    the last word has ended. ``Boundary.length`` counts its bytes. The unknown token, where
    members have it, is allowed wherever a word that is begun may become unknown or not. Raises
    ``ValueError`` for an artifact of another tokenizer.
    """
    machine = artifact.word_machine
    if machine is None:
        raise ValueError("only artifacts of WordPiece tokenizers have canonical text")
    spelled = _spelled_within(machine, prefix)
    longest = max(map(len, spelled), default=0)
    paths: defaultdict[int, dict[int, Path]] = defaultdict(dict)
    paths[0][machine.start] = ()
    found: list[Boundary] = []
    for position in range(len(prefix) + 1):
        rest = prefix[position:]
        for state, ids in sorted(paths.pop(position, {}).items()):
            row = machine.row(state)
            steps = [
                (length, token_id)
                for length in range(1, min(longest, len(rest)) + 1)
                for token_id in spelled.get(rest[:length], ())
            ]
            if machine.unknown != NONE and bool(ids) == rest.startswith(_SPACE):
                steps += _unknown_word(machine, rest)
            for length, token_id in steps:
                if tokenset.contains(row, token_id):
                    target = machine.step(state, token_id)
                    paths[position + length].setdefault(target, (*ids, token_id))
            allowed = row if not rest else _beginning_with(machine, row, rest, bool(ids))
            if not rest or allowed.any():
                ended = rest in (b"", _SPACE)
                accepting = ended and machine.is_accepting(state)
                found.append(Boundary(position, ids, rest.lstrip(), allowed, accepting))
    return sorted(found, key=lambda b: (-b.length, len(b.ids), b.ids))


def _written(machine: WordMachine, token_id: int) -> bytes:
    """How a token stands in canonical text, the first one apart."""
    text = machine.text(token_id)
    return text if machine.is_suffix(token_id) else _SPACE + text


def _unknown_word(machine: WordMachine, rest: bytes) -> list[tuple[int, int]]:
    """The next word as the unknown token, if it has no tokens: its length with the space before
    it, and the id."""
    word = rest.removeprefix(_SPACE).split(_SPACE)[0]
    if not word or machine.trie.tokenize(word, machine.longest) is not None:
        return []
    return [(len(rest) - len(rest.removeprefix(_SPACE)) + len(word), machine.unknown)]


def _spelled_within(machine: WordMachine, prefix: bytes) -> dict[bytes, list[int]]:
    """The tokens that stand somewhere in the prefix, by how they are written there."""
    spelled: defaultdict[bytes, list[int]] = defaultdict(list)
    for token_id in np.flatnonzero(machine.nodes >= 0).tolist():
        text = _written(machine, token_id)
        if text in prefix:
            spelled[text].append(token_id)
        if text.startswith(_SPACE) and prefix.startswith(text[1:]):
            spelled[text[1:]].append(token_id)
    return dict(spelled)


def _beginning_with(machine: WordMachine, row: Words, rest: bytes, begun: bool) -> Words:
    """The tokens of ``row`` that begin with ``rest`` and go on, EOS where nothing is left."""
    kept = []
    for token_id in tokenset.to_ids(row).tolist():
        if machine.nodes[token_id] < 0:
            if rest == _SPACE:
                kept.append(token_id)
            continue
        text = _written(machine, token_id)
        text = text if begun else text.lstrip()
        if token_id == machine.unknown and begun == rest.startswith(_SPACE):
            kept += [token_id] * (_SPACE not in rest[1:])
        elif text.startswith(rest) and len(text) > len(rest):
            kept.append(token_id)
    return tokenset.from_ids(kept, machine.vocab_size)
