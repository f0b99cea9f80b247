"""The kinds of hash-consed expressions; ``expressions`` numbers and simplifies them."""

from typing import NamedTuple, TypeAlias

Id: TypeAlias = int


class Symbols(NamedTuple):
    """One symbol of a set: bit s of ``mask`` is symbol s."""

    mask: int


class At(NamedTuple):
    """What the automaton with number ``dfa`` accepts from ``state`` on."""

    dfa: int
    state: int


class Seq(NamedTuple):
    """``head``, which is no sequence, then ``tail``."""

    head: Id
    tail: Id


class Rep(NamedTuple):
    """``low`` to ``high`` (None: any number) times ``body``."""

    body: Id
    low: int
    high: int | None


class Alt(NamedTuple):
    """One of ``options``, ascending; ∅ without any."""

    options: tuple[Id, ...]


class And(NamedTuple):
    """All of ``parts``, ascending; without any it stands for ε."""

    parts: tuple[Id, ...]


class Not(NamedTuple):
    """Any word that ``body`` does not match, UTF-8 or not."""

    body: Id


Key: TypeAlias = Symbols | At | Seq | Rep | Alt | And | Not
