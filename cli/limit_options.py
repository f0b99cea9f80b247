"""The options that bound what a command takes: a part of ``options.Given``."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

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
    """What the command line says of limits.

    - ``max_states``: Refuse automata with more states.
    - ``max_transitions``: Refuse token automata with more transitions.
    - ``max_memory``: Refuse tables of more bytes.
    - ``max_seconds``: Give up after so many seconds of CPU time.
    - ``max_table_seconds``: The same for making the tables of a tokenizer, which is done once.
    - ``max_nesting``: Refuse brackets nested deeper.
    """

    max_states: Annotated[int, panels.of_limits(metavar="N", min=1)] = STATES
    max_transitions: Annotated[int, panels.of_limits(metavar="N", min=1)] = TRANSITIONS
    max_memory: Annotated[int, panels.of_limits(metavar="N", min=1)] = MEMORY
    max_seconds: Annotated[float, panels.of_limits(metavar="SECONDS", min=0)] = SECONDS
    max_table_seconds: Annotated[float, panels.of_limits(metavar="SECONDS", min=0)] = TABLE_SECONDS
    max_nesting: Annotated[int, panels.of_limits(metavar="N", min=1)] = NESTING

    def bounds(self) -> "Limits":
        """The limits without a clock, for each of many compilations."""
        from constrain.compiler.limits import Limits

        for name in ("max_seconds", "max_table_seconds"):
            if not (seconds := getattr(self, name)) >= 0:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} takes a number of seconds, not {seconds}")
        names = (field.name for field in fields(OfLimits))
        said = {n.removeprefix("max_"): min(getattr(self, n), ALL_THERE_IS) for n in names}
        return Limits(**said)


@dataclass(frozen=True, kw_only=True)
class OfPrecomputing:
    """What the command line says of masks in the file.

    - ``precompute``: Masks to put into the file; others are made when met. SECONDS of CPU time: the
      file then depends on the machine.  [default: about 5 s of work, which is counted, and 10 MB]
    - ``prewarm``: Summaries of masks to precompute at most; 0 is --precompute none.
    - ``lazy``: The same as --precompute none.
    """

    precompute: Annotated[str | None, panels.of_compilation(metavar="all|SECONDS|none")] = None
    # By their older names.
    prewarm: Annotated[
        int | None, panels.of_compilation(min=0, max=1_000_000, metavar="COUNT", hidden=True)
    ] = None
    lazy: Annotated[
        bool, panels.of_compilation("--lazy/--no-lazy", show_default=False, hidden=True)
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
