"""The text of case files: what is read, what is refused where, and what is written."""

import random
from pathlib import Path

import pytest
from support.cli import Cli

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.testing.cases import Case, CaseFileError, Kind, Samples, Setting
from constrain.compiler.testing.format import ATTRIBUTES, OPTIONS, parse, write
from constrain.compiler.testing.notation import escaped, tokens_of, unescaped, written

pytestmark = pytest.mark.quick

# What texts are made of: all that means something to the format, and to no one else.
_PARTS = [
    *("a", " ", "\n", "\r\n", "\t", "=", "===", "\n===\n", "\n---\n", "---", "====|1", "\n---|1\n"),
    *(
        ":accept",
        "#",
        "\\",
        "\\n",
        '"',
        "at: 1:1",
        "é",
        "日",
        "\u200b",
        "\x1b",
        "\x00",
        "\ufeff",
        "\x85",
    ),
]
_EXPECTATIONS = [
    ("at", "1:7"),
    ("expected", '[0-2] or "#" or the end of the text'),
    ("rule", "#/properties/age"),
    ("path", "date > day"),
    ("message", ": it is"),
    ("tokens", '2024 "-" <[17]> "\\y{FF}"'),
    ("allowed", "1"),
    ("forced", '""'),
    ("count", "12"),
    ("refused", ""),
]


def random_cases(chance: random.Random) -> list[Case]:
    """Cases of all kinds, whose texts are as hostile as the format allows."""
    return [random_case(chance) for _ in range(chance.randint(1, 5))]


def random_case(chance: random.Random) -> Case:
    def some(text: str | None) -> str | None:
        return text if chance.random() < 0.2 else None

    samples = Samples(chance.randint(1, 9), chance.randint(0, 9)) if chance.random() < 0.1 else None
    in_tokens = samples is None and chance.random() < 0.1
    body = "".join(chance.choices(_PARTS, k=chance.randint(0, 6))).encode()
    body += b"\xff" * (chance.random() < 0.1)
    kinds = [Kind.ACCEPT] if samples else list(Kind)
    return Case(
        name=chance.choice(["a name", "x: y", "# no comment", "é ---", "a ==="]),
        body=b"" if samples else b'a "\\x{20}" <[3]>' if in_tokens else body,
        kind=chance.choice(kinds),
        expectations=tuple(
            Setting(*each) for each in chance.sample(_EXPECTATIONS, chance.randint(0, 3))
        ),
        start=some("rule"),
        skip=some(chance.choice(["", "not yet"])),
        todo=some(chance.choice(["", "later"])),
        fails_fast=chance.random() < 0.1,
        in_tokens=in_tokens,
        command="python -m json.tool" if samples else some("cat"),
        samples=samples,
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_is_written_is_read_as_the_same_cases(seed: int) -> None:
    """Any cases and settings, of any bytes."""
    chance = random.Random(seed)
    for _ in range(100):
        cases = random_cases(chance)
        settings = tuple(
            Setting(key, f"a {key}") for key in chance.sample(OPTIONS, chance.randint(0, 3))
        )
        found = parse(write(cases, settings), "random.test")

        assert list(found.cases) == cases
        assert found.settings == settings


def test_bytes_and_tokens_are_read_as_they_were_written() -> None:
    """Escapes of all bytes, and tokens of all texts."""
    chance = random.Random(1)
    texts = [bytes([octet]) for octet in range(256)] + [
        "é日\u200b😀".encode(),
        b"",
        b"<[3]>",
        b"#a",
    ]
    texts += [bytes(chance.choices(range(256), k=5)) for _ in range(200)]
    for text in texts:
        assert unescaped(escaped(text)) == text
        assert [token.octets for token in tokens_of(written(text))] == [text]


HEAD = "===\na\n===\n"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (HEAD + "---\n", b""),
        (HEAD + "\n---\n", b""),
        (HEAD + "\n\n---\n", b"\n"),
        (HEAD + "a\n---\n", b"a"),
        (HEAD + "a\n---", b"a"),
        (HEAD + "a \n b\n\n---\n", b"a \n b\n"),
        (HEAD + "a\r\nb\r\n---\r\n", b"a\r\nb"),
        ("\ufeff" + HEAD + "\ufeffa\n---\n", "\ufeffa".encode()),
        ("===|x\na\n===|x\n---\n===\n---|x\n", b"---\n==="),
        ("===\na\n:hex\n===\n6 1\n62\n---\n", b"ab"),
        ("===\na\n:escape\n===\na\\n\\y{FF}\\x{e9}\n---\n", b"a\n\xff\xc3\xa9"),
    ],
)
def test_a_text_is_the_bytes_between_the_lines(text: str, body: bytes) -> None:
    """Without the last line break, which is one character or two."""
    assert [case.body for case in parse(text, "a.test").cases] == [body]


