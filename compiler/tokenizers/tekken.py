"""Read Mistral's ``tekken.json``: tiktoken's ranks after a block of control tokens.

Source: the format of mistral-common's ``Tekkenizer``. The file's ``config`` says how text is split,
how many ids there are in all, and how many of them, the first, are control tokens; the rest are
the first ranks of ``vocab``. A control token that ``special_tokens`` does not name is called
``<SPECIAL_i>``. The names of control tokens are text like any other when a text is encoded.
"""

from base64 import b64decode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ..diagnostics import TokenizerError
from ..files.bounded import bounded_json
from .sizes import MOST_ADDED
from .tiktoken_ranks import Encoding, tokenizer_of_ranks
from .tokenizer import Tokenizer

_END = "</s>"

# The control tokens of files older than the list in the file, ids from 0.
_UNLISTED = (
    *("<unk>", "<s>", _END, "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)


def read_tekken(name: str, raw: bytes) -> Tokenizer:
    """The tokenizer of a file with the content ``raw``.

    Raises ``TokenizerError``, whose message does not name the file, and ``KeyError``,
    ``TypeError`` or ``ValueError`` where a field is missing or of another type.
    """
    data: Mapping[str, Any] = bounded_json(raw, "tekken.json")
    if not isinstance(data, dict) or not {"config", "vocab"} <= data.keys():
        raise TokenizerError("not a tekken.json: it has no config with a vocab")
    config = data["config"]
    size, controls = int(config["default_vocab_size"]), int(config["default_num_special_tokens"])
    if controls > MOST_ADDED:
        raise TokenizerError(f"there are {controls:,} control tokens: {MOST_ADDED:,} are the most")
    listed = data["vocab"][: max(size - controls, 0)]
    if not listed or len(listed) != size - controls:
        raise TokenizerError(
            f"the vocab has {len(data['vocab']):,} tokens, not {size - controls:,}"
        )
    ranks = {b64decode(token["token_bytes"], validate=True): token["rank"] for token in listed}
    if set(ranks.values()) != set(range(len(listed))):
        raise TokenizerError(f"the ranks are not the numbers from 0 to {len(listed) - 1:,}")
    encoding = Encoding(
        str(config["pattern"]), _controls(data, controls), end=_END, special_in_text=False
    )
    shifted = {token: controls + rank for token, rank in ranks.items()}
    return tokenizer_of_ranks(name, sha256(raw).hexdigest(), shifted, encoding)


def _controls(data: Mapping[str, Any], count: int) -> dict[str, int]:
    """The names of the control tokens with their ids, which are those below ``count``."""
    found = data.get("special_tokens")
    if found is None:
        found = [{"token_str": name, "rank": i} for i, name in enumerate(_UNLISTED)]
    names = {i: f"<SPECIAL_{i}>" for i in range(count)}
    names |= {int(token["rank"]): str(token["token_str"]) for token in found}
    if len(names) != count:
        raise TokenizerError(f"a control token's rank is beyond the {count:,} that there are")
    if len(set(names.values())) != count:
        raise TokenizerError("two control tokens have one name")
    return {text: i for i, text in names.items()}
