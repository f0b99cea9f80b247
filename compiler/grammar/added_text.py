"""Literals that hold the text of an added token, which is probably meant as that token.

"<tool_call>" [a-z]+   where a tokenizer has the added token <tool_call>

A tokenizer looks for its added tokens before anything else, so the text <tool_call> is that one
token to it: no other tokens spell it. A grammar that means the token names it (``Token``).
"""

import json
import re
from collections.abc import Iterator, Mapping

from ..automata import regex_ir as regex
from ..automata.graphs import descended
from ..diagnostics import CheckError, Diagnostic, Source, Span
from .tree import Expr, Grammar, Literal, Pattern, Token, walk

# The note on members that are written by an added token alone, if by any.
ADDED_TOKENS = "members in which the tokenizer finds one of its added tokens are left out"

# How a token is named in the dialects that can; by its id all that are not written so.
NAMES = {
    "gbnf": re.compile(r"<[^<>\[\r\n][^<>\r\n]*>"),
    "lark": re.compile(r"<[^<>\[\s][^<>\s]*>"),
}

# Of the styles of tools that write the same, one by text and one by tokens: the other.
_OTHERS = {'"hermes"': '"style": "qwen"', '"qwen"': '"style": "hermes"'}


def other_style(source: Source, span: Span) -> str:
    """Where a list of tools says its style: the style that writes the same, by tokens for one of
    text, by text for one of tokens; empty elsewhere, and if there is none."""
    is_tools = source.dialect == "tools"
    return _OTHERS.get(source.text[span.start : span.end], "") if is_tools else ""


def added_text(grammar: Grammar, added: Mapping[int, str]) -> Iterator[tuple[str, Diagnostic]]:
    """Each literal with the text of a token, the first one in it, with the rule it stands in
    (empty: outside the rules).

    ``added``: id to text of the tokens that are looked for.
    """
    ids = {text: i for i, text in sorted(added.items(), reverse=True) if text}
    if not ids:
        return
    # The longest of those that begin at a place, as tokenizers look for them.
    names = re.compile("|".join(map(re.escape, sorted(ids, key=len, reverse=True))))
    bodies = [(rule.name, rule.terminal, rule.expressions) for rule in grammar.rules]
    bodies += [("", True, tuple(walk(body))) for body in grammar.ignored]
    shortest, styles = min(map(len, ids)), set[Span]()
    for rule, is_terminal, expressions in bodies:
        for expr in expressions:
            if expr.span in styles or (isinstance(expr, Literal) and len(expr.data) < shortest):
                continue
            for text in _texts(expr):
                if found := names.search(text):
                    if other_style(grammar.source, expr.span):
                        styles.add(expr.span)  # Of whose texts one is enough.
                    yield rule, _diagnostic(grammar, expr, text, found, ids, is_terminal)
                    break


def unspellable(grammar: Grammar, added: Mapping[int, str], message: str) -> CheckError:
    """The error of a grammar that no canonical token sequence spells a member of: the literals
    that hold an added token, and ``message``."""
    found = [diagnostic for _, diagnostic in added_text(grammar, added)]
    return CheckError(grammar.source, [*found, Diagnostic(message)])


def _texts(expr: Expr) -> Iterator[str]:
    """The texts that stand in a terminal as they are."""
    if isinstance(expr, Literal):
        yield expr.data.decode("utf-8", "replace")
    elif isinstance(expr, Pattern):
        for node in descended(expr.node, regex.parts_of):
            if isinstance(node, regex.Lit):
                yield node.data.decode("utf-8", "replace")


def _diagnostic(
    grammar: Grammar,
    expr: Expr,
    text: str,
    found: re.Match[str],
    ids: Mapping[str, int],
    is_terminal: bool,
) -> Diagnostic:
    name, dialect = found[0], grammar.source.dialect
    start = grammar.source.text.find(name, expr.span.start, expr.span.end)
    span = expr.span if start < 0 else Span(start, start + len(name))
    what = "literal" if isinstance(expr, Literal) else "regex"
    other = other_style(grammar.source, expr.span)
    if other:
        what = "style"
    message = (
        f"this {what} holds the text of the added token {name}, which the tokenizer reads as that "
        f"one token"
    )
    names = NAMES.get(dialect)
    number = ids[name]
    by_name = (names or NAMES["gbnf"]).fullmatch(name)
    token = Token(name if by_name else None, ((number, number),), False, span)
    if dialect == "structural-tag":
        named = json.dumps({"type": "token", "token": name}, ensure_ascii=False)
        help_ = f"tags begin and end with a token as {named}"
    elif other:
        help_ = f"{other} writes it as that token"
    elif names is None:
        help_ = (
            f"{dialect} has no token terminals: in gbnf (constrain convert --to gbnf) or lark "
            f"write {token.text}"
        )
    elif what == "regex":
        help_ = f"take it out of the regex and write {token.text}"
    else:
        parts = (text[: found.start()], token.text, text[found.end() :])
        pasted = " ".join(
            part if place == 1 else json.dumps(part, ensure_ascii=False)
            for place, part in enumerate(parts)
            if part
        )
        help_ = f"in place of the literal write {pasted}"
    if is_terminal and names is not None:
        help_ += " in a rule, since terminals have texts alone"
    return Diagnostic(message, span, help_)
