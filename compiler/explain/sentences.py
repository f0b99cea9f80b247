"""A verdict on an instance or on calls of tools with sentences about its keys and values.

The machine decides whether a text is a member and where it stops. A sentence is said of a text that
was refused alone, and of what lies where it stops or after that: what stands before was read.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from ..diagnostics import GrammarError, LimitError, Source
from ..dialects import JSON_SCHEMA, TOOLS
from ..limits import Limits, of_later
from ..options import CompileOptions
from ..schema.notes import Notes, Refused
from ..schema.options import FLEXIBLE, SchemaOptions
from ..schema.places import Places
from ..schema.read import read_json
from ..structural_tags.tools import tools_in
from .instance_calls import Calls
from .instance_sentences import Sentences
from .instance_text import Complaint, read_instance
from .json_schema import pointer_at
from .report import Sentence, Status, Verdict, position

# In bytes: of longer texts nothing is said.
_LONGEST = 1 << 19

# Sentences about one text.
_MOST = 8

_About: TypeAlias = Callable[[str], list[Complaint]]


def words_for(text: str, options: CompileOptions) -> Callable[[Verdict, bytes], Verdict]:
    """What gives a verdict on a text sentences, where the grammar is a schema or tools."""
    dialect, schema = options.dialect, options.of_schemas
    if dialect not in (JSON_SCHEMA, TOOLS):
        return lambda found, _: found

    @cache
    def about() -> _About:
        source, limits = Source(text, "<schema>", str(dialect)), of_later(options.limits)
        if dialect == TOOLS:
            return _of_calls(source, schema, limits)
        return _of_instances(source, schema, limits, options.start or "#")

    def verdict(found: Verdict, given: bytes) -> Verdict:
        if found.status is Status.ACCEPTED or len(given) > _LONGEST:
            return found
        try:
            complaints = about()(given.decode("utf-8", "surrogateescape"))
        except (Refused, GrammarError, LimitError, OSError, RecursionError):
            return found
        return replace(found, sentences=_said(complaints, found, given, schema))

    return verdict


def _of_instances(source: Source, options: SchemaOptions, limits: Limits, start: str) -> _About:
    places = Places(read_json(source, limits), options, Notes(), limits)
    sentences, root = Sentences(places, options, limits), places.at(start)

    def about(text: str) -> list[Complaint]:
        read = read_instance(text)
        found = [] if read.part is None else sentences.of_text(read.part, root)
        return [*found, *read.complaints]

    return about


def _of_calls(source: Source, options: SchemaOptions, limits: Limits) -> _About:
    document = read_json(source, limits)
    tools = tools_in(document.value)
    with_schemas = [tool for tool in tools.tools if tool.parameters is not None]
    roots = [tool.parameters for tool in with_schemas if tool.parameters is not None]
    places = Places(document, options, Notes(), limits, roots)
    named = zip(with_schemas, map(places.of_root, places.roots), strict=True)
    schemas = {tool.name: place for tool, place in named}
    calls = Calls(tools, schemas, Sentences(places, options, limits))
    return lambda text: [*calls.about(text)]


def _said(
    complaints: Sequence[Complaint], verdict: Verdict, given: bytes, options: SchemaOptions
) -> tuple[Sentence, ...]:
    """The sentences that a verdict bears out, in the order of the text."""
    place = len(given[: verdict.offset].decode("utf-8", "ignore"))
    text = given.decode("utf-8", "surrogateescape")
    kept = []
    for each in complaints:
        is_here = each.start <= place <= each.end
        if each.is_for_order and not (is_here and verdict.is_for_order):
            continue
        if each.end >= place and (is_here or not each.is_spelling):
            kept.append(each)
    where = pointer_at(given[: verdict.offset])
    if verdict.is_for_order and not any(each.start <= place for each in kept):
        message = "keys come in the order of the schema here (--order any takes all)"
        kept.append(Complaint(message, where, place, place, place, is_for_order=True))
    kept.sort(key=lambda each: (each.at > max(place, each.start), each.at))
    if not kept and text[place : place + 1] in (*" \t\r\n",) and options.whitespace != FLEXIBLE:
        message = f"white space stands where --whitespace {options.whitespace} has none"
        kept = [Complaint(message, where, place, place + 1, place, is_spelling=True)]
    return tuple(_sentence(each, text) for each in dict.fromkeys(kept[:_MOST]))


def _sentence(found: Complaint, text: str) -> Sentence:
    octets = text[: found.at].encode("utf-8", "surrogateescape")
    line, column = position(octets, len(octets))
    return Sentence(found.message, line, column, len(octets), found.where, found.schema, found.call)
