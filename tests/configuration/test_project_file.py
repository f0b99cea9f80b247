"""The project file: where it is found, what it says of which grammar, and how it is refused."""

import json
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES, ROOT
from support.cli import Cli

from constrain.artifacts.read import load
from constrain.cli.configuration.apply import values_for
from constrain.cli.configuration.find import find
from constrain.cli.configuration.keys import of_a_grammar
from constrain.cli.configuration.project import read
from constrain.cli.configuration.toml_places import places
from constrain.cli.options import ALL, Given

pytestmark = pytest.mark.quick

DATE = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")


def project(text: str, name: str = "constrain.toml", **files: str) -> None:
    """A project file in the current folder, and grammars beside it."""
    Path(name).write_text(text, encoding="utf-8")
    for path, content in files.items():
        target = Path(path.replace("__", "/") + ".ebnf")
        target.parent.mkdir(exist_ok=True, parents=True)
        target.write_text(content, encoding="utf-8")


def test_the_nearest_file_upwards_holds(tmp_path: Path) -> None:
    """constrain.toml before a pyproject.toml beside it, which counts with its table only."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    with_table, without = "[tool.constrain]\n", "[tool.constrained]\n"
    assert find(inner) != tmp_path / "pyproject.toml"
    (tmp_path / "pyproject.toml").write_text(with_table)
    assert find(inner) == tmp_path / "pyproject.toml"
    (tmp_path / "a" / "pyproject.toml").write_text(without)
    assert find(inner) == tmp_path / "pyproject.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("constrain = [broken")
    assert find(inner) == tmp_path / "pyproject.toml"
    (tmp_path / "constrain.toml").write_text("")
    assert find(inner) == tmp_path / "constrain.toml"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.constrain]",
        "[ tool . 'constrain' ]",
        '["tool".constrain.grammars]',
        "tool.constrain.lazy = true",
        "tool = {constrain = {lazy = true}}",
        "[tool]\nconstrain.lazy = true",
        "[ 'tool' ]\nconstrain = {}",
    ],
)
def test_the_table_of_a_pyproject_is_seen_however_it_is_written(tmp_path: Path, text: str) -> None:
    """Though files without it are not read as TOML."""
    path = tmp_path / "pyproject.toml"
    path.write_text(f"[project]\nname = 'x'\n{text}" if text[0] == "[" else text)

    assert find(tmp_path) == path


def test_check_alone_checks_all_grammars_of_the_project(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, also from a folder below, with paths that lead there."""
    project(
        '[tool.constrain]\ngrammars = ["z.ebnf", "g/**/*.ebnf"]\n',
        "pyproject.toml",
        z="s ::= t;",
        g__a="s ::= u;",
        g__deep__b="s ::= v;",
        other="s ::= w;",
    )

    done = cli("check")
    assert done.code == 2
    files = [line.split(":")[0] for line in done.out.decode().split("\n") if "error:" in line]
    assert files == ["z.ebnf", str(Path("g", "a.ebnf")), str(Path("g", "deep", "b.ebnf"))]

    monkeypatch.chdir("g")
    assert b"\na.ebnf:1:7: error: rule 'u'" in cli("check").out


def test_options_of_a_grammar_hold_where_it_is_named(cli: Cli) -> None:
    """Those of all, those of its patterns, the later before the earlier; not of others."""
    project(
        """
        start = "day"
        [tokenizers]
        small = "tokenizer"
        [grammars]
        "*.ebnf" = {start = "month"}
        "d*.ebnf" = {start = "year", tokenization = "any"}
        """,
        date=DATE,
        month=DATE,
        g__date=DATE,
    )

    starts = {}
    for name in ("date", "month", "g/date"):
        starts[name] = cli("show", f"{name}.ebnf").out.decode().split("\n")[0]
    assert starts == {"date": "start year", "month": "start month", "g/date": "start day"}
    assert cli("show", "date.ebnf", "--start", "month").out.startswith(b"start month\n")
    assert cli("--isolated", "show", "date.ebnf").out.startswith(b"start date\n")
    assert cli("compile", "date.ebnf").code == 0
    assert (load("date.cst").manifest.start, load("date.cst").manifest.tokenization) == (
        "year",
        "any",
    )
    # An artifact has its own options: nothing is said of those of the file.
    assert cli("mask", "date.cst", "-f", "ids").err == ""
    # A stream is in no place of the project.
    assert cli("show", "-", stdin=DATE.encode()).out.startswith(b"start date\n")


