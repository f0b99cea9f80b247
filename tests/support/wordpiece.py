"""WordPiece tokenizers made for a test, and all token sequences that masks allow."""

import random
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler.pipeline import build_artifact
from constrain.compiler.wordpiece.load import load_wordpiece
from constrain.compiler.wordpiece.normalizer import BertNormalizer
from constrain.compiler.wordpiece.tokenizer import WordPieceTokenizer
from support.automata import build_automaton, words_of


def tokenizer_of(
    tokens: Iterable[str], *, max_chars: int = 100, mark: str = "##"
) -> WordPieceTokenizer:
    """A tokenizer with these tokens after ``[UNK]`` and ``[SEP]``."""
    ids = {token: i for i, token in enumerate(["[UNK]", "[SEP]", *tokens])}
    added = {0: "[UNK]", 1: "[SEP]"}
    return WordPieceTokenizer(
        name="test", sha256="", ids=ids, indicator=mark, unk=0, max_chars=max_chars,
        normalizer=BertNormalizer(), added=added, special=frozenset(added), eos=(1,),
        vocab_size=len(ids),
    )  # fmt: skip


@cache
def real(folder: Path) -> WordPieceTokenizer:
    """A tokenizer of the test data; each is loaded once, with what it makes of its vocabulary."""
    return load_wordpiece(folder)


def compiled(pattern: str, tokenizer: WordPieceTokenizer) -> Artifact:
    """The artifact of a regex."""
    return build_artifact(build_automaton(pattern, dialect="regex"), tokenizer).artifact


def tokenizations(
    pattern: str, tokenizer: WordPieceTokenizer, encode: Callable[[str], list[int]] | None = None
) -> set[tuple[int, ...]]:
    """What the tokenizer makes of each member of a finite language, unknown words apart."""
    dfa = build_automaton(pattern, dialect="regex").dfa
    members = (bytes(member).decode("utf-8") for member in words_of(dfa, 64))
    found = {tuple((encode or tokenizer.encode)(member)) for member in members}
    return {ids for ids in found if tokenizer.unk not in ids}


def accepted(artifact: Artifact) -> set[tuple[int, ...]]:
    """All sequences that the masks allow; a mask must never be empty before the end."""
    machine, end = artifact.machine(), set(artifact.manifest.eos)
    found = set()
    pending: list[tuple[int, tuple[int, ...]]] = [(machine.start, ())]
    while pending:
        state, ids = pending.pop()
        allowed = set(tokenset.to_ids(machine.row(state)).tolist())
        assert machine.is_accepting(state) == bool(allowed & end)
        assert allowed, ids
        if machine.is_accepting(state):
            found.add(ids)
        pending.extend((machine.step(state, i), (*ids, i)) for i in sorted(allowed - end))
    return found


def member(dfa: "object", draw: random.Random) -> str:
    """A random member, by a walk that ends at random."""
    from constrain.compiler.automata.dfa import Dfa

    assert isinstance(dfa, Dfa)
    out = bytearray()
    state = dfa.start
    while not (dfa.accepting[state] and draw.random() < 0.08):
        live = [b for b, c in enumerate(dfa.classes.tolist()) if dfa.table[state, c]]
        if not live:
            break
        out.append(draw.choice(live))
        state = int(dfa.table[state, dfa.classes[out[-1]]])
    return out.decode("utf-8")
