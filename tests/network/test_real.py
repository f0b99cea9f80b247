"""Real grammars that are not regular: verdicts of both engines, and masks along samples."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from constrain.artifacts.network.configurations import Network
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.frontend import Parser
from constrain.compiler.pipeline import build_engine

Data = Callable[[str], Path]


def engines(text: str, dialect: str, start: str | None = None) -> list[Callable[[bytes], bool]]:
    """The verdicts of the network and of Earley on a text."""
    parser = build_engine(text, dialect=dialect, start=start, engine="network", meaning="exact")
    assert isinstance(parser, Parser)
    assert parser.network is not None
    found = Network(parser.network)

    def by_network(text: bytes) -> bool:
        whole = found.viable(text) == len(text)
        return whole and found.may_end(found.read(found.start, text))

    def by_earley(text: bytes) -> bool:
        earley = parser.recogniser()
        return earley.feed(text) == len(text) and earley.is_accepting

    return [by_network, by_earley]


def test_verdicts_of_gbnf_rows(data: Data) -> None:
    """What llama.cpp accepts and rejects, all twelve grammars, the one that nests included."""
    lines = data("grammars/gbnf/test_grammar_integration_rows.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    rows = [row for row in rows if row["kind"] == "test_grammar"]
    assert 12 == len(rows)
    for row in rows:
        for accepts in engines(row["grammar"], "gbnf"):
            for text in row["accept"]:
                assert accepts(text.encode()), (row["name"], text)
            for text in row["reject"]:
                assert not accepts(text.encode()), (row["name"], text)


# File, start, texts that are members, texts that are not.
LARK = [
    (
        "standalone/json.lark",
        [b' { "a" : [1, -2.5e3, {"b": null}], "c": true } ', b"[]", b'"x"'],
        [b"[1,]", b"{a: 1}", b"[1 2"],
    ),
    (
        "composition/json.lark",
        [b'{"a": [1, 2], "b": {"c": false}}', b"[ 1, 2]"],
        [b'{"a":1}', b"[1 ,2]"],
    ),
    (
        "composition/csv.lark",
        [b"# id name age\n1 ann 33\n2 bob 4.5\n", b"#a,b\n1,2\n"],
        [b"id name\n", b"# id"],
    ),
]


@pytest.mark.parametrize(("file", "members", "others"), LARK, ids=[row[0] for row in LARK])
def test_lark_examples(data: Data, file: str, members: list[bytes], others: list[bytes]) -> None:
    """Lark's examples that can be read, with texts as they are meant for."""
    text = data(f"grammars/lark/examples/{file}").read_text(encoding="utf-8")
    for accepts in engines(text, "lark"):
        assert [] == [member for member in members if not accepts(member)]
        assert [] == [other for other in others if accepts(other)]


GBNF = [
    ("arithmetic", [b"x = (1 +y*(3 ))\na=b\n", b"a=b\n"], [b"x = (1\n", b"= 1\n"]),
    ("json", [b'{"a": [1, {"b": null}]}', b"{}"], [b"[1]", b'{"a": }']),
    ("c", [b"int f(){return g(1, h(2));}"], [b"int f({}"]),
    ("json_arr", [b"[\n1,\n2]", b'[\n{"a":[1]}]'], [b"[1}", b"{}"]),
]


@pytest.mark.parametrize(("name", "members", "others"), GBNF, ids=[row[0] for row in GBNF])
def test_gbnf_grammars(data: Data, name: str, members: list[bytes], others: list[bytes]) -> None:
    """llama.cpp's own grammars that nest."""
    text = data(f"grammars/gbnf/{name}.gbnf").read_text(encoding="utf-8")
    for accepts in engines(text, "gbnf"):
        assert [] == [member for member in members if not accepts(member)]
        assert [] == [other for other in others if accepts(other)]


def test_bytes_of_a_tokenizer_that_falls_back_on_them(data: Data) -> None:
    """Tokens that stand for one byte each spell what has no token of its own."""
    tokenizer = load_tokenizer(data("tokenizers/mistral-v3/tokenizer.json"))
    grammar = data("grammars/gbnf/json.gbnf").read_text(encoding="utf-8")
    artifact = compile_grammar(grammar, dialect="gbnf", tokenizer=tokenizer, tokenization="any")
    vocabulary = artifact.vocabulary
    alone = {vocabulary.token(int(i)): int(i) for i in vocabulary.text_ids()}
    matcher = artifact.matcher()
    for octet in '{"\N{SNOWMAN}": "\U0001f600"}'.encode():
        matcher.advance(alone[bytes([octet])])
    assert matcher.is_accepting
