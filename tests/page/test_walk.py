"""A page says of texts and tokens what the library says: its program, run by Node."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable
from typing import Any

import pytest
from support import EXAMPLES, compiled
from support.page import changed, data_of, said_by_page

from constrain.artifacts import Artifact
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.cli.page.walk import walk_of
from constrain.compiler import SchemaOptions, Tokenizer
from constrain.compiler.automata.dump import ranges
from constrain.compiler.explain.explainer import explainer_of_artifact
from constrain.compiler.explain.refusals import Reason, Refusals

# By name: (text of the grammar, dialect, options, members).
_NESTING = b'{"a\\u00e9": [1, true, -2.5e3, {"b": null}], "": "\xc3\xa9\xe2\x82\xac"}'
_TOOL = b'{"tool": "search", "query": "cats", "sites": ["127.0.0.1", "10.0.0.200"]}'
_OTHER_TOOL = b'{"tool":"weather","city":"Z\xc3\xbcrich","days":14}'
_ORDERS = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "minLength": 2, "maxLength": 30},
        "b": {"type": "integer"},
        "c": {"enum": [1, "x"]},
        **{f"k{i}": {"type": "null"} for i in range(8)},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}


def _example(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


CASES: dict[str, tuple[str, str, dict[str, Any], list[bytes]]] = {
    "tool call": (_example("tool_call.schema.json"), "json-schema", {}, [_TOOL, _OTHER_TOOL]),
    "date": (_example("date.ebnf"), "kbnf", {}, [b"2024-02-29", b"1999-12-31"]),
    "json": (_example("json.ebnf"), "kbnf", {}, [_NESTING, b"[[], {}]", b"-0.5"]),
    "counted": (
        'root ::= "[" ("x" | "<" root ">"){2,60} "]" ("ab" | "a" "b"?){0,3}',
        "gbnf",
        {"engine": "network"},
        [b"[xx]aba", b"[x<[xxx]>x]", b"[" + b"x" * 59 + b"]a"],
    ),
    "any order": (
        json.dumps(_ORDERS),
        "json-schema",
        {"schema": SchemaOptions(order="any"), "engine": "network"},
        [
            b'{"b": 12, "a": "xyz"}',
            b'{"k3": null, "c": "x", "a": "\xc3\xa9\xc3\xa9", "k0": null, "b": 0}',
        ],
    ),
    "munch": (
        _example("code.lark"),
        "lark",
        {},
        [b"int f(char *x) { if (x1) y = f(x, 2); }", b'double iff = 2, b; // "\xc3\xa9\nint c;'],
    ),
    "earley": (
        _example("json.ebnf"),
        "kbnf",
        {"engine": "earley"},
        [b'{"a": [0, "b"]}', b"[1e5]"],
    ),
    "empty": ("s ::= 'a' s 'b' | '';", "kbnf", {}, [b"", b"aabb"]),
}


@pytest.fixture(scope="module")
def made(default_tokenizer: Tokenizer) -> dict[str, Artifact]:
    """The artifacts, for any tokens."""
    return {
        name: compiled(text, default_tokenizer, "any", dialect=dialect, **options)
        for name, (text, dialect, options, _) in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_a_page_says_of_texts_what_explain_says(
    name: str, made: dict[str, Artifact], full: bool
) -> None:
    """The verdict, where it is, whether the text may end there, and which bytes may come; with
    --full of a thousand texts of each grammar."""
    artifact = made[name]
    texts = changed(CASES[name][3], 1000 if full else 6)
    explainer = explainer_of_artifact(artifact)
    statuses = set()
    for text, said in zip(texts, said_by_page(data_of(artifact), texts), strict=True):
        verdict = explainer.verdict(text)
        expected = (
            verdict.status.value,
            verdict.offset,
            verdict.may_end,
            verdict.line,
            verdict.column,
            _next_bytes(artifact, text[: verdict.offset]),
        )
        names = ("status", "offset", "mayEnd", "line", "column", "expected")

        assert expected == tuple(said[each] for each in names), text
        statuses.add(verdict.status)
    assert 3 == len(statuses)


def _next_bytes(artifact: Artifact, text: bytes) -> list[list[int]]:
    """Which bytes may come after a text, byte by byte."""
    if isinstance(artifact.runtime, MaximalMunchRuntime):
        machine = artifact.runtime.machine().configurations
        behind = machine.read(machine.start, text)
        assert behind is not None
        found = [o for o in range(256) if machine.read(behind, bytes([o])) is not None]
    else:
        network = network_over(_tables(artifact))
        begun = network.read(network.start, text)
        found = [o for o in range(256) if network.read(begun, [o]) != REFUSED]
    return [list(pair) for pair in ranges(found)]


def _tables(artifact: Artifact) -> NetworkTables:
    found = walk_of(artifact)
    assert isinstance(found, NetworkTables)
    return found


def test_the_cases_have_counters_and_sets(made: dict[str, Artifact]) -> None:
    """Without them the agreement of the two would say nothing."""
    assert _tables(made["counted"]).counters is not None
    assert _tables(made["any order"]).has_sets


@pytest.mark.parametrize("name", CASES)
def test_a_page_has_the_masks_of_any_tokens(
    name: str, made: dict[str, Artifact], default_tokenizer: Tokenizer, full: bool
) -> None:
    """Each bit, after beginnings of texts, walked in the page; its tokens are the tokenizer's."""
    artifact = made[name]
    texts = [t for t in changed(CASES[name][3], 100 if full else 2, 2) if artifact.viable_bytes(t)]
    said = said_by_page(data_of(artifact, default_tokenizer), texts, masks=True)
    for text, answer in zip(texts, said, strict=True):
        if answer["offset"] < len(text) or not _is_text(text):
            continue
        matcher = artifact.matcher()

        assert default_tokenizer.encode(text.decode()) == answer["ids"]
        assert len(answer["ids"]) == matcher.accept(answer["ids"])
        assert tokenset.to_ids(matcher.mask()).tolist() == answer["mask"], text
        assert answer["exact"]


