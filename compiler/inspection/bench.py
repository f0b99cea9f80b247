"""Measures a compiled grammar along texts of its user, beside other engines.

bench_of(artifact, texts, tokenizer, ...) -> Bench

Each engine has a child process of its own, ours as the others, and reads the same tokens. Masks of
others are compared with ours of any token sequences, which is what they compute.
"""

import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import WORD_DFA
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import HOLE, SPECIAL

from ..compiler import Compiler
from ..diagnostics import WeakerMasksWarning
from ..explain.report import Verdict, without_line_break
from ..limits import Limits
from ..options import AnyTokenizer
from ..progress import Step
from .bench_child import CONSTRAIN, digest_of
from .bench_figures import EngineFigures, Member, figures_of
from .bench_grammar import Given, Peer
from .bench_run import ChildError, run_child
from .encoding import encoding_of
from .texts import Reader, Text, TextFacts, explain_of

# Runs if nothing is said.
RUNS = 5

# What takes longer is compiled once.
_ONCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Bench:
    """``name``: of the grammar's file. ``texts``: how each was read; those that are not accepted
    are not measured along. ``engines``: ours first. ``compared``: what the masks of others are
    compared with, or why they are not."""

    name: str
    kind: str
    tokenization: str
    tokenizer: str
    vocab_size: int
    artifact_bytes: int
    runs: int
    texts: tuple[TextFacts, ...]
    engines: tuple[EngineFigures, ...]
    compared: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-serialisable object with a field for each attribute, but for the series."""
        found = asdict(self)
        for engine in found["engines"]:
            del engine["series"]
        return found


def compiled(compiler: Compiler, text: str, name: str) -> tuple[Artifact, tuple[float, ...]]:
    """The artifact of a grammar, and the seconds that compiling it took; where these are few also
    those of doing it again. Raises as ``Compiler.compile`` does."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        # The artifact's notes say it, too.
        warnings.simplefilter("ignore", WeakerMasksWarning)
        artifact = compiler.compile(text, name=name)
        first = time.perf_counter() - begin
        if first > _ONCE_SECONDS:
            return artifact, (first,)
        begin = time.perf_counter()
        compiler.compile(text, name=name)
    return artifact, (first, time.perf_counter() - begin)


