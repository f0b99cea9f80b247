"""A command's limits hold where no step of the compilation looks at them."""

import mmap
import signal
import time
from pathlib import Path

import pytest
from support.limits import measured, work

from constrain.cli.options import LIMITS, Given, compile_options
from constrain.cli.watch import Watch
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits, resident_bytes

pytestmark = [
    pytest.mark.quick,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer"),
]


def test_time_is_limited_where_no_step_looks() -> None:
    """The error names the step that looked last, and its rule."""
    begin = time.process_time()

    with pytest.raises(LimitError, match="in rule 'object'") as found, Watch() as watch:
        watch.over(Limits(seconds=0.1)).check_resources("the step", ["object"])
        while True:
            pass

    assert (found.value.stage, found.value.is_measured) == ("the step", True)
    assert time.process_time() - begin < 1.2 * 0.1 + 0.5


@pytest.mark.skipif(not resident_bytes(), reason="the system does not tell what is resident")
def test_memory_is_limited_where_no_step_looks() -> None:
    """Before twice as much is resident."""
    kept: list[mmap.mmap] = []

    with pytest.raises(LimitError, match="bytes of memory"), Watch() as watch:
        watch.over(Limits(memory=50_000_000))
        while len(kept) < 1_000:
            # Pages of its own: what other tests have freed may be resident still.
            kept.append(mmap.mmap(-1, 1 << 20))
            kept[-1].write(bytes(1 << 20))
            time.sleep(0.001)

    assert len(kept) < 100


def test_an_error_that_is_swallowed_comes_again() -> None:
    """A step that goes on without what failed does not go on for ever."""
    caught = 0

    with pytest.raises(LimitError), Watch() as watch:
        watch.over(Limits(seconds=0))
        while True:
            try:
                while True:
                    pass
            except LimitError:
                caught += 1
                if caught == 2:
                    raise

    assert caught == 2


def test_nothing_watches_when_the_command_has_ended() -> None:
    """The next one has its own clock, and what held the signal before holds it again."""
    before = signal.getsignal(signal.SIGALRM)

    with Watch() as watch:
        watch.over(Limits(seconds=0.05))
    time.sleep(0.3)

    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_clock_starts_with_the_command() -> None:
    """What it does before it asks for the limits counts as well."""

    @compile_options(*LIMITS)
    def command(given: Given) -> Limits:
        work(0.1)
        assert given.limits() == given.limits()
        return given.limits()

    values = {name: getattr(Given(), name) for name in LIMITS} | {"max_seconds": 10.0}
    limits = command(**values)

    assert limits.meter is not None
    assert limits.meter.clock.left() <= 9.9


def test_a_limit_that_names_no_rule_names_the_longest(tmp_path: Path) -> None:
    """Where a step that knows no rules ends a command."""
    left, right = tmp_path / "a.regex", tmp_path / "b.gbnf"
    left.write_text("[a-f]{1,90}x", encoding="utf-8")
    right.write_text('root ::= "x" | long\nlong ::= ([a-f] [a-f] [a-f]){1,40}\n', encoding="utf-8")

    # With a bound of the nesting nothing is tried but automata.
    found = measured("diff", left, right, "--max-depth", 2, "--max-states", 130)

    assert (found.code, "most of it in rule" in found.stderr) == (3, True), found.stderr
    for command in ("sample", "diff"):
        arguments = [left, right, "--max-depth", 2] if command == "diff" else [right]
        late = measured(command, *arguments, "--max-bytes", 100_000, "--max-memory", 8_000_000)
        assert late.code == 3, late.stderr
        assert "most of it in rule" in late.stderr
