"""Structural tags as a dialect: errors at their place, and each command works on them."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES
from support.cli import Cli
from support.limits import calls_counted
from support.structural_tags import accepts, network_of, of, whole

from constrain.compiler import SchemaOptions
from constrain.compiler.diagnostics import CheckError, DialectError, GrammarError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.structural_tags import as_text

pytestmark = pytest.mark.quick

A = {"type": "const_string", "value": "a"}
ANY = {"type": "any_text"}
STRING = {"type": "string"}
THINK = "think_then_json.structural-tag.json"


def tag(begin: Any, content: Any = A, end: Any = ">") -> Any:
    """A tag."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def triggered(*tags: Any, **fields: Any) -> Any:
    """Triggered tags."""
    return {"type": "triggered_tags", "triggers": ["<"], "tags": list(tags), **fields}


def styled(value: Any, style: str = "qwen_xml") -> Any:
    """The arguments of one key, a string if nothing else is said, in a style."""
    schema = {"type": "object", "properties": {"k": {"type": "string", **value}}}
    return {"type": "json_schema", "json_schema": schema, "style": style}


# Formats that are refused: what is marked by the caret, and a part of the message.
REFUSED: list[tuple[Any, str, str]] = [
    ({"type": "cons_string"}, '"cons_string"', "#/format/type: there is no format 'cons_string'"),
    ({"value": "a"}, '{"value": "a"}', "#/format: a format needs a type"),
    ({"type": "const_string"}, '{"type": "const_stri', "a const_string needs 'value'"),
    ({**A, "valeu": 1}, "1", "#/format/valeu: a const_string has no field 'valeu'"),
    ({"type": "const_string", "value": 7}, "7", "#/format/value: this must be a string"),
    ({"type": "sequence", "elements": []}, "[]", "#/format/elements: this must be an array of"),
    ({"type": "or", "elements": [A, 3]}, '[{"type": "const_str', "an array of formats"),
    ({"type": "repeat", "min": 2, "max": 1, "content": A}, "1", "at least min, which is 2"),
    ({"type": "repeat", "min": 0, "max": -2, "content": A}, "-2", "or -1 for any number"),
    ({"type": "repeat", "min": True, "max": 2, "content": A}, "true", "an integer from 0"),
    ({"type": "any_text", "excludes": [""]}, '[""]', "none of them empty"),
    (
        {"type": "any_text", "max_tokens": 5, "max_chars": 9},
        "5",
        "#/format/max_tokens: tokens are counted where the text may be any",
    ),
    (
        {"type": "tag", "begin": "a", "content": {"type": "any_text", "max_tokens": 5}, "end": "b"},
        "5",
        "#/format/content/max_tokens: tokens are counted where",
    ),
    ({"type": "any_text", "max_chars": -1}, "-1", "#/format/max_chars: this must be null or an"),
    ({"type": "json_schema", "json_schema": 1}, "1", "this must be a JSON Schema"),
    ({"type": "json_schema", "json_schema": {"type": "int"}}, '"int"', "json_schema/type: "),
    (
        {"type": "json_schema", "json_schema": {}, "style": "x"},
        '"x"',
        "/style: this must be one of",
    ),
    ({"type": "json_schema", "json_schema": {}, "excludes": [""]}, '[""]', "none of them empty"),
    ({**styled({}), "excludes": ["a "]}, '["a "]', "white space stands around values"),
    (
        {"type": "json_schema", "json_schema": {"maxLength": 300}, "excludes": ["a"]},
        '{"maxLength": 300}',
        "#/format/json_schema: lengths beyond 256 are not counted beside excluded texts",
    ),
    (
        {"type": "grammar", "grammar": 'root ::= "é" | \\q "'},
        "\\\\",
        "#/format/grammar: unexpected",
    ),
    (styled({}, "minimax_m3_xml"), '"minimax_m3_xml"', "style minimax_m3_xml is not supported"),
    (styled({"pattern": "("}), '"("', "#/format/json_schema/properties/k/pattern: "),
    (
        styled({"type": "array", "uniqueItems": True}, "cohere_xml"),
        "true",
        "uniqueItems is not enforced",
    ),
    (styled({"type": "integer", "minimum": "x"}), '"x"', "properties/k/minimum: "),
    (
        {**styled({}), "json_schema": {"type": "array"}},
        '{"type": "array"}',
        "the keys of an object",
    ),
    (
        {"type": "json_schema", "json_schema": {"type": "object", "not": {}}, "style": "glm_xml"},
        "{}",
        "#/format/json_schema/not: no value satisfies this schema",
    ),
    (
        {**styled({}), "json_schema": {"type": "object", "properties": {"a>": {}}}},
        "{}",
        "#/format/json_schema/properties/a>: qwen_xml cannot write the key 'a>'",
    ),
    ({"type": "grammar", "grammar": 'x ::= "a"'}, '"x ::= \\"a\\""', "there is no rule 'root'"),
    ({"type": "grammar", "grammar": 'root ::= "\\x41b"'}, "\\\\x41b", "to others"),
    ({"type": "grammar", "grammar": "root ::= a.b"}, "a.b", "a.b is one name to some readers"),
    ({"type": "regex", "pattern": "é\n(?R)"}, "(?R)", "#/format/pattern: (?R) is recursion"),
    (tag({"type": "token"}), '{"type": "token"}', "#/format/begin: a token needs 'token'"),
    (tag(A), '"const_string"', "#/format/begin/type: this must be a token, not 'const_string'"),
    (tag("<", A, []), "[]", "#/format/end: this must be a string, an array of strings"),
    (triggered(tag("a<")), '"a<"', "#/format/tags/0/begin: the tag has no trigger"),
    (triggered(tag("<<"), triggers=["<", "<<"]), '"<<"', "two triggers, '<' and '<<'"),
    (triggered(tag("<"), triggers=["<", "b"]), '"b"', "triggers/1: no tag begins with the trigger"),
    (triggered(tag({"type": "token", "token": 1})), '{"type": "token", "t', "begins with a string"),
    (triggered(tag("<a"), triggers=["<a"], excludes=["<"]), '"<a"', "is never met: '<' in it"),
    (
        {"type": "dispatch", "rules": [["ab", A], ["xaby", A]]},
        '"xaby"',
        "#/format/rules/1/0: 'xaby' is never met: 'ab' in it comes before",
    ),
    (
        {"type": "dispatch", "rules": [["a", A], ["a", A]]},
        '"a"',
        "/rules/1/0: 'a' stands here twice",
    ),
    ({"type": "dispatch", "rules": [["", A]]}, '[["", {"type": "cons', "no pattern empty"),
    ({"type": "token_dispatch", "rules": [[1, A], [1, A]]}, "1", "1 stands here twice"),
    (
        {"type": "token_triggered_tags", "trigger_tokens": [1], "tags": [tag("<")]},
        '"<"',
        "#/format/tags/0/begin: a tag of token_triggered_tags begins with a token",
    ),
]


