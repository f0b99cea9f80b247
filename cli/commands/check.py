"""``constrain check``: errors and lints of grammar files."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from constrain.artifacts.errors import ConstrainError, visible

from .. import options, report
from ..compiling import counted_network
from ..configuration.current import allowed_lints, listed_grammars
from ..console import UsageError, progress, status, tell, write_data, write_text
from ..everywhere.again import Again, Watched
from ..inputs import STDIN, beside, dialect_for, grammar_files, grammar_text, tokenizer_at
from ..watch import Watch

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import GrammarError


# How often a text is mended again: what mends one thing may show another.
_MOST_ROUNDS = 20


# How findings are written.
Format = Literal["text", "json", "github", "sarif"]


@options.compile_options(*options.TOKENIZER, *options.SOURCE, *options.LIMITS)
def check(
    given: options.Given,
    files: options.GrammarFiles = None,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "text",
    allow: Annotated[
        list[str] | None, typer.Option(metavar="LINT", autocompletion=options.lint_names)
    ] = None,
    fix: Annotated[bool, typer.Option("--fix")] = False,
    unsafe_fixes: Annotated[bool, typer.Option("--unsafe-fixes")] = False,
    diff: options.Diff = False,
    watch: Watched = False,
) -> int:
    """Report what is wrong with grammars, and what is probably not meant.

    Exit code 0 if nothing was found, 1 for findings of lints, 2 for errors, 3 where a limit was
    hit; files that cannot be read are errors, and the others are checked. A comment with
    "constrain: allow(LINT)" before a rule silences a lint there, elsewhere in the whole file.
    With --fix what is left is reported.

    \b
    Examples:
      constrain check
      constrain check grammars/ --format github
      constrain check call.gbnf --tokenizer tokenizer.json
      constrain check date.ebnf --fix --diff
      constrain check --watch

    - ``format_``: text, json, github (workflow commands) or sarif.
    - ``allow``: Silence a lint; may be repeated.
    - ``fix``: Write what mends findings into the files, where the language stays.
    - ``unsafe_fixes``: With --fix: also where it may not be meant.
    """
    from constrain.compiler.lints import LINTS

    for name in allow or ():
        if name not in LINTS:
            raise UsageError(f"there is no lint {name!r}; known are: {', '.join(LINTS)}")
    if given.dialect is not None:
        # A name that does not exist is no file's fault.
        dialect_for(STDIN, given.dialect, given.extended)
    given.definitions()
    fixing = None
    if fix or diff:
        fixing = _Fixing(frozenset(allow or ()), with_unsafe=unsafe_fixes, shows=diff)
    elif unsafe_fixes:
        raise UsageError("--unsafe-fixes says which fixes --fix makes")
    added = _AddedTokens()
    if watch:
        if fixing is not None:
            raise UsageError("--watch writes no file: it takes none of --fix, --diff")
        if format_ != "text" or STDIN in (files or ()):
            raise UsageError("--watch is of files, and for people: --format text")
        return _watching(given, files, allow or (), added)
    paths = files or listed_grammars(options.project())
    found, code = list[report.Item](), 0
    for place, path in enumerate(paths):
        progress("check", place, len(paths))
        listed, failed = _of_path(path, given, added, fixing)
        found += [item for item in listed if item.lint not in (allow or ())]
        code = max(code, failed)
    match format_:
        case "text":
            write_text(report.as_text(found), in_colour=True)
            if not found:
                number = sum(len(grammar_files(path)) for path in paths)
                status(f"{_number(number)}: nothing found")
        case "json":
            write_data(report.as_json(found))
        case "github":
            write_text(report.as_github(found))
        case "sarif":
            write_data(report.as_sarif(found, LINTS))
    levels = {item.level for item in found}
    return max(code, 2 if "error" in levels else 1 if "warning" in levels else 0)


def _watching(
    given: options.Given, files: list[str] | None, allow: Sequence[str], added: "_AddedTokens"
) -> int:
    """Check again what changes, until somebody interrupts."""

    def listed() -> list[str]:
        named = options.project()
        return [each for path in files or listed_grammars(named) for each in grammar_files(path)]

    def work(path: str) -> list[report.Item]:
        with Watch() as clock:
            found, _ = _of_path(path, replace(given, watch=clock), added)
        return [item for item in found if item.lint not in allow]

    def shown(each: list[list[report.Item]]) -> tuple[str, str]:
        found = [item for items in each for item in items]
        counts = Counter(item.level for item in found)
        said = ", ".join(f"{n} {level}{'s' * (n > 1)}" for level, n in sorted(counts.items()))
        return report.as_text(found), f"{_number(len(each))}: {said or 'nothing found'}; watching"

    return Again(listed, work, shown).run()


def _number(grammars: int) -> str:
    return f"{grammars:,} grammar{'s' * (grammars != 1)}"


class _AddedTokens:
    """The added tokens of the tokenizers that the grammars are for; each is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Mapping[int, str]] = {}

    def of(self, given: options.Given) -> Mapping[int, str] | None:
        """Those of the tokenizer that is named, if one is."""
        name = given.tokenizer
        if name is not None and name not in self._known:
            self._known[name] = tokenizer_at(name, no_cache=given.no_cache).added
        return None if name is None else self._known[name]


