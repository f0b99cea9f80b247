"""The door of the room: the grammar of a schema's text."""

from ..diagnostics import CheckError, Diagnostic, Source
from ..grammar.tree import Grammar
from ..limits import Limits
from .goals import Goals
from .normal import Normal
from .notes import Notes, Refused
from .options import SchemaOptions
from .places import Places
from .read import Document, read_json
from .rules.emit import Emitter


def grammar_of(
    source: Source, options: SchemaOptions, limits: Limits | None = None, start: str = "#"
) -> Grammar:
    """The grammar of a schema, as ``schema_grammar`` says."""
    limits = (limits or Limits()).started()
    document = read_json(source, limits)
    notes = Notes()
    try:
        return _grammar(document, options, notes, limits, start)
    except Refused as error:
        raise CheckError(source, [error.placed(document.spans)]) from None
    except RecursionError:
        message = "the schema nests too deep: schemas inside schemas for the same value"
        raise CheckError(source, [Diagnostic(message)]) from None


def opened(source: Source, limits: Limits) -> tuple[Document, Goals, Normal]:
    """A schema that was read once already, for questions about its parts."""
    document, options, notes = read_json(source, limits), SchemaOptions(), Notes()
    goals = Goals(Places(document, options, notes, limits), options, notes, limits)
    return document, goals, Normal(goals)


def _grammar(
    document: Document, options: SchemaOptions, notes: Notes, limits: Limits, start: str
) -> Grammar:
    goals = Goals(Places(document, options, notes, limits), options, notes, limits)
    normal = Normal(goals)
    emitter = Emitter(goals, normal)
    rules, name = emitter.grammar_of(goals.at(start))
    return Grammar(document.source, rules, name, notes=notes.placed(document.spans))
