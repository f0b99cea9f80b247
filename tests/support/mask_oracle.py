"""Masks by definition: a token is allowed if the textbook's recogniser can read it.

Slow: one item set for each byte that tokens differ in.
"""

from collections.abc import Iterable
from itertools import islice

from constrain.compiler.automata.members import Members
from constrain.compiler.frontend import Automaton
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import Lnf
from constrain.compiler.pipeline import build_engine
from support.oracles.earley import PlainEarley

SQL = r"""
start ::= select ';';
select ::= 'SELECT ' columns ' FROM ' source (' WHERE ' condition)? (' ORDER BY ' name)?;
columns ::= '*' | column (', ' column)*;
column ::= value (' AS ' name)?;
source ::= table | source ' JOIN ' table ' ON ' condition;
table ::= name | '(' select ')' ' AS ' name;
condition ::= test | condition ' AND ' test | condition ' OR ' test;
test ::= 'NOT ' test | '(' condition ')' | value comparison value | value ' IN (' select ')';
comparison ::= ' = ' | ' <> ' | ' < ' | ' LIKE ';
value ::= name ('.' name)? | number | text | function '(' value ')';
function ::= 'COUNT' | 'max' | 'lower';
name ::= #'[a-z_]+'; number ::= #'-?[0-9]+(\\.[0-9]+)?'; text ::= #"'([^']|'')*'";
"""

# Shorter texts for what would else be most of a random member's bytes.
SHORTER = {
    r"""#'"([^"\\\\\\x00-\\x1f]|\\\\(["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"'""": (
        r"""#'"(é|\\\\n|b){0,2}"'"""
    ),
    r"#'-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?'": r"#'-?[1-9](\\.5)?(e9)?'",
    "#\"'([^']|'')*'\"": "#\"'(a|'')?'\"",
    r"#'-?[0-9]+(\\.[0-9]+)?'": r"#'-?[0-9](\\.5)?'",
    r"#'[ \\t\\n\\r]*'": r"#'\\n? ?'",
    r"#'[ \\n]*'": r"#'\\n? ?'",
    r"#'[ \\n]+'": "#' '",
    "#'[a-z_]+'": "#'x|in'",
    "#'[a-z]+'": "#'ab?'",
    "#'[0-9]+'": "#'10?'",
    "#'[^<>]+'": "#'(y| z)?é'",
}


def members(text: str, count: int, longest: int, depth: int, seed: int) -> list[bytes]:
    """Random members of a kbnf grammar: uniform draws of at most ``longest`` bytes, half of them
    with short names, numbers and strings, so that they nest."""
    shorter = text
    for long, short in SHORTER.items():
        shorter = shorter.replace(long, short)
    found: list[bytes] = []
    for one, draws in ((shorter, (count + 1) // 2), (text, count // 2)):
        automaton = build_engine(one, dialect="kbnf", max_depth=depth)
        assert isinstance(automaton, Automaton)
        found.extend(islice(Members(automaton.dfa, Limits()).draws(longest, seed), draws))
    return found


class Oracle:
    """Reads one text; what may follow by the textbook's item sets."""

    def __init__(self, lnf: Lnf) -> None:
        self._plain = PlainEarley(lnf)
        self._columns = [self._plain.first()]

    def read(self, text: bytes) -> None:
        """Go on by a text that can be read."""
        for octet in text:
            self._columns.append(self._plain.following(self._columns, octet))
            assert self._columns[-1]

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a member."""
        return self._plain.accepts_at(self._columns)

    def fitting(self, tokens: Iterable[tuple[bytes, int]]) -> set[int]:
        """The ids of those tokens, as (bytes, id), that can be read; item sets are shared."""
        found = set()
        columns, base = list(self._columns), len(self._columns)
        before, dead = b"", None
        for text, token_id in sorted(tokens):
            if dead is not None and text.startswith(dead):
                continue
            common = 0
            while common < min(len(before), len(text)) and before[common] == text[common]:
                common += 1
            del columns[base + common :]
            before, dead = text, None
            for length in range(len(columns) - base, len(text)):
                columns.append(self._plain.following(columns, text[length]))
                if not columns[-1]:
                    columns.pop()
                    before = dead = text[: length + 1]
                    break
            else:
                found.add(token_id)
        return found