@pytest.mark.parametrize(("form", "marked", "message"), REFUSED)
def test_what_is_refused_is_named_and_marked(form: Any, marked: str, message: str) -> None:
    """By its JSON pointer, with a caret under it."""
    text = json.dumps(whole(form), ensure_ascii=False)
    with pytest.raises(CheckError) as found:
        read_grammar(text, "structural-tag", name="t.json")
    wrong = found.value.diagnostics[-1]

    assert wrong.span is not None
    assert marked == text[wrong.span.start : wrong.span.end]
    assert message in wrong.message
    assert f"t.json:1:{wrong.span.start + 1}: error: {wrong.message}" in str(found.value)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('{"format": ', DialectError, "(read as structural-tag)"),
        ('{"type": "structural_tag", "type": 1}', DialectError, "occurs twice"),
        ("[]", CheckError, "#: a structural tag is a JSON object"),
        ("{}", CheckError, "#: a structural tag needs 'format'"),
        ('{"type": "x", "format": {"type": "any_text"}}', CheckError, "#/type: this must be stru"),
        ('{"structures": [{"begin": "<"}], "triggers": ["<"]}', CheckError, "needs 'schema'"),
        ('{"structures": [], "triggers": ["<"]}', CheckError, "#/structures: this must be"),
    ],
)
def test_texts_that_are_no_structural_tag_are_refused(
    text: str, error: type[GrammarError], message: str
) -> None:
    """As JSON, or by what they lack."""
    with pytest.raises(error) as found:
        read_grammar(text, "structural-tag")

    assert message in str(found.value)


