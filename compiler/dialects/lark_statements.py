"""Lark's statements (%ignore, %import, %declare and others), and the wording of its messages.

``LarkBuilder`` in ``lark.py`` reads rules and terminals; what is here is the part of it that reads
statements and names, and the tables that say what messages call tokens and how to mend common
mistakes.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from constrain.artifacts.container.regular import regular

from ..automata.folding import fold
from ..diagnostics import Source, Span, closest
from ..grammar.tree import Expr, Reference, Rule, children, walk, with_children
from ..limits import MOST_GRAMMAR_BYTES, Limits
from .builder import USUAL_TOKENS, Token, Unescaped, pattern_of, token_of
from .lark_json import JsonBuilder
from .lark_library import COMMON
from .regex import parse_pattern

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
    "EQUALS": "'='",
    "AND": "'&'",
    "NOT": "'~'",
    "NUMBER": "a number",
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

_LLGUIDANCE = re.compile(r"^[ \t]*%llguidance\b", re.MULTILINE)

_NOT_SUPPORTED = "this is not supported: write what it stands for as rules"

# Regexes of what people write by mistake, what to call it (by default the text itself), and a
# help line.
MISTAKES: tuple[tuple[str, str, str], ...] = (
    (
        r'"(?!(?:\\[^\r\n]|[^"\\\r\n]+)*+")',
        "string without an end",
        r'it ends with " on the same line; a line break is \n',
    ),
    (r"//?(?=[ \t]*[\r\n])", "regex without an end", "it ends with / and its flags"),
    (r"/\*", "", "comments begin with '//' or '#'"),
    (
        r"/(?!(?:\\[^\r\n]|[^/\\\r\n]+)++/)",
        "regex without an end",
        r"it ends with /; write \/ for '/'",
    ),
    (r"%lark\b", "", _NOT_SUPPORTED),
    (r"%llguidance\b", "options in %llguidance", "only the empty %llguidance {} is supported"),
    (r"%\w*", "", "the statements are %ignore, %import and %declare"),
    (r"\.[A-Za-z]\w*", "", "a priority is a whole number, as in name.2"),
    ("@", "", "other grammars cannot be referred to: write the rules here"),
    ("'", "", 'strings stand in double quotes: "…"'),
    (";", "", "rules do not end with ';' here: a line break ends a rule"),
    (":?:?=", "", "a rule is written name: …"),
    (
        "(?<=:):",
        "'::'",
        "parameters of rules (name::value) are not supported: write a rule for each value",
    ),
    (",", "", "items stand side by side, without ','"),
    ("<", "token without an end", "it ends with '>' and has no spaces"),
)


# Files that import each other in a row: each is read inside the one before.
_MOST_FILES_DEEP = 20

# Names that a file has not, for which similar ones are looked up.
_MOST_SUGGESTIONS = 50

_STAGE = "importing grammars"


@dataclass(frozen=True, slots=True)
class _File:
    """What a grammar that is imported defines, by name; whether it has a JSON Schema inside."""

    rules: Mapping[str, Rule]
    has_schema: bool


class StatementsBuilder(JsonBuilder):
    """The part of ``LarkBuilder`` that reads statements and names."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.declared: set[str] = set()
        self.imported: set[tuple[str, str]] = set()
        self.mixed: set[str] = set()
        self.elsewhere: set[str] = set()
        # The files that are being imported, from the first, by their real paths.
        self.files: tuple[str, ...] = ()
        # Those that were, by path; the builders of all files have it in common.
        self.known_files: dict[Path, _File] = {}
        self._unknown = 0
        # llguidance's regexes are those of Rust, Lark's those of Python.
        self.has_rust_regexes = _LLGUIDANCE.search(source.text) is not None

    def ignore(self, items: list[Any]) -> None:
        """%ignore choice"""
        keyword, body = items
        if body is None:
            self.report("%ignore needs a terminal behind it", keyword.span)
        else:
            self.ignored.append(body)

    def declare(self, items: list[Token]) -> None:
        """%declare NAME …"""
        self.declared.update(items[1:])

    def override(self, items: list[Token | Rule]) -> None:
        """%override and %extend change what another file defines."""
        hint = "write the whole definition, and import the rest by name"
        self.report(f"{items[0]} is not supported", items[0].span, hint)

    def options(self, items: list[Token]) -> None:
        """%llguidance {}, which says which program the grammar is for."""
        self.follows_all = True

    def imports(self, items: list[Token]) -> list[Rule]:
        """%import common.NAME, %import common.NAME -> NAME, %import common (NAME, NAME); with a
        point before it from a file beside this one"""
        path, span = re.sub(r"\s", "", items[1]), items[1].span
        names = [token for token in items[2:] if token.type == "NAME"]
        library, _, name = path.partition(".")
        if path.startswith("."):
            return self._from_a_file(path, span, names, is_list=items[-1].type == "ROUND_CLOSE")
        if library != "common":
            hint = "the one library that is known is common"
            self.report(f"the library {library!r} is not known", span, hint)
        elif name and items[-1].type == "NAME":
            return self._imported([(name, span, names[0])])
        elif name and len(items) == 2:
            place = Span(span.end - len(name), span.end)
            token = token_of("NAME", name, *place)
            return self._imported([(name, place, token)])
        elif not name and names:
            return self._imported([(str(token), token.span, token) for token in names])
        else:
            hint = "write %import common.NAME, or %import common (NAME, NAME)"
            self.report("one path names one terminal", span, hint)
        return []

    def _from_a_file(
        self, path: str, span: Span, names: list[Token], *, is_list: bool
    ) -> list[Rule]:
        """The rules that a grammar beside this one defines, and those that they use."""
        parts = path[1:].split(".")
        if not is_list:
            # The last part is the one name, which an arrow gives another.
            start = span.end - len(parts[-1])
            own = token_of("NAME", parts.pop(), start, span.end)
            wanted = {str(own): names[0] if names else own}
        else:
            wanted = {str(token): token for token in names}
        # What that file would define is not missing here.
        self.elsewhere.update(map(str, wanted.values()))
        if self.import_folder is None or "" in parts or not parts:
            hint = "copy the definitions from that file into this one"
            if set(wanted) <= set(COMMON):
                hint += f", or for Lark's own write %import common.{next(iter(wanted))}"
            if self.import_folder is None:
                self.report("imports from other files are not supported here", span, hint)
            else:
                self.report("this names no file", span, "write %import .file.NAME")
            return []
        file = self.import_folder.joinpath(*parts).with_suffix(".lark")
        found = self.known_files.get(file) or self._read(file, span)
        if found is None:
            return []
        self.known_files[file] = found
        if found.has_schema:
            self.report(f"{file.name} has a JSON Schema inside, which is not imported", span)
        return self._rules_of(file, found.rules, span, wanted)

    def _read(self, file: Path, span: Span) -> _File | None:
        """What a file defines; None if it cannot be read, which is reported. Raises the errors of
        that file."""
        from .parse import parse

        real = os.path.realpath(file)
        if real in self.files:
            self.report(f"{file.name} imports itself, by way of others or not", span)
            return None
        if len(self.files) == _MOST_FILES_DEEP:
            self.report(f"more than {_MOST_FILES_DEEP} files import each other in a row", span)
            return None
        try:
            with regular(file, below=self.import_root).open("rb") as stream:
                data = stream.read(MOST_GRAMMAR_BYTES + 1)
            text = data.decode("utf-8").removeprefix("\ufeff")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            self.report(f"{file} cannot be read: {reason}", span)
            return None
        if len(data) > MOST_GRAMMAR_BYTES:
            most = f"more than {MOST_GRAMMAR_BYTES:,} bytes, the most that a grammar has"
            self.report(f"{file} cannot be read: it has {most}", span)
            return None
        other = type(self)(Source(text, str(file), self.source.dialect), self.limits)
        other.import_folder, other.files = file.parent, (*self.files, real)
        other.import_root = self.import_root
        other.known_files = self.known_files
        rules = {rule.name: rule for rule in parse(other)}
        return _File(rules, bool(other.embedded))

    def _rules_of(
        self, file: Path, rules: Mapping[str, Rule], span: Span, wanted: Mapping[str, Token]
    ) -> list[Rule]:
        """The rules of another file, under the names that they get here; what they use has the
        file's name before its own, as in Lark."""
        for name, token in wanted.items():
            if name not in rules:
                self._unknown += 1
                close = closest(name, rules) if self._unknown <= _MOST_SUGGESTIONS else None
                some = ", ".join(islice(rules, _MOST_SUGGESTIONS))
                hint = f"did you mean {close!r}?" if close else f"it has {some or 'no rules'}"
                self.report(f"{file.name} has no {name!r}", token.span, hint)
        pending = [name for name in wanted if name in rules]
        names = {name: str(wanted[name]) for name in pending}
        while pending:
            for use in rules[pending.pop()].uses:
                if use.name in rules and use.name not in names:
                    names[use.name] = f"{file.stem}__{use.name}"
                    pending.append(use.name)

        def moved(expr: Expr, parts: list[Expr]) -> Expr:
            changed = with_children(expr, tuple(parts))
            if isinstance(changed, Reference):
                return replace(changed, name=names.get(changed.name, changed.name), span=span)
            return replace(changed, span=span)

        found = []
        for name, new in names.items():
            self.limits.check_resources(_STAGE, (new,))
            if (str(file), new) not in self.imported:
                self.imported.add((str(file), new))
                body = fold(rules[name].body, children, moved)
                place = wanted[name].span if name in wanted else span
                found.append(replace(rules[name], name=new, body=body, span=span, name_span=place))
        return found

    def _imported(self, wanted: list[tuple[str, Span, Token]]) -> list[Rule]:
        """The terminals ``wanted`` from the library, each with the name that it gets."""
        rules = []
        for name, span, new in wanted:
            if name not in COMMON:
                close = closest(name, COMMON)
                hint = f"did you mean {close!r}?" if close else f"it has {', '.join(COMMON)}"
                self.report(f"the library common has no {name!r}", span, hint)
            elif not new.isupper():
                self.report(f"the terminal {name!r} needs a name in upper case", new.span)
            elif (name, str(new)) not in self.imported:
                self.imported.add((name, str(new)))
                text = COMMON[name]
                origins = (span.start,) * (len(text) + 1)
                pattern = parse_pattern(Unescaped(text, origins), self.limits, self.diagnostics)
                body = pattern_of(pattern, text, span)
                rules.append(Rule(str(new), new.span, body, span, terminal=True))
        return rules

    def report_undefined(self, rules: list[Rule]) -> None:
        """Names that nothing here defines, but something elsewhere would."""
        defined = {rule.name for rule in rules} | self.elsewhere | self.given
        for body in [*(rule.body for rule in rules), *self.ignored]:
            for expr in walk(body):
                if not isinstance(expr, Reference) or expr.name in defined:
                    continue
                if expr.name in self.declared:
                    message = f"terminal {expr.name!r} is declared, but nothing defines it"
                    hint = (
                        "what a lexer in Python would make cannot be followed: write a regex, or "
                    )
                    hint += f"say what it stands for: --define '{expr.name}=REGEX'"
                elif expr.name in COMMON:
                    message = f"terminal {expr.name!r} is not defined"
                    hint = f"write %import common.{expr.name}"
                else:
                    continue
                defined.add(expr.name)
                self.report(message, expr.span, hint)

    def named(self, token: Token) -> Token:
        """A name, whose case says whether it is a rule's or a terminal's."""
        if not token.islower() and not token.isupper() and token not in self.mixed:
            self.mixed.add(str(token))
            hint = "lower case names a rule, upper case a terminal"
            self.report(f"the name {str(token)!r} mixes cases", token.span, hint)
        return token
