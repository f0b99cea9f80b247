"""What was measured of one engine: percentiles, the worst place, differing masks.

Times of masks and steps are microseconds, all others seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text. ``byte``: of the text, from 0. ``token``: the number of the token that the
    mask is before, from 0; ``shown``: its text, empty at the end."""

    file: str
    byte: int
    token: int
    shown: str


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds of ``count`` masks or steps, by nearest rank, and where the ``worst`` was."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    max: float
    worst: Place


@dataclass(frozen=True, slots=True)
class Differing:
    """How many of ``masks`` masks are not those of any token sequences that spell a member;
    ``first``: where, and how many tokens the engine's mask has there, and ours."""

    masks: int
    differing: int
    first: Place | None
    allowed: int
    ours: int


@dataclass(frozen=True, slots=True)
class EngineFigures:
    """``error``: why there are no figures, empty if there are. ``given``: how the engine was handed
    the grammar. ``unread``: masks that there was no time for.
    ``compile_seconds``, ``load_seconds``: the first time, and again in the same process; a file of
    ours is loaded, grammars of others are compiled. ``memory``: bytes that became resident from
    before the tokenizer until all texts were read, 0 where the system does not tell. ``refusals``:
    members that it refuses, and where. ``masks`` and ``steps``: the first time, by a new engine;
    ``…_again``: by one that has read the texts. ``ratios``: of these figures to ours, by name.
    ``series``: the microseconds of all masks, in order."""

    name: str
    version: str = ""
    given: str = ""
    error: str = ""
    unread: int = 0
    tokenizer_seconds: float | None = None
    compile_seconds: tuple[float, ...] = ()
    load_seconds: tuple[float, ...] = ()
    first_mask_seconds: float | None = None
    memory: int = 0
    masks: Latency | None = None
    masks_again: Latency | None = None
    steps: Latency | None = None
    steps_again: Latency | None = None
    differing: Differing | None = None
    refusals: tuple[Place, ...] = ()
    ratios: Mapping[str, float] = field(default_factory=dict)
    series: tuple[float, ...] = field(default=(), repr=False)

    @property
    def scalars(self) -> dict[str, float]:
        """All figures that ratios are of, by name."""
        first = {"tokenizer": self.tokenizer_seconds}
        for name, seconds in ("compile", self.compile_seconds), ("load", self.load_seconds):
            first |= dict(zip((name, f"{name}_again"), seconds, strict=False))
        first |= {"first_mask": self.first_mask_seconds, "memory": self.memory or None}
        found = {name: value for name, value in first.items() if value is not None}
        for kind in ("masks", "masks_again", "steps", "steps_again"):
            latency: Latency | None = getattr(self, kind)
            if latency is not None:
                for name in ("p50", "p90", "p99", "max"):
                    found[f"{kind}_{name}"] = getattr(latency, name)
        return found


@dataclass(frozen=True, slots=True)
class Member:
    """A text that is measured along. ``ends``: of the tokens, in bytes; ``shown``: their texts."""

    name: str
    ids: tuple[int, ...]
    ends: tuple[int, ...]
    shown: tuple[str, ...]

    def place(self, token: int) -> Place:
        """Where a token is, or the end of the text."""
        at_end = token >= len(self.ids)
        byte = self.ends[token - 1] if token else 0
        return Place(self.name, byte, token, "" if at_end else self.shown[token])


def figures_of(
    name: str,
    given: str,
    found: Mapping[str, Any],
    members: Sequence[Member],
    expected: Sequence[Sequence[tuple[str, int]]] | None,
) -> EngineFigures:
    """The figures of what a child found. ``expected``: digest and tokens of each mask of each text,
    None where there are none to compare with."""
    texts = found["texts"]
    return EngineFigures(
        name=name,
        version=found["version"],
        given=given,
        unread=sum(
            len(member.ids) + 1 - len(text["masks"])
            for member, text in zip(members, texts, strict=True)
            if text["refused"] is None
        ),
        tokenizer_seconds=found["tokenizer_seconds"],
        compile_seconds=tuple(found.get("compile_seconds", ())),
        load_seconds=tuple(found.get("load_seconds", ())),
        first_mask_seconds=found["first_mask_seconds"],
        memory=found["memory"],
        masks=_latency(members, [text["masks"] for text in texts]),
        masks_again=_latency(members, [text["masks_again"] for text in texts]),
        steps=_latency(members, [text["steps"] for text in texts]),
        steps_again=_latency(members, [text["steps_again"] for text in texts]),
        differing=None if expected is None else _differing(members, texts, expected),
        refusals=tuple(_refusals(members, texts)),
        series=tuple(time for text in texts for time in text["masks"]),
    )


def _latency(members: Sequence[Member], times: Sequence[Sequence[float]]) -> Latency | None:
    every = [
        (time, number, token)
        for number, of_text in enumerate(times)
        for token, time in enumerate(of_text)
    ]
    if not every:
        return None
    ordered = sorted(time for time, _, _ in every)
    worst, number, token = max(every, key=lambda each: each[0])
    return Latency(
        count=len(ordered),
        mean=sum(ordered) / len(ordered),
        p50=rank(ordered, 50),
        p90=rank(ordered, 90),
        p99=rank(ordered, 99),
        max=worst,
        worst=members[number].place(token),
    )


def rank(ordered: Sequence[float], percent: int) -> float:
    """The smallest of ascending figures that so many per cent are not above: nearest rank."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _differing(
    members: Sequence[Member],
    texts: Sequence[Mapping[str, Any]],
    expected: Sequence[Sequence[tuple[str, int]]],
) -> Differing:
    count, places = 0, list[tuple[Place, int, int]]()
    for member, text, ours in zip(members, texts, expected, strict=True):
        theirs = list(zip(text["digests"], text["counts"], strict=True))
        # After a refused token there are no masks.
        for token, (own, other) in enumerate(zip(ours, theirs, strict=False)):
            count += 1
            if own[0] != other[0]:
                places.append((member.place(token), other[1], own[1]))
    if not places:
        return Differing(count, 0, None, 0, 0)
    return Differing(count, len(places), *places[0])


def _refusals(members: Sequence[Member], texts: Sequence[Mapping[str, Any]]) -> Sequence[Place]:
    """Where members are refused: at a token, or at their ends."""
    found = []
    for member, text in zip(members, texts, strict=True):
        if text["refused"] is not None:
            found.append(member.place(text["refused"]))
        elif text["accepts"] is False:
            found.append(member.place(len(member.ids)))
    return found
