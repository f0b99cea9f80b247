"""The door of the room: the grammar of a schema's text."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from .. import thresholds
from ..diagnostics import CheckError, Source
from ..grammar.productive import productive_rules, without_dead
from ..grammar.tree import Grammar
from ..limits import Limits
from .goals import NAME_THEM, TOO_DEEP, Goal, Goals
from .keywords.known import schemas_in
from .keywords.plain import are_plain, plain_parts
from .keywords.shapes import misshapen, note_unread, unreadable_uris
from .normal import Normal
from .notes import Notes, Refused
from .options import ANY_ORDER, SchemaOptions
from .places import Places, have_names
from .read import Document, Json, read_json, value_at, value_of
from .rules.contradictions import contradiction
from .rules.deferred import Deferred
from .rules.emit import Emitter
from .rules.items import MarksNeeded
from .rules.writer import KEYS, NOTHING_LATER, TERMINALS


def schema_grammar(
    source: Source,
    options: SchemaOptions | None = None,
    limits: Limits | None = None,
    start: str = "#",
) -> Grammar:
    """The grammar of the instances that are valid by a schema, a subset of them where its ``notes``
    say so. ``start``: a pointer to another schema in the text.

    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no schema or has
    no grammar, ``LimitError``.
    """
    limits = (limits or Limits()).started()
    options = options or SchemaOptions()
    return grammar_of_document(read_json(source, limits), options, limits, start)


def grammar_of_document(
    document: Document, options: SchemaOptions, limits: Limits, start: str = "#"
) -> Grammar:
    """The grammar of a schema that was read. Rules that write one scalar are terminals.

    Raises ``CheckError`` and ``LimitError``.
    """
    emitter, name, _ = _written(document, options, limits, start)
    return _whole(document, emitter, name)


def opened(source: Source, limits: Limits) -> tuple[Document, Normal]:
    """A schema that was read once already, for questions about its parts."""
    document, options, notes = read_json(source, limits), SchemaOptions(), Notes()
    goals = Goals(Places(document, options, notes, limits), options, notes, limits)
    return document, Normal(goals)


def _written(
    document: Document,
    options: SchemaOptions,
    limits: Limits,
    start: str,
    defers: str = NOTHING_LATER,
) -> tuple[Emitter, str, set[str]]:
    """The writer of a schema's rules, those of all goals being written, the name of the first, and
    if it ``defers`` anything those that have a text. Raises as ``grammar_of_document``."""
    with _placed(document, start):
        try:
            return _emitter(document, options, limits, start, defers)
        except MarksNeeded:
            return _emitter(document, replace(options, marks_equal=True), limits, start, defers)


@contextmanager
def _placed(document: Document, start: str) -> Iterator[None]:
    """What is refused has a place in the text; what nests too deep is all that begins at
    ``start``."""
    try:
        yield
    except Refused as error:
        raise CheckError(document.source, [error.placed(document.spans)]) from None
    except RecursionError:
        found = Refused(start, TOO_DEEP, NAME_THEM)
        raise CheckError(document.source, [found.placed(document.spans)]) from None


def _whole(document: Document, emitter: Emitter, name: str) -> Grammar:
    """All rules of a writer, and what is to be said of them."""
    rules, notes = emitter.all_rules(), emitter.notes.placed(document.spans, document.keys)
    marks = emitter.options.marks_equal
    return Grammar(document.source, rules, name, notes=notes, marks_equal=marks)


def _checked_places(
    document: Document,
    options: SchemaOptions,
    limits: Limits,
    roots: Sequence[str] | None = None,
    *,
    is_plain: bool = False,
) -> Places:
    """The places of a document, or of the schemas at some pointers in it, whose keywords may have
    their values, which is known of a plain one; those that ask nothing are noted."""
    inside = [(at, list(schemas_in(document.at(at)))) for at in ([""] if roots is None else roots)]
    wrong = [] if is_plain else [e for at, each in inside for e in unreadable_uris(each, at)]
    if not wrong:
        has_names = roots is not None or have_names(inside[0][1])
        places = Places(
            document, options, Notes(), limits, roots, are_plain=is_plain, has_names=has_names
        )
        drafts = [root.draft for root in places.roots]
    if not (wrong or is_plain):
        for (at, each), draft in zip(inside, drafts, strict=True):
            wrong += misshapen(each, draft, places.draft_of, at)
    if wrong:
        raise CheckError(document.source, [each.placed(document.spans) for each in wrong])
    for (at, each), draft in zip(inside, drafts, strict=True):
        note_unread(each, draft, places.draft_of, places.notes, at)
    return places


def _emitter(
    document: Document, options: SchemaOptions, limits: Limits, start: str, defers: str
) -> tuple[Emitter, str, set[str]]:
    is_plain = start == "#" and are_plain([document.value], options, limits)
    places = _checked_places(document, options, limits, is_plain=is_plain)
    notes = places.notes
    goals = Goals(places, _as_counted(options, document.value), notes, limits)
    if defers == KEYS:
        goals.plain = plain_parts(document.value, options, limits)
    normal = Normal(goals)
    goal = goals.at(start)
    if normal.is_surely_empty(goal):
        raise contradiction(goal, normal, start) or _all_left_out(notes, start)
    emitter = Emitter(goals, normal, defers=defers)
    name = emitter.value(goal).name
    emitter.write_goals(but_plain=defers == KEYS)
    has_text: set[str] = set()
    if emitter.may_be_empty or defers != NOTHING_LATER:
        has_text = productive_rules(emitter.rules, emitter.waiting)
        if name not in has_text and emitter.may_be_empty:
            raise contradiction(goal, normal, start) or _all_left_out(notes, start)
    return emitter, name, has_text


def deferred_grammar(
    source: Source, options: SchemaOptions, limits: Limits | None = None, start: str = "#"
) -> Deferred | Grammar:
    """The grammar of a schema, as ``schema_grammar`` has it; where that surely raises nothing
    (``keywords.plain``), its rules are made when they are asked for, and of others the automata of
    all keys but some. Raises as ``schema_grammar``."""
    limits = (limits or Limits()).started()
    value = value_of(source.text, limits) if start == "#" else None

    def whole(limits: Limits) -> Grammar:
        return schema_grammar(source, options, limits, start)

    if are_plain([value], options, limits):

        def begin(limits: Limits) -> tuple[Emitter, str]:
            emitter = _lazy_emitter(source, value, options, limits)
            return emitter, emitter.value(emitter.goals.at(start)).name

        return Deferred(source, limits, begin, whole)
    found = None
    if value is not None and not _needs_all(source.text):
        with suppress(CheckError):
            # An error is said with its place, which is not known here.
            document = _without_places(source, value)
            found = _written_in_part(document, options, limits, start)
    if found is None or found[0].needs_all:
        document = read_json(source, limits)
        found = _written_in_part(document, options, limits, start)
        if found[0].needs_all:
            return _whole(document, *found)
    emitter, name = found
    if name not in emitter.by_name:
        # No value is finite, which is said where grammars are checked.
        return whole(limits)
    return Deferred(source, limits, lambda _: (emitter, name), whole)


def _needs_all(text: str) -> bool:
    """Whether rules must probably be read at once: those of sets of items and of intersections, by
    the words of a text."""
    if '"uniqueItems"' in text:
        return True
    return '"maxLength"' in text and ('"pattern"' in text or '"format"' in text)


def _without_places(source: Source, value: Json) -> Document:
    """A document of which it is not known where values stand in the text."""
    pointers = {id(schema): pointer for pointer, schema in schemas_in(value)}
    return Document(source, value, {}, {}, pointers)


def _written_in_part(
    document: Document, options: SchemaOptions, limits: Limits, start: str
) -> tuple[Emitter, str]:
    """The writer of a schema's rules, of which those of goals are written but for plain ones, and
    the name of the first. Where some rule has no text, all of objects are written without it."""
    emitter, name, has_text = _written(document, options, limits, start, KEYS)
    if not (emitter.needs_all or has_text >= emitter.by_name.keys()):
        emitter.write_objects()
        has_text = productive_rules(emitter.rules, emitter.waiting)
        emitter.by_name = {rule.name: rule for rule in without_dead(emitter.rules, has_text)}
    return emitter, name


def _lazy_emitter(
    source: Source,
    value: Json,
    options: SchemaOptions,
    limits: Limits,
    roots: Sequence[str] | None = None,
) -> Emitter:
    """What writes rules of plain schemas when they are read, without their places in the text."""
    document = Document(source, value, {}, {}, {})
    places = Places(document, options, Notes(), limits, roots, are_plain=True)
    counted = _as_counted(options, value) if roots is None else options
    goals = Goals(places, counted, places.notes, limits)
    return Emitter(goals, Normal(goals), defers=TERMINALS)


def grammar_around(
    document: Document,
    roots: Sequence[str],
    options: SchemaOptions,
    limits: Limits,
    around: Callable[[Emitter, Sequence[Goal]], str],
) -> Grammar:
    """A grammar with the rules of several schemas, whose pointers in a document are ``roots``.

    ``around`` writes the rules that use them, by a goal for each, and gives the name of the first
    rule. What is alike in several schemas, but for what only describes, has the same rules.
    Raises ``CheckError``, also for ``Refused`` by ``around``, and ``LimitError``.
    """
    with _placed(document, "#"):
        places = _checked_places(document, options, limits, roots)
        goals = Goals(places, options, places.notes, limits)
        emitter = Emitter(goals, Normal(goals))
        name = around(emitter, [goals.of_root(root) for root in places.roots])
        return _whole(document, emitter, name)


def deferred_around(
    source: Source,
    value: Json,
    roots: Sequence[str],
    options: SchemaOptions,
    limits: Limits,
    around: Callable[[Emitter, Sequence[Goal]], str],
    whole: Callable[[Limits], Grammar],
) -> Deferred | None:
    """As ``grammar_around`` of the ``value`` of a text, but rules are made when they are read; None
    where that might raise something, or where values of a schema are no objects. ``whole``: the
    grammar, all at once."""
    schemas = [value_at(value, root) for root in roots]
    if not are_plain(schemas, options, limits, of_objects=True):
        return None

    def begin(limits: Limits) -> tuple[Emitter, str]:
        emitter = _lazy_emitter(source, value, options, limits, roots)
        goals = emitter.goals
        return emitter, around(emitter, [goals.of_root(root) for root in goals.places.roots])

    return Deferred(source, limits, begin, whole)


def _as_counted(options: SchemaOptions, value: Json) -> SchemaOptions:
    """The options for a schema: counts of items and sets of keys are kept by networks that leave no
    states of strings to be made while decoding."""
    if options.order == ANY_ORDER or _counts_much(value):
        return replace(options, lazy_from=None)
    return options


def _counts_much(value: Json) -> bool:
    """Whether some bound of the number of items or members is large, and not copied."""
    largest: int | float = 0
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            for key, inner in current.items():
                if key in _COUNTS and isinstance(inner, int | float):
                    largest = max(largest, inner)
                pending.append(inner)
        elif isinstance(current, list):
            pending.extend(current)
    return largest > thresholds.SOON_COPIED_STATES


_COUNTS = frozenset({"minItems", "maxItems", "minProperties", "maxProperties"})
_COUNTS |= {"minContains", "maxContains"}


def _all_left_out(notes: Notes, start: str) -> Refused:
    """The error of a schema of whose values the options, or what is known in part, leave none."""
    pointer, message = next(iter(notes.left_out()), (start, "they cannot be written"))
    return Refused(pointer, f"all values of the schema {start} are left out: {message}", "")
