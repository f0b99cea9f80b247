"""What a tokenizer's file may ask for: bounds that real ones are far below.

ids              tables are as long as the highest one: at most a million of them have no token
bytes of a token each is a level of the trie that walks go through: ``MOST_TOKEN_BYTES``
"""

from collections.abc import Collection

from constrain.artifacts.container.sections import MOST_TOKEN_BYTES
from constrain.artifacts.errors import visible

from ..diagnostics import TokenizerError

MOST_HOLES = 1_000_000


def check_sizes(tokens: Collection[bytes], vocab_size: int) -> None:
    """Raises ``TokenizerError`` for ids far beyond the ``tokens`` of text, and for a token that is
    too long."""
    if vocab_size - len(tokens) > MOST_HOLES:
        raise TokenizerError(
            f"the highest id is {vocab_size - 1:,}, and there are {len(tokens):,} tokens: at most "
            f"{MOST_HOLES:,} ids may be without one"
        )
    longest = max(tokens, key=len, default=b"")
    if len(longest) > MOST_TOKEN_BYTES:
        shown = visible(longest[:20].decode("utf-8", "replace"))
        raise TokenizerError(
            f"the token that begins with {shown!r} has {len(longest):,} bytes: "
            f"{MOST_TOKEN_BYTES:,} are the most"
        )
