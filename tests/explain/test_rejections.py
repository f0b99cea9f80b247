"""Fifty texts that are refused: where, by which of the author's terminals, and their repairs."""

# Tests here say `expected == actual`.

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
import regex
from support import EXAMPLES

from constrain.compiler.explain.explainer import Explainer, explainer_of_grammar
from constrain.compiler.explain.repairs import nearest_repair
from constrain.compiler.explain.report import Status
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions


@dataclass(frozen=True)
class Subject:
    """A grammar, its dialect, and what says independently whether a text is a member."""

    grammar: str
    dialect: str
    is_member: Callable[[str], bool] | None = None
    pattern: str = ""
    engine: str = "auto"


def is_json(text: str) -> bool:
    """By the standard library."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
IPV4 = (EXAMPLES / "ipv4.regex").read_text().strip()
CONFIG = """
file ::= (line "\\n")+;
line ::= key " = " value | "[" key "]";
key ::= #"[a-z_]+";
value ::= "true" | "false" | #"[0-9]+" | "'" #"[^'\\n]*" "'";
"""
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "kind": {"enum": ["cat", "dog"]},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def is_instance(text: str) -> bool:
    """By hand: of the schema above."""
    if not is_json(text):
        return False
    value = json.loads(text)
    return (
        isinstance(value, dict)
        and set(value) <= {"name", "age", "kind"}
        and isinstance(value.get("name"), str)
        and isinstance(value.get("age", 0), int)
        and value.get("age", 0) >= 0
        and value.get("kind", "cat") in ("cat", "dog")
    )


SUBJECTS = {
    "date": Subject((EXAMPLES / "date.ebnf").read_text(), "kbnf", pattern=DATE),
    "ipv4": Subject(IPV4, "regex", pattern=IPV4),
    "json": Subject((EXAMPLES / "json.ebnf").read_text(), "kbnf", is_json),
    "earley": Subject((EXAMPLES / "json.ebnf").read_text(), "kbnf", is_json, engine="earley"),
    "lark": Subject((EXAMPLES / "json.lark").read_text(), "lark", is_json),
    "code": Subject((EXAMPLES / "code.lark").read_text(), "lark"),
    "words": Subject(
        'start: ("if" NAME | NAME "=" NUMBER) ";"\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore " "\n',
        "lark",
    ),
    "config": Subject(
        CONFIG,
        "kbnf",
        pattern=r"(([a-z_]+ = (true|false|[0-9]+|'[^'\n]*')|\[[a-z_]+\])\n)+",
    ),
    "lazy": Subject(
        "(~(.*a.{24}))&([ab]+;)",
        "regex-extended",
        pattern=r"[ab]+;",
    ),
    "counted": Subject('root ::= list ";"\nlist ::= "[" (list | [0-9]){2,100000} "]"\n', "gbnf"),
    "hidden": Subject(
        's ::= "<" hidden ">"\nhidden ::= [a-z]* - ([a-z]* "a" ' + "[a-z] " * 20 + ")\n", "w3c"
    ),
    "arithmetic": Subject(
        "start = term, {('+' | '-'), term};\nterm = '(', start, ')' | number;\n"
        "number = digit, {digit};\ndigit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7';\n",
        "iso14977",
    ),
    "schema": Subject(json.dumps(SCHEMA), "json-schema", is_instance),
}

# Grammar, text, the byte at which no member goes on, terminals of which one at least is named, and
# the repaired texts that a person might have meant.
CASES: list[tuple[str, str, int, set[str], set[str]]] = [
    ("date", "2024-13-01", 6, {'#"[0-2]"'}, {"2024-12-01"}),
    ("date", "2024/02/29", 4, {'"-"'}, {"2024-02-29"}),
    ("date", "20240229", 4, {'"-"'}, {"2024-02-29"}),
    ("date", "2024-02-29x", 10, set(), {"2024-02-29"}),
    ("date", "2024-02-2", 9, {'#"[12][0-9]"'}, {f"2024-02-2{i}" for i in range(10)}),
    ("date", "24-02-29", 2, {'#"[0-9]{4}"'}, {"2400-02-29", "0024-02-29", "2024-02-29"}),
    ("date", "2024--02-29", 5, {'"0"', '"1"'}, {"2024-02-29"}),
    ("date", "2024-02-32", 9, {'#"[01]"'}, {"2024-02-31"}),
    ("ipv4", "1.2.3.", 6, set(), {f"1.2.3.{i}" for i in range(10)}),
    ("ipv4", "1.2.3.4.5", 7, set(), {"1.2.3.4", "1.2.3.45"}),
    ("ipv4", "1,2.3.4", 1, set(), {"1.2.3.4"}),
    ("ipv4", "256.1.1.1", 2, set(), {"255.1.1.1", "25.1.1.1", "26.1.1.1", "56.1.1.1"}),
    ("json", '{"a" 1}', 5, {'":"'}, {'{"a" :1}', '{"a": 1}'}),
    ("json", '{"a": 1 "b": 2}', 8, {'","'}, {'{"a": 1 ,"b": 2}', '{"a": 1, "b": 2}'}),
    ("json", "[1 2]", 3, {'","'}, {"[1 ,2]", "[1,2]", "[1, 2]"}),
    ("json", "[1,]", 3, {'"true"', '"null"'}, {"[1]", "[1,0]"}),
    ("json", '{"a":1,}', 7, set(), {'{"a":1}'}),
    ("json", "[True]", 1, {'"true"'}, {"[true]"}),
    ("json", "[flase]", 2, {'"false"'}, {"[false]"}),
    ("json", '{"a": 1', 7, {'"}"', '","'}, {'{"a": 1}'}),
    ("json", "[1}", 2, {'"]"'}, {"[1]"}),
    ("json", "[1]]", 3, set(), {"[1]"}),
    ("json", '"abc', 4, set(), {'"abc"'}),
    ("json", "[[[1", 4, {'"]"'}, {"[[[1]]]"}),
    ("json", "{a: 1}", 1, set(), {'{"a": 1}'}),
    ("earley", "[1 2]", 3, {'","'}, {"[1 ,2]", "[1,2]", "[1, 2]"}),
    ("earley", "[nul]", 4, {'"null"'}, {"[null]"}),
    ("earley", "{'a': 1}", 1, set(), {'{"a": 1}'}),
    ("lark", '{"a" 1}', 5, {'":"'}, {'{"a" :1}', '{"a": 1}'}),
    ("lark", "[1,,2]", 3, {"NUMBER", "STRING"}, {"[1,2]", "[1,0,2]"}),
    ("lark", "[tru", 4, {'"true"'}, {"[true]"}),
    ("code", "int f( { }", 7, {'"int"', '")"'}, {"int f() { }", "int f()  { }", "int f( ){ }"}),
    ("code", "int x", 5, {'";"'}, {"int x;"}),
    ("code", "int x = 1;;", 10, {'"int"'}, {"int x = 1;"}),
    ("words", "x = 1", 5, {'";"'}, {"x = 1;"}),
    ("words", "if x = 1;", 5, {'";"'}, {"if x ;", "ifx = 1;", "x = 1;", "if_x = 1;", "ix = 1;"}),
    ("config", "a_b = yes\n", 6, {'"true"', '"false"'}, {"a_b = 'yes'\n"}),
    ("config", "key: 1\n", 3, {'" = "'}, {"key = 1\n"}),
    ("config", "key = true", 10, {'"\\n"'}, {"key = true\n"}),
    ("config", "[section\nkey = 1\n", 8, {'"]"'}, {"[section]\nkey = 1\n"}),
    ("config", "key = 'a\nb = 2\n", 8, {'"\'"'}, {"key = 'a'\nb = 2\n"}),
    ("lazy", "ab", 2, set(), {"ab;"}),
    ("lazy", "abcb;", 2, set(), {"abb;", "abab;", "abbb;", "ab;"}),
    ("counted", "[1];", 2, {"[0-9]", '"["'}, {"[10];", "[1[]];", "[11];"}),
    ("counted", "[12[3x45]];", 5, {"[0-9]", '"["'}, {"[12[345]];", "[12[3045]];", "[12[3945]];"}),
    ("counted", "[12]", 4, {'";"'}, {"[12];"}),
    ("hidden", "<ab", 3, {'">"'}, {"<ab>"}),
    ("hidden", "<aB>", 2, {'">"'}, {"<ab>", "<a>"}),
    ("arithmetic", "(1+2", 4, {"')'", "'+'"}, {"(1+2)"}),
    ("arithmetic", "1+*2", 2, {"'('"}, {"1+2", "1+(2", "1+(2)", "1+0+2"}),
    ("arithmetic", "1 + 2", 1, {"'+'", "'-'"}, {"1+2"}),
    ("schema", '{"name": 1}', 9, {"a string"}, {'{"name": "1"}', '{"name": ""}'}),
    ("schema", '{"name": "x", "age": "3"}', 21, {"a number"}, {'{"name": "x", "age": 3}'}),
    ("schema", '{"name": "x", "kind": "cow"}', 24, set(), {'{"name": "x", "kind": "cat"}'}),
    ("schema", '{"name": "x"', 12, set(), {'{"name": "x"}'}),
]  # fmt: skip


@cache
def explainer(name: str) -> Explainer:
    """Made once."""
    subject = SUBJECTS[name]
    # Few enough that what is lazy is soon known to be.
    limits = Limits(states=20_000)
    options = CompileOptions(dialect=subject.dialect, engine=subject.engine, limits=limits)
    return explainer_of_grammar(subject.grammar, options, name)


@pytest.mark.parametrize(("name", "text", "place", "terminals", "repaired"), CASES)
def test_a_refused_text_has_its_place_its_terminals_and_a_repair_that_was_meant(
    name: str, text: str, place: int, terminals: set[str], repaired: set[str]
) -> None:
    """By hand; places and repaired texts also by what says so independently."""
    subject, found = SUBJECTS[name], explainer(name).verdict(text.encode())
    repair = explainer(name).repair(text.encode())

    assert place == found.offset
    named = {*found.terminals, *(terminal for terminal, _ in found.begun)}
    assert terminals & named if terminals else found.following or found.may_end
    assert repair is not None
    result = repair.applied(text.encode())
    assert result.decode() in repaired
    assert (explainer(name).verdict(result).status is Status.ACCEPTED) == repair.is_member
    assert repair.before + repair.fragment + repair.behind in result
    if subject.is_member is not None:
        assert not subject.is_member(text)
        assert subject.is_member(result.decode())
    if subject.pattern:
        read = [
            n
            for n in range(len(text) + 1)
            if regex.fullmatch(subject.pattern, text[:n], partial=True)
        ]
        assert place == max(read)
        assert regex.fullmatch(subject.pattern, result.decode())


def test_there_are_fifty_of_all_dialects_and_engines() -> None:
    """And more grammars than eight."""
    assert len(CASES) >= 50
    dialects = {SUBJECTS[name].dialect for name, *_ in CASES}
    assert {"kbnf", "gbnf", "w3c", "lark", "iso14977", "regex", "json-schema"} <= dialects


def test_a_repair_in_a_long_text_takes_a_bounded_number_of_steps() -> None:
    """Beside reading it once, and a second search finds the same."""
    text = b'{"a": [1, 2.5, "hello"], "b": true},' * 500 + b"}" + b"[1, 2]" * 500
    machine = explainer("json").machine()
    counted, step = 0, machine.step

    def counting(state: int, octet: int) -> int | None:
        nonlocal counted
        counted += 1
        return step(state, octet)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "step", counting)
        found = nearest_repair(machine, b"[" + text)

    assert found is not None
    assert found == nearest_repair(machine, b"[" + text)
    assert counted < 400_000


def test_bytes_that_are_no_text_are_repaired_where_they_stand() -> None:
    """Also where they look like the rest of a character that never began."""
    for text, result in [
        (b"\xb32024-02-29", b"2024-02-29"),
        (b"20\xb324-02-29", b"2024-02-29"),
        (b"2024\xff-02-29", b"2024-02-29"),
        (b"2024-02-29\x80\x80", b"2024-02-29"),
    ]:
        repair = explainer("date").repair(text)
        assert repair is not None
        assert result == repair.applied(text)


def test_no_repair_takes_everything_away() -> None:
    """Where the empty text is no member."""
    for text in (b"x", b"\x80" * 40):
        repair = explainer("date").repair(text)
        assert repair is None or repair.applied(text)


def test_a_repair_changes_at_most_a_third_of_a_text() -> None:
    """Letters in another case come first and change nothing; what is cut off is only added to."""
    grammar = 'root ::= "SELECT " ("*" | name) " FROM " name | "f() { return " name "; }" | "d"\n'
    made = explainer_of_grammar(grammar + "name ::= [a-z]+\n", CompileOptions(dialect="gbnf"))
    for text, result in (
        (b"select * from t", b"SELECT * FROM t"),
        (b"SELECT * FRM t", b"SELECT * FROM t"),
        (b"f() { return ", b"f() { return a; }"),
        (b"d: what was asked for", None),
        (b"Hello, what is it?", None),
    ):
        repair = made.repair(text)
        assert result == (None if repair is None else repair.applied(text))


def test_a_long_text_is_read_once_and_has_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out are the rules around it."""
    text = b'{"name": "x", "age": [' + b"1, " * 20 + b"]}"
    for name in ("json", "schema"):
        whole = explainer(name).verdict(text)
        with monkeypatch.context() as patch:
            patch.setattr("constrain.compiler.explain.engines.LONGEST_FOLLOWED", len(text) - 1)
            patch.setattr("constrain.artifacts.earley.recogniser.Earley.push", None)
            alone = explainer(name).verdict(text)
        assert (whole.status, whole.offset, whole.line, whole.column, whole.following) == (
            alone.status,
            alone.offset,
            alone.line,
            alone.column,
            alone.following,
        )
        assert alone.expected == alone.following
        assert alone.instance == whole.instance
        assert not (alone.path or alone.terminals)


def test_repairs_leave_characters_whole() -> None:
    """Of texts whose characters begin with the same bytes, and go on with the same."""
    options = CompileOptions(dialect="regex")
    made = explainer_of_grammar("((é|ê|€|₭)(a|è)😀?)+;", options, "g.regex")
    rng = random.Random(5)
    for _ in range(150):
        text = "".join(rng.choice("éêè€₭a😀ꩩ;") for _ in range(rng.randrange(1, 7)))
        repair = made.repair(text.encode())
        assert repair is None or repair.applied(text.encode()).decode()
        for edit in repair.edits if repair else ():
            text.encode()[edit.start : edit.end].decode()
