"""Schemas that surely have a grammar, so that its rules may be written when they are needed.

    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}     plain
    {"type": "integer", "minimum": 2, "maximum": 1}                                not: no value
    {"type": "string", "pattern": "^a", "maxLength": 9}                            not: no telling

Of a plain schema it is proved, by one pass over its text, that all of its keywords have values that
are theirs, that each schema in it has a value, that nothing refers to itself for one and the same
value, and that no automaton of it reaches a limit. What this says nothing of is no plain one,
though it may have a grammar; so it is for the caller to write all rules of what is not plain.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor

from ...automata.graphs import reached
from ...diagnostics import LimitError
from ...limits import Limits
from ..alike import PLACED
from ..drafts import METASCHEMAS
from ..formats import NARROWED, language
from ..options import DRAFTS, FIXED, IGNORE, OPENAPI, REFUSE_UNKNOWN, SchemaOptions
from ..patterns import PatternError, search
from ..read import Json
from .known import DESCRIBE, KEYWORDS, inside_of
from .openapi import add_null
from .said_values import (
    NotPlainError,
    is_number,
    is_text,
    mapping_of,
    require,
    scalar_type,
    texts_of,
    values_of,
)
from .shapes import CHECKED, TYPES

_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_OF_TEXTS = ("format", "maxLength", "minLength", "pattern")
_OF_ITEMS = ("items", "maxItems", "minItems", "prefixItems", "uniqueItems")
_OF_MEMBERS = ("additionalProperties", "minProperties", "properties", "required")
_VALUES = ("enum", "const")
_DEFINITIONS = ("$defs", "definitions")

# Keywords that nothing else may stand beside but what describes.
_ALONE = ("$ref", "allOf", "anyOf", "oneOf")

_ASKING = frozenset(["type", *_ALONE, *_VALUES, *_BOUNDS, *_OF_TEXTS, *_OF_ITEMS, *_OF_MEMBERS])

# Keywords that ask something else, or that give names; any others ask nothing.
_NOT_READ = CHECKED.union(KEYWORDS) - _ASKING - DESCRIBE
_NOT_READ -= {"$schema", "discriminator", "nullable", *_DEFINITIONS}

# Names of a whole schema, of which references inside it take no notice, and of drafts that are not
# known, as of those that draft 4 has not or has otherwise.
_NAMES = frozenset({"$id", "id"})
_NAME = re.compile(r"(https?://)?[A-Za-z0-9_./-]+#?")
_OTHERWISE_IN_4 = ("const", "exclusiveMinimum", "exclusiveMaximum")

# Schemas for one and the same value inside each other, and passes over those that wait for others.
_MOST_LEVELS, _MOST_PASSES = 6, 20

# Keys of an object whose members are counted.
_MOST_COUNTED = 2_000

# Bytes of texts that one automaton is made of, with up to six states for each, those of escapes
# among them; and states of a pattern.
_MOST_BYTES, _STATES_OF_PATTERN = 25_000, 4_000


def are_plain(
    roots: Sequence[Json], options: SchemaOptions, limits: Limits, *, of_objects: bool = False
) -> bool:
    """Whether schemas are plain, each a document of its own; ``of_objects``: and ask for objects,
    and have no names.

    Then making their rules raises nothing but ``LimitError`` for time and memory, and all rules
    have a text.
    """
    return _is_usual(options, limits) and all(
        _Scan(root, options, limits).is_plain()
        and not (of_objects and ("$ref" in root or root.get("type") != "object"))
        and not (of_objects and _NAMES & root.keys())
        for root in roots
    )


def plain_parts(root: Json, options: SchemaOptions, limits: Limits) -> frozenset[int]:
    """The schemas in a document that is not plain that are so with all that they lead to, by their
    ``id``."""
    is_usual = _is_usual(options, limits)
    return _Scan(root, options, limits).plain_parts() if is_usual else frozenset()


def _is_usual(options: SchemaOptions, limits: Limits) -> bool:
    """Whether all that is proved here holds with these options and limits."""
    default = Limits()
    has_room = limits.states >= default.states and limits.memory >= default.memory
    return options.indent is None and not options.schemas and has_room


class _Scan:
    """One document. Schemas in it are numbered as they are met."""

    def __init__(self, root: Json, options: SchemaOptions, limits: Limits) -> None:
        if options.draft == OPENAPI:
            add_null(root)
        self.root, self.options, self.limits = root, options, limits
        self._numbers: dict[int, int] = {}
        self._pending: list[Mapping[str, Json]] = []
        # Of each schema others for the same value, one of which is enough or not, and those of
        # members and items that must be there.
        self._same: list[tuple[int, ...]] = []
        self._is_choice: list[bool] = []
        self._needed: list[tuple[int, ...]] = []
        # All that each leads to, and the one that is looked at.
        self._leads: list[list[int]] = []
        self._current: list[int] = []
        # Whether there are branches with tags, and formats of which a part is known.
        self._has_tags = self._has_parts = False

    def is_plain(self) -> bool:
        """Whether all of it is."""
        return self._wrong(is_first_enough=True) == []

    def plain_parts(self) -> frozenset[int]:
        """The ids of those that are, as are all that they lead to; none where references may mean
        something else than they say."""
        wrong = self._wrong()
        if wrong is None:
            return frozenset()
        users: dict[int, list[int]] = {}
        for number, inside in enumerate(self._leads):
            for each in inside:
                users.setdefault(each, []).append(number)
        bad = set(reached(wrong, lambda number: users.get(number, ())))
        return frozenset(each for each, number in self._numbers.items() if number not in bad)

    def _wrong(self, *, is_first_enough: bool = False) -> list[int] | None:
        """Those that are not, or the first of them that is met; None where that cannot be told."""
        if type(self.root) is not dict or not self._has_plain_draft(self.root):
            return None
        self._number(self.root)
        wrong: list[int] = []
        while self._pending:
            schema = self._pending.pop()
            if schema is not self.root and PLACED & schema.keys() - {"$ref"}:
                return None
            number = self._numbers[id(schema)]
            self._current = self._leads[number]
            try:
                self._same[number], self._needed[number] = self._parts(schema)
            except NotPlainError:
                wrong.append(number)
                if is_first_enough:
                    return wrong
                for keyword, value in schema.items():
                    for _, each in inside_of(keyword, value) or ():
                        if type(each) is dict:
                            self._number(each)
            self._is_choice[number] = "anyOf" in schema or "oneOf" in schema
        # Tags keep branches apart where nothing of them was left out.
        if self._has_tags and self._has_parts:
            return None
        return [*wrong, *self._without_end(), *self._without_value()]

    def _has_plain_draft(self, root: Mapping[str, Json]) -> bool:
        """Whether the draft is one that is looked at here, or none is said."""
        number = DRAFTS[self.options.draft or "2020-12"]
        names = [root[keyword] for keyword in _NAMES if keyword in root]
        if "$schema" in root:
            said = root["$schema"]
            uri = said.rstrip("#").rpartition("://")[2] if is_text(said) else ""
            if uri in METASCHEMAS:
                number = METASCHEMAS[uri]
            elif names:
                return False
            else:
                names = [said]
        self._has_prefixes, self._is_draft_4 = number >= 2020, number <= 5
        self._has_references_alone = number <= 7
        return all(
            is_text(name) and _NAME.fullmatch(name) and "json-schema.org/draft" not in name
            for name in names
        )

    # --- what schemas need of each other

    def _without_end(self) -> Sequence[int]:
        """The schemas that may be inside themselves for one and the same value, or too deep."""
        levels = [0 if same else 1 for same in self._same]

        def is_settled(number: int) -> bool:
            inside = [levels[each] for each in self._same[number]]
            if all(inside) and max(inside) < _MOST_LEVELS:
                levels[number] = max(inside) + 1
            return levels[number] > 0

        return _settle([i for i, level in enumerate(levels) if not level], is_settled)

    def _without_value(self) -> Sequence[int]:
        """The schemas that may have no value, of finitely many members and items."""
        found = [not (self._same[i] or self._needed[i]) for i in range(len(self._same))]

        def is_settled(number: int) -> bool:
            same = [found[each] for each in self._same[number]]
            is_one = (any(same) if self._is_choice[number] else all(same)) or not same
            found[number] = is_one and all(found[each] for each in self._needed[number])
            return found[number]

        return _settle([i for i, is_found in enumerate(found) if not is_found], is_settled)

    def _number(self, schema: Json) -> int:
        """The number of a schema, which is looked at if it is new. ``true`` is none, of which
        nothing is needed."""
        found = self._numbers.get(id(schema))
        if found is None:
            require(type(schema) is dict)
            found = self._numbers[id(schema)] = len(self._same)
            self._same.append(())
            self._needed.append(())
            self._is_choice.append(False)
            self._leads.append([])
            self._pending.append(schema)
        self._current.append(found)
        return found

    def _numbers_of(self, schemas: Sequence[Json]) -> tuple[int, ...]:
        return tuple(self._number(each) for each in schemas if each is not True)

    # --- one schema

    def _parts(self, schema: Mapping[str, Json]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of the schemas in it for the same value, and of those of what must be there.
        Raises ``NotPlainError``."""
        asked = _ASKING & schema.keys()
        known = _NAMES if schema is self.root else frozenset[str]()
        require(_NOT_READ.isdisjoint(schema) or not _NOT_READ & schema.keys() - known)
        require(not self._is_draft_4 or asked.isdisjoint(_OTHERWISE_IN_4))
        for keyword in _DEFINITIONS:
            if keyword in schema:
                self._numbers_of(tuple(mapping_of(schema[keyword]).values()))
        for keyword in _ALONE:
            if keyword in asked:
                if len(asked) > 1:
                    # Not read beside a reference, but mistakes there are told.
                    require(self._has_references_alone and asked == {"$ref", "type"})
                    self._types(schema)
                return self._numbers_of(self._inside(keyword, schema[keyword])), ()
        types = self._types(schema)
        if not asked.isdisjoint(_VALUES):
            self._check_values(asked, schema, types)
            return (), ()
        if not asked.isdisjoint(_BOUNDS):
            self._check_numbers(schema, types)
        if not asked.isdisjoint(_OF_TEXTS):
            self._check_texts(schema)
        needed: tuple[int, ...] = ()
        if not asked.isdisjoint(_OF_ITEMS):
            needed = self._of_items(asked, schema)
        if not asked.isdisjoint(_OF_MEMBERS):
            needed += self._of_members(asked, schema)
        return (), needed

    def _inside(self, keyword: str, value: Json) -> Sequence[Json]:
        if keyword == "$ref":
            return (self._referred(value),)
        # More than one of ``allOf`` may contradict each other.
        require(type(value) is list and value and (keyword != "allOf" or len(value) == 1))
        if keyword == "oneOf" and len(value) > 1:
            self._check_apart([self._resolved(branch) for branch in value])
        schemas: list[Json] = value
        return schemas

    def _check_apart(self, branches: Sequence[Json]) -> None:
        """That branches have no value in common: types of their own, texts, or tags of objects."""
        by_type: dict[str, list[Json]] = {}
        for branch in branches:
            for name in self._kinds(branch):
                by_type.setdefault(name, []).append(branch)
        for name, alike in by_type.items():
            if len(alike) > 1 and name == "object":
                self._check_tags(alike)
            elif len(alike) > 1:
                texts = [text for each in alike for text in texts_of(each)]
                require(name == "string" and len(texts) == len(set(texts)))

    def _kinds(self, schema: Json) -> set[str]:
        """The types of the values of a schema that says them, integers among numbers."""
        require(type(schema) is dict and not schema.keys().isdisjoint(("type", *_VALUES)))
        values = values_of(schema)
        kinds = set(self._types(schema)) if values is None else {scalar_type(x) for x in values}
        return {"number" if kind == "integer" else kind for kind in kinds}

    def _check_tags(self, branches: Sequence[Json]) -> None:
        """That a required key with a text of its own in each branch, all of objects, keeps them
        apart."""
        found = [self._tags(branch) for branch in branches]
        for name in set[str].intersection(*map(set, found)):
            texts = [text for tags in found for text in tags[name]]
            if len(texts) == len(set(texts)):
                self._has_tags = True
                return
        raise NotPlainError

    def _tags(self, schema: Json) -> Mapping[str, set[str]]:
        """The required keys of an object that have finitely many texts for values."""
        require(type(schema) is dict and schema.get("type") == "object")
        known, required = schema.get("properties"), schema.get("required")
        require(type(known) is dict and type(required) is list)
        found: dict[str, set[str]] = {}
        for name in filter(is_text, required):
            value = self._resolved(known.get(name))
            listed = values_of(value) if type(value) is dict else None
            if listed and all(map(is_text, listed)):
                found[name] = set(listed)
        return found

    def _resolved(self, schema: Json) -> Json:
        """What a schema that is a reference and nothing else leads to."""
        for _ in range(_MOST_LEVELS):
            if type(schema) is not dict or "$ref" not in schema:
                return schema
            schema = self._referred(schema["$ref"])
        raise NotPlainError

    def _referred(self, reference: Json) -> Json:
        """What a reference to a place in the document leads to."""
        require(is_text(reference) and "%" not in reference and reference.isprintable())
        found = self.root
        first, *steps = reference.split("/")
        require(first == "#")
        for step in steps:
            name = step.replace("~1", "/").replace("~0", "~")
            require(type(found) is dict and name in found)
            found = found[name]
        return found

    @staticmethod
    def _types(schema: Mapping[str, Json]) -> Sequence[str]:
        given = schema.get("type", TYPES)
        if is_text(given) and given in TYPES:
            return (given,)
        named = given if isinstance(given, list | tuple) else (given,)
        require(named and all(is_text(name) and name in TYPES for name in named))
        return named

    def _check_values(
        self, asked: frozenset[str], schema: Mapping[str, Json], types: Sequence[str]
    ) -> None:
        """``enum`` or ``const``: scalars, of which one at least is of a type that is asked for."""
        require(len(asked - {"type"}) == 1)
        values = values_of(schema) or []
        kinds = {scalar_type(value) for value in values}
        require(not kinds.isdisjoint(types) or ("integer" in kinds and "number" in types))
        self._check_size([value for value in values if is_text(value)])

    @staticmethod
    def _check_size(texts: Sequence[str]) -> None:
        """That an automaton of texts is small."""
        is_surely_small = sum(map(len, texts)) * 4 <= _MOST_BYTES
        require(is_surely_small or sum(len(each.encode()) for each in texts) <= _MOST_BYTES)

    @staticmethod
    def _check_numbers(schema: Mapping[str, Json], types: Sequence[str]) -> None:
        """Bounds in order, with an integer between them where these may be asked for."""
        found = {keyword: schema[keyword] for keyword in _BOUNDS if keyword in schema}
        require(all(map(is_number, found.values())))
        lows = [found[keyword] for keyword in _BOUNDS[:2] if keyword in found]
        highs = [found[keyword] for keyword in _BOUNDS[2:] if keyword in found]
        if not lows or not highs:
            return
        least, most = max(lows), min(highs)
        is_above = found.get("exclusiveMinimum") == least
        is_below = found.get("exclusiveMaximum") == most
        if "integer" in types:
            first = floor(least) + 1 if is_above else ceil(least)
            last = ceil(most) - 1 if is_below else floor(most)
            is_none = first > last
        else:
            is_none = least > most or (least == most and (is_above or is_below))
        require(not is_none)

    def _check_texts(self, schema: Mapping[str, Json]) -> None:
        """A pattern, a format or lengths: of two of these there may be no text."""
        name, pattern = schema.get("format"), schema.get("pattern")
        least, most = self._counts("minLength", "maxLength", schema)
        if "format" in schema:
            require(is_text(name))
            require(self.options.formats != REFUSE_UNKNOWN or language(name) is not None)
            self._has_parts |= name in NARROWED
        is_format = "format" in schema and self.options.formats != IGNORE
        require(is_format + ("pattern" in schema) + (least > 0 or most is not None) < 2)
        if "pattern" in schema:
            try:
                found = search(pattern, self.limits) if is_text(pattern) else None
            except (PatternError, LimitError, RecursionError):
                # It is looked at again where it is told.
                raise NotPlainError from None
            require(found is not None and not found.is_empty and found.states <= _STATES_OF_PATTERN)

    def _counts(self, first: str, last: str, schema: Mapping[str, Json]) -> tuple[int, int | None]:
        """Bounds of a count, in order and such that nothing is narrowed to less."""
        least, most = schema.get(first, 0), schema.get(last)
        longest = self.options.longest
        for keyword, value in ((first, least), (last, most)):
            require(keyword not in schema or (type(value) is int and value >= 0))
            require(longest is None or value is None or value <= longest)
        require(most is None or least <= most)
        return least, most

    def _of_items(self, asked: frozenset[str], schema: Mapping[str, Json]) -> tuple[int, ...]:
        """The schemas of items that must be there."""
        least, most = self._counts("minItems", "maxItems", schema)
        require(schema.get("uniqueItems", False) is False)
        first: Sequence[Json] = ()
        if "prefixItems" in asked:
            first = schema["prefixItems"]
            require(self._has_prefixes and type(first) is list and first)
        every = self._numbers_of(first)
        rest = self._numbers_of([schema["items"]]) if "items" in asked else ()
        if most == 0 or not least:
            return ()
        return every + (rest if least > len(first) else ())

    def _of_members(self, asked: frozenset[str], schema: Mapping[str, Json]) -> tuple[int, ...]:
        """The schemas of members that must be there."""
        known = mapping_of(schema["properties"]) if "properties" in asked else {}
        required = schema["required"] if "required" in asked else []
        rest = schema.get("additionalProperties", True)
        require(type(required) is list and all(map(is_text, required)))
        for inside in known.values():
            if inside is not True:
                self._number(inside)
        others: Sequence[int] = ()
        if rest is False:
            require(known.keys() >= set(required))
        else:
            others = self._numbers_of([rest])
            self._check_size([*known, *required])
        least = schema.get("minProperties", 0)
        require("minProperties" not in schema or (type(least) is int and 0 <= least <= 1))
        is_counted = least > 0 and not required
        is_fixed = self.options.order == FIXED
        if is_counted and (rest is False or not is_fixed or len(known) > _MOST_COUNTED):
            # After the last key, where none was there, there would be no way on.
            raise NotPlainError
        needed = [known[name] for name in required if name in known]
        has_others = is_counted or any(name not in known for name in required)
        return self._numbers_of(needed) + (tuple(others) if has_others else ())


def _settle(waiting: Sequence[int], is_settled: Callable[[int], bool]) -> Sequence[int]:
    """Those that are not settled in the end; a few passes are enough where schemas are written as
    usual, as what is inside has the larger number."""
    for _ in range(_MOST_PASSES):
        waiting = [number for number in reversed(waiting) if not is_settled(number)][::-1]
        if not waiting:
            break
    return waiting