@pytest.mark.parametrize("field", ["triggers", "excludes"])
def test_a_pattern_of_hundreds_of_kilobytes_ends_at_a_limit_that_names_its_format(
    field: str,
) -> None:
    """Without all of its beginnings, which have 45 GB where it has 300 KB."""
    long = "x" * 300_000
    begin = long if field == "triggers" else "<"
    form = triggered(tag(begin), triggers=[begin], **({"excludes": [long]} if begin == "<" else {}))

    with pytest.raises(LimitError, match=r"states .*'#/format'"):
        read_grammar(json.dumps(whole(form)), "structural-tag")


def test_the_tags_of_many_triggers_are_found_in_linear_time() -> None:
    """Not by trying each trigger at each tag: twice as many take twice as many calls."""
    counts = []
    for number in (150, 300):
        names = [f"<{i};" for i in range(number)]
        form = triggered(*map(tag, names), triggers=[*names[:-1], "<1"])
        with calls_counted() as calls, pytest.raises(CheckError, match="two triggers"):
            read_grammar(json.dumps(whole(form)), "structural-tag")
        counts.append(calls.total())

    assert counts[1] < 2.1 * counts[0]


def test_formats_that_nest_deep_end_in_an_answer() -> None:
    """A grammar, or an error that says so."""
    for depth in (20, 180, 2_000):
        form: Any = A
        for _ in range(depth):
            form = {"type": "optional", "content": form}
        text = f'{{"format": {json_of(form)}}}'
        try:
            assert accepts(network_of(text), "a")
        except GrammarError as error:
            assert depth > 180
            assert "deep" in str(error)


def json_of(form: Any) -> str:
    """JSON of any depth."""
    opened = 0
    parts = []
    while "content" in form:
        parts.append('{"type": "optional", "content": ')
        form = form["content"]
        opened += 1
    return "".join(parts) + json.dumps(form) + "}" * opened


