"""What messages about Lark's grammars call things, and how to mend common mistakes."""

from .ebnf import USUAL_TOKENS

_ONE_LINE = "a rule goes on in the next line with '|', or in brackets"

EXPECTED: dict[str, str] = {
    **USUAL_TOKENS,
    "NAME": "a name",
    "MODIFIERS": "'?' or '!'",
    "PRIORITY": "a priority",
    "COLON": "':'",
    "ARROW": "'->'",
    "RANGE": "'..'",
    "TIMES": "a count ~m..n",
    "REGEX": "a regex /…/",
    "TOKEN": "a token <…>",
    "IGNORE": "%ignore",
    "IMPORT": "%import",
    "DECLARE": "%declare",
    "PATH": "a path such as common.WS",
}

HINTS: dict[str, str] = {
    "COLON": "a rule begins on a line of its own",
    "NEWLINE": "a rule is written name: …",
    "BAR": _ONE_LINE,
    "STRING": _ONE_LINE,
    "REGEX": _ONE_LINE,
    "ROUND_OPEN": _ONE_LINE,
    "ROUND_CLOSE": "no '(' is open here",
    "SQUARE_CLOSE": "no '[' is open here",
    "POSTFIX": "'?', '*' and '+' stand behind what they repeat",
    "TIMES": "a count stands behind what it repeats",
    "COUNT": "a count stands behind what it repeats",
    "ARROW": "one alias stands at the end of an alternative",
}

_NOT_SUPPORTED = "this is not supported: write what it stands for as rules"

# Regexes of what people write by mistake, what to call it (by default the text itself), and a
# help line.
MISTAKES: tuple[tuple[str, str, str], ...] = (
    (
        r'"(?!(\\[^\r\n]|[^"\\\r\n])*")',
        "string without an end",
        r'it ends with " on the same line; a line break is \n',
    ),
    (r"//?(?=[ \t]*[\r\n])", "regex without an end", "it ends with / and its flags"),
    (r"/\*", "", "comments begin with '//' or '#'"),
    (r"/(?!(\\[^\r\n]|[^/\\\r\n])+/)", "regex without an end", r"it ends with /; write \/ for '/'"),
    (r"%(json|regex|lark)\b", "", _NOT_SUPPORTED),
    (r"%llguidance\b", "options in %llguidance", "only the empty %llguidance {} is supported"),
    (r"%\w*", "", "the statements are %ignore, %import and %declare"),
    (r"\{", "template", "templates are not supported: write a rule for each use"),
    (r"\[", "", "attributes in [ ] behind a rule's name are not supported"),
    (r"\.[A-Za-z]\w*", "", "a priority is a whole number, as in name.2"),
    (r"&|~(?![ \t]*[0-9])", "", "'&' and '~' (and, not) are not supported: write one regex"),
    ("@", "", "other grammars cannot be referred to: write the rules here"),
    ("'", "", 'strings stand in double quotes: "…"'),
    (";", "", "rules do not end with ';' here: a line break ends a rule"),
    (":?:?=", "", "a rule is written name: …"),
    (",", "", "items stand side by side, without ','"),
    ("<", "token without an end", "it ends with '>' and has no spaces"),
)
