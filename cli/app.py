"""The list of subcommands, and how errors end the program.

Exit codes: 0 yes; 1 no; 2 usage, unreadable input or grammar error; 3 a limit was hit;
70 an internal error; 130 interrupted.
"""

import os
import sys
from collections.abc import Callable
from typing import Annotated

import click
import typer

from constrain.artifacts.errors import ConstrainError

from . import console
from .commands import compile as compile_command
from .commands import mask as mask_command
from .commands import viz as viz_command

INTERNAL_ERROR = 70
INTERRUPTED = 130

app = typer.Typer(
    name="constrain",
    help="Compile grammars for the constrained decoding of language models, and look inside.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compile")(compile_command.compile_)
app.command("mask")(mask_command.mask)
app.command("viz")(viz_command.viz)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        console.write_text(f"constrain {version('constrain-grammar')}\n")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Compile grammars for the constrained decoding of language models, and look inside."""


def run(entry: Callable[..., object] = app) -> int:
    """Run a command line application and return the exit code."""
    try:
        code = entry(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        console.error("interrupted")
        return INTERRUPTED
    except ConstrainError as error:
        console.error(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader has what it wanted (`… | head`). Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
    return code if isinstance(code, int) else 0