def test_each_line_of_lines_is_a_case() -> None:
    """Also an empty one."""
    found = parse("===\nsome\n:reject\n:lines\n===\na\n\nb\n---\nat: 1:1\n", "a.test").cases

    assert [(case.name, case.body, case.line) for case in found] == [
        ("some [1]", b"a", 6),
        ("some [2]", b"", 7),
        ("some [3]", b"b", 8),
    ]
    assert {(case.kind, case.expectations) for case in found} == {
        (Kind.REJECT, (Setting("at", "1:1"),))
    }


@pytest.mark.parametrize(
    ("text", "place", "message", "help_"),
    [
        (
            "grammer: a\n" + HEAD + "---\n",
            "1:1",
            "there is no 'grammer'",
            "did you mean 'grammar'?",
        ),
        ("a line\n" + HEAD + "---\n", "1:1", "a line 'key: value'", "'===' begins a case"),
        ("===\na\n:regect\n===\n---\n", "3:1", "':regect'", "did you mean ':reject'?"),
        ("===\na\n:error\n===\n---\n", "3:1", "':error'", "did you mean ':reject'?"),
        ("===\na\n:reject\n:accept\n===\n---\n", "4:1", "exclude each other", ""),
        ("===\na\n:reject now\n===\n---\n", "3:1", "nothing stands after", ""),
        ("===\na\n:start\n===\n---\n", "3:1", "needs a rule", ""),
        ("===\na\nreject\n===\n---\n", "3:1", "has attributes", "begin with ':'"),
        ("===\n:reject\n===\n---\n", "2:1", "begins with its name", ""),
        ("===\na\n", "1:1", "the head of this case has no end", ""),
        (HEAD + "b\n", "2:1", "has no end", "a line of '---' ends a text"),
        (HEAD + "b\n===\n", "5:1", "has no end", "a line of '---' ends a text"),
        (HEAD + "---\nplace: 1:7\n", "5:1", "there is no 'place'", "known are: at, "),
        (HEAD + "---\nat: 7\n", "5:5", "a line and a column", "such as 1:7"),
        (HEAD + "---\nat: 1:7\nat: 1:8\n", "6:1", "said twice", ""),
        (HEAD + '---\ntokens: a "b\n', "5:11", "ends in a quote", ""),
        (HEAD + "---\nsome text\n", "5:1", "'key: value'", "a suffix"),
        ("===\na\n:escape\n===\nab\\q\n---\n", "5:3", "no escape '\\q'", "\\y{FF}"),
        ("===\na\n:hex\n===\n61 6g\n---\n", "5:5", "'g' is no hexadecimal digit", ""),
        ("===\na\n:sample 5\n===\n---\n", "3:1", "needs a ':command'", ""),
        ("===\na\n:sample x\n:command y\n===\n---\n", "3:9", "takes a number", ""),
        ("", "", "there is no case", "a line of '==='"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    text: str, place: str, message: str, help_: str
) -> None:
    """As a compiler does: file, line, column, and what was meant."""
    with pytest.raises(CaseFileError) as caught:
        parse(text, "a.test")

    said = str(caught.value)
    assert said.startswith(f"a.test:{place}: error: " if place else "a.test:")
    assert message in said
    assert help_ in said
    assert caught.value.exit_code == 2


def test_all_that_is_wrong_is_said_at_once() -> None:
    """In the order of the file."""
    with pytest.raises(CaseFileError) as caught:
        parse("x: 1\n===\na\n:b\n===\n---\nc: d\n", "a.test")

    assert [d.span and d.span.start for d in caught.value.diagnostics] == [0, 11, 22]


def test_any_bytes_are_cases_or_an_error(tmp_path: Path) -> None:
    """Random damage to a case file ends in an error of the format, if in any."""
    chance = random.Random(5)
    for _ in range(300):
        text = write(random_cases(chance))
        for _ in range(chance.randint(1, 3)):
            place = chance.randint(0, len(text))
            text = text[:place] + chance.choice(_PARTS) + text[place + chance.randint(0, 5) :]
        try:
            parse(text, "random.test")
        except ConstrainError as error:
            assert isinstance(error, CaseFileError)


def test_the_document_names_all_that_there_is(cli: Cli) -> None:
    """Every attribute and key is in README.md, and every option of a head is an option."""
    root = Path(__file__).parent.parent.parent
    text = (root / "compiler" / "testing" / "README.md").read_text(encoding="utf-8")
    help_ = cli("test", "--help-all").out.decode()

    assert [name for name in ATTRIBUTES if f"`:{name}" not in text] == []
    assert [name for name in OPTIONS if f"`{name}`" not in text] == []
    assert [name for name in OPTIONS if f"--{name}" not in help_] == []
