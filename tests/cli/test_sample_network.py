"""Members of grammars that nest: counted, listed, drawn; and ``diff`` at a bounded depth."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections import Counter
from itertools import islice, product
from math import comb
from pathlib import Path

import pytest
from support.grammars import lnf_of, random_grammars, recogniser
from support.maximal_munch import maximal_munch_tables
from support.network import minimal_tables

from constrain.cli.app import run
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.to_dfa import accepts, text_machine
from constrain.compiler.network.members import NetworkMembers

Captured = pytest.CaptureFixture[bytes]

DYCK = 's ::= "(" s ")" s | "";'

MUNCH = 'start: A A | "(" start ")"\nA: /aa?/\n%ignore " "\n'


def members_of(text: str) -> NetworkMembers:
    """Of a kbnf grammar."""
    return NetworkMembers(minimal_tables(text))


def written(folder: Path, name: str, text: str) -> str:
    """The path of a grammar file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_members_of_random_grammars_are_earleys(full: bool) -> None:
    """All texts of up to five letters that Earley accepts are listed, in order, each once; the
    shortest length is known, and draws are members."""
    rng = random.Random(5)
    words = [bytes(word) for n in range(6) for word in product(b"abc", repeat=n)]
    checked = 0
    for text, _ in random_grammars(300 if full else 4, seed=21):
        try:
            found, earley = members_of(text), recogniser(lnf_of(text))
        except CheckError:
            continue
        if sum(map(found.count, range(6))) > 10_000:
            continue  # Classes of bytes: too many to list.
        expected = []
        for word in words:
            earley.truncate(0)
            if earley.feed(word) == len(word) and earley.is_accepting:
                expected.append(word)
        listed = [word for word in found.up_to(5) if not word.strip(b"abc")]
        assert expected == listed, text
        for length in range(6):
            assert bool(found.count(length)) == any(True for _ in found.of_length(length)), text
        least = found.least(5)
        if least is not None:
            assert least == min(map(len, found.up_to(5)))
            for word in islice(found.draws(5, rng.randrange(99)), 20):
                earley.truncate(0)
                assert earley.feed(word) == len(word), (text, word)
                assert earley.is_accepting, (text, word)
        checked += len(expected)
    assert checked > 300


