"""What the backends of inference engines have in common: how they ask, and where they compile.

Environment: ``CONSTRAIN_FOLDER`` keeps artifacts between runs, and lets processes of one machine
share them (``service``); ``CONSTRAIN_STORE`` is a folder or URL of a store that is asked before
anything is compiled; ``CONSTRAIN_TOKENIZATION`` is any, which is the default, or canonical. Each
option of schemas has one, too: ``CONSTRAIN_WHITESPACE``, ``CONSTRAIN_MAX_COUNT`` and so on, by the
names of ``SchemaOptions``; ``CONSTRAIN_SCHEMAS`` is URI=FOLDER, or FOLDER, with spaces between.
"""

import os
from collections.abc import Mapping
from typing import Any

from ..options import ANY, CompileOptions
from ..schema.options import SchemaOptions
from .requests import Request, request_of
from .service import SERVER_LIMITS, CompileService

# What engines call a grammar: GBNF, which xgrammar reads but for details, and Lark, which
# llguidance does. No text is both.
DIALECTS = ("gbnf", "lark")

# Options of schemas that are found while compiling, and no setting.
_FOUND = ("keeps_counts", "lazy_from", "schemas")


def schema_options() -> SchemaOptions:
    """The options of schemas that the environment says. Raises ``ValueError``."""
    names = [name for name in SchemaOptions.__dataclass_fields__ if name not in _FOUND]
    said = {name.replace("_", "-"): os.environ.get(f"CONSTRAIN_{name.upper()}") for name in names}
    given = [each.rpartition("=") for each in os.environ.get("CONSTRAIN_SCHEMAS", "").split()]
    folders = tuple((uri, folder) for uri, _, folder in given)
    known = {name: value for name, value in said.items() if value is not None}
    return SchemaOptions.from_said(known, schemas=folders)


def request_for(fields: Mapping[str, Any], flags: Mapping[str, Any] | None = None) -> Request:
    """The request that these fields of a body make; ``flags``: what the engine was started with.
    Raises ``ConstrainError`` and ``ValueError``."""
    found = request_of(
        fields,
        tokenization=os.environ.get("CONSTRAIN_TOKENIZATION", ANY),
        dialects=DIALECTS,
        options=CompileOptions(limits=SERVER_LIMITS, schema=schema_options()),
        flags=flags,
    )
    assert found is not None
    return found


def service_of(tokenizer: object) -> CompileService:
    """The service of an engine, by its tokenizer object or a path. Raises ``TokenizerError``."""
    return CompileService(
        tokenizer,
        folder=os.environ.get("CONSTRAIN_FOLDER"),
        store=os.environ.get("CONSTRAIN_STORE"),
    )
