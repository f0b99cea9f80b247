"""How errors end the program: interruptions, defects, memory, the system."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable

import pytest
from support.cli import DATE, Cli, Result

pytestmark = pytest.mark.quick

Failing = Callable[[BaseException], Result]


@pytest.fixture
def failing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Runs ``mask`` with an error in the middle of its work."""

    def call(error: BaseException) -> Result:
        def fail(path: str, given: object) -> None:
            raise error

        monkeypatch.setattr("constrain.cli.commands.mask.subject_of", fail)
        return cli("mask", DATE)

    return call


def test_an_interruption_ends_with_130(failing: Failing) -> None:
    """Ctrl-C is said in a word."""
    assert Result(130, b"", "error: interrupted\n") == failing(KeyboardInterrupt())


def test_a_defect_ends_with_70(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called one, with a way to the traceback."""
    monkeypatch.delenv("CONSTRAIN_TRACEBACK", raising=False)
    result = failing(ZeroDivisionError("oops"))

    assert (70, b"") == (result.code, result.out)
    assert result.err.startswith("error: internal error: ZeroDivisionError: oops\n")
    assert "CONSTRAIN_TRACEBACK=1" in result.err
    assert "Traceback" not in result.err


def test_a_defect_can_be_traced(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    """CONSTRAIN_TRACEBACK lets it through."""
    monkeypatch.setenv("CONSTRAIN_TRACEBACK", "1")

    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError("oops"))


def test_memory_is_a_limit(failing: Failing) -> None:
    """Running out of it ends with 3 and a hint."""
    result = failing(MemoryError())

    assert (3, b"") == (result.code, result.out)
    assert "--max-memory" in result.err


def test_a_system_error_names_the_file(failing: Failing) -> None:
    """Or says that it was the input, where the system names none."""
    assert Result(2, b"", "error: x: gone\n") == failing(OSError(5, "gone", "x"))
    assert Result(2, b"", "error: input: gone\n") == failing(OSError(5, "gone"))
