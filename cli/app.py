"""The list of subcommands, and how errors end the program.

Exit codes: 0 yes; 1 no; 2 usage, unreadable input or grammar error; 3 a limit was hit;
70 an internal error; 130 interrupted.
"""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, cast

import typer

from constrain.artifacts.errors import ConstrainError

from . import console
from .commands import cache as cache_command
from .commands import check as check_command
from .commands import compile as compile_command
from .commands import convert as convert_command
from .commands import diff as diff_command
from .commands import explain as explain_command
from .commands import mask as mask_command
from .commands import sample as sample_command
from .commands import show as show_command
from .commands import tokenize as tokenize_command
from .commands import viz as viz_command

INTERNAL_ERROR = 70
INTERRUPTED = 130

# The base of what Typer has against arguments, for which it exports no name.
_UsageError = cast(type[Exception], typer.BadParameter.__base__)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (by default the process's) and return the exit code."""
    try:
        code = app(arguments, prog_name="constrain", standalone_mode=False)
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


def _usage_message(refused: Exception) -> str:
    """What Typer has against the arguments, in the form of all other errors."""
    message = str(getattr(refused, "format_message", refused.__str__)()).rstrip(".")
    context = getattr(refused, "ctx", None)
    command = context.command_path if context is not None else "constrain"
    return f"{message[:1].lower()}{message[1:]}\n  = help: '{command} --help' shows what it takes"


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn what a command returns and raises into an exit code, and errors into messages.

    Here and not around the whole application, because Typer has exit codes of its own for
    some of these.
    """

    @wraps(command)
    def run_command(*arguments: Any, **options: Any) -> None:
        raise typer.Exit(exit_code(command, *arguments, **options))

    return run_command


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
        console.error(f"{error.filename or 'input'}: {error.strerror or error}")
        return 2
    except MemoryError:
        console.error("out of memory; a lower --max-memory refuses earlier")
        return 3
    except Exception as error:
        if os.environ.get("CONSTRAIN_TRACEBACK"):
            raise
        console.error(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a defect of constrain; please report it with the input that shows it. "
            "CONSTRAIN_TRACEBACK=1 prints where it happened."
        )
        return INTERNAL_ERROR
    return code or 0


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        console.write_text(f"constrain {version('constrain-grammar')}\n")
        raise typer.Exit


app = typer.Typer(
    name="constrain",
    help="Compile grammars for the constrained decoding of language models, and look inside.",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("check")(guarded(check_command.check))
app.command("compile")(guarded(compile_command.compile_))
app.command("mask")(guarded(mask_command.mask))
app.command("convert")(guarded(convert_command.convert))
app.command("diff")(guarded(diff_command.diff))
app.command("explain")(guarded(explain_command.explain))
app.command("sample")(guarded(sample_command.sample))
app.command("show")(guarded(show_command.show))
app.command("tokenize")(guarded(tokenize_command.tokenize))
app.command("viz")(guarded(viz_command.viz))
cache_command.app.command("dir")(guarded(cache_command.directory))
cache_command.app.command("clean")(guarded(cache_command.clean))
app.add_typer(cache_command.app, name="cache")


@app.callback()
def _root(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Compile grammars for the constrained decoding of language models, and look inside."""
    console.help_without_command(context)