def test_readings_of_brackets_are_catalan_numbers() -> None:
    """The grammar is not ambiguous: each text has one reading."""
    found = members_of(DYCK)
    catalan = [comb(2 * n, n) // (n + 1) for n in range(9)]
    assert catalan == [found.count(2 * n) for n in range(9)]
    assert [0] * 5 == [found.count(2 * n + 1) for n in range(5)]
    assert catalan[5] == len(set(found.of_length(10))) == len(list(found.of_length(10)))


def test_draws_are_as_likely_as_their_readings() -> None:
    """Of 23 texts in brackets each is drawn about as often as the others."""
    drawn = Counter(islice(members_of(DYCK).draws(8, seed=3), 23_000))
    assert 23 == len(drawn)
    squares = sum((count - 1000) ** 2 / 1000 for count in drawn.values())
    assert squares < 48  # Beyond the 99.9th percentile of chi-square with 22 degrees.


def test_nothing_to_draw() -> None:
    """No member is so short."""
    found = members_of('s ::= "aaa" | "(" s ")";')
    assert found.least(2) is None
    assert 3 == found.least(3)
    with pytest.raises(IndexError):
        next(found.draws(2, 0))


def test_all_kinds_of_artifacts_are_sampled(tmp_path: Path, capsysbinary: Captured) -> None:
    """A grammar, its network and its Earley artifact give the same draws and lists."""
    grammar = written(tmp_path, "g.ebnf", 's ::= "[" (s ("," s)*)? "]" | #"[0-9]+";')
    outputs = []
    subjects = [grammar]
    for engine in ("network", "earley"):
        subjects.append(str(tmp_path / f"{engine}.cst"))
        options = ["--engine", engine, "--tokenization", "any", "-o", subjects[-1]]
        assert run(["compile", grammar, *options]) == 0
    for subject in subjects:
        capsysbinary.readouterr()
        assert run(["sample", subject, "-n", "5", "--max-bytes", "9", "--seed", "4"]) == 0
        assert run(["sample", subject, "--all", "--max-bytes", "2"]) == 0
        assert run(["sample", subject, "--shortest", "-f", "raw0"]) == 0
        outputs.append(capsysbinary.readouterr().out)
    assert [outputs[0]] * 3 == outputs
    assert outputs[0].endswith(b"\n99\n[]\n0\0")


def test_longest_matches_leave_members_out(tmp_path: Path, capsysbinary: Captured) -> None:
    """By maximal munch ``aa`` is one lexeme, which is no member; read exactly it may be two."""
    grammar, artifact = written(tmp_path, "g.lark", MUNCH), str(tmp_path / "g.cst")
    machine = text_machine(maximal_munch_tables(read_grammar(MUNCH, "lark")))
    assert run(["compile", grammar, "-o", artifact]) == 0
    exact = ["--meaning", "exact"]
    lists = []
    for subject, options in ((grammar, []), (artifact, []), (grammar, exact)):
        capsysbinary.readouterr()
        assert run(["sample", subject, "--all", "--max-bytes", "6", "-f", "raw0", *options]) == 0
        lists.append(capsysbinary.readouterr().out.split(b"\0"))
    assert lists[0] == lists[1]
    assert b"(a a)" in lists[0]
    assert b"(aa)" in lists[2]
    assert b"(aa)" not in lists[0]
    assert lists[0] == [text for text in lists[2] if not text or accepts(machine, text)]
    assert run(["sample", grammar, "-n", "20", "--max-bytes", "8", "-f", "json"]) == 0
    drawn = json.loads(capsysbinary.readouterr().out)["members"]
    assert 20 == len(drawn)
    assert all(accepts(machine, text.encode()) for text in drawn)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["sample", "{nested}", "--max-bytes", "2"], 1, "no member has at most 2 bytes; raise"),
        (["sample", "{token}"], 2, "it names tokens by id"),
        (["sample", "{stripped}"], 2, "the kind earley are drawn by its grammar, which was left"),
        (["sample", "{nested}", "--max-bytes", "9000", "--max-seconds", "0.2"], 3, "--max-seconds"),
        (["sample", "{munch}", "--max-bytes", "2"], 2, "none of 100 texts that were drawn"),
        (["sample", "{munch}", "--max-bytes", "2", "--all"], 1, "no member has at most 2 bytes"),
        (["sample", "{munch}", "--max-bytes", "2", "--shortest"], 1, "no member has at most 2"),
    ],
)
def test_what_cannot_be_sampled(
    tmp_path: Path,
    capsysbinary: Captured,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    """The reason, and what to do."""
    monkeypatch.setattr("constrain.cli.sampling._DRAWS", 100)
    paths = {
        "nested": written(tmp_path, "n.ebnf", 's ::= "(" s ")" s | "aaa";'),
        "token": written(tmp_path, "t.gbnf", 'root ::= "(" root ")" | <[7]>'),
        "munch": written(tmp_path, "m.lark", MUNCH),
        "stripped": str(tmp_path / "e.cst"),
    }
    options = ["--engine", "earley", "--tokenization", "any", "--strip", "-o", paths["stripped"]]
    assert run(["compile", paths["nested"], *options]) == 0
    capsysbinary.readouterr()
    assert code == run([argument.format(**paths) for argument in arguments])
    captured = capsysbinary.readouterr()
    assert b"" == captured.out
    assert said in captured.err.decode()


def test_differences_at_a_depth(tmp_path: Path, capsysbinary: Captured) -> None:
    """Grammars that nest are compared as deep as is asked for; ``sample`` draws there, too."""
    one = written(tmp_path, "one.ebnf", 's ::= "(" s ")" | "x";')
    other = written(tmp_path, "other.ebnf", 's ::= "(" s ")" | "(" "(" "x" ")" ")" | "x" | "y";')
    assert run(["diff", one, one, "--max-depth", "3"]) == 0
    assert run(["diff", one, other, "--max-depth", "3", "--max-bytes", "9"]) == 1
    printed = capsysbinary.readouterr().out.decode()
    assert f'only in {one}: nothing\nonly in {other}: shortest "y"' in printed
    assert run(["sample", one, "--all", "--max-depth", "2"]) == 0
    assert b"x\n(x)\n((x))\n" == capsysbinary.readouterr().out
