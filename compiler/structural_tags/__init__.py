"""From a structural tag or a list of tools, as servers take them, to a grammar.

    text -> read (JSON with spans) -> fields (each kind has what it must have, and nothing else)
         -> formats (a tree of each kind)  <- free_text (text until a trigger)
                                           <- other_languages (JSON Schema, GBNF, regex)

    text -> tools (which may be called, how calls are written: call_styles) -> calls (rules)

``README.md`` has the kinds, ``TOOLS.md`` the forms and the styles. Every text of the grammar is one
by the description; what is not enforced is refused by its JSON pointer. Arguments of calls are
valid by the tool's JSON Schema; all schemas become rules of one grammar
(``schema.convert.grammar_around``). What reads schemas loads when a text is read.
"""

import json
from collections.abc import Mapping
from typing import Any

from .call_styles import STYLES, Style

__all__ = ["STYLES", "Style", "as_text"]


def as_text(tag: Mapping[str, Any]) -> str:
    """The text of a structural tag that a program has as a dictionary, to be read as the dialect
    ``structural-tag``: one line, keys in their order. Raises ``TypeError`` for what is no JSON,
    ``ValueError`` for NaN and infinities."""
    return json.dumps(tag, ensure_ascii=False, allow_nan=False)
