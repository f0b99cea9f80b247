"""From a grammar's text to its tree.

    text -> parse (Lark's LALR tables) -> builder (tree nodes with spans) -> Grammar

A dialect is one ``.lark`` file, one builder and one row of ``DIALECTS`` (``table``). The loop over
Lark's tables calls the builder, so no other tree is made and nothing recurses over depth.
``parse`` goes on after what it did not expect; ``builder``, ``characters`` and ``regex`` read what
is inside quotes, brackets and slashes.
"""

from .table import DIALECTS as DIALECTS
from .table import EBNF as EBNF
from .table import EXTENDED as EXTENDED
from .table import JSON_SCHEMA as JSON_SCHEMA
from .table import PLAIN_REGEX as PLAIN_REGEX
from .table import STRUCTURAL_TAG as STRUCTURAL_TAG
from .table import TOOLS as TOOLS
from .table import Dialect as Dialect
from .table import dialect_of as dialect_of
from .table import read_grammar as read_grammar