def test_the_older_form_is_triggered_tags_of_json() -> None:
    """``structures`` and ``triggers``, as servers still send them."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    older = {
        "type": "structural_tag",
        "structures": [{"begin": f"<f={n}>", "schema": schema, "end": "</f>"} for n in "xy"],
        "triggers": ["<f="],
    }
    content = {"type": "json_schema", "json_schema": schema}
    newer = whole(triggered(*(tag(f"<f={n}>", content, "</f>") for n in "xy"), triggers=["<f="]))
    one, other = network_of(as_text(older)), network_of(as_text(newer))
    members = ("", "a", '<f=x>{"a":1}</f>', 'b<f=y>{"a": 2}</f><f=x>{"a":3}</f>c')

    assert all(accepts(one, text) and accepts(other, text) for text in members)
    assert not any(accepts(one, text) for text in ("<f=", "<f=x>{}</f>", '<f=z>{"a":1}</f>'))


def test_a_tag_is_what_a_grammar_by_hand_is() -> None:
    """Free text until <f, by a grammar of GBNF."""
    by_hand = network_of(
        'root ::= (text "<f" [0-9] ">")* text\ntext ::= ("<"* [^<f] | "<"+ [^<f] | [^<])* "<"*',
        "gbnf",
    )
    digit = {"type": "regex", "pattern": "[0-9]"}
    found = of({**triggered(tag("<f", digit)), "triggers": ["<f"]})
    for text in ("", "<", "a<", "<<", "f", "<f", "<f1>", "x<f1>y", "<<f2><", "<f1><f2>", "<fa>"):
        assert accepts(by_hand, text) == accepts(found, text), text


def test_rules_of_grammars_inside_have_attributes() -> None:
    """Also those that use others."""
    text = "root ::= a\na[max_chars=2] ::= x x\nb[lazy] ::= x\nx ::= [a-z]+"
    found = of({"type": "grammar", "grammar": text})

    assert accepts(found, "ab")
    assert not accepts(found, "abc")


def test_schemas_inside_are_read_with_the_options_of_schemas() -> None:
    """And with their own, where a format has some; what is noted says where."""
    form = {"type": "json_schema", "json_schema": {"properties": {"a": {"format": "email"}}}}
    compact = SchemaOptions(whitespace="compact")
    grammar = read_grammar(as_text(whole(form)), "structural-tag", schema=compact)
    note, spellings = grammar.notes

    assert spellings.span is None
    assert note.message.startswith("#/format/json_schema/properties/a/format: ")
    assert grammar.has_schema
    values = {"enum": [[1, 2]]}
    spaced = whole({"type": "json_schema", "json_schema": values, "max_whitespace_cnt": 2})
    assert accepts(network_of(as_text(spaced)), "[1,  2]")
    assert not accepts(network_of(as_text(spaced)), "[1,   2]")


def test_strings_and_keys_contain_nothing_that_is_excluded() -> None:
    """Between their quotes, as they are written; numbers and all else as before."""
    schema = {"type": "object", "properties": {"n": {"enum": ["a", "1<2"]}, "a<b": {}, "k": {}}}
    form = {"type": "json_schema", "json_schema": schema, "excludes": ["<", "</t>", '\\"', "7"]}
    found = of(form)

    for text in ('{"k":"a"}', '{"n":"a","k":[7,"8"]}', '{"k":{"x":"/t"}}'):
        assert accepts(found, text), text
    for text in ('{"k":"<"}', '{"n":"1<2"}', '{"a<b":1}', '{"k":"7"}', '{"z<":1}', '{"k":{"7":1}}'):
        assert not accepts(found, text), text
    assert not accepts(found, '{"k":"\\""}')
    form["json_schema"] = {**schema, "properties": {"k": {"type": "string", "maxLength": 3}}}
    counted = of({**form, "excludes": ["ab"]})
    assert accepts(counted, '{"k":"baa"}')
    assert not accepts(counted, '{"k":"aab"}')
    assert not accepts(counted, '{"k":"aaaa"}')
    bare = of({**form, "style": "qwen_xml", "excludes": ["ab"]})
    assert accepts(bare, "<parameter=k>ba</parameter>")
    assert not accepts(bare, "<parameter=k>cab</parameter>")


def test_any_order_takes_each_key_once() -> None:
    """And says so: xgrammar takes keys twice, and misses required ones."""
    schema = {"properties": {"a": {}, "b": {}}, "required": ["a"], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"type": "object", **schema}, "any_order": True}
    found = of(form)

    assert accepts(found, '{"b":1,"a":2}')
    assert not accepts(found, '{"a":1,"a":2}')
    notes = [each.message for each in read_grammar(as_text(whole(form)), "structural-tag").notes]
    assert any("#/format/any_order: every key comes once" in each for each in notes)
    assert not any("order any" in each for each in notes)


def test_arguments_in_a_style_follow_references_and_come_in_any_order() -> None:
    """Keys as a permutation, values by ``$ref``; what is left out is noted."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"anyOf": [{"$ref": "#/$defs/n"}, STRING]}},
        "required": ["a", "b"],
        "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
    }
    form = {"type": "json_schema", "json_schema": schema, "style": "deepseek_xml"}
    found = of({**form, "any_order": True})

    def argument(key: str, value: str, *, is_string: bool = False) -> str:
        said = str(is_string).lower()
        return f'<｜DSML｜parameter name="{key}" string="{said}">{value}</｜DSML｜parameter>'

    a, b = argument("a", "[[], []]"), argument("b", "[", is_string=True)
    assert all(accepts(found, text) for text in (a + b, b + a, a + "\n" + argument("b", "[]")))
    assert not any(
        accepts(found, text) for text in (a, b, a + a, a + b + a, a + argument("b", "["))
    )
    assert not accepts(of(form), b + a)
    notes = [note.message for note in read_grammar(as_text(whole(form)), "structural-tag").notes]
    assert [
        '#/format/json_schema: deepseek_xml: keys with any of <>"&| are left out [narrowed]'
    ] == [note for note in notes if "narrowed" in note]


