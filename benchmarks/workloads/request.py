"""A grammar that comes with a request."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """A grammar, texts of it, and what other engines are given instead of it, if not the same."""

    name: str
    dialect: str
    grammar: str
    documents: tuple[str, ...]
    schema: str | None = None
