"""What the backends of inference engines have in common: how they ask, and where they compile.

Environment: ``CONSTRAIN_FOLDER`` keeps artifacts between runs, and lets processes of one machine
share them (``service``); ``CONSTRAIN_STORE`` is a folder or URL of a store that is asked before
anything is compiled; ``CONSTRAIN_TOKENIZATION`` is any, which is the default, or canonical.
"""

import os
from collections.abc import Mapping
from typing import Any

from ..options import ANY, CompileOptions
from .requests import Request, request_of
from .service import SERVER_LIMITS, CompileService

# What engines call a grammar: GBNF, which xgrammar reads but for details, and Lark, which
# llguidance does. No text is both.
DIALECTS = ("gbnf", "lark")


def request_for(fields: Mapping[str, Any]) -> Request:
    """The request that these fields of a body make. Raises ``ConstrainError``."""
    found = request_of(
        fields,
        tokenization=os.environ.get("CONSTRAIN_TOKENIZATION", ANY),
        dialects=DIALECTS,
        options=CompileOptions(limits=SERVER_LIMITS),
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
