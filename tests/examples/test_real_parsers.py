"""The grammars of examples/ are what they say: real parsers read their members, and write members.

Random derivations are members that a parser must read, and so are those texts with one byte
changed that a grammar still takes. The other way round, what a parser's own writer makes of
random values is a member.
"""

import ast
import csv
import email.policy
import io
import json
import random
import re
import sqlite3
import string
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.parser import BytesParser
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from support import EXAMPLES
from support.corpus.derivations import derivations

from constrain.compiler.dialects import dialect_of
from constrain.compiler.explain.explainer import Explainer, explainer_of_grammar
from constrain.compiler.explain.report import Status
from constrain.compiler.options import CompileOptions
from constrain.compiler.testing.cases import Kind
from constrain.compiler.testing.collect import beside
from constrain.compiler.testing.format import parse

# What a parser says of a text: nothing, or why it is none.
Reader = Callable[[bytes], str | None]


def sql(text: bytes) -> str | None:
    """SQLite, which knows no table; what it says of those is no matter of grammar."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(text.decode())
    except sqlite3.Error as error:
        said = str(error)
        words = ("syntax error", "unrecognized token", "incomplete input", "RAISE")
        return said if any(word in said for word in words) else None
    finally:
        connection.close()
    return None


def arithmetic(text: bytes) -> str | None:
    """Python's own parser; no nodes but numbers and what is done with them."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        return str(error)
    known = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    return next((repr(node) for node in ast.walk(tree) if not isinstance(node, known)), None)


