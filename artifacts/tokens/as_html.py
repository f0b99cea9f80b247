"""Masks and facts as HTML, which notebooks show in place of a line of text."""

from collections.abc import Iterable, Sequence

from . import tokenset
from .vocabulary import Vocabulary

# Tokens of a mask that are shown.
_SHOWN = 24


def mask_table(mask: tokenset.Words, taken: Sequence[int], vocabulary: Vocabulary | None) -> str:
    """The tokens that may follow those ``taken``: all, or the first of many; by their ids alone
    without a vocabulary."""
    ids = tokenset.to_ids(mask).tolist()
    rows = [(f"{i:,}", "" if vocabulary is None else _shown(vocabulary, [i])) for i in ids[:_SHOWN]]
    rows += [("…", f"{len(ids) - _SHOWN:,} more")] * (len(ids) > _SHOWN)
    text = f" {_shown(vocabulary, taken)}" if vocabulary is not None else ""
    return table(f"{len(ids):,} token{'s' * (len(ids) != 1)} may follow{text}", rows)


def table(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and texts."""
    from html import escape

    cells = "".join(
        f"<tr><th>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def _shown(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    return repr(b"".join(vocabulary.tokens(ids)).decode("utf-8", "backslashreplace"))
