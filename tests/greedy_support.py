"""Lark grammars read by longest matches, and random ones."""

import random
from collections.abc import Iterator

import numpy as np

from constrain.artifacts.greedy_masks import GreedyMasks
from constrain.artifacts.greedy_memo import GreedyMemo
from constrain.artifacts.trie import Trie
from constrain.artifacts.vocabulary import Vocabulary
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.parsing.contextual_lexer import greedy_tables
from constrain.compiler.parsing.greedy_plain import GreedyPlain

JSON = r"""
start: value
?value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" [pair ("," pair)*] "}"
pair: STRING ":" value
array: "[" [value ("," value)*] "]"
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
%ignore /[ \t\n\r]+/
"""
CODE = r"""
start: item+
item: type NAME "(" [param ("," param)*] ")" block | declaration
param: type NAME
declaration: type NAME ["=" e] ("," NAME ["=" e])* ";"
type: ("int" | "char" | "void") "*"*
block: "{" statement* "}"
statement: declaration | block | ";" | e ";" | "if" "(" e ")" statement ["else" statement]
  | "while" "(" e ")" statement | "return" [e] ";"
e: unary "=" e | or
or: and | or "||" and
and: rel | and "&&" rel
rel: sum | rel ("<" | ">" | "<=" | ">=" | "==" | "!=") sum
sum: product | sum ("+" | "-") product
product: unary | product ("*" | "/" | "%") unary
unary: ("-" | "!" | "*" | "&" | "++" | "--") unary | postfix
postfix: atom | postfix ("++" | "--") | postfix "[" e "]" | postfix "(" [e ("," e)*] ")"
  | postfix ("." | "->") NAME
atom: NAME | NUMBER | STRING | "(" e ")"
NAME: /[A-Za-z_][A-Za-z_0-9]*/
NUMBER: /[0-9]+(\.[0-9]+)?/
STRING: /"([^"\\\n]|\\.)*"/
%ignore /[ \t\n]+/
%ignore /\/\/[^\n]*/
"""
SAMPLES = {
    JSON: '{"a": [1, -2.5e3, {"b": null}], "c": "x\\u00e9 é",\n "d": {}, "e": [[[{}]]]}',
    CODE: "int f(int a, char *b) { // note\n  int x = a+1;\n  if (a <= b[x]) return f(a, b)"
    "->c;\n  else while (!x) { x = -a * (2.5 - x)++; iff(); }\n}\nint y;",
}

_PATTERNS = ['"a"', '"b"', '"ab"', '"c"', '"abc"', "/a+/", "/[ab]+/", "/[a-c]+/", "/a*b/"]
_PATTERNS += ["/b?c/", "/(ab)+/", "/a*/", "/c+a?/"]


def random_lark(rng: random.Random) -> str:
    """One to three rules over overlapping terminals, priorities, keywords and ignored text."""
    terminals = ["A", "B", "C", "D"][: rng.randint(2, 4)]
    rules = ["start", "x", "y"][: rng.randint(1, 3)]

    def expr(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.35:
            return rng.choice([*terminals, *terminals, *rules, '"a"', '"b"', '"cc"'])
        if kind < 0.65:
            return " ".join(expr(depth - 1) for _ in range(rng.randint(2, 3)))
        if kind < 0.8:
            return "(" + " | ".join(expr(depth - 1) for _ in range(rng.randint(2, 3))) + ")"
        return f"({expr(depth - 1)}){rng.choice('?*+')}"

    lines = [f"{rule}: {expr(2)} | {expr(1)}" for rule in rules]
    for name in terminals:
        lines.append(f"{name}{rng.choice(['', '', '.1', '.2'])}: {rng.choice(_PATTERNS)}")
    for _ in range(rng.choice([0, 1, 1, 2])):
        lines.append("%ignore " + rng.choice(['" "', "/ +/", "/[ c]+/", "/#a*/", terminals[0]]))
    return "\n".join(lines) + "\n"


def random_larks(count: int, seed: int) -> Iterator[tuple[str, GreedyPlain]]:
    """Random grammars that have a member, with their oracle."""
    rng = random.Random(seed)
    while count:
        text = random_lark(rng)
        try:
            plain = plain_of(text)
        except CheckError:
            continue
        count -= 1
        yield text, plain


def plain_of(text: str) -> GreedyPlain:
    """The oracle of a Lark grammar."""
    return GreedyPlain(read_grammar(text, "lark"))


def vocabulary_of(tokens: list[bytes]) -> Vocabulary:
    """These tokens and one that ends the text."""
    lengths = np.cumsum([0, *map(len, tokens), 0], dtype=np.int64)
    kinds = np.array([0] * len(tokens) + [1], dtype=np.uint8)
    return Vocabulary(np.frombuffer(b"".join(tokens), dtype=np.uint8), lengths, kinds)


def masks_of(text: str, tokens: list[bytes], memo: GreedyMemo | None = None) -> GreedyMasks:
    """The masks of a Lark grammar over these tokens and one that ends the text."""
    vocabulary = vocabulary_of(tokens)
    tables = greedy_tables(read_grammar(text, "lark"))
    trie = Trie.from_vocabulary(vocabulary)
    rest = vocabulary, [len(tokens)], len(tokens) + 1
    return GreedyMasks(tables, lambda: trie, *rest, memo=memo)
