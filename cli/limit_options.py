"""The options that bound what a command takes: a part of ``options.Given``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from constrain.artifacts.errors import visible

from .console import UsageError
from .everywhere import panels

if TYPE_CHECKING:
    from constrain.compiler.limits import Limits

# Defaults of the limits, as the library's own; bytes and seconds.
STATES, TRANSITIONS, NESTING = 200_000, 100_000_000, 100_000
MEMORY, SECONDS, TABLE_SECONDS = 2_000_000_000, 60.0, 120.0

# More than there is of anything, and a number to reckon with.
ALL_THERE_IS = 1 << 60


@dataclass(frozen=True, kw_only=True)
class OfLimits:
    """What the command line says of limits."""

    max_states: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            rich_help_panel=panels.LIMITS,
            help="Refuse automata with more states.",
        ),
    ] = STATES
    max_transitions: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            rich_help_panel=panels.LIMITS,
            help="Refuse token automata with more transitions.",
        ),
    ] = TRANSITIONS
    max_memory: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, rich_help_panel=panels.LIMITS, help="Refuse tables of more bytes."
        ),
    ] = MEMORY
    max_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            rich_help_panel=panels.LIMITS,
            help="Give up after so many seconds of CPU time.",
        ),
    ] = SECONDS
    max_table_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            rich_help_panel=panels.LIMITS,
            help="The same for making the tables of a tokenizer, which is done once.",
        ),
    ] = TABLE_SECONDS
    max_nesting: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, rich_help_panel=panels.LIMITS, help="Refuse brackets nested deeper."
        ),
    ] = NESTING

    def bounds(self) -> "Limits":
        """The limits without a clock, for each of many compilations."""
        from constrain.compiler.limits import Limits

        for name in ("max_seconds", "max_table_seconds"):
            if not (seconds := getattr(self, name)) >= 0:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} takes a number of seconds, not {seconds}")
        return Limits(
            states=min(self.max_states, ALL_THERE_IS),
            transitions=min(self.max_transitions, ALL_THERE_IS),
            memory=min(self.max_memory, ALL_THERE_IS),
            seconds=min(self.max_seconds, ALL_THERE_IS),
            table_seconds=min(self.max_table_seconds, ALL_THERE_IS),
            nesting=min(self.max_nesting, ALL_THERE_IS),
        )


@dataclass(frozen=True, kw_only=True)
class OfPrecomputing:
    """What the command line says of masks in the file."""

    precompute: Annotated[
        str | None,
        typer.Option(
            metavar="all|SECONDS|none",
            rich_help_panel=panels.COMPILATION,
            help="Masks to put into the file; others are made when met. SECONDS of CPU time: the "
            "file then depends on the machine.  [default: about 5 s of work, which is counted, "
            "and 10 MB]",
        ),
    ] = None
    # By their older names.
    prewarm: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1_000_000,
            metavar="COUNT",
            rich_help_panel=panels.COMPILATION,
            hidden=True,
            help="Summaries of masks to precompute at most; 0 is --precompute none.",
        ),
    ] = None
    lazy: Annotated[
        bool,
        typer.Option(
            "--lazy/--no-lazy",
            show_default=False,
            rich_help_panel=panels.COMPILATION,
            hidden=True,
            help="The same as --precompute none.",
        ),
    ] = False


def amount(said: str | None) -> str | float | None:
    """What is precomputed, in words or as seconds. Raises ``UsageError``."""
    if said in (None, "all", "none"):
        return said
    try:
        seconds = float(said)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise UsageError(
            f"--precompute takes all, none or a number of seconds, not {visible(said)!r}"
        )
    return seconds
