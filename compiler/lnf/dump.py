"""Print a normal form as text: one production a line, with the rules that it came from."""

from constrain.artifacts.errors import visible

from ..automata.regex_ir import TokenTerminal
from .form import Lnf, Symbol


def lnf_text(lnf: Lnf) -> str:
    """Productions in order; texts in quotes, automata as ``#regex`` with their number."""
    lines = [f"start {lnf.names[lnf.start]}"]
    for production in lnf.productions:
        body = " ".join(_symbol(lnf, symbol) for symbol in production.body) or "ε"
        rules = sorted({rule for rule, _, _ in production.origins})
        own = lnf.owners[production.head]
        behind = f"   ; {', '.join(rules)}" if rules != [own] else ""
        lines.append(f"{lnf.names[production.head]} ::= {body}{behind}")
    return "\n".join(map(visible, lines)) + "\n"


def _symbol(lnf: Lnf, symbol: Symbol) -> str:
    if symbol >= 0:
        return lnf.names[symbol]
    content = lnf.terminals[~symbol].content
    if isinstance(content, bytes):
        text = content.decode("utf-8", "backslashreplace")
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(content, TokenTerminal):
        return lnf.tokens[content.index].text
    start, end = min((s, e) for _, s, e in lnf.terminals[~symbol].origins)
    return f"#<{lnf.source.text[start:end]}>"
