"""The list of subcommands, and how errors end the program.

Exit codes: 0 yes; 1 no; 2 usage, unreadable input or grammar error; 3 a limit was hit;
70 an internal error; 130 interrupted.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, wraps
from importlib import import_module
from typing import Annotated, Any, cast

import typer

from constrain.artifacts.errors import ConstrainError, visible

from . import console
from .everywhere import global_options, panels
from .everywhere.panels import Command, Group
from .version import version_line

# The subcommands in the order of the help.
COMMANDS = (
    *("compile", "compile-many", "convert", "mask", "explain", "inspect", "bench", "sample"),
    *("show", "tokenize", "viz", "check", "fmt", "test", "diff", "new", "server", "config"),
    *("store", "cache"),
)

# What they are in their module, where that is no function of their name: one that is called
# otherwise, or a table of those of a group.
_OTHERS = {"compile": "compile_", "store": "SUBCOMMANDS", "cache": "SUBCOMMANDS"}

# Commands that are rooms of their own.
ROOMS = {"server": ".language_server.server"}

# What they are for: the titles in the help, and the first command of each.
TITLES = {"compile": "Compile", "mask": "Look", "check": "Test", "config": "Maintain"}

INTERNAL_ERROR = 70
INTERRUPTED = 130

# The base of what Typer has against arguments, for which it exports no name.
_UsageError = cast(type[Exception], typer.BadParameter.__base__)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (by default the process's) and return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    console.reset()
    global_options.forget()
    if any("\0" in word for word in given):
        console.error("an argument has a NUL, which no name and no text on a command line has")
        return 2
    # Importing and describing all the others takes longer than a whole `mask`.
    command = _command(*_named(given))
    try:
        code = command(given, prog_name="constrain", standalone_mode=False)
    except SystemExit as end:  # Completion ends the process so.
        return end.code if isinstance(end.code, int) else 0
    except _UsageError as refused:
        console.error(_usage_message(refused))
        return 2
    except KeyboardInterrupt:
        console.error("interrupted")
        return INTERRUPTED
    except OSError as failure:  # Typer writes the help itself.
        console.abandon_output()
        console.error(f"standard output: {failure.strerror or failure}")
        return 2
    return code if isinstance(code, int) else 0


@cache
def _command(*names: str) -> Callable[..., object]:
    """What ``application`` describes, as something to call again and again."""
    return typer.main.get_command(application(*names))


def _named(arguments: Sequence[str]) -> list[str]:
    """The name of the command, the first argument but for options; none where there is none."""
    rest = iter(arguments)
    for word in rest:
        if word in COMMANDS:
            return [word]
        if not word.startswith("-") or word in ("--help", "-h"):
            break
        if word in global_options.WITH_VALUE:
            next(rest, None)
    return []


def _usage_message(refused: Exception) -> str:
    """What Typer has against the arguments, in the form of all other errors."""
    message = str(getattr(refused, "format_message", refused.__str__)()).rstrip(".")
    # Typer has it as it was written, before version 0.27.3 with line breaks.
    if name := getattr(refused, "option_name", None):
        message = message.replace(name, visible(name))
    context = getattr(refused, "ctx", None)
    command = context.command_path if context is not None else "constrain"
    return f"{message[:1].lower()}{message[1:]}\n  = help: '{command} --help' shows what it takes"


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn what a command returns and raises into an exit code, and errors into messages.

    Here and not around the whole application, because Typer has exit codes of its own for
    some of these.
    """

    @wraps(command)
    def run_command(**options: Any) -> None:
        raise typer.Exit(exit_code(_in_manner, command, options))

    return global_options.taking(run_command, command)


def _in_manner(command: Callable[..., int | None], options: dict[str, Any]) -> int | None:
    with global_options.in_manner(options):
        return command(**options)


def exit_code(command: Callable[..., int | None], *arguments: Any, **options: Any) -> int:
    """Run a command; what it returns, or the code of the error that it ends with."""
    try:
        code = command(*arguments, **options)
    except typer.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        console.error("interrupted")
        return INTERRUPTED
    except ConstrainError as error:
        console.error(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader has what it wanted (`… | head`). Python would complain again at exit.
        console.abandon_output()
        return 0
    except OSError as error:
        console.error(f"{visible(error.filename or 'input')}: {error.strerror or error}")
        return 2
    except MemoryError:
        console.error("out of memory; a lower --max-memory refuses earlier")
        return 3
    except Exception as error:
        if os.environ.get("CONSTRAIN_TRACEBACK"):
            raise
        from traceback import extract_tb

        place = extract_tb(error.__traceback__)[-1]
        console.error(
            f"internal error: {type(error).__name__}: {visible(error)}\n"
            f"at line {place.lineno} of {visible(place.filename)}\n"
            "This is a defect of constrain; please report it with the input that shows it. "
            "CONSTRAIN_TRACEBACK=1 prints the whole way there."
        )
        return INTERNAL_ERROR
    return code or 0


def _print_version(wanted: bool) -> None:
    if wanted:
        console.write_text(version_line())
        raise typer.Exit


def note_names(typed: str) -> list[str]:
    """The kinds of notes whose names begin so, for the shell's completion."""
    from constrain.compiler.notes import NOTE_KINDS

    return [kind.name for kind in NOTE_KINDS if kind.name.startswith(typed)]


def _explain_note(name: str | None) -> None:
    if name is None:
        return
    from constrain.compiler.notes import NOTE_KINDS

    found = next((kind for kind in NOTE_KINDS if kind.name == name), None)
    if found is None:
        known = ", ".join(note_names(""))
        raise typer.BadParameter(f"there is no kind of note {visible(name)!r}; they are {known}")
    worry = "Fine for most uses." if found.is_fine else "Look at it."
    console.write_text(f"{found.name}: {worry} {found.about}\n")
    raise typer.Exit


@cache
def application(*names: str) -> typer.Typer:
    """The command line with the subcommands of these names, by default with all."""
    app = typer.Typer(
        name="constrain",
        help="Compile grammars for the constrained decoding of language models, and look inside.",
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        cls=Group,
    )
    title = ""
    for name in names or COMMANDS:
        title = TITLES.get(name, title)
        own = name.replace("-", "_")
        module = import_module(ROOMS.get(name, f".commands.{own}"), __package__)
        command = getattr(module, _OTHERS.get(name, own))
        if callable(command):
            app.command(name, cls=Command, rich_help_panel=title)(guarded(command))
            continue
        group = typer.Typer(
            help=module.HELP,
            invoke_without_command=True,
            callback=console.help_without_command,
            cls=Group,
        )
        for part, inner in command.items():
            group.command(part, cls=Command)(guarded(inner))
        app.add_typer(group, name=name, rich_help_panel=title)
    app.callback()(global_options.before_the_name(_root))
    return app


def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True)
    ] = False,
    _note: Annotated[
        str | None,
        panels.of_all(
            "--explain-note",
            metavar="NAME",
            callback=_explain_note,
            is_eager=True,
            autocompletion=note_names,
        ),
    ] = None,
) -> None:
    """Compile grammars for the constrained decoding of language models, and look inside.

    - ``_version``: Print the version.
    - ``_note``: Say what a kind of note means, by the name in brackets after it.
    """
    console.help_without_command(context)
