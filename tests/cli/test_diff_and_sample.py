"""``constrain diff`` and ``constrain sample``."""

import json
from pathlib import Path

import pytest
from support import ROOT

from constrain.cli.app import run

EXAMPLES = ROOT / "examples"

Captured = pytest.CaptureFixture[bytes]


def written(folder: Path, name: str, text: str) -> str:
    """The path of a grammar file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_equal_across_dialects_and_artifacts(tmp_path: Path, capsysbinary: Captured) -> None:
    """A grammar, its regex and its artifact are one language."""
    date = str(EXAMPLES / "date.ebnf")
    pattern = written(tmp_path, "date.regex", "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\n")
    artifact = str(tmp_path / "date.cst")
    assert run(["compile", date, "-o", artifact]) == 0
    for left, right in ((date, pattern), (artifact, pattern), (date, artifact)):
        capsysbinary.readouterr()
        assert run(["diff", left, right]) == 0
        assert capsysbinary.readouterr().out == b"equal\n"


def test_differences_with_witnesses_and_counts(tmp_path: Path, capsysbinary: Captured) -> None:
    """Each side: its shortest member, quoted, and counts by length."""
    one = written(tmp_path, "one.regex", r"\n|a{1,3}|éé")
    other = written(tmp_path, "other.gbnf", 'root ::= "a"* | "\\""')
    assert run(["diff", one, other]) == 1
    expected = (
        f'only in {one}: shortest "\\n"\n  bytes  members\n      1  1\n      4  1\n'
        f'only in {other}: shortest ""\n  bytes  members\n      0  1\n      1  1\n'
        "      4  1\n      5  1\n      6  1\n      7  1\n      …  longer ones, without a bound\n"
    )
    assert expected == capsysbinary.readouterr().out.decode()


def test_a_table_says_that_white_space_counts_and_where_none_is_why(
    tmp_path: Path, capsysbinary: Captured
) -> None:
    """Of schemas, in the heading; where no automaton has the members, in a note."""
    one = written(tmp_path, "a.schema.json", '{"enum": [1]}')
    other = written(tmp_path, "b.schema.json", '{"enum": [1, 2]}')
    assert run(["diff", one, other]) == 1
    assert b"  bytes  members (white space counts)\n" in capsysbinary.readouterr().out
    one, other = (written(tmp_path, f"{x}.gbnf", f'root ::= "(" root ")" | "{x}"') for x in "ab")
    assert run(["diff", one, other]) == 1
    assert b"note: members are not counted where no automaton has" in capsysbinary.readouterr().err


def test_differences_as_json(tmp_path: Path, capsysbinary: Captured) -> None:
    """One object; null for a side without difference; counts up to --max-bytes."""
    one, other = written(tmp_path, "a.regex", "(ab)*"), written(tmp_path, "b.regex", "(ab){0,2}")
    assert run(["diff", one, other, "-f", "json", "--max-bytes", "9"]) == 1
    assert json.loads(capsysbinary.readouterr().out) == {
        "schema": 1,
        "equal": False,
        "only_left": {
            "shortest": "ababab",
            "shortest_bytes": 6,
            "longest_bytes": None,
            "counts": {"6": 1, "8": 1},
        },
        "only_right": None,
    }


def test_finite_differences_say_where_they_end(tmp_path: Path, capsysbinary: Captured) -> None:
    """Counts that stop early say how long members get."""
    one, other = written(tmp_path, "a.regex", "a{0,20}"), written(tmp_path, "b.regex", "b")
    assert run(["diff", one, other, "--max-bytes", "1"]) == 1
    assert "      1  1\n      …  up to 20 bytes\n" in capsysbinary.readouterr().out.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "-"], "cannot both come from standard input"),
        (["{a}", "{names}"], "it names tokens by id"),
        (["{a}", "{a}", "-d", "regex", "-d", "kbnf", "-d", "w3c"], "--dialect is given once"),
        (["{a}", "{missing}"], "missing"),
    ],
)
def test_diff_of_bad_input(
    tmp_path: Path, capsysbinary: Captured, arguments: list[str], said: str
) -> None:
    """Exit code 2 with the reason."""
    names = {
        "a": written(tmp_path, "a.regex", "a"),
        "names": written(tmp_path, "n.gbnf", 'root ::= "(" root ")" | <[7]>'),
        "missing": str(tmp_path / "missing"),
    }
    assert run(["diff", *(a.format(**names) for a in arguments)]) == 2
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    assert said in captured.err.decode()


def test_what_nests_is_compared_as_deep_as_there_is_room(
    tmp_path: Path, capsysbinary: Captured
) -> None:
    """Grammars and artifacts; the depth is said where not all texts were compared."""
    nested = written(tmp_path, "n.ebnf", "s ::= '(' s ')' | 'x';")
    other = written(tmp_path, "o.ebnf", "s ::= '(' s ')' | 'x' | '[' s ']';")
    flat = written(tmp_path, "f.regex", "x")
    artifact = str(tmp_path / "n.cst")
    assert run(["compile", nested, "-o", artifact]) == 0
    capsysbinary.readouterr()
    assert run(["diff", nested, artifact]) == 0
    depth = "among texts where calls nest at most 16 deep"
    assert capsysbinary.readouterr().out.decode() == f"equal {depth}\n"
    assert run(["diff", artifact, other]) == 1
    said = capsysbinary.readouterr().out.decode().splitlines()
    assert said[0].startswith(f"only in {artifact}: nothing among texts where calls nest at most ")
    assert said[1] == f'only in {other}: shortest "[x]"'
    assert run(["diff", flat, nested, "-f", "json"]) == 1
    assert json.loads(capsysbinary.readouterr().out) == {
        "schema": 1,
        "equal": False,
        "only_left": None,
        "only_right": {"shortest": "(x)", "shortest_bytes": 3},
    }


def test_what_is_cut_off_is_no_difference(tmp_path: Path, capsysbinary: Captured) -> None:
    """Of two spellings of one nesting --max-depth leaves out other texts; a difference is one of
    the whole grammars."""
    one = written(tmp_path, "one.gbnf", 'root ::= "(" root ")" | ""')
    two = written(tmp_path, "two.gbnf", 'root ::= "((" root "))" | "()" | ""')
    other = written(tmp_path, "other.gbnf", 'root ::= "(" root ")" | "" | "((x))"')
    assert run(["diff", one, two, "--max-depth", "2"]) == 0
    captured = capsysbinary.readouterr()
    assert captured.out.startswith(b"equal among texts where")
    assert b"[cut-off]" in captured.err
    assert run(["diff", other, two, "--max-depth", "3"]) == 1
    assert f'only in {other}: shortest "((x))"'.encode() in capsysbinary.readouterr().out


def test_artifacts_of_two_tokenizations(tmp_path: Path, capsysbinary: Captured) -> None:
    """They are equal by their members, and a note says what else differs."""
    file = written(tmp_path, "one.regex", "ab?")
    artifacts = [str(tmp_path / f"{name}.cst") for name in ("any", "canonical")]
    for name, artifact in zip(("any", "canonical"), artifacts, strict=True):
        assert run(["compile", file, "--tokenization", name, "-o", artifact]) == 0
    capsysbinary.readouterr()
    assert run(["diff", *artifacts]) == 0
    assert b"the tokenizations are any and canonical: members" in capsysbinary.readouterr().err


@pytest.mark.usefixtures("fewer_pairs")
def test_schemas_differ_by_keys_first(tmp_path: Path, capsysbinary: Captured) -> None:
    """What two schemas say differently, then the texts; open objects are no hindrance."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    one = written(tmp_path, "one.schema.json", json.dumps(schema))
    other = written(tmp_path, "two.schema.json", json.dumps({**schema, "required": []}))
    assert run(["diff", one, other, "--whitespace", "compact"]) == 1
    said = capsysbinary.readouterr().out.decode().splitlines()
    assert said[0] == '#: "a" is no longer required'
    assert said[-1] == f'only in {other}: shortest "{{}}"'
    assert run(["diff", one, one, "--whitespace", "compact", "-f", "json"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["keys"] == []


def test_dialects_and_starts_of_either_side(tmp_path: Path, capsysbinary: Captured) -> None:
    """An option given twice speaks of A, then of B."""
    one = written(tmp_path, "one.txt", 'x ::= "a"; y ::= "b";')
    other = written(tmp_path, "other.txt", "b")
    options = ["--start", "y", "--start", "start", "-d", "kbnf", "-d", "regex"]
    assert run(["diff", one, other, *options]) == 0


def test_extended_regexes(tmp_path: Path, capsysbinary: Captured) -> None:
    """--extended reads intersections and complements; the limit names the repetition."""
    grammar = written(tmp_path, "x.regex", "[a-c]&~b")
    assert run(["sample", grammar, "--all", "--extended"]) == 0
    assert capsysbinary.readouterr().out == b"a\nc\n"
    assert run(["diff", grammar, written(tmp_path, "y.regex", "a|c"), "--extended"]) == 0
    large = written(tmp_path, "z.regex", "~(.*a.{20})")
    assert run(["sample", large, "--extended", "--max-states", "2000"]) == 3
    assert b"in '.{20}'" in capsysbinary.readouterr().err


def test_draws_are_members_and_deterministic(capsysbinary: Captured) -> None:
    """The same seed, the same draws; another seed, others."""
    date = str(EXAMPLES / "date.ebnf")
    drawn = []
    for seed in ("1", "1", "2"):
        assert run(["sample", date, "-n", "20", "--seed", seed]) == 0
        drawn.append(capsysbinary.readouterr().out.decode().splitlines())
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) > 10
    assert all(len(text) == 10 and text[4] == text[7] == "-" for text in drawn[0])


def test_all_members_and_the_shortest(tmp_path: Path, capsysbinary: Captured) -> None:
    """--all lists by length, then by bytes; --max-bytes bounds it."""
    grammar = written(tmp_path, "g.regex", "b|a+|")
    assert run(["sample", grammar, "--all", "--max-bytes", "3"]) == 0
    assert capsysbinary.readouterr().out == b"\na\nb\naa\naaa\n"
    assert run(["sample", grammar, "--shortest"]) == 0
    assert capsysbinary.readouterr().out == b"\n"


def test_formats_of_members_with_line_breaks(tmp_path: Path, capsysbinary: Captured) -> None:
    """text escapes, json quotes, raw0 gives the bytes themselves."""
    grammar = written(tmp_path, "g.regex", r'é\n|\\"')
    outputs = {
        "text": b'\\\\"\n\xc3\xa9\\n\n',
        "raw0": b'\\"\0\xc3\xa9\n\0',
        "json": b'{"schema": 1, "members": ["\\\\\\"", "\\u00e9\\n"]}\n',
    }
    for name, expected in outputs.items():
        assert run(["sample", grammar, "--all", "-f", name]) == 0
        assert capsysbinary.readouterr().out == expected


def test_nothing_to_draw(tmp_path: Path, capsysbinary: Captured) -> None:
    """Exit code 1 with a message."""
    grammar = written(tmp_path, "g.regex", "abc")
    for option in ([], ["--all"], ["--shortest"]):
        assert run(["sample", grammar, "--max-bytes", "2", *option]) == 1
        captured = capsysbinary.readouterr()
        assert captured.out == b""
        said = "no member has at most 2 bytes, the shortest has 3; raise --max-bytes"
        assert said in captured.err.decode()


def test_no_member_at_all(tmp_path: Path, capsysbinary: Captured) -> None:
    """A difference can be empty, which is an error at its place."""
    empty = written(tmp_path, "e.iso", 's = "a" - "a";')
    for command in (["sample", empty], ["diff", empty, empty]):
        assert run(command) == 2
        assert b":1:5: error: rule 's' is an empty language" in capsysbinary.readouterr().err


def test_ways_to_sample_exclude_each_other(capsysbinary: Captured) -> None:
    """Only one of them can be meant."""
    assert run(["sample", "x.regex", "--all", "--shortest"]) == 2
    assert b"exclude each other" in capsysbinary.readouterr().err


def test_counting_that_takes_too_much(tmp_path: Path, capsysbinary: Captured) -> None:
    """A limit ends with exit code 3."""
    grammar = written(tmp_path, "g.regex", "[a-z]*")
    options = ["--max-bytes", "20000", "--max-memory", "100000000"]
    assert run(["sample", grammar, *options]) == 3
    said = capsysbinary.readouterr().err
    assert b"the counting of members needs more" in said
    assert b"raise --max-memory" in said
    long = written(tmp_path, "l.regex", "a{2000}")
    assert run(["sample", long, "--shortest", *options]) == 0
