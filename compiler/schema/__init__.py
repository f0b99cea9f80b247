"""From a JSON Schema to a grammar of its valid instances.

    text -> read (JSON with spans) -> places (drafts, references) -> goals
         -> clauses (a positive and a negative reading of each keyword) -> normal -> rules

Every text of the grammar is a valid instance; ``README.md`` has the theory, and what is left out is
noted by its JSON pointer. What resolves references loads when a schema is read.
"""

from .options import SchemaOptions

__all__ = ["SchemaOptions"]
