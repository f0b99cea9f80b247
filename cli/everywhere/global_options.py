"""The options that every command takes, before its name or after it: ``constrain -q check …`` and
``constrain check -q …`` are the same. What is said after the name wins.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

from ..configuration.current import choice
from ..console import Color, UsageError, is_terminal, manner, tell
from . import panels
from .described import option_parameters, parameters, with_parameters, without_items

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class GlobalOptions:
    """What may be said to every command.

    - ``quiet``: Say nothing but errors; data is written all the same.
    - ``verbose``: Say the time and the peak memory of each step.
    - ``color``: auto: on terminals, unless NO_COLOR is set, or where FORCE_COLOR is.
      [default: auto]
    - ``config``: The project file.  [default: constrain.toml, or pyproject.toml with a table
      [tool.constrain], in the current folder or the nearest above]
    - ``isolated``: Read no project file.
    """

    quiet: Annotated[bool, panels.of_all("--quiet", "-q")] = False
    verbose: Annotated[bool, panels.of_all("--verbose", "-v")] = False
    color: Annotated[Color | None, panels.of_all()] = None
    config: Annotated[Path | None, panels.of_all(metavar="FILE")] = None
    isolated: Annotated[bool, panels.of_all("--isolated")] = False


OPTIONS = tuple(field.name for field in fields(GlobalOptions))
# Those that take a value, where it does not stand after "=".
WITH_VALUE = ("--color", "--config")

# What was said before the command's name.
_said_before: dict[str, Any] = {}


def forget() -> None:
    """Nothing is said before a command's name."""
    _said_before.clear()
    choice.set(None, isolated=False)


def taking(command: Callable[..., R], parameters_of: Callable[..., Any]) -> Callable[..., R]:
    """``command`` with the parameters of ``parameters_of`` and those of all commands after, and
    with what its docstring says of each."""
    taken = parameters(parameters_of, signature(parameters_of).parameters.values())
    command.__doc__ = without_items(command.__doc__)
    return with_parameters(command, [*taken, *option_parameters(GlobalOptions, OPTIONS)])


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
    from .stages import Stages

    stages, bar = Stages(), Bar()
    if is_verbose:
        stack.callback(lambda: tell(stages.table()))
    if has_bar:
        stack.enter_context(bar)
    stack.enter_context(listening(bar, *([stages] if is_verbose else [])))