def xml(text: bytes) -> str | None:
    """Expat, and elements that are SVG's."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return str(error)
    tags = {f"{{http://www.w3.org/2000/svg}}{t}" for t in ("svg", "g", "rect", "circle", "line")}
    tags.add("{http://www.w3.org/2000/svg}text")
    return next((e.tag for e in root.iter() if e.tag not in tags), None)


def comma_separated(text: bytes) -> str | None:
    """The module ``csv``, which must find the fields that a second reading finds."""
    try:
        rows = list(csv.reader(io.StringIO(text.decode("ascii"), newline=""), strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        return str(error)
    lines = re.findall(r'(?:"(?:[^"]|"")*"|[^"\r\n])*(?:\r\n|\Z)', text.decode())[:-1]
    fields = sum(len(row) for row in rows)
    commas = sum(
        len(re.sub(r'"(?:[^"]|"")*"', "", line).split(",")) for line in lines if line.strip("\r\n")
    )
    return None if fields == commas else f"{fields} fields, not {commas}"


def mail(text: bytes) -> str | None:
    """The package ``email``: no defects, a date, and addresses with a domain."""
    message = BytesParser(policy=email.policy.default).parsebytes(text)
    defects = [*message.defects, *(d for v in message.values() for d in v.defects)]
    if "29 Feb" in message["Date"]:
        defects = [d for d in defects if "Invalid date" not in str(d)]
    elif message["Date"].datetime is None:
        return "no date"
    if defects:
        return repr(defects)
    names = sorted(name.lower() for name in message)
    if len(set(names)) < len(names) or message.get_payload():
        return f"{names} {message.get_payload()!r}"
    fields = [message[name] for name in ("From", "To", "Cc") if name in message]
    addresses = [address for field in fields for address in field.addresses]
    return (
        None if addresses and all(a.username and a.domain for a in addresses) else repr(addresses)
    )


def log(text: bytes) -> str | None:
    """Python reads the regex as it stands, and the address and the time in the line."""
    found = re.fullmatch(source("logs/access.regex").rstrip("\n"), text.decode())
    if found is None:
        return "no match"
    try:
        IPv4Address(found[1])
        for day in (text.decode().split("[")[1].split("]")[0],):
            # Any month has up to 31 days there.
            datetime.strptime("01" + re.sub("/0000:", "/0001:", day[2:]), "%d/%b/%Y:%H:%M:%S %z")
    except ValueError as error:
        return str(error)
    return None


def json_text(text: bytes) -> str | None:
    """The module ``json``."""
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return None


def iso_date(text: bytes) -> str | None:
    """The module ``datetime``, on the first of the month."""
    try:
        datetime.strptime(re.sub("^0000", "0001", text.decode())[:8] + "01", "%Y-%m-%d")
    except ValueError as error:
        return str(error)
    return None


def address(text: bytes) -> str | None:
    """The module ``ipaddress``."""
    try:
        IPv4Address(text.decode())
    except ValueError as error:
        return str(error)
    return None


def instance(name: str) -> Reader:
    """The package ``jsonschema``."""

    def read(text: bytes) -> str | None:
        schema = json.loads(source(name))
        kind = jsonschema.validators.validator_for(schema)
        validator = kind(schema, format_checker=jsonschema.FormatChecker())
        try:
            # Python's dates begin with the year 1.
            value = json.loads(text.replace(b'"0000-', b'"2000-'))
            return next((error.message for error in validator.iter_errors(value)), None)
        except ValueError as error:
            return str(error)

    return read


SCHEMAS = ("schemas/chat_request", "schemas/order", "schemas/tree", "tool_call")

READERS: dict[str, Reader] = {
    "arithmetic/python.iso": arithmetic,
    "csv/rfc4180.gbnf": comma_separated,
    "date.ebnf": iso_date,
    "ipv4.regex": address,
    "json.ebnf": json_text,
    "logs/access.regex": log,
    "mail/header.ebnf": mail,
    "person.ebnf": json_text,
    "sql/select.lark": sql,
    "xml/drawing.w3c": xml,
    **{f"{name}.schema.json": instance(f"{name}.schema.json") for name in SCHEMAS},
}


@cache
def source(name: str) -> str:
    """The text of an example."""
    return (EXAMPLES / name).read_text(encoding="utf-8")


@cache
def explainer(name: str) -> Explainer:
    """What says whether a text is a member."""
    return explainer_of_grammar(source(name), CompileOptions(dialect=dialect_of(name)), name)


def is_member(name: str, text: bytes) -> bool:
    """Of an example."""
    return explainer(name).verdict(text).status is Status.ACCEPTED


@pytest.mark.parametrize("name", READERS)
def test_a_real_parser_reads_every_member(name: str, request: pytest.FixtureRequest) -> None:
    """Random members, and those of their neighbours that are members, too."""
    count = 2_000 if request.config.getoption("--full") else 25
    rng, drawn = random.Random(20), derivations(source(name), dialect_of(name) or "", soft=150)
    letters = string.printable.encode()
    members = 0
    for _ in range(count):
        text = drawn.draw(rng)
        assert is_member(name, text), text
        assert READERS[name](text) is None, (text, READERS[name](text))
        at = rng.randrange(len(text) + 1)
        other = text[:at] + bytes([rng.choice(letters)]) * rng.randrange(2) + text[at + 1 :]
        if is_member(name, other):
            members += 1
            assert READERS[name](other) is None, (other, READERS[name](other))

    assert members


@pytest.mark.quick
@pytest.mark.parametrize("name", READERS)
def test_a_real_parser_reads_the_members_of_the_case_file(name: str) -> None:
    """What ``constrain test`` is to accept."""
    path = beside(str(EXAMPLES / name))
    assert path is not None
    cases = parse(Path(path).read_text(encoding="utf-8"), path).cases
    members = [case.body for case in cases if case.kind is Kind.ACCEPT]

    assert members
    if name.endswith(".schema.json"):
        others = [case.body for case in cases if case.kind is Kind.REJECT]
        assert [text for text in others if READERS[name](text) is None] == []
    assert [text for text in members if READERS[name](text) is not None] == []


# --- the other way round


def random_sum(rng: random.Random, depth: int) -> ast.expr:
    """A tree of arithmetic."""
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return ast.Constant(
            rng.choice([rng.randrange(10**6), rng.random() * 10 ** rng.randrange(-9, 20)])
        )
    if kind < 0.35:
        sign = rng.choice([ast.USub(), ast.UAdd()])
        return ast.UnaryOp(sign, random_sum(rng, depth - 1))
    operators = [ast.Add(), ast.Sub(), ast.Mult(), ast.Div(), ast.FloorDiv(), ast.Mod(), ast.Pow()]
    return ast.BinOp(random_sum(rng, depth - 1), rng.choice(operators), random_sum(rng, depth - 1))


def written_arithmetic(rng: random.Random) -> bytes:
    """As Python writes its trees."""
    return ast.unparse(random_sum(rng, 4)).encode()


def written_csv(rng: random.Random) -> bytes:
    """As the module writes rows."""
    found = io.StringIO(newline="")
    letters = string.ascii_letters + " ,\"\r\n;'"
    rows = [
        ["".join(rng.choices(letters, k=rng.randrange(8))) for _ in range(rng.randrange(1, 5))]
        for _ in range(rng.randrange(5))
    ]
    csv.writer(found, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows(rows)
    return found.getvalue().encode()


def written_xml(rng: random.Random) -> bytes:
    """As the package writes elements, with each on a line of its own."""

    def number() -> str:
        return str(rng.choice([rng.randrange(-50, 300), round(rng.uniform(-9, 9), 2)]))

    def fill(parent: ElementTree.Element, depth: int) -> None:
        parent.text = "\n"
        for _ in range(rng.randrange(4)):
            tag = rng.choice(["g", "text", "circle"] if depth else ["text", "circle"])
            child = ElementTree.SubElement(parent, tag)
            if tag != "g":
                for key in {"text": ("x", "y"), "circle": ("cx", "cy")}[tag]:
                    child.set(key, number())
            if tag == "circle":
                child.set("r", str(rng.randrange(90)))
            for key in ("fill", "stroke"):
                if rng.random() < 0.5:
                    child.set(key, rng.choice(["none", "red", "#0af", "#00aaff"]))
            if tag == "g":
                fill(child, depth - 1)
            if tag == "text":
                child.text = "".join(rng.choices("abc <>&\"' é日😀", k=rng.randrange(1, 9)))
            child.tail = "\n"

    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", width="80", height="0")
    fill(root, 3)
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(" />", "/>", text).encode()


def written_mail(rng: random.Random) -> bytes:
    """As the package writes messages, in any order of their fields."""
    fields = {
        "Date": datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=rng.randrange(10**7)),
        "From": rng.choice(["ada@example.org", "Ada Lovelace <ada@example.org>"]),
        "To": rng.choice(["a.b@c.de, d@e", '"Lovelace, Ada" <ada@example.org>']),
        "Cc": "x+y@z-1.net",
        "Subject": rng.choice(["Tables", "Re: Tables of 1843 (corrected)"]),
        "Message-ID": "<1.2@example.org>",
    }
    names = sorted(fields, key=lambda _: rng.random())
    message = EmailMessage(policy=email.policy.SMTP)
    for name in names:
        if name in ("Date", "From") or rng.random() < 0.5:
            message[name] = fields[name]
    return message.as_bytes()


def written_json(rng: random.Random) -> bytes:
    """As the module writes values."""

    def value(depth: int) -> object:
        kind = rng.randrange(6 if depth else 4)
        if kind < 4:
            text = "".join(rng.choices('ab"\\\n\x01é😀', k=rng.randrange(5)))
            return [None, rng.random() < 0.5, rng.uniform(-1, 1) * 10 ** rng.randrange(30), text][
                kind
            ]
        items = [value(depth - 1) for _ in range(rng.randrange(4))]
        return items if kind == 4 else {str(key): item for key, item in enumerate(items)}

    style = rng.choice([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])
    return json.dumps(value(3), **style).encode()


WRITERS: dict[str, Callable[[random.Random], bytes]] = {
    "arithmetic/python.iso": written_arithmetic,
    "csv/rfc4180.gbnf": written_csv,
    "json.ebnf": written_json,
    "mail/header.ebnf": written_mail,
    "xml/drawing.w3c": written_xml,
}


@pytest.mark.quick
@pytest.mark.parametrize("name", WRITERS)
def test_what_a_real_writer_writes_is_a_member(name: str, request: pytest.FixtureRequest) -> None:
    """Of random values."""
    rng = random.Random(21)
    for _ in range(1_000 if request.config.getoption("--full") else 40):
        text = WRITERS[name](rng)
        assert READERS[name](text) is None, text
        assert is_member(name, text), (text, explainer(name).verdict(text))
