"""What tests of JSON Schema share: a schema's network, and whether a text is a member."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from constrain.artifacts.machine.distinct_texts import DistinctTexts
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.compiler.diagnostics import CheckError, Source
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.limits import Limits
from constrain.compiler.schema import SchemaOptions
from constrain.compiler.schema.convert import schema_grammar
from constrain.compiler.schema.notes import SPELLINGS
from support.network import network_in_all_orders

# How the suite is read, so that what it says of 1.0 and of texts as Python writes them holds.
SUITE = {"integer": "decimal", "whitespace": "python"}


@dataclass(frozen=True)
class Members:
    """The texts of a schema's grammar; there are none where ``network`` is None."""

    grammar: Grammar | None
    limits: Limits

    @cached_property
    def network(self) -> Network | None:
        """The network of the grammar."""
        if self.grammar is None:
            return None
        check(self.grammar)
        try:
            return Network(network_in_all_orders(self.grammar, self.limits))
        except CheckError:
            return None

    def accepts(self, text: str) -> bool:
        """Whether a text is a member."""
        found = self.network
        if found is None:
            return False
        texts: Network | DistinctTexts = found
        if self.grammar is not None and self.grammar.marks_equal:
            texts = DistinctTexts(found)
        reached = texts.read(texts.start, text.encode("utf-8", "surrogatepass"))
        return reached != REFUSED and texts.may_end(reached)

    def allows(self, instance: Any) -> bool:
        """Whether Python's text of an instance is a member."""
        return self.accepts(json.dumps(instance, ensure_ascii=False))

    @property
    def notes(self) -> list[str]:
        """What was left out, and where; spellings of what is there apart."""
        found = self.grammar.notes if self.grammar else ()
        return [note.message for note in found if not note.message.startswith(SPELLINGS)]

    @property
    def spellings(self) -> str:
        """What is said of spellings that were left out."""
        found = self.grammar.notes if self.grammar else ()
        return "".join(note.message for note in found if note.message.startswith(SPELLINGS))


def members(schema: Any, *, seconds: float = 60, **options: Any) -> Members:
    """The members of a schema, by default as the suite is read; ``schema``: a text or a value."""
    limits = Limits(seconds=seconds).started()
    try:
        grammar = _grammar(schema, limits, options)
    except CheckError as error:
        nothing = ("no value satisfies this schema", "all values of the schema # are left out")
        if not any(message in str(error) for message in nothing):
            raise
        return Members(None, limits)
    return Members(grammar, limits)


def refusal(schema: Any, **options: Any) -> str:
    """The message of a schema that is refused, or that has no members."""
    try:
        grammar = _grammar(schema, Limits(), options)
    except CheckError as error:
        return str(error)
    raise AssertionError(f"the schema is read: {grammar.rules[0].name}")


def _grammar(schema: Any, limits: Limits, options: dict[str, Any]) -> Grammar:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    source = Source(text, "s.schema.json", "json-schema")
    return schema_grammar(source, SchemaOptions(**(SUITE | options)), limits)