def test_the_command_line_wins(cli: Cli) -> None:
    """Also by the value that is the default, and over options that would contradict it."""
    project("max-states = 2\nlazy = true\nmax-depth = 1", date=DATE)

    assert cli("compile", "date.ebnf").code == 3
    assert cli("compile", "date.ebnf", "--max-states", "200000").code == 0
    words = ("--max-states", "100", "--prewarm", "5", "--engine", "network")
    assert cli("compile", "date.ebnf", *words, "--tokenization", "any").code == 0


def test_the_command_line_takes_back_a_switch(cli: Cli) -> None:
    """By its --no- form, which contradicts nothing that the file says beside it."""
    project("strip = true\nprewarm = 7", date=DATE)

    assert cli("compile", "date.ebnf", "-o", "stripped.cst").code == 0
    assert cli("compile", "date.ebnf", "--no-strip", "-o", "whole.cst").code == 0
    sources = [load(name).manifest.source for name in ("stripped.cst", "whole.cst")]
    assert sources == [None, DATE]

    keys = of_a_grammar(f for f in fields(Given) if f.name in ALL)
    found, takes = read(Path("constrain.toml"), keys), frozenset({"lazy", "prewarm"})
    assert values_for(found, "date.ebnf", takes, {"lazy": False}) == {"prewarm": 7}
    assert values_for(found, "date.ebnf", takes, {"lazy": True}) == {}


def case(name: str, text: str, verdict: str = "accept", head: str = "") -> str:
    """A case file of one case."""
    return f"{head}=====\n{name}\n:{verdict}\n=====\n{text}\n---\n"


def test_test_alone_runs_all_cases_of_the_project(cli: Cli) -> None:
    """Those of each grammar, by its options; those beside it where none are named; and those that
    say themselves what they are about."""
    project(
        """
        tests = ["own/*.test"]
        [grammars]
        "*.ebnf" = {}
        "month.ebnf" = {start = "month", tests = ["cases/", "more.test"]}
        "day.ebnf" = {start = "day"}
        """,
        month=DATE,
        day=DATE,
        without=DATE,
    )
    files = {
        "cases/a.test": case("a month", "12"),
        "more.test": case("no month", "13", "reject"),
        "day.test": case("a day", "31"),
        "own/year.test": case("a year", "1999", head="grammar: ../day.ebnf\nstart: year\n"),
    }
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)

    done = cli("test", "--format", "json")
    alone = cli("test", "month.ebnf", "--format", "json")
    wrong = cli("test", "--start", "date")

    assert done.code == 0, done.out.decode() + done.err
    found = json.loads(done.out)
    cases = [c["name"] for file in found["files"] for c in file["cases"]]
    assert cases == ["a day", "a month", "no month", "a year"]
    assert b"a month" in alone.out and b"no month" in alone.out and b"a day" not in alone.out
    # The command line goes before the project file, and before what case files say.
    assert wrong.code == 1
    assert wrong.out.count(b"a year") and wrong.out.count(b"a day")


def test_the_project_says_how_much_is_to_be_covered(cli: Cli) -> None:
    """Of each grammar, where all its cases run; the command line goes before."""
    project('[grammars]\n"a.ebnf" = {min-coverage = 100}\n"b.ebnf" = {}', a=DATE, b=DATE)
    for name in "ab":
        Path(f"{name}.test").write_text(case("a day", "2024-02-29"))

    done = cli("test", "-q")
    assert done.code == 1
    assert done.err.startswith("error: a.ebnf: ")
    assert "less than 100 %" in done.err
    assert "b.ebnf" not in done.err
    assert cli("test", "a.ebnf").code == 1
    for words in (("b.ebnf",), ("a.ebnf", "a.test"), ("--filter", "day"), ("--min-coverage", "1")):
        assert cli("test", *words).code == 0, words
    # Without a case nothing is covered.
    Path("a.test").unlink()
    done = cli("test", "-q")
    assert (done.code, done.err.split(", ")[0]) == (
        1,
        "error: a.ebnf: no case is about it",
    )
    Path("elsewhere.test").write_text(case("a day", "2024-02-29", head="grammar: a.ebnf\n"))
    text = 'tests = ["elsewhere.test"]\n[grammars]\n"a.ebnf" = {min-coverage = 1}'
    project(text, a=DATE)
    assert cli("test", "-q").code == 0


