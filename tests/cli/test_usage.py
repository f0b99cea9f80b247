"""Wrong usage, help and version of the command line, and what they load."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES, python
from support.cli import DATE, Cli, program

from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick

USAGE_ERRORS: list[tuple[str, Sequence[str], str]] = [
    ("no such command", ["compil"], "compil"),
    ("no such option", ["compile", "g.ebnf", "--tokeniser", "x"], "--tokeniser"),
    ("no grammar", ["compile"], "GRAMMAR"),
    ("two grammars", ["compile", "a.ebnf", "b.ebnf"], "b.ebnf"),
    ("no such format", ["mask", "g.ebnf", "--format", "xml"], "xml"),
    ("no such stage", ["viz", "g.ebnf", "--stage", "ast"], "ast"),
    ("no such tokenization", ["compile", "g.ebnf", "--tokenization", "all"], "canonical"),
    ("no number", ["compile", "g.ebnf", "--max-states", "many"], "many"),
    ("a number too small", ["compile", "g.ebnf", "--max-states", "0"], "--max-states"),
    ("a value missing", ["compile", "g.ebnf", "-o"], "-o"),
]


@pytest.mark.parametrize(
    ("arguments", "expected"), [pytest.param(*row, id=name) for name, *row in USAGE_ERRORS]
)
def test_wrong_usage_is_explained(cli: Cli, arguments: Sequence[str], expected: str) -> None:
    """Code 2, what is wrong, and where help is; no talk of defects."""
    result = cli(*arguments)

    assert (2, b"") == (result.code, result.out)
    assert expected in result.err
    assert "internal error" not in result.err
    assert result.err.startswith("error: ")
    assert "--help' shows what it takes" in result.err


def test_no_arguments_show_the_help(cli: Cli) -> None:
    """Without a command the commands are listed."""
    result = cli()

    assert result.code in (0, 2)
    assert "internal error" not in result.err
    assert "compile" in result.out.decode() + result.err


@pytest.mark.parametrize("command", [(), ("compile",), ("mask",), ("viz",)])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_data(cli: Cli, command: Sequence[str], option: str) -> None:
    """--help goes to stdout with code 0, and names the options."""
    result = cli(*command, option)

    assert (0, "") == (result.code, result.err)
    assert "--help" in result.out.decode()
    assert (b"--help-all" in result.out) == bool(command)
    assert b"--max-states" not in result.out
    more = cli(*command, "--help-all") if command else result
    assert (b"--max-states" in more.out) == bool(command)


def test_the_version(cli: Cli) -> None:
    """--version prints the name and a number, and which form of the walk runs."""
    result = cli("--version")

    assert (0, "") == (result.code, result.err)
    assert re.fullmatch(
        r"constrain \d+\.\d+\.\d+\S* \(Python 3\.\d+\S*, walk (compiled|in Python)\)\n",
        result.out.decode(),
    )


def commands() -> Iterator[tuple[str, Any]]:
    """All commands by what is typed, those of ``cache`` too."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), program())]
    for path, command in pending:
        if hasattr(command, "commands"):
            pending += [((*path, name), inner) for name, inner in command.commands.items()]
        else:
            yield " ".join(path), command


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    """Its help ends with what one would type."""
    *_, examples = (COMMANDS[name].help or "").partition("\b\nExample")

    assert f"constrain {name}" in examples


@pytest.mark.parametrize("name", COMMANDS)
def test_limits_have_the_library_s_defaults(name: str) -> None:
    """What no option says is the same for the command line and the library."""
    defaults = {parameter.name: parameter.default for parameter in COMMANDS[name].params}
    for field in fields(Limits):
        assert field.default == defaults.get(f"max_{field.name}", field.default)


# --- start-up


def imported(*arguments: str) -> set[str]:
    """The modules that a run of the command line loads."""
    script = (
        "import sys; from constrain.cli.app import run; run();"
        "sys.stderr.write('\\n' + ' '.join(sys.modules))"
    )
    ran = python("-c", script, *arguments)
    assert 0 == ran.returncode
    return set(ran.stderr.decode().split("\n")[-1].split())