def bench_of(
    artifact: Artifact,
    texts: Sequence[Text],
    *,
    name: str,
    tokenizer: AnyTokenizer | None,
    tokenizer_name: str,
    say: Callable[[Verdict, Text], str],
    explain: Callable[[bytes], Verdict] | None = None,
    compile_seconds: Sequence[float] = (),
    peers: Sequence[Peer] = (),
    of_any: Callable[[], Artifact] | None = None,
    runs: int = RUNS,
    limits: Limits | None = None,
) -> Bench:
    """Measure ``artifact``, and ``peers``, along the members among ``texts``.

    ``tokenizer``: the artifact's, which encodes them. ``explain``: the verdict on a text, by
    default the artifact's; ``say``: that in words. ``compile_seconds``: what compiling took.
    ``of_any``: makes the artifact of the same grammar for any token sequences, with whose masks
    those of others are compared; None if there is none. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    reader = Reader(artifact, explain or explain_of(artifact), say, tokenizer, limits)
    facts = tuple(map(reader.facts, texts))
    accepted = [_octets(t, f) for t, f in zip(texts, facts, strict=True) if f.message is None]
    members = [_member(artifact, *each, tokenizer) for each in accepted]
    if artifact.manifest.kind == WORD_DFA:
        peers = [replace(peer, given="it has no tokenizers of words") for peer in peers]
    asked = [peer for peer in peers if isinstance(peer.given, Given)]
    compared, theirs = "", Compared(members)
    if asked:
        compared, theirs = _compared(artifact, accepted, tokenizer, of_any, limits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grammar.cst"
        artifact.save(path)
        size = path.stat().st_size
        request = _request(artifact, path, members, runs)
        share = 1 / (len(asked) + 2)
        own = _measured(CONSTRAIN, "", request, Compared(members), limits, share)
        own = replace(own, compile_seconds=tuple(compile_seconds))
        engines = [own]
        for peer in peers:
            if not isinstance(peer.given, Given):
                engines.append(EngineFigures(peer.name, error=peer.given))
                continue
            share = 1 / (1 + len(asked))
            asked = asked[1:]
            of_peer = {
                **request,
                "grammar": peer.given.text,
                "notation": peer.given.notation,
                "texts": [list(member.ids) for member in theirs.members],
            }
            found = _measured(peer.name, peer.given.how, of_peer, theirs, limits, share)
            engines.append(_beside(found, own))
    return Bench(
        name=name,
        kind=artifact.manifest.kind,
        tokenization=artifact.manifest.tokenization,
        tokenizer=tokenizer_name,
        vocab_size=artifact.vocab_size,
        artifact_bytes=size,
        runs=runs,
        texts=facts,
        engines=tuple(engines),
        compared=compared,
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """Texts that an engine reads; ``masks``: digest and tokens of each mask that it should have,
    None where that is not known."""

    members: Sequence[Member]
    masks: Sequence[Sequence[tuple[str, int]]] | None = None


def _octets(text: Text, fact: TextFacts) -> tuple[str, bytes]:
    """Name and bytes of a member."""
    return text.name, without_line_break(text.octets) if fact.without_line_break else text.octets


def _member(artifact: Artifact, name: str, octets: bytes, tokenizer: AnyTokenizer | None) -> Member:
    tokens = encoding_of(artifact, octets, tokenizer)
    # Reading it has found them.
    assert tokens is not None
    spelled = artifact.vocabulary.tokens(tokens.ids)
    shown = tuple(token.decode("utf-8", "backslashreplace") for token in spelled)
    return Member(name, tokens.ids, tokens.ends, shown)


@Step("compare masks")
def _compared(
    artifact: Artifact,
    texts: Sequence[tuple[str, bytes]],
    tokenizer: AnyTokenizer | None,
    of_any: Callable[[], Artifact] | None,
    limits: Limits,
) -> tuple[str, Compared]:
    """What masks of others are compared with, in words, and the masks."""
    plain, why = artifact, ""
    if artifact.is_canonical and of_any is not None:
        try:
            plain = of_any()
        except ConstrainError as error:
            why = f"not compared: under any tokenization {error}"
    members = [_member(plain, *text, tokenizer) for text in texts]
    if why or plain.is_canonical:
        return why, Compared(members)
    masks = [_masks(plain, member, limits) for member in members]
    return "masks of any token sequences that spell a member", Compared(members, masks)


def _masks(artifact: Artifact, member: Member, limits: Limits) -> list[tuple[str, int]]:
    """Digest and tokens of each mask along a text."""
    matcher = artifact.matcher()
    found = [_digest(matcher.mask(), artifact.vocab_size)]
    for token_id in member.ids:
        limits.check_resources("comparing masks")
        matcher.advance(token_id)
        found.append(_digest(matcher.mask(), artifact.vocab_size))
    return found


def _digest(mask: tokenset.Words, vocab_size: int) -> tuple[str, int]:
    return digest_of(np.ascontiguousarray(mask), vocab_size)


def _request(
    artifact: Artifact, path: Path, members: Sequence[Member], runs: int
) -> dict[str, Any]:
    vocabulary = artifact.vocabulary
    kinds, size = vocabulary.kinds, artifact.vocab_size
    tokens = vocabulary.tokens(np.arange(size))
    holes = set(np.flatnonzero(kinds == HOLE).tolist())
    return {
        "artifact": str(path),
        "tokens": ["" if i in holes else t.decode("latin-1") for i, t in enumerate(tokens)],
        "special": np.flatnonzero(kinds == SPECIAL).tolist(),
        "eos": list(artifact.manifest.eos),
        "vocab_size": size,
        "texts": [list(member.ids) for member in members],
        "runs": runs,
    }


def _measured(
    name: str, how: str, request: dict[str, Any], read: Compared, limits: Limits, share: float
) -> EngineFigures:
    try:
        with Step(f"measure {name}"):
            found = run_child({"engine": name, **request}, limits, share)
    except ChildError as error:
        return EngineFigures(name, given=how, error=str(error))
    return figures_of(name, how, found, read.members, read.masks)


def _beside(found: EngineFigures, own: EngineFigures) -> EngineFigures:
    """The same with the ratios to ours."""
    ours = own.scalars
    ratios = {n: v / ours[n] for n, v in found.scalars.items() if ours.get(n)}
    return replace(found, ratios=ratios)