def test_test_alone_says_where_there_is_nothing_to_run(cli: Cli) -> None:
    """Without a project, without cases, and for cases that are not there."""
    assert "there is no project file" in cli("--isolated", "test").err
    project("grammars = ['a.ebnf']", a=DATE)
    assert (cli("test").code, "there is no case" in cli("test").err) == (2, True)
    project("[grammars]\n'a.ebnf' = {tests = ['no.test']}", a=DATE)
    assert "constrain.toml:2: there is no file 'no.test' of cases" in cli("test").err


def test_options_of_some_dialects_hold_for_those(cli: Cli) -> None:
    """Said of all grammars, what is about JSON Schema is about schemas, and no error elsewhere."""
    project('whitespace = "compact"\nextended = true', date=DATE)
    Path("x.schema.json").write_text('{"const": [1, 2]}')
    Path("x.regex").write_text("a&b")

    assert cli("show", "date.ebnf").code == 0
    assert cli("sample", "x.schema.json", "--shortest").out == b"[1,2]\n"
    assert "empty language" in cli("sample", "x.regex").err
    # The command line says what it wants, and hears what is wrong with that.
    assert cli("show", "date.ebnf", "--whitespace", "one").code == 2


def test_diff_reads_each_side_as_the_project_says(cli: Cli) -> None:
    """Start and dialect of A and of B."""
    project('grammars = {"a.ebnf" = {start = "month"}, "b.ebnf" = {start = "day"}}', a=DATE, b=DATE)

    assert cli("diff", "a.ebnf", "b.ebnf").code == 1
    assert cli("diff", "a.ebnf", "b.ebnf", "--start", "month").out == b"equal\n"


def test_diff_reads_a_copy_of_a_listed_grammar_as_that(cli: Cli) -> None:
    """Such as the one of another branch, which has the same name and which no pattern matches."""
    text = 'a ::= "x"; b ::= "y";'
    project('[grammars]\n"g/*.ebnf" = {start = "b"}\n', g__one=text, base__g__one=text)
    assert cli("diff", "base/g/one.ebnf", "g/one.ebnf").out == b"equal\n"
    assert cli("diff", "g/one.ebnf", "base/g/one.ebnf").out == b"equal\n"


def test_cases_whose_grammar_is_gone_are_an_error(cli: Cli) -> None:
    """Of the plain run, in the folders of its grammars; those that name another are left alone."""
    project('[grammars]\n"g/*.ebnf" = {}\n', g__one=DATE, g__other=DATE)
    for name, head in (("one", ""), ("other", ""), ("named", "grammar: one.ebnf\n")):
        Path(f"g/{name}.test").write_text(case("a", "2024-01-01", head=head))
    assert cli("test").code == 0
    Path("g/other.ebnf").unlink()
    found = cli("test")
    assert found.code == 2
    assert "g/other.test: no grammar is named, and none of its name is beside it" in (
        found.out.decode()
    )


def test_tokenizers_have_names(
    cli: Cli, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In the file and on the command line; paths are those of the file's folder."""
    from support import tokenizer_of

    made = tokenizer_of(tmp_path_factory.mktemp("made"), "ab", ["a b"])
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "tokenizer.json").write_bytes(Path(made.name).read_bytes())
    text = 'tokenizer = "mine"\n[tokenizers]\nmine = "tokenizer.json"\n'
    (tmp_path / "inner" / "constrain.toml").write_text(text)

    by_file = cli("--config", "inner/constrain.toml", "tokenize", "abab", "-f", "ids")
    by_name = cli("tokenize", "--config=inner/constrain.toml", "-t", "mine", "abab", "-f", "ids")

    assert by_file.out == by_name.out == b"2\n2\n"
    assert cli("tokenize", "abab", "-t", "mine").code == 2


