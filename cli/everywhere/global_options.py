"""The options that every command takes, before its name or after it: ``constrain -q check …`` and
``constrain check -q …`` are the same. What is said after the name wins.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ..configuration.current import choice
from ..console import Color, UsageError, is_terminal, manner, tell
from . import panels

R = TypeVar("R")

# Their names, annotations and defaults; ``quiet`` and so on are the names of the parameters.
OPTIONS: Mapping[str, Any] = {
    "quiet": Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=panels.GLOBAL,
            help="Say nothing but errors; data is written all the same.",
        ),
    ],
    "verbose": Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            rich_help_panel=panels.GLOBAL,
            help="Say the time and the peak memory of each step.",
        ),
    ],
    "color": Annotated[
        Color | None,
        typer.Option(
            "--color",
            rich_help_panel=panels.GLOBAL,
            help="auto: on terminals, unless NO_COLOR is set, or where FORCE_COLOR is.  "
            "[default: auto]",
        ),
    ],
    "config": Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            rich_help_panel=panels.GLOBAL,
            help="The project file.  [default: constrain.toml, or pyproject.toml with a table "
            "[tool.constrain], in the current folder or the nearest above]",
        ),
    ],
    "isolated": Annotated[
        bool,
        typer.Option("--isolated", rich_help_panel=panels.GLOBAL, help="Read no project file."),
    ],
}
_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(("quiet", "verbose", "isolated"), False),
    **dict.fromkeys(("color", "config")),
}
# Those that take a value, where it does not stand after "=".
WITH_VALUE = ("--color", "--config")

# What was said before the command's name.
_said_before: dict[str, Any] = {}


def forget() -> None:
    """Nothing is said before a command's name."""
    _said_before.clear()
    choice.set(None, isolated=False)


def parameters() -> list[Parameter]:
    """The options as parameters of a function."""
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=annotation)
        for name, annotation in OPTIONS.items()
    ]


def taking(command: Callable[..., R], parameters_of: Callable[..., Any]) -> Callable[..., R]:
    """``command`` with the parameters of ``parameters_of`` and those of all commands after."""
    own = list(signature(parameters_of).parameters.values())
    command.__signature__ = Signature([*own, *parameters()])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*own, *parameters())}
    return command


def before_the_name(callback: Callable[..., None]) -> Callable[..., None]:
    """A callback of the whole application, with the options, which hold for its command."""

    @wraps(callback)
    def run(*arguments: Any, **values: Any) -> None:
        _said_before.update({name: values.pop(name) for name in OPTIONS})
        _apply(_said_before)
        callback(*arguments, **values)

    return taking(run, callback)


@contextmanager
def in_manner(values: dict[str, Any]) -> Iterator[None]:
    """Take the options out of a command's values, and run a block as they say."""
    said = {name: values.pop(name) or _said_before.get(name) for name in OPTIONS}
    if said["quiet"] and said["verbose"]:
        raise UsageError("--quiet and --verbose exclude each other")
    if said["config"] and said["isolated"]:
        raise UsageError("--config and --isolated exclude each other")
    _apply(said)
    with ExitStack() as stack:
        _listen(stack, is_verbose=bool(said["verbose"]))
        yield


def _apply(said: Mapping[str, Any]) -> None:
    manner.quiet = bool(said["quiet"])
    manner.color = said["color"] or "auto"
    choice.set(said["config"], isolated=bool(said["isolated"]))


def _listen(stack: ExitStack, is_verbose: bool) -> None:
    """Let the bar of a terminal, and --verbose, hear of the steps of the library."""
    has_bar = is_terminal(sys.stderr) and not manner.quiet
    if not has_bar and not is_verbose:
        return
    from constrain.compiler.progress import listening

    from .bar import Bar
    from .stages import Stages, both

    stages, bar = Stages(), Bar()
    if is_verbose:
        stack.callback(lambda: tell(stages.table()))
    if has_bar:
        stack.enter_context(bar)
    stack.enter_context(listening(both(bar, stages) if is_verbose else bar))
