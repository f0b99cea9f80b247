"""EBNF that keeps to no standard: when it is read so, and what is said of it.

The languages, and what is refused, are cases of ``tests/cases`` (``ebnf-…``, ``error-ebnf-…``).
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path

import pytest
from support.automata import build_automaton

from constrain.cli.app import run
from constrain.compiler.automata.compare import are_equal
from constrain.compiler.diagnostics import DialectError
from constrain.compiler.dialects import dialect_of, read_grammar

# No dialect but this one has it: lines that end rules, and braces that repeat.
PLAIN = 'sum = digit { "+" digit }\ndigit = "0".."9"\n'
KBNF = 'sum ::= digit {"+" digit}; digit ::= #"[0-9]";'

CaptureBytes = pytest.CaptureFixture[bytes]


def read_as(text: str) -> str:
    """The dialect of a text in a file whose suffix alone tells one."""
    return read_grammar(text, "kbnf", is_guessed=True).source.dialect


def test_a_file_of_no_dialect_is_read_by_its_conventions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: CaptureBytes
) -> None:
    """A note says what they were taken for, once, whatever the command."""
    monkeypatch.chdir(tmp_path)
    Path("sum.ebnf").write_text(PLAIN, encoding="utf-8")
    commands = [
        ["check", "sum.ebnf"],
        ["sample", "sum.ebnf"],
        ["convert", "sum.ebnf", "--to", "w3c"],
    ]
    for command in [*commands, ["show", "sum.ebnf"], ["compile", "sum.ebnf", "--lazy"]]:
        assert 0 == run(command), command
        said = capsysbinary.readouterr().err.decode()

        assert 1 == said.count("note: sum.ebnf: read as EBNF: names before '='; a rule ends"), (
            command
        )
        assert "{ } is a repetition" in said


def test_other_dialects_come_first() -> None:
    """What KBNF reads is KBNF; what just one other reads is an error that names it."""
    assert "kbnf" == read_as(KBNF)
    assert "ebnf" == read_as(PLAIN)
    with pytest.raises(DialectError, match="can be read with --dialect w3c"):
        read_as("s ::= [a-z]+\n")
    with pytest.raises(DialectError, match=r"read as kbnf(.|\n)*with --dialect iso14977"):
        read_as("first name = 'a', second name; second name = 'b';")


def test_what_is_of_kbnf_alone_is_kbnf() -> None:
    """A mistake beside it is described as one of that dialect."""
    with pytest.raises(DialectError, match="read as kbnf"):
        read_as('s ::= #"[a-z]" t\nt ::= "x"\n')


def test_a_named_dialect_is_that_one() -> None:
    """Nothing else is tried."""
    with pytest.raises(DialectError, match="read as kbnf"):
        read_grammar(PLAIN, "kbnf")


def test_the_error_further_on_is_told() -> None:
    """Of the two readings that both fail."""
    with pytest.raises(DialectError, match=r"2:11: error: unexpected '\?' \(read as ebnf\)"):
        read_as('s = "a" b // one\nb = "b" | ?\n')
    with pytest.raises(DialectError, match="read as kbnf"):
        read_as("= 2;\n")


@pytest.mark.parametrize("path", ["g.bnf", "G.BNF"])
def test_the_suffix_of_bnf_tells_the_dialect(path: str) -> None:
    """In either case."""
    assert "ebnf" == dialect_of(path)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("calc.pegjs", "ordered choices"),
        ("CALC.PEST", "ordered choices"),
        ("grammar.json", "grammar of tree-sitter"),
        ("parse.y", "grammar of yacc"),
    ],
)
def test_grammars_of_other_parsers_are_refused_by_what_they_are(
    name: str, why: str, tmp_path: Path, capsysbinary: CaptureBytes
) -> None:
    """With what to use instead."""
    path = tmp_path / name
    path.write_text("a <- 'b' / 'bc'\n", encoding="utf-8")

    assert 2 == run(["show", str(path)])
    said = capsysbinary.readouterr().err.decode()
    assert why in said
    assert "write it" in said


# --- the same grammar in all conventions


def written(rng: random.Random, rules: list[tuple[str, list[list[str]]]]) -> str:
    """Rules, whose items are names and characters, in conventions drawn at random."""
    defines = rng.choice(["=", ":=", "::=", ":", "->"])
    end = rng.choice([";", "\n", " .\n"])
    between = rng.choice([" , ", " ", "  "])
    quote = rng.choice("\"'")
    comment = rng.choice(["", "// c\n", "(* c *)\n", "# c\n", "/* c */\n", "-- c\n"])
    is_angled = rng.random() < 0.3

    def item(name: str) -> str:
        if len(name) == 1:
            return f"{quote}{name}{quote}"
        return f"<{name}>" if is_angled else name

    lines = []
    for name, options in rules:
        bodies = [between.join(map(item, option)) for option in options]
        lines.append(
            f"{item(name)} {defines} {rng.choice([' | ', chr(10) + '  | ']).join(bodies)}{end}"
        )
    return comment + rng.choice(["\n", ""]).join(f"{line}\n" for line in lines)


def test_conventions_change_no_language(full: bool) -> None:
    """Random grammars in random conventions mean what they mean in W3C's EBNF."""
    rng = random.Random(5)
    for _ in range(1_000 if full else 28):
        names = [f"rule{i}" for i in range(rng.randint(1, 4))]
        rules = []
        for i, name in enumerate(names):
            items = ["a", "b", "c", *names[i + 1 :]]
            options = [rng.choices(items, k=rng.randint(1, 3)) for _ in range(rng.randint(1, 3))]
            rules.append((name, options))
        text = written(rng, rules)
        bodies = [
            f"{name} ::= "
            + " | ".join(" ".join(x if len(x) > 1 else f"'{x}'" for x in o) for o in os)
            for name, os in rules
        ]
        expected = build_automaton("\n".join(bodies), dialect="w3c").dfa

        assert are_equal(expected, build_automaton(text, dialect="ebnf").dfa), text
