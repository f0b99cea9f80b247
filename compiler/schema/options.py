"""What the caller wants of a schema's grammar, in one frozen object."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..grammar.tree import MOST_PARTS

# Names of drafts, as ``--draft`` takes them, and the numbers that they are compared by.
OPENAPI = "openapi-3.0"
DRAFTS = {"4": 4, OPENAPI: 5, "6": 6, "7": 7, "2019-09": 2019, "2020-12": 2020}

FIXED, ANY_ORDER = "fixed", "any"
FLEXIBLE, COMPACT, PYTHON, ONE = "flexible", "compact", "python", "one"
PLAIN, DECIMAL = "plain", "decimal"
USUAL, ANY_ESCAPES, SHORTEST = "usual", "any", "shortest"
ASSERT, IGNORE, REFUSE_UNKNOWN = "assert", "ignore", "refuse-unknown"
REFUSE, HOLD = "refuse", "hold"

# What is said of options beside ``ascii`` and folders.
_WORDS = ("draft", "order", "whitespace", "integer", "formats", "unique", "escapes")
_NUMBERS = ("max-conj", "max-count", "any-limit")

# So many parts come in any order where each doubles the states and nothing else is asked for.
PERMUTED = 6

# Counts that are copies go so far, where nothing else is asked for.
COPIED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """How a JSON Schema becomes a grammar.

    - ``draft``: a name in ``DRAFTS``, of schemas that do not say theirs by ``$schema``; by default
      those may have the keywords of all drafts.
    - ``order``: of an object's named keys. ``fixed``: as the schema's text has them, additional
      ones after; ``any``: every order, of at most ``any_limit`` keys. By default 256 where sets
      are kept while decoding, as counts are, and 6 where each key doubles the states.
    - ``whitespace``: between the tokens of a text. ``flexible``: any number of spaces, tabs and
      line ends; ``compact``: none; ``python``: one space after each comma and colon; ``one``: at
      most one space; a number: at most so many characters; ``/x/``: what the whole of the pattern
      x matches, which must be white space; ``indent:2``: lines of members and items, each so many
      spaces further in than the brackets around, as ``json.dumps`` writes.
    - ``integer``: ``plain`` writes integers in digits alone, ``decimal`` also as 1.0.
    - ``formats``: ``assert`` holds texts to the formats that are known, ``refuse-unknown`` refuses
      the others besides, ``ignore`` takes all of them for annotations. So it is with the contents
      of texts that draft 7 names, and no other draft.
    - ``unique``: ``refuse`` a ``uniqueItems`` that no automaton decides, ``ignore`` it, or ``hold``
      it where items are compared while decoding.
    - ``marks_equal``: of ``hold``, whether texts are read with marks after equal items, which
      schemas have where some ``uniqueItems`` needs them.
    - ``ascii``: write what is not ASCII as escapes.
    - ``escapes``: which ones texts may have that the schema asks something of (constants, keys,
      patterns, formats) where JSON needs none. ``usual``: those of characters beyond ASCII, which
      many writers have, and of "/" where the schema does not say the text itself; ``any``: of all
      characters; ``shortest``: none. Texts of which nothing is asked, and those of a length, may
      always have any.
    - ``max_count``: the longest text or array that is counted; greater bounds are narrowed to it.
      By default any bound where counts are kept while decoding, and 2,000 where they are copies.
    - ``keeps_counts``: counts are kept while decoding, as networks do under any tokenization.
    - ``lazy_from``: so are the states of strings with an automaton and a length, from so many on;
      None where such products are built.
    - ``max_conj``: conjunctions of a normal form; what is beyond is left out, and noted.
    - ``schemas``: folders of schemas that may be referred to, as (base URI or "", folder).

    The constructor raises ``ValueError`` for a value that a field cannot have.
    """

    draft: str | None = None
    order: str = FIXED
    any_limit: int | None = None
    whitespace: str = FLEXIBLE
    integer: str = PLAIN
    formats: str = ASSERT
    unique: str = REFUSE
    ascii: bool = False
    escapes: str = USUAL
    max_count: int | None = None
    marks_equal: bool = False
    keeps_counts: bool = False
    lazy_from: int | None = None
    max_conj: int = 300
    schemas: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        choices = {
            "draft": (None, *DRAFTS),
            "order": (FIXED, ANY_ORDER),
            "integer": (PLAIN, DECIMAL),
            "formats": (ASSERT, IGNORE, REFUSE_UNKNOWN),
            "escapes": (USUAL, ANY_ESCAPES, SHORTEST),
            "unique": (REFUSE, IGNORE, HOLD),
        }
        for name, known in choices.items():
            given = getattr(self, name)
            if given not in known:
                listed = ", ".join(each for each in known if each)
                raise ValueError(f"{name} must be one of {listed}, not {given!r}")
        is_named = self.whitespace in (FLEXIBLE, COMPACT, PYTHON, ONE)
        if self.space_pattern is not None:
            from .patterns import white_space

            white_space(self.space_pattern)
        elif self.indent is not None:
            if self.order == ANY_ORDER:
                raise ValueError("lines are indented where keys have an order")
        elif not is_named and self.most_spaces is None:
            raise ValueError(
                f"whitespace must be flexible, compact, python, one, a number up to 1000, a "
                f"pattern between slashes or indent:N, not {self.whitespace!r}"
            )
        for name in ("any_limit", "max_count", "max_conj"):
            given = getattr(self, name)
            if given is not None and given < 1:
                raise ValueError(f"{name} must be at least 1, not {given}")

    @property
    def most_permuted(self) -> int:
        """How many keys may come in any order, and values of which no two are equal."""
        return self.any_limit or (MOST_PARTS if self.keeps_counts else PERMUTED)

    @property
    def longest(self) -> int | None:
        """The longest text or array where counts are repetitions; None where any is."""
        return self.max_count if self.max_count or self.keeps_counts else COPIED

    @property
    def longest_copied(self) -> int:
        """The same where counts become states of an automaton, beside something else."""
        return self.max_count or COPIED

    @property
    def said(self) -> dict[str, str]:
        """The options by name, as the command line has them, defaults included. Of folders there
        are the base URIs alone: where they lie says nothing on another machine."""
        given = {name: getattr(self, name.replace("-", "_")) for name in (*_WORDS, *_NUMBERS)}
        found = {name: str(value) for name, value in given.items() if value is not None}
        found["ascii"] = str(self.ascii).lower()
        if self.schemas:
            found["schemas"] = " ".join(uri for uri, _ in self.schemas)
        return found

    @classmethod
    def from_said(
        cls, said: Mapping[str, str], schemas: tuple[tuple[str, str], ...] = ()
    ) -> "SchemaOptions":
        """The options that are ``said`` so, with these folders of schemas. What is not said is the
        default. Raises ``ValueError`` for a value that an option cannot have."""
        found: dict[str, Any] = {name: said[name] for name in _WORDS if name in said}
        found |= {name.replace("-", "_"): int(said[name]) for name in _NUMBERS if name in said}
        return cls(ascii=said.get("ascii") == "true", schemas=schemas, **found)

    @property
    def space_pattern(self) -> str | None:
        """The pattern that ``whitespace`` is, None if it is none."""
        text = self.whitespace
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "/" else None

    @property
    def indent(self) -> int | None:
        """The spaces of ``indent:N``, 16 at most; None where ``whitespace`` is another."""
        found = re.fullmatch("indent:([0-9]|1[0-6])", self.whitespace)
        return int(found[1]) if found else None

    @property
    def most_spaces(self) -> int | None:
        """The number that ``whitespace`` is, None if it is a name."""
        digits = self.whitespace
        if not digits.isascii() or not digits.isdecimal() or len(digits) > 4:
            return None
        return int(digits) if int(digits) <= 1_000 else None