@dataclass(frozen=True)
class _Fixing:
    """Which fixes are made, and whether they are only shown. ``allowed``: silenced lints."""

    allowed: frozenset[str]
    with_unsafe: bool
    shows: bool

    def done(
        self, path: str, before: str, find: Callable[[str], list[report.Item]]
    ) -> list[report.Item]:
        """What is left to find in a text when nothing more is mended."""
        from constrain.compiler.lints import mended

        text, titles = before, list[str]()
        found = find(text)
        for _ in range(_MOST_ROUNDS):
            # Until there are rules to judge by, errors alone are mended.
            wrong = [each for each in found if each.level == "error"]
            fixes = [
                each.found.fix
                for each in wrong or found
                if each.found.fix
                and each.lint not in self.allowed
                and (each.found.fix.safe or self.with_unsafe)
            ]
            if not fixes:
                break
            text, made = mended(text, fixes)
            titles += [each.title for each in made]
            found = find(text)
        if text != before:
            if self.shows:
                write_data(report.difference(path, before, text))
            else:
                report.write_back(path, text)
            for title in titles:
                tell(f"{visible(path)}: {title}")
        return found


# Hears of the errors of a file, before the lints are at work.
_Told = Callable[[list[report.Item]], None]


def _of_path(
    path: str,
    given: options.Given,
    added: _AddedTokens,
    fixing: _Fixing | None = None,
    told: _Told | None = None,
) -> tuple[list[report.Item], int]:
    """The findings of a file or of all files in a folder, and the exit code of what kept one from
    being checked."""
    try:
        inner = grammar_files(path)
        if inner == [path]:
            own = given.of(path)
            silenced = allowed_lints(options.project(), path)

            def find(text: str) -> list[report.Item]:
                items = _findings(path, text, own, added.of(own), told)
                return [item for item in items if item.lint not in silenced]

            text = grammar_text(path)
            return (fixing.done(path, text, find) if fixing else find(text)), 0
    except (ConstrainError, OSError) as error:
        from constrain.compiler.diagnostics import GrammarError

        if isinstance(error, GrammarError):
            return _errors(error), 0
        code = error.exit_code if isinstance(error, ConstrainError) else 2
        return [_unread(path, error)], code
    each = []
    for place, file in enumerate(inner):
        progress("check", place, len(inner))
        each.append(_of_path(file, given, added, fixing))
    return [item for items, _ in each for item in items], max(code for _, code in each)