def test_lints_are_silenced_for_a_grammar(cli: Cli) -> None:
    """By name, for the files of a pattern or for all."""
    left = "a ::= a 'x' | 'y';"
    project('[grammars]\n"a.ebnf" = {allow = ["left-recursion"]}\n"b.ebnf" = {}', a=left, b=left)

    out = cli("check", "-f", "json").out
    assert {f["file"] for f in json.loads(out)["findings"]} == {"b.ebnf"}
    project('allow = ["left-recursion"]\ngrammars = ["*.ebnf"]')
    assert cli("check").code == 0


WRONG = {
    'tokenizr = "x"': "1:1: error: there is no key 'tokenizr'@did you mean 'tokenizer'?",
    "max_states = 3": "1:1: error: there is no key 'max_states'@did you mean 'max-states'?",
    "strip = 1": "1:9: error: 'strip' takes true or false@^",
    'max-states = "3"': "1:14: error: 'max-states' takes a whole number@^^^",
    "max-states = 0": "1:14: error: 'max-states' takes at least 1@^",
    "max-states = true": "1:14: error: 'max-states' takes a whole number@^^^^",
    'eos = "x"': "1:7: error: 'eos' takes a list of texts in quotes@^^^",
    'dialect = "bnf"': "1:11: error: 'dialect' takes one of kbnf@^^^^^",
    'allow = ["left"]': "1:9: error: 'allow' takes names of lints@^^^^^^^^",
    'engine = "fast"': "1:10: error: 'engine' takes one of auto, dfa@^^^^^^",
    "grammars = 3": "1:12: error: expected a list of files, or a table@^",
    "grammars = [3]": "1:13: error: expected a file or a pattern@^",
    "[grammars]\n\n'a b' = 3": "3:9: error: expected a table of options@^",
    "[grammars.'a b']\nstrp = true": "2:1: error: there is no key 'strp'@'strip'",
    "[tokenizers]\nx.y = 1": "2:7: error: expected the file of a tokenizer@^",
    "a = \n": "1:5: error: this is no TOML: invalid value@^",
    "a = [1,": "1:8: error: this is no TOML: invalid value@^",
    "tokenizers = 5\ntokenizer = 'x'": "1:14: error: expected a table@^",
    f"a = {'[' * 5_000}": "error: this is no TOML: keys or values nest too deep@deep",
    f"{'a.' * 20_000}b = 1": "error: this is no TOML: keys or values nest too deep@deep",
    "".join(f"k{i} = 1\n" for i in range(5_000)): "1:1: error: there is no key 'k0'@4,950 more",
    f"start = '{'x' * 1_000_000}'": " it has more than 1,000,000 bytes@the most",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_its_place(cli: Cli, text: str) -> None:
    """File, line, column, a caret, and what was meant; in every command that reads grammars."""
    project(text, date=DATE)
    message, hint = WRONG[text].split("@")

    for words in (("check",), ("show", "date.ebnf"), ("config",)):
        found = cli(*words)
        assert found.code == 2, words
        assert "constrain.toml:" in found.err
        assert message in found.err
        assert hint in found.err


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nconstrain = 1", "[[tool]]\nconstrain = 1"])
def test_a_pyproject_whose_table_is_none_is_refused_at_its_place(cli: Cli, text: str) -> None:
    """Where --config names it; without that it is no project file."""
    project(text, "pyproject.toml")

    found = cli("config", "--config", "pyproject.toml")
    assert (found.code, "error: expected a table [tool" in found.err) == (2, True)


def test_a_pyproject_that_is_no_toml_ends_no_command(cli: Cli) -> None:
    """Others may complain of it."""
    project(f"tool = {'[' * 5_000}", "pyproject.toml", date=DATE)

    assert cli("check", "date.ebnf").code == 0


@pytest.mark.parametrize("pattern", ["a**b", "/etc/*", "[z-a].ebnf"])
def test_patterns_that_mean_no_files_are_refused(cli: Cli, pattern: str) -> None:
    """Those of grammars and of cases, with what is wrong."""
    for text in (f"grammars = ['{pattern}']", f"tests = ['{pattern}']"):
        project(text, date=DATE)
        for words in (("check",), ("test",), ("check", "date.ebnf")):
            found = cli(*words)
            assert (found.code == 2) == (len(words) == 1), found.err
            assert found.code in (0, 2)


def test_no_tests_at_all_are_no_cases(cli: Cli) -> None:
    """An empty list is what it says."""
    project("tests = []")

    found = cli("test")
    assert (found.code, "there is no case" in found.err) == (2, True)


def test_all_that_is_wrong_is_said_at_once(cli: Cli) -> None:
    """In the order of the text, of a pyproject.toml at its own lines."""
    text = "[tool.other]\nx = 1\n[tool.constrain]\nlazy = 1\n[tool.constrain.grammars]\na = 2\n"
    project(text, "pyproject.toml")

    lines = [line for line in cli("check").err.split("\n") if "error" in line]
    assert [line.split(" ")[0] for line in lines] == ["pyproject.toml:4:8:", "pyproject.toml:6:5:"]


def test_without_a_project_commands_say_what_to_name(cli: Cli) -> None:
    """And a file without grammars, or with one that is not there."""
    for text, message in (
        ("", "it lists no grammars"),
        ('grammars = [\n  "no.ebnf"]', "constrain.toml:2: there is no file 'no.ebnf'"),
    ):
        project(text)
        assert message in cli("check").err
        assert cli("--isolated", "check").err.startswith("error: there is no project file")
    assert cli("--isolated", "--config", "constrain.toml", "check").code == 2
    assert "--config and --isolated exclude" in cli("--isolated", "check", "--config", "x").err
    assert cli("--config", "missing.toml", "check").err.startswith("error: missing.toml: ")


def test_config_says_what_holds_and_where_it_is_said(cli: Cli) -> None:
    """For all grammars of the project, or for those that are named."""
    project(
        'max-states = 7\n[tokenizers]\nmy_own = "t.json"\n[grammars]\n"*.ebnf" = {}\n'
        '"b.ebnf" = {lazy = true, tokenizer = "my_own"}\n',
        a=DATE,
        b=DATE,
    )

    said = cli("config").out.decode().split("\n")
    found = json.loads(cli("config", "b.ebnf", "--format", "json").out)

    assert said[:3] == [
        "project file: constrain.toml",
        "tokenizers",
        '  my_own = "t.json"   constrain.toml:3',
    ]
    assert said[3:7] == ["a.ebnf", "  max-states = 7   constrain.toml:1", "b.ebnf", said[6]]
    assert [grammar["file"] for grammar in found["grammars"]] == ["b.ebnf"]
    told = {k: (v["value"], v["line"]) for k, v in found["grammars"][0]["options"].items()}
    assert told == {"max-states": (7, 1), "lazy": (True, 6), "tokenizer": ("t.json", 6)}


def test_every_option_of_a_grammar_may_be_said(cli: Cli) -> None:
    """By the name that the command line has."""
    said = cli("compile", "--help-all").out.decode()
    keys = of_a_grammar(f for f in fields(Given) if f.name in ALL and f.name != "no_cache")

    own = {"tests", "allow", "min-coverage"}
    named = {name.replace("-", "_") for name in own}
    assert {*ALL} - {"no_cache"} | named == {key.name for key in keys.values()}
    assert {name for name in {*keys} - own if f"--{name}" not in said} == {"prewarm", "lazy"}


def leaves(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """What is no table and no list, by its path."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found: dict[tuple[str, ...], Any] = {}
    for key, item in inner:
        at = (*path, str(key))
        found |= leaves(item, at) if isinstance(item, dict | list) else {at: item}
    return found


TOML = '''
# [no] = "table"
a.b."c.d" = 1 # end
'e' = """x = 1
[y]""\\""\""""
f = [ 1, {g = [2, "]"], h.i = \'}\'}, # comment ]
  [3], ]
[j . "k l"]
m = 1979-05-27 07:32:00
n = \'\'\'o
\'\'\'
[[p]]
q = {}
[[p]]
q = []
[p.r]
s = true
'''


@pytest.mark.parametrize("text", [TOML, (ROOT / "pyproject.toml").read_text(encoding="utf-8")])
def test_values_of_toml_are_found_where_they_stand(text: str) -> None:
    """What stands at each place is the value that tomllib reads there."""
    found = places(text)

    expected = leaves(tomllib.loads(text))
    assert len(expected) > 9
    for path, value in expected.items():
        place = found[path]
        written = text[slice(*place.value)]
        assert tomllib.loads(f"x = {written}")["x"] == value
        if not path[-1].isdigit():
            assert text[slice(*place.key)].strip("\"'") == path[-1]
