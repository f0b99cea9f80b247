"""Lark's statements (%ignore, %import, %declare and others), and the wording of its messages.

``LarkBuilder`` in ``lark.py`` reads rules and terminals; what is here is the part of it that reads
statements and names, and the tables that say what messages call tokens and how to mend common
mistakes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic, Edit, Fix, Source, Span, closest
from ..grammar import tree
from ..limits import Limits
from .builder import USUAL_HINTS, USUAL_TOKENS, Token, Unescaped, nothing_at, token_of
from .lark_json import JsonBuilder
from .lark_library import COMMON, LIBRARIES, library_folder
from .regex import parse_pattern

_ONE_LINE = "a rule goes on in the next line with '|', or in brackets"

EXPECTED: dict[str, str] = USUAL_TOKENS | {
    "NAME": "a name",
    "RANGE": "'..'",
    "REGEX": "a regex /…/",
    "TOKEN": "a token <…>",
    "IMPORT": "%import",
    "EQUALS": "'='",
}
HINTS: dict[str, str] = USUAL_HINTS | {
    "COLON": "a rule begins on a line of its own",
    "NEWLINE": "a rule is written name: …",
    **dict.fromkeys(("BAR", "STRING", "REGEX", "ROUND_OPEN"), _ONE_LINE),
    "ROUND_CLOSE": "no '(' is open here",
    "SQUARE_CLOSE": "no '[' is open here",
    "ARROW": "one alias stands at the end of an alternative",
}

_LLGUIDANCE = re.compile(r"^[ \t]*%llguidance\b", re.MULTILINE)

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
    (r"%llguidance\b", "options in %llguidance", "only the empty %llguidance {} is supported"),
    (r"%\w*", "", "the statements are %ignore, %import and %declare"),
    (r"\.[A-Za-z]\w*", "", "a priority is a whole number, as in name.2"),
    ("@", "", "a grammar of a request is called @name"),
    ("'", "", 'strings stand in double quotes: "…"'),
    (";", "", "rules do not end with ';' here: a line break ends a rule"),
    (":?:?=", "", "a rule is written name: …"),
    ("::", "", "a parameter is _, a number or a function such as set_bit(0), without a blank"),
    (",", "", "items stand side by side, without ','"),
    ("<", "token without an end", "it ends with '>' and has no spaces"),
)


# Names that a file has not, for which similar ones are looked up.
_MOST_SUGGESTIONS = 50

_STAGE = "importing grammars"

# What grammars call the terminals that an Indenter makes, and what --define says of it.
_LINES = (("_INDENT", "_DEDENT"), ("INDENT", "DEDENT"))
_SETTINGS = {"tab_len": 8, "widest_indent": 64}


class Change(NamedTuple):
    """``keyword``, which is ``%override`` or ``%extend``, and the ``rule`` after it."""

    keyword: str
    rule: tree.Rule


@dataclass(frozen=True, slots=True)
class _File:
    """What a grammar that is imported defines, by name, and declares; whether it has a JSON Schema
    inside."""

    rules: Mapping[str, tree.Rule]
    declared: frozenset[str]
    has_schema: bool


def wanted_of(items: list[Token]) -> tuple[list[str], bool, list[tuple[Token, Token]]]:
    """Of the tokens of an import: the parts of the file's path, none where it names no file;
    whether it goes from beside this file; and each name there with the one that it gets here."""
    path, span = re.sub(r"\s", "", items[1]), items[1].span
    names = [token for token in items[2:] if token.type == "NAME"]
    is_relative, parts = path.startswith("."), path.lstrip(".").split(".")
    pairs = [(token, token) for token in names]
    if items[-1].type != "ROUND_CLOSE":
        # The last part is the one name, which an arrow gives another.
        own = token_of("NAME", parts.pop(), span.end - len(path.rpartition(".")[2]), span.end)
        pairs = [(own, names[0] if names else own)]
    return [] if path.startswith("..") else parts, is_relative, pairs


class StatementsBuilder(JsonBuilder):
    """The part of ``LarkBuilder`` that reads statements and names."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.declared: set[str] = set()
        self.imported: set[tuple[str, str]] = set()
        self.mixed: set[str] = set()
        self.elsewhere: set[str] = set()
        # Those that were, by path; the builders of all files have it in common.
        self.known_files: dict[Path, _File] = {}
        self._unknown = 0
        # Whether a rule has a priority, which is noted once.
        self.has_priorities = False
        # llguidance's regexes are those of Rust, Lark's those of Python.
        self.has_rust_regexes = _LLGUIDANCE.search(source.text) is not None

    def ignore(self, items: list[Any]) -> None:
        """%ignore choice"""
        keyword, body = items
        if body is None:
            self.report("%ignore needs a terminal after it", keyword.span)
        else:
            self.ignored.append(body)

    def declare(self, items: list[Token]) -> None:
        """%declare NAME …"""
        self.declared.update(items[1:])

    def rules_of_lines(self, rules: list[tree.Rule]) -> list[tree.Rule]:
        """INDENT and DEDENT, where they are declared, used, and not defined from outside: they
        match nothing, and say how lines begin."""
        names = {rule.name for rule in rules}.union(self.definitions)
        uses = {use.name: use.span for rule in rules for use in rule.uses if use.name not in names}
        for pair in _LINES:
            spans = [uses[name] for name in pair if name in uses]
            if self.declared.issuperset(pair) and spans:
                numbers = [self._setting(name, usual) for name, usual in _SETTINGS.items()]
                self.indentation = tree.Indentation(*pair, *numbers)
                said = ", ".join(f"{k}={n}" for k, n in zip(_SETTINGS, numbers, strict=True))
                self.notes.append(Diagnostic(f"lines are indented by {said}", spans[0]))
                nothing, place = nothing_at(spans[0].start), spans[0]
                return [tree.Rule(name, place, nothing, place, terminal=True) for name in pair]
        return []

    def _setting(self, name: str, usual: int) -> int:
        """A number that --define gives."""
        said = self.definitions.get(name, str(usual))
        self.settings.add(name)
        if not re.fullmatch("[1-9][0-9]{0,2}", said):
            self.report(f"--define {name}={said}: expected a number from 1 to 999", Span(0, 0))
            return usual
        return int(said)

    def override(self, items: list[Any]) -> Change | None:
        """%override rule and %extend rule"""
        keyword, rule = items
        if rule is None:
            hint = "write the whole template under another name"
            self.report(f"{keyword} of a template is not supported", keyword.span, hint)
            return None
        return Change(str(keyword), rule)

    def changed(self, rules: list[tree.Rule], changes: list[Change]) -> list[tree.Rule]:
        """The rules with other bodies, or with more alternatives."""
        places = {rule.name: number for number, rule in enumerate(rules)}
        for keyword, new in changes:
            if new.name not in places:
                message = f"{keyword}: there is no {new.name!r} to change"
                self.report(message, new.name_span, "import it, or write the rule without it")
                continue
            old = rules[places[new.name]]
            if keyword == "%extend":
                options = (old.body, new.body)
                new = replace(old, body=tree.Choice(options, old.body.span))
            rules[places[new.name]] = new
        return rules

    def options(self, items: list[Token]) -> None:
        """%llguidance {}, which says which program the grammar is for."""
        self.follows_all = True

    def imports(self, items: list[Token]) -> list[tree.Rule]:
        """%import path.NAME, %import path.NAME -> NAME, %import path (NAME, NAME); a path with a
        point before it is one beside this file"""
        span = items[1].span
        parts, is_relative, pairs = wanted_of(items)
        wanted = {str(own): alias for own, alias in pairs}
        # What that file would define is not missing here.
        self.elsewhere.update(map(str, wanted.values()))
        if not parts:
            hint = "write %import common.NAME, %import .file.NAME or %import file (NAME, NAME)"
            self.report("this names no file", span, hint)
            return []
        place = self._place(parts, is_relative=is_relative)
        if place is None:
            if parts == ["common"] and not is_relative:
                return self._imported(span, wanted)
            self._report_missing(parts, span, wanted, is_relative=is_relative)
            return []
        file, root = place
        found = self.known_files.get(file) or self._read(file, root, span)
        if found is None:
            return []
        self.known_files[file] = found
        self.declared |= found.declared
        if found.has_schema:
            self.report(f"{file.name} has a JSON Schema inside, which is not imported", span)
        return self._rules_of(file, found.rules, span, wanted)

    def _place(self, parts: list[str], *, is_relative: bool) -> tuple[Path, Path] | None:
        """The file of a path, and the folder that it must not lead out of: beside this one, below
        one that was named, or Lark's own. None where there is none."""
        path = Path(*parts).with_suffix(".lark")
        places = self.places(str(path), is_beside=is_relative)
        if not is_relative and len(parts) == 1 and parts[0] in LIBRARIES:
            places.append((library_folder() / f"{parts[0]}.lark", library_folder()))
        # Where just one place is possible, its reader says why it cannot be read.
        sure = places if is_relative and len(places) == 1 else []
        return next((place for place in places if place[0].exists()), next(iter(sure), None))

    def _report_missing(
        self, parts: list[str], span: Span, wanted: Mapping[str, Token], *, is_relative: bool
    ) -> None:
        """No folder has such a file."""
        name = ".".join(parts)
        if not is_relative:
            known = ", ".join(("common", *LIBRARIES))
            hint = f"the libraries are {known}; --include DIR says where others are"
            self.report(f"the library {name!r} is not known", span, hint)
            return
        hint = "copy the definitions from that file into this one, or say --include DIR"
        if set(wanted) <= set(COMMON):
            hint += f"; for Lark's own write %import common.{next(iter(wanted))}"
        message = "imports from other files are not supported here"
        if self.import_folder is not None:
            message = f"no folder has {'/'.join(parts)}.lark"
        self.report(message, span, hint)

    def _read(self, file: Path, root: Path, span: Span) -> _File | None:
        """What a file below ``root`` defines; None if it cannot be read, which is reported. Raises
        the errors of that file."""
        from .parse import parse

        other = self.opened(file, root, span)
        if other is None:
            return None
        other.known_files = self.known_files
        rules = {rule.name: rule for rule in parse(other)}
        return _File(rules, frozenset(other.declared), bool(other.embedded))

    def _rules_of(
        self, file: Path, rules: Mapping[str, tree.Rule], span: Span, wanted: Mapping[str, Token]
    ) -> list[tree.Rule]:
        """The rules of another file, under the names that they get here; what they use has the
        file's name before its own, as in Lark."""
        for name, token in wanted.items():
            if name not in rules:
                self._unknown += 1
                close = closest(name, rules) if self._unknown <= _MOST_SUGGESTIONS else None
                some = ", ".join(islice(rules, _MOST_SUGGESTIONS)) or "no rules"
                self._report_unknown(file.name, name, token.span, close, some)
        pending = [name for name in wanted if name in rules]
        names = {name: str(wanted[name]) for name in pending}
        while pending:
            for use in rules[pending.pop()].uses:
                if use.name in rules and use.name not in names:
                    names[use.name] = f"{file.stem}__{use.name}"
                    pending.append(use.name)

        found = []
        for name, new in names.items():
            self.limits.check_resources(_STAGE, (new,))
            if (str(file), new) not in self.imported:
                self.imported.add((str(file), new))
                place = wanted[name].span if name in wanted else span
                moved = tree.renamed(rules[name], names, lambda _: span)
                found.append(replace(moved, name_span=place))
        return found

    def _report_unknown(
        self, file: str, name: str, place: Span, close: str | None, known: str
    ) -> None:
        """Note that a file has no such name, and write the one that was meant, if that is not at
        an alias."""
        begin, end = place
        hint = f"did you mean {close!r}?" if close else f"it has {known}"
        is_name = not self.source.text[:begin].rstrip().endswith("->")
        is_name = is_name and self.source.text[begin:end] == name
        fix = Fix(f"write {close!r}", (Edit(begin, end, close),), safe=True) if close else None
        found = Diagnostic(f"{file} has no {name!r}", place, hint, fix=fix if is_name else None)
        self.diagnostics.append(found)

    def _imported(self, span: Span, wanted: Mapping[str, Token]) -> list[tree.Rule]:
        """The terminals ``wanted`` from the library ``common``, with the names that they get."""
        rules = []
        for name, new in wanted.items():
            if name not in COMMON:
                close = closest(name, COMMON)
                place = new.span if new == name else span
                self._report_unknown("the library common", name, place, close, ", ".join(COMMON))
            elif not new.isupper():
                self.report(f"the terminal {name!r} needs a name in upper case", new.span)
            elif (name, str(new)) not in self.imported:
                self.imported.add((name, str(new)))
                text = COMMON[name]
                origins = (span.start,) * (len(text) + 1)
                pattern = parse_pattern(Unescaped(text, origins), self.limits, self.diagnostics)
                body = tree.Pattern(pattern, text, span)
                rules.append(tree.Rule(str(new), new.span, body, span, terminal=True))
        return rules

    def report_undefined(self, rules: list[tree.Rule]) -> None:
        """Names that nothing here defines, but something elsewhere would. Of a file that is
        imported those count that are used in the end."""
        if self.files or self.depth:
            return
        defined = {rule.name for rule in rules} | self.elsewhere | {*self.definitions}
        for body in [*(rule.body for rule in rules), *self.ignored]:
            for expr in tree.walk(body):
                if not isinstance(expr, tree.Reference) or expr.name in defined:
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
                elif expr.name.startswith("@"):
                    message = f"there is no grammar {expr.name}"
                    hint = "a request with several grammars has their names"
                else:
                    continue
                defined.add(expr.name)
                self.report(message, expr.span, hint)

    def named(self, token: Token) -> Token:
        """A name, whose case says whether it is a rule's or a terminal's."""
        is_mixed = token.type == "NAME" and not (token.islower() or token.isupper())
        if is_mixed and token not in self.mixed:
            self.mixed.add(str(token))
            hint = "lower case names a rule, upper case a terminal"
            self.report(f"the name {str(token)!r} mixes cases", token.span, hint)
        return token
