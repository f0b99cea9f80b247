"""One layout for the grammars of all dialects, with the tokens and comments as they are written.

    text -> tokens (of the dialect's parser, without a tree)
         -> statements   tokens and the comments between them
         -> layout       lines, by the row that ``styles`` has for the dialect
         -> tokens again: the same ones, so that the tree is the same, or ``FormattingError``

A parser of LALR(1) makes of the same tokens the same tree, spans aside, so no tree is compared.
"""

from .format import FormatOptions, FormattingError, format_text
from .styles import STYLES

__all__ = ["STYLES", "FormatOptions", "FormattingError", "format_text"]