def _findings(
    path: str, text: str, given: options.Given, added: Mapping[int, str] | None, told: _Told | None
) -> list[report.Item]:
    """The errors of a file, and what the lints find in it if it can be read."""
    from constrain.artifacts.container.manifest import MAXIMAL_MUNCH
    from constrain.compiler.choose import semantics_of
    from constrain.compiler.diagnostics import DEFINE, READ_AS, CheckError, GrammarError, LimitError
    from constrain.compiler.dialects import JSON_SCHEMA, read_grammar
    from constrain.compiler.grammar.check import check as check_tree
    from constrain.compiler.grammar.expand_permutations import in_one_order
    from constrain.compiler.limits import blaming
    from constrain.compiler.lints import NOTES, lint, of_notes
    from constrain.compiler.lnf import check_members
    from constrain.compiler.lnf.empty_patterns import without_exceptions
    from constrain.compiler.pipeline import build_engine
    from constrain.compiler.schema import SchemaOptions
    from constrain.compiler.schema.notes import SPELLINGS
    from constrain.compiler.schema.options import HOLD

    errors: GrammarError | None = None
    limits = given.limits()
    try:
        read_as = dialect_for(path, given.dialect, given.extended)
        schema = given.schema_options(read_as, path)
        if read_as == JSON_SCHEMA and given.unique is None:
            # As where it is compiled.
            schema = replace(schema or SchemaOptions(), unique=HOLD)
        grammar = read_grammar(
            text,
            read_as,
            name=path,
            start=given.start,
            limits=limits,
            schema=schema,
            imports=beside(path),
            include=tuple(given.include or ()),
            define=given.definitions(),
            is_guessed=given.guesses(path),
        )
    except GrammarError as error:
        return _errors(error)
    try:
        check_tree(grammar)
    except CheckError as error:
        errors = error
    if told is not None:
        told(_errors(errors) if errors else [])
    with blaming(grammar.longest_rule()):
        found = lint(grammar, limits, defined=errors is None, added=added)
    if errors is None:
        try:
            try:
                is_lexed = semantics_of(grammar, given.meaning)[0] == MAXIMAL_MUNCH
                with blaming(grammar.longest_rule()):
                    whole = without_exceptions(in_one_order(grammar), limits, is_lexed=is_lexed)
                    check_members(whole, limits)
                if given.lexer is not None:
                    # Which asks whether Lark has a parser.
                    build_engine(text, given.compile_options(path, limits), name=path)
            except LimitError as error:
                # Copies that are never made are not checked one by one.
                wanted = given.compile_options(path, limits)
                if error.is_measured or counted_network(text, path, wanted) is None:
                    raise
        except GrammarError as error:
            errors = error
            # Which rules match nothing is then said by the error.
            found = [f for f in found if f.lint != "unproductive"]
    listed = [
        report.Item(grammar.source, f.lint, "note" if f.lint in NOTES else "warning", f)
        for f in found
    ]
    for note in grammar.notes:
        if any(of_notes([note])) or note.message.startswith(SPELLINGS):
            # A finding, if it is not silenced; or about no place.
            continue
        if note.message.startswith((READ_AS, DEFINE)):
            continue  # Noted when the grammar was read.
        message = note.message.removesuffix(" [narrowed]")
        name = "ignored-keyword" if message == note.message else "narrowed"
        listed.append(report.Item(grammar.source, name, "note", replace(note, message=message)))
    both = [*(_errors(errors) if errors else ()), *listed]
    return sorted(both, key=lambda item: item.place[:2])


def _unread(path: str, error: ConstrainError | OSError) -> report.Item:
    """What keeps a file from being checked, as a finding of no line."""
    from constrain.compiler.diagnostics import Diagnostic, Source

    message = (error.strerror if isinstance(error, OSError) else None) or str(error)
    found = Diagnostic(message.removeprefix(f"{visible(path)}: "))
    return report.Item(Source("", path, ""), "error", "error", found)


def _errors(error: "GrammarError") -> list[report.Item]:
    return [report.Item(error.source, "error", "error", each) for each in error.diagnostics]
