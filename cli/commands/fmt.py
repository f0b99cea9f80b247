"""``constrain fmt``: grammars in one layout."""

from typing import TYPE_CHECKING, Annotated

import typer

from constrain.artifacts.errors import ConstrainError, visible

from .. import options
from ..configuration.current import listed_grammars
from ..console import error as report_error
from ..console import tell, write_data
from ..inputs import STDIN, dialect_for, grammar_files, grammar_text
from ..report import difference, write_back

if TYPE_CHECKING:
    from constrain.compiler.writers.formatting import FormatOptions


@options.compile_options("dialect")
def fmt(
    given: options.Given,
    files: options.GrammarFiles = None,
    check: Annotated[bool, typer.Option("--check")] = False,
    diff: options.Diff = False,
) -> int:
    """Format grammars: one layout for each dialect, with comments and the same rules.

    Files are written in place, standard input to standard output. Rules that fit stand on a line;
    of others each alternative does, and where the author has put alternatives on lines. How long
    lines are, and whether definitions are aligned, is said in the table "format" of the project
    file. Exit code 2 if a file cannot be read; the others are formatted.

    \b
    Examples:
      constrain fmt
      constrain fmt grammars/ --check
      constrain fmt date.ebnf --diff

    - ``check``: Write nothing; exit code 1 if a file would change.
    """
    wanted, named = _options(), files or listed_grammars(options.project())
    changed, same, code = 0, 0, 0
    for path in (inner for each in named for inner in _formatted(each)):
        try:
            before = grammar_text(path)
            after = _format(path, before, given.of(path), wanted)
            if path == STDIN and not (check or diff):
                write_back(path, after)
            elif after == before:
                same += 1
            else:
                changed += 1
                if diff:
                    write_data(difference(path, before, after))
                elif check:
                    tell(f"{visible(path)}: would be formatted")
                else:
                    write_back(path, after)
        except (ConstrainError, OSError) as failure:
            report_error(str(failure))
            code = max(code, failure.exit_code if isinstance(failure, ConstrainError) else 2)
    if changed + same:
        would = "would be " * (check or diff)
        tell(f"{changed} {would}formatted, {same} as they were")
    return max(code, 1 if changed and (check or diff) else 0)


def _formatted(path: str) -> list[str]:
    """The file, or of a folder those with a layout."""
    from constrain.compiler.dialects import dialect_of
    from constrain.compiler.writers.token_styles import STYLES

    found = grammar_files(path)
    return found if found == [path] else [each for each in found if dialect_of(each) in STYLES]


def _options() -> "FormatOptions":
    from constrain.compiler.writers.formatting import FormatOptions

    project = options.project()
    said = {} if project is None else project.format
    return FormatOptions(**{name: setting.value for name, setting in said.items()})


def _format(path: str, text: str, given: options.Given, wanted: "FormatOptions") -> str:
    from constrain.compiler.writers.formatting import format_text

    dialect = dialect_for(path, given.dialect)
    return format_text(text, dialect, wanted, name=path, is_guessed=given.guesses(path))