def test_bare_strings_are_those_of_their_schemas() -> None:
    """By pattern, format, length, enumeration and what is not allowed; never with the tag's end."""
    end = "</parameter>"
    for value, members, others in (
        ({"pattern": "^a+$"}, ("a", "aaa", "\naa\n"), ("", "b", "a ", f"a{end}", '"a"')),
        ({"format": "date"}, ("2024-02-29",), ("2024-02-30", "")),
        ({"minLength": 2, "maxLength": 3}, ("ab", "é日語"), ("a" * 5, f"a{end}")),
        ({"enum": ["a b", end, "", 1]}, ("a b", "a b\n", ""), (end, "1", "a", " a b")),
        ({"not": {"const": "x"}}, ("", "y", "xx"), (end,)),
        ({"$ref": "#/$defs/n"}, ("7", "-1"), ("", "x", "1.5")),
        ({"type": ["string", "null"], "pattern": "^b"}, ("b", "null", " null"), ("a", "nul")),
    ):
        form = styled(value)
        form["json_schema"] |= {"$defs": {"n": {"type": "integer"}}, "required": ["k"]}
        if "$ref" in value:
            form["json_schema"]["properties"]["k"] = value
        found = of(form)
        for text, is_member in ((t, i) for i, ts in ((True, members), (False, others)) for t in ts):
            assert is_member == accepts(found, f"<parameter=k>{text}{end}"), (value, text)


@pytest.fixture
def think(tmp_path: Path) -> str:
    """The example's file."""
    (tmp_path / THINK).write_text((EXAMPLES / "agents" / THINK).read_text(encoding="utf-8"))
    return THINK


def test_each_command_works_on_a_structural_tag(cli: Cli, think: str) -> None:
    """Reads, compiles, explains, samples, draws and converts it."""
    member, other = b'<think>hm</think>{"city":"Rome"}', b'<think>hm</think>{"town":"Rome"}'
    assert 0 == cli("check", think).code
    assert 0 == cli("compile", think, "-o", "t.cst", "--tokenization", "any", "--lazy").code
    for subject in (think, "t.cst"):
        assert 0 == cli("explain", subject, "-", stdin=member).code
        found = cli("explain", subject, "-", stdin=other)
        assert 1 == found.code
        assert b":1:20:" in found.out
        assert b"#/format/elements/1/json_schema" in found.out
        found = cli("explain", subject, "-", stdin=member.replace(b'"Rome"', b"7"))
        assert b"or a string\n" in found.out
    assert b"structural-tag" in cli("show", "t.cst").out
    assert b"#/format/elements/0" in cli("show", think).out
    drawn = cli("sample", think, "-n", "3", "--max-bytes", "60", "--format", "raw0").out
    assert all(text.startswith(b"<think>") for text in drawn.split(b"\0")[:-1])
    assert 0 == cli("viz", think, "--stage", "rules", "-o", "t.dot").code
    for target, suffix in (("gbnf", "gbnf"), ("lark", "lark"), ("kbnf", "ebnf")):
        assert 0 == cli("convert", think, "--to", target, "-o", f"t.{suffix}").code
        assert 0 == cli("explain", f"t.{suffix}", "-", "--meaning", "exact", stdin=member).code
        assert 1 == cli("explain", f"t.{suffix}", "-", "--meaning", "exact", stdin=other).code
    (Path(think).parent / "r.json").write_text('{"format": {"type": "any"}}')
    assert 2 == cli("compile", "r.json", "--dialect", "structural-tag").code
    assert "--dialect structural-tag" in cli("sample", "r.json").err
