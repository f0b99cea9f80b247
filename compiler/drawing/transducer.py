"""The picture of a WordPiece tokenizer: LinMaxMatch as a transducer over bytes.

An edge reads a byte and writes the tokens that are certain by then (δ′ and σ′ of Song et al.
2021, section 3.6); at the end of a word the tokens of the state's own text follow. Only the
tokens that the grammar's texts can hold are in it.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.kinds.wordpiece import WordPieceRuntime
from constrain.artifacts.wordpiece.dead_ends import SPACE
from constrain.artifacts.wordpiece.machine import WordMachine
from constrain.artifacts.wordpiece.trie import NONE, ROOT, SUFFIX_ROOT, Pops, WordTrie

from .dot import to_dot
from .drawing import Drawing, DrawingError
from .labels import TokenLabels, byte_label
from .layout import fitted
from .picture import (
    Edge,
    Label,
    Notation,
    Picture,
    View,
    colored_by_source,
    counted,
    left_out_sentence,
    nearest,
)

# Pairs of a place in the grammar's texts and a node that are looked at.
_MOST_PAIRS = 20_000

# The bytes read at each node.
Touched: TypeAlias = Mapping[int, Iterable[int]]


def draw_transducer(artifact: Artifact, view: View) -> Drawing:
    """Draw the states nearest to the start of a word, at most ``view.size.states``.

    Of ``view.prefix``, canonical text in UTF-8, those that its words pass through. Without it all
    of a small transducer, and of a larger one those that the grammar's texts pass through. Raises
    ``DrawingError`` for artifacts of other tokenizers.
    """
    size, prefix = view.size, view.prefix
    if not isinstance(artifact.runtime, WordPieceRuntime):
        raise DrawingError("only artifacts of WordPiece tokenizers have a transducer")
    machine = artifact.runtime.machine()
    # r♯ is passed, never stayed at: what leads there leads on by the byte that was read.
    total = len(machine.trie.octets) - 1
    touched, part = None, ""
    if prefix is not None:
        touched = touched_by_prefix(machine, prefix)
        part = f", as {prefix.decode('utf-8', 'backslashreplace')!r} uses it"
    elif total > size.states:
        touched, part = touched_by_members(machine), ", as the texts use it"
    total = total if touched is None else len(touched)
    steps_of = cache(partial(_steps, machine.trie, touched))
    labels = TokenLabels(artifact.vocabulary, np.flatnonzero(machine.nodes >= 0))
    near = nearest(ROOT, lambda node: sorted({t for t, _ in steps_of(node)}), size)

    def picture_of(count: int) -> Picture:
        visible = near[:count]
        # Where the word may end; the roots stand for no text.
        ending = {n for n in visible if n > SUFFIX_ROOT and machine.trie.flush(n) is not None}
        edges = _edges(steps_of, visible, labels)
        cramped = size.fits and count < len(near)
        picture = Picture(
            heading=f"Tokenizer of {view.title}: its words' transducer{part}",
            counts=f"{counted(total, 'state')}; here {counted(len(visible), 'state')} with "
            f"{counted(len(edges), 'edge')}",
            states=visible,
            start=ROOT,
            accepting=ending,
            edges=edges,
            left_out=left_out_sentence(total, len(visible), size, is_cramped=cramped),
            names=_names(machine.trie, machine.indicator, set(visible)),
            tooltips={node: _tooltip(artifact, machine.trie.flush(node)) for node in visible},
            accepts="a word may end here",
        )
        return colored_by_source(picture)

    return to_dot(fitted(picture_of, len(near), size))


# Bytes, ascending, by target and output.
_Steps: TypeAlias = dict[tuple[int, Pops], list[int]]


def _steps(trie: WordTrie, touched: Touched | None, node: int) -> _Steps:
    """What a node can read, of the bytes in ``touched``."""
    found: _Steps = {}
    octets = np.unique(trie.octets[SUFFIX_ROOT + 1 :]).tolist()
    if touched is not None:
        octets = sorted(touched.get(node, ()))
    for octet in octets:
        target, output = trie.step(node, octet)
        if target != NONE:
            found.setdefault((target, output), []).append(octet)
    return found


def _edges(
    steps_of: Callable[[int], _Steps], visible: Sequence[int], labels: TokenLabels
) -> list[Edge]:
    inside = set(visible)
    edges = []
    for source in visible:
        missing: list[int] = []
        for (target, output), octets in steps_of(source).items():
            if target not in inside:
                missing += octets
                continue
            read = byte_label([(o, o) for o in octets], narrow=target == source)
            written = [labels.label(np.array([token_id])) for token_id in output]
            text = read.text + (" / " + " ".join(w.text for w in written) if written else "")
            used = read.notations.union(*(w.notations for w in written))
            if written:
                used |= {Notation.OUTPUT}
            edges.append(Edge(source, target, Label(text, used)))
        if missing:
            edges.append(Edge(source, None, byte_label([(o, o) for o in missing])))
    return edges


def _names(trie: WordTrie, indicator: bytes, visible: set[int]) -> dict[int, Label]:
    """The text that each node stands for, after ♯ below the suffix root."""
    texts = {ROOT: b"", SUFFIX_ROOT: indicator}
    pending = [ROOT, SUFFIX_ROOT]
    for node in pending:
        for below in range(int(trie.first[node]), int(trie.first[node + 1])):
            texts[below] = texts[node] + trie.octets[below : below + 1].tobytes()
            pending.append(below)
    shown = {node: texts[node].decode("utf-8", "backslashreplace") for node in visible}
    return {node: Label(name or "r", frozenset()) for node, name in shown.items()}


def _tooltip(artifact: Artifact, flushed: Pops | None) -> str:
    if flushed is None:
        return "no word ends here"
    tokens = (artifact.vocabulary.token(i).decode("utf-8", "backslashreplace") for i in flushed)
    return "at the end of a word: " + (" ".join(tokens) or "nothing")


def touched_by_prefix(machine: WordMachine, prefix: bytes) -> Touched:
    """What the words of ``prefix`` touch: canonical text, in UTF-8. Each word as far as it can be
    read."""
    found: defaultdict[int, set[int]] = defaultdict(set, {ROOT: set()})
    for word in prefix.split():
        node = ROOT
        for octet in word:
            target, _ = machine.trie.step(node, octet)
            if target == NONE:
                break
            found[node].add(octet)
            node = target
        found.setdefault(node, set())
    return found


def touched_by_members(machine: WordMachine) -> Touched:
    """What the grammar's texts touch, the shortest ones first, up to a bound."""
    dfa = machine.words.dfa
    fewest = machine.words.fewest
    found: defaultdict[int, set[int]] = defaultdict(set, {ROOT: set()})
    pending = deque([(dfa.start, ROOT)])
    seen = set(pending)
    while pending and len(seen) < _MOST_PAIRS:
        place, node = pending.popleft()
        found.setdefault(node, set())
        row = dfa.table[place][dfa.classes].tolist()
        pairs = [(row[SPACE], ROOT)] if row[SPACE] and node != ROOT else []
        for octet, after in enumerate(row):
            if octet != SPACE and after and fewest[after] >= 0:
                target, _ = machine.trie.step(node, octet)
                if target != NONE:
                    found[node].add(octet)
                    pairs.append((after, target))
        for pair in pairs:
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return found
