"""Rules of JSON texts in llama.cpp's dialect."""

import json

_BASICS = r"""
ws ::= [ \t\n\r]*
char ::= [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]*)
number ::= integer ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
boolean ::= "true" | "false"
value ::= string | number | boolean | "null" | object | array
object ::= "{" ws (string ws ":" ws value (ws "," ws string ws ":" ws value)*)? ws "}"
array ::= "[" ws (value (ws "," ws value)*)? ws "]"
"""


def chain(name: str, keys: list[tuple[str, str]], tail: str = "") -> list[str]:
    """Rules of an object of optional properties; ``tail``: what may come after them."""
    rules = [f'{name} ::= "{{" ws first0? ws "}}"']
    last = len(keys)
    for i, (key, kind) in enumerate(keys):
        further = f" | first{i + 1}" if i + 1 < last or tail else ""
        rest = f" rest{i + 1}" if i + 1 < last or tail else ""
        rules.append(f"first{i} ::= {pair(key, kind)}{rest}{further}")
        if i:
            skip = f" | rest{i + 1}" if rest else " | "
            rules.append(f"rest{i} ::= {comma(key, kind)}{rest}{skip}")
    if tail:
        rules += [f"first{last} ::= {tail}", f'rest{last} ::= (ws "," ws {tail})?']
    elif last > 1:
        rules[-1] = f"rest{last - 1} ::= ({comma(*keys[-1])})?"
    return rules


def pair(key: str, kind: str) -> str:
    """A property with its value."""
    return f'{quoted(quoted_text(key))} ws ":" ws {kind}'


def comma(key: str, kind: str) -> str:
    """A property after others."""
    return f'ws "," ws {pair(key, kind)}'


def quoted_text(text: str) -> str:
    """A string as JSON writes it."""
    return json.dumps(text)


def quoted(text: str) -> str:
    """A literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def with_basics(*rules: str) -> str:
    """A grammar: these rules, and those of JSON's values."""
    return "\n".join(rules) + _BASICS
