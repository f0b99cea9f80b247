"""Why files of other parsers' grammars are not read, and what to use instead.

An ordered choice `'a' / 'ab'` takes the first that fits and never tries the second: which texts are
members depends on what the parser does, not on the rules alone, and a mask has to know all of them.
"""

from collections.abc import Mapping
from pathlib import PurePath

_PEG = (
    "a parsing expression grammar has ordered choices, which are no alternatives: of 'a' / 'ab' "
    "the second never matches, and & and ! look at text that is not there yet; write it with '|', "
    "where both count, as ebnf, kbnf or lark, and what ! excludes as a difference 'a - b'"
)
_TREE_SITTER = (
    "a grammar of tree-sitter leaves to its generator and to code in C what its texts are: "
    "precedences, conflicts, external tokens; write it as lark, with %ignore for its extras and a "
    "priority for its keywords"
)
_YACC = (
    "a grammar of yacc or bison leaves its tokens to a lexer and its conflicts to precedences; "
    "write it as ebnf, and say with --define NAME=REGEX what the tokens are"
)

_OPENAPI = (
    "a description of an interface has many schemas; name one of them: --dialect json-schema "
    "--start '#/components/schemas/NAME'"
)

# By the ends of names.
_REASONS: Mapping[str, str] = {
    **dict.fromkeys((".pest", ".pegjs", ".peggy", ".peg"), _PEG),
    **dict.fromkeys(("grammar.json", "grammar.js"), _TREE_SITTER),
    **dict.fromkeys((".y", ".yy"), _YACC),
    **dict.fromkeys(("openapi.json", "swagger.json"), _OPENAPI),
}


def why_unread(path: str) -> str | None:
    """Why a file with such a name is not read; None if its name says nothing of the kind."""
    name = PurePath(path).name.lower()
    return next((why for end, why in _REASONS.items() if name.endswith(end)), None)