def test_mask_of_an_artifact_loads_no_compiler(date_file: Path) -> None:
    """Decoding needs numpy alone, and limits for what is beyond them."""
    modules = imported("mask", str(date_file), "-f", "ids")

    assert "numpy" in modules
    assert set() == modules & {"lark", "rich", "graphviz", "regex"}
    named = {name for name in modules if name.startswith("constrain.compiler.")}
    assert {f"constrain.compiler.{name}" for name in ("diagnostics", "limits", "progress")} == named


@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_mask_of_a_network_imports_no_masked_arrays(
    tokenization: str, default_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """`np.unique` does, which takes longer than to load the artifact."""
    path = tmp_path / "json.cst"
    text = (EXAMPLES / "json.ebnf").read_text()
    options = {"dialect": "kbnf", "tokenizer": default_tokenizer, "tokenization": tokenization}
    compile_grammar(text, **options).save(path)

    assert "numpy.ma" not in imported("mask", str(path), "--prefix", "[1,")


@pytest.mark.parametrize("arguments", [["--help"], ["compile", "--help"], ["--version"]])
def test_help_loads_next_to_nothing(arguments: Sequence[str]) -> None:
    """--help comes at once."""
    assert set() == imported(*arguments) & {"numpy", "lark", "rich", "graphviz", "regex"}


def test_a_command_loads_no_other_command(date_file: Path) -> None:
    """Importing and describing all of them takes longer than a mask."""
    folder = "constrain.cli.commands."
    loaded = {name for name in imported("mask", str(date_file)) if name.startswith(folder)}

    assert {folder + "mask"} == loaded


def test_the_program_does_not_load_interegular(date_file: Path, tmp_path: Path) -> None:
    """Lark does where it is installed, to compare terminals of grammars that it builds."""
    (tmp_path / "interegular.py").write_text("raise AssertionError('imported')\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    target = str(tmp_path / "date.cst")

    ran = python(
        *("-m", "constrain.cli", "compile", DATE, "-o", target), variables={"PYTHONPATH": paths}
    )

    assert (0, date_file.read_bytes()) == (ran.returncode, Path(target).read_bytes())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"openapi": "3.1.0", "paths": {}}, "#/components/schemas/NAME"),
        ([{"name": "f", "input_schema": {}}], "Anthropic's tools"),
        ({"tools": [{"name": "f", "inputSchema": {}}]}, "MCP's tools"),
        ([{"type": "function", "function": {"name": "f"}}], "this is a list of tools"),
        ({"type": "object"}, "this is a JSON Schema"),
        ([1], "a JSON Schema is read with"),
        ("{", "a JSON Schema is read with"),
    ],
)
def test_a_file_of_json_is_told_by_its_content(cli: Cli, content: object, said: str) -> None:
    """Where its suffix says nothing the message says what it is, and how it is read."""
    text = content if isinstance(content, str) else json.dumps(content)
    Path("some.json").write_text(text)
    result = cli("compile", "some.json")

    assert 2 == result.code
    assert said in result.err


def test_a_name_for_a_tokenizer_is_no_file(cli: Cli) -> None:
    """The message says how a model's tokenizer is named."""
    result = cli("tokenize", "a", "-t", "gpt2")
    assert 2 == result.code
    assert "tiktoken:gpt2" in result.err
    assert "tiktoken:" not in cli("tokenize", "a", "-t", "missing/tokenizer.json").err


def test_a_number_that_is_a_text_and_an_id_says_which_it_is(cli: Cli) -> None:
    """``mask --why 13``; with ``#`` it is an id, and a text that is no number needs no note."""
    Path("n.regex").write_text("[0-9]{2}")
    assert "note: --why 13 is taken as the text" in cli("mask", "n.regex", "--why", "13").err
    assert "taken as" not in cli("mask", "n.regex", "--why", "#13").err
    assert "taken as" not in cli("mask", "n.regex", "--why", "a").err


@pytest.mark.parametrize("name", ["--version", "-V"])
def test_the_version_imports_nothing_else(name: str) -> None:
    """Neither numpy nor Typer, nor what reads the version elsewhere."""
    code = (
        f"import sys; sys.argv = ['constrain', {name!r}]; "
        "from constrain.cli.__main__ import main; main(); "
        "print(*{'numpy', 'typer', 'importlib.metadata'} & {*sys.modules})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert f"constrain {version('constrain-grammar')}" == found.stdout.decode().split(" (")[0]
    assert "" == found.stdout.decode().split("\n")[1]
