"""What only a terminal or a shell sees: colours, completion, folders, the module as a program."""

import os
import sys
from pathlib import Path

import pytest
from support import python
from support.cli import Cli

pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of POSIX")

BAD = "a ::= b | 'x';\n"


def _on_terminal(*arguments: str) -> str:
    """What the command line shows on a terminal, standard error included."""
    code = "import os, sys; os.environ.pop('NO_COLOR', None)\n"
    code += "from constrain.cli.app import run; sys.exit(run(sys.argv[1:]))"
    pid, file = pty.fork()
    if not pid:
        os.execv(sys.executable, [sys.executable, "-c", code, *arguments])
    parts = []
    while True:
        try:
            if not (data := os.read(file, 4096)):
                break
        except OSError:  # Linux says so that the other side is closed.
            break
        parts.append(data)
    os.close(file)
    os.waitpid(pid, 0)
    return b"".join(parts).decode()


@pytest.mark.parametrize("command", ["check", "compile"])
def test_errors_with_places_have_colour_on_a_terminal(tmp_path: Path, command: str) -> None:
    """The level and the carets are red there."""
    path = tmp_path / "bad.ebnf"
    path.write_text(BAD)

    shown = _on_terminal(command, str(path))

    assert "bad.ebnf:1:7: \x1b[1;31merror\x1b[0m: " in shown
    assert "  |       \x1b[1;31m^\x1b[0m" in shown


def test_errors_have_no_colour_elsewhere(cli: Cli, tmp_path: Path) -> None:
    """A file or a pipe gets plain text."""
    path = tmp_path / "bad.ebnf"
    path.write_text(BAD)

    result = cli("check", str(path))

    assert b"bad.ebnf:1:7: error: " in result.out
    assert b"\x1b" not in result.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("constrain compile x --dialect g", ["gbnf"]),
        ("constrain check --allow left", ["left-recursion"]),
        ("constrain viz --stage t", ["tokens", "tokenizer"]),
        ("constrain compile --engine e", ["earley"]),
    ],
)
def test_the_shell_completes_names(words: str, expected: list[str]) -> None:
    """Dialects, lints, stages and engines."""
    shell = {
        "_CONSTRAIN_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }

    done = python("-m", "constrain.cli", variables=shell)

    assert done.stdout.decode().split() == expected


def test_the_module_is_the_program() -> None:
    """``python -m constrain.cli`` calls itself by the program's name."""
    done = python("-m", "constrain.cli", "--help")

    assert done.stdout.startswith(b"Usage: constrain [OPTIONS] COMMAND")


def test_check_takes_a_folder(cli: Cli, tmp_path: Path) -> None:
    """All grammars in it by suffix, at any depth, sorted; hidden ones and other files not."""
    for name in ("b.gbnf", "a/z.ebnf", "a/.git/x.ebnf", ".hidden.ebnf", "note.txt"):
        file = tmp_path / "grammars" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("broken")

    result = cli("check", "--format", "json", str(tmp_path / "grammars"))

    found = [line.split('"')[0] for line in result.out.decode().split('"file": "')[1:]]
    folder = tmp_path / "grammars"
    assert list(dict.fromkeys(found)) == [str(folder / "b.gbnf"), str(folder / "a" / "z.ebnf")]
    assert result.code == 2
    (tmp_path / "grammars" / "b.gbnf").write_text('root ::= "a"')
    (tmp_path / "grammars" / "a" / "z.ebnf").write_text("a ::= 'a';")
    assert cli("check", str(tmp_path / "grammars")).err == "2 grammars: nothing found\n"


def test_check_says_where_a_folder_has_no_grammar(cli: Cli, tmp_path: Path) -> None:
    """And goes on with what else is to be checked."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.ebnf").write_text("a ::= a 'x' | 'y';\n")

    result = cli("check", str(tmp_path / "empty"), str(tmp_path / "good.ebnf"))

    assert "there is no grammar in this folder; the suffixes are .ebnf" in result.out.decode()
    assert "left-recursion" in result.out.decode()
    assert result.code == 2