def _is_text(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def test_a_page_has_the_canonical_masks_of_a_small_product(default_tokenizer: Tokenizer) -> None:
    """State by state: after any canonical beginning of a date, each bit."""
    artifact = compiled(_example("date.ebnf"), default_tokenizer)
    texts = [b"2024-02-29"[:end] for end in range(11)]
    said = said_by_page(data_of(artifact, default_tokenizer), texts, masks=True)
    whole = 0
    for answer in said:
        taken, matcher = answer["ids"][: answer["at"]], artifact.matcher()
        assert len(taken) == matcher.accept(taken)
        mask = tokenset.to_ids(matcher.mask()).tolist()
        if taken == answer["ids"]:
            whole += 1

            assert mask == answer["mask"]
        else:
            # The text breaks off inside a token: those that complete it.
            rest = default_tokenizer.decode_bytes(answer["ids"][answer["at"] :])
            tokens = artifact.vocabulary.tokens(mask)
            pairs = zip(mask, tokens, strict=True)
            fits = [i for i, t in pairs if t.startswith(rest) and len(t) > len(rest)]

            assert fits == answer["mask"]
    assert whole >= 5


def test_a_page_has_the_canonical_masks_of_the_given_texts(default_tokenizer: Tokenizer) -> None:
    """A network's masks, after each token of a text that the page was given."""
    artifact = compiled(CASES["tool call"][0], default_tokenizer, dialect="json-schema")
    data = data_of(artifact, default_tokenizer, _TOOL)
    [said] = said_by_page(data, [_TOOL], masks=True)
    matcher = artifact.matcher()
    matcher.accept(said["ids"])

    assert said["exact"]
    assert tokenset.to_ids(matcher.mask()).tolist() == said["mask"]
    assert len(default_tokenizer.encode(_TOOL.decode())) + 1 == len(data["reached"][1]["rows"])


def test_a_page_says_why_a_token_is_refused(default_tokenizer: Tokenizer) -> None:
    """By the grammar at the same byte, with the same bytes in its place; and by the tokenizer where
    the library says so or calls it a dead end."""
    artifact = compiled(_example("date.ebnf"), default_tokenizer)
    refusals, asked = Refusals(artifact, default_tokenizer), range(1, artifact.vocab_size, 23)
    text = b"2024-"
    [said] = said_by_page(data_of(artifact, default_tokenizer), [text], tokens=list(asked))
    reasons = set()
    for token, why in zip(asked, said["why"], strict=True):
        verdict = refusals.why(said["ids"], token)
        reasons.add(verdict.reason)
        if verdict.reason is Reason.GRAMMAR:
            assert (verdict.byte, [list(p) for p in verdict.expected]) == (
                why["byte"],
                why["expected"],
            )
        elif verdict.reason in (Reason.TOKENIZATION, Reason.DEAD_END):
            assert why.keys() <= {"instead", "deadEnd"}, token
    assert Reason.GRAMMAR in reasons


@pytest.mark.sampled("name", ["gpt2"], ["gpt2", "qwen2_5", "cl100k_base"])
def test_a_page_has_the_tokens_of_real_tokenizers(
    name: str, real: Callable[[str], Tokenizer]
) -> None:
    """Pre-tokenizer and merges, on all kinds of characters."""
    tokenizer = real(name)
    artifact = compiled('s ::= #"[\\\\s\\\\S]*";', tokenizer, "any")
    texts = [
        "I'm here:  12345 x\u00e9\u4e2d\u6587\U0001f600 \n\n end  ",
        "def f(x):\n\treturn x**2  # \u00bd",
        "",
        *(CASES[each][3][0].decode() for each in ("tool call", "json")),
    ]
    said = said_by_page(data_of(artifact, tokenizer), [text.encode() for text in texts])

    assert [tokenizer.encode(text) for text in texts] == [each["ids"] for each in said]
    assert {"tokenizer"} == {each["how"] for each in said}
