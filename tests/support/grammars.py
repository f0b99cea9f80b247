"""Grammars that several test files recognise, and random ones."""

import random
from collections.abc import Iterator

from constrain.artifacts.earley.recogniser import Earley
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.earley.tables import layout, stacked
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.lnf import Lnf, normalize, normalize_without_nullable
from constrain.compiler.lnf.resolve_exclusions import resolve_exclusions

JSON = r"""
start ::= ws v ws;
v ::= o | a | s | n | 'true' | 'false' | 'null';
o ::= '{' ws '}' | '{' m '}';  m ::= p | m ',' p;  p ::= ws s ws ':' ws v ws;
a ::= '[' ws ']' | '[' e ']';  e ::= ws v ws | e ',' ws v ws;
s ::= #'"([^"\\\\\\x00-\\x1f]|\\\\(["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
n ::= #'-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?';
ws ::= #'[ \\t\\n\\r]*';
"""
ARITHMETIC = r"""
start ::= sum;
sum ::= product | sum ('+' | '-') product;
product ::= power | product ('*' | '/') power;
power ::= atom | atom '^' power;
atom ::= #'[0-9]+' | #'[a-z]+' | '(' sum ')' | '-' atom;
"""
DYCK = "start ::= '' | start pair; pair ::= '(' start ')' | '[' start ']' | '{' start '}';"
MARKUP = r"""
start ::= element;
element ::= '<' name '>' content '</' name '>' | '<' name '/>';
content ::= '' | content (element | text);
name ::= #'[a-z]+';  text ::= #'[^<>]+';
"""
STATEMENTS = r"""
start ::= statement+;
statement ::= 'if' sp '(' ws e ')' ws statement ('else' sp statement)?
            | '{' ws statement* '}' ws | 'return' (sp e)? ';' ws | e ';' ws;
e ::= e op ws e | call | '(' ws e ')' ws | name ws | number ws;
call ::= name ws '(' ws (e (',' ws e)*)? ')' ws;
op ::= '+' | '-' | '==' | '<' | '&&';
name ::= #'[a-z_]+'; number ::= #'[0-9]+'; ws ::= #'[ \\n]*'; sp ::= #'[ \\n]+';
"""
# Long repetitions, of characters, of calls and in one another; permutations; tokens. With dialects.
COUNTED = [
    (r'root ::= "\"" [^"\\]{1,1000} "\"" | [a-z]{9,}', "gbnf"),
    ('root ::= "[" n ("," n){3,100} "]"\nn ::= ([a-f]{2,20} "x"){9,40} | "[" n "]"', "gbnf"),
    ("start ::= '{' permute_by!(', ', a, b?, a, c+) '}'; a ::= 'k' #'[0-9]{2,99}';"
     " b ::= 'b' start?; c ::= permute!('x', b, 'z');", "kbnf"),
    ('root ::= "a" <[3]>{2,90} ("c" root)? | <[40]> !<[3]>', "gbnf"),
    ('{"properties": {"a": {"maxLength": 99}, "b": {"items": {"type": "string"}, "maxItems": 30}}}',
     "json-schema"),
]  # fmt: skip
RIGHT, LEFT = "start ::= 'a' start | 'a';", "start ::= start 'a' | 'a';"

SAMPLES = {
    JSON: rb'{"a": [1, -2.5e3, {"b": null}], "c": "x\u00e9", "d": {}}',
    ARITHMETIC: b"-(1+x*y^2^z)/3-4",
    DYCK: b"([]{()})[[[]]]",
    MARKUP: b"<a>one<b/>two<c><d>x</d></c></a>",
    STATEMENTS: b"if (a == f(1, b)) { x; return y + 2; } else if (c) return; else z;",
}


def tree_of(text: str) -> Grammar:
    """A kbnf grammar, its exceptions resolved."""
    return resolve_exclusions(read_grammar(text, "kbnf"))


def lnf_of(text: str) -> Lnf:
    """The normal form without nullable symbols."""
    return normalize_without_nullable(tree_of(text))


def nullable_lnf_of(text: str) -> Lnf:
    """The normal form with nullable symbols."""
    return normalize(tree_of(text))


def recogniser(lnf: Lnf) -> Earley:
    """The recogniser over complete automata."""
    found = layout(lnf)
    dfas = stacked(found.nodes)
    return Earley(found.tables, dfas, len(dfas.table))


def random_grammar(rng: random.Random) -> str:
    """Two to four rules over a, b and c: ε, cycles, ambiguity and exceptions included."""
    names = ["start", "x", "y", "z"][: rng.randint(2, 4)]

    def expr(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            return rng.choice(["'a'", "'b'", "'c'", "'ab'", "''", "#'a+b?'", *names, *names])
        if kind < 0.6:
            return " ".join(expr(depth - 1) for _ in range(rng.randint(2, 3)))
        if kind < 0.8:
            return "(" + " | ".join(expr(depth - 1) for _ in range(rng.randint(2, 3))) + ")"
        if kind < 0.97:
            return f"({expr(depth - 1)}){rng.choice('?*+')}"
        return "except!('b', 2)"

    return "\n".join(f"{name} ::= {expr(2)} | {expr(1)};" for name in names)


def random_grammars(count: int, seed: int) -> Iterator[tuple[str, Lnf]]:
    """Random grammars that have a member, with their normal form without nullable symbols."""
    rng = random.Random(seed)
    while count:
        text = random_grammar(rng)
        try:
            lnf = lnf_of(text)
        except CheckError:
            continue
        count -= 1
        yield text, lnf


def random_text(rng: random.Random, earley: Earley, length: int) -> bytes:
    """A text that mostly follows what the recogniser would read next."""
    text = b""
    earley.truncate(0)
    for _ in range(length):
        fitting = [octet for octet in b"abc" if earley.next_symbols() >> octet & 1]
        octet = rng.choice(fitting if fitting and rng.random() < 0.9 else list(b"abc"))
        text += bytes([octet])
        if not earley.push(octet):
            break
    earley.truncate(0)
    return text


def random_counts(rng: random.Random, depth: int) -> str:
    """An expression with counts anywhere, and calls of ``root`` in brackets."""
    kind = rng.randrange(8 if depth else 3)
    if kind < 2:
        word = rng.choice(["a", "e", "t", "th", "he", "in", "an", " ", " t", "s"])
        return f'"{word}"'
    if kind == 2:
        return f"[{''.join(rng.sample('aehint s', 3))}]"
    left, right = random_counts(rng, depth - 1), random_counts(rng, depth - 1)
    if kind == 3:
        return f"( {left} | {right} )"
    if kind == 4:
        return f"( {left} ){rng.choice('*?')}"
    if kind < 7:
        least = rng.randrange(4)
        return f"( {left} ){{{least},{rng.choice(['', least + rng.randrange(1, 5)])}}}"
    inside = '"(" root ")"' if rng.random() < 0.15 else ""
    return f"( {left} {right} {inside} )"
