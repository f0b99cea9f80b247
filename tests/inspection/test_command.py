"""The command ``inspect``, and what the other commands say of the same."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
from pathlib import Path

from support.cli import DATE, Cli, content

JSON = 'start ::= "[" (start ("," start)*)? "]" | #"[a-z]{1,4}";'


def test_a_text_that_is_no_member_is_placed_as_explain_places_it(cli: Cli, tmp_path: Path) -> None:
    """Of a grammar and of its artifact, whatever the engine; exit code 1."""
    nested = content(tmp_path / "nested.ebnf", JSON)
    for grammar, text in ((DATE, "2024-13-01"), (nested, "[a,bc,")):
        file = content(tmp_path / "text.txt", text)
        assert 0 == cli("compile", grammar, "-o", "g.cst").code
        for subject in (grammar, "g.cst"):
            said = cli("explain", subject, file).out.decode().splitlines()[0]
            result = cli("inspect", subject, "--text", file, "--format", "json")
            (found,) = json.loads(result.out)["texts"]

            assert said == found["message"]
            assert said.startswith(f"{file}:{found['line']}:{found['column']}: {found['status']}")
            assert 1 == result.code
        table = cli("inspect", "g.cst", "--text", file).out.decode()
        assert f"text {said}\n" in table


def test_stats_show_and_inspect_say_the_same(cli: Cli) -> None:
    """Method, growth and token DFA of ``compile --stats``; counts and notes of ``show``."""
    for method in ("direct", "cartesian"):
        options = ["--method", method]
        stats = cli("compile", DATE, "-o", "d.cst", "--stats", *options).err
        result = cli("inspect", DATE, "--format", "json", *options, "-o", "d.json")
        found = json.loads(Path("d.json").read_text())

        assert (0, b"") == (result.code, result.out)
        chosen = found["choices"]["method"]
        assert f"method: {chosen['name']}, {chosen['reason']}\n" in stats
        rows = [[int(n.replace(",", "")) for n in row] for row in re.findall(_ROW, stats, re.M)]
        assert rows == [list(step.values()) for step in found["effort"]["growth"]]
        assert (method == "direct") == bool(rows)
        if found["token_dfa"]:
            states, edges = found["token_dfa"].values()
            assert f"token DFA: {states:,} states, {edges:,} transitions\n" in stats
        shown = cli("show", "d.cst").out.decode()
        table = cli("inspect", "d.cst").out.decode()
        counts = [f"{n.replace('_', ' ')}: {c:,}\n" for n, c in found["counts"].items()]
        assert counts
        assert all(line in shown and line in table for line in counts)


def test_an_artifact_says_what_its_file_has(cli: Cli) -> None:
    """Not why it was compiled so, but for what its notes say; its size is that of the file."""
    grammar = content(Path("g.ebnf"), JSON)
    assert 0 == cli("compile", grammar, "-o", "g.cst", "--strip").code
    found = json.loads(cli("inspect", "g.cst", "--format", "json").out)

    assert (True, None, None) == (found["is_artifact"], found["effort"], found["limits"])
    assert "nests itself" in found["choices"]["engine"]["reason"]
    assert found["choices"]["meaning"] == {"name": "exact", "reason": None}
    assert (None, None) == (found["grammar"]["bytes"], found["tokenizer"]["name"])
    assert Path("g.cst").stat().st_size == found["sizes"]["file"]


_ROW = r"^ *([\d,]+) +([\d,]+) +([\d,]+) *$"
