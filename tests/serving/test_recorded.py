"""Schemas, structural tags, grammars and regexes that another engine's own tests ask about.

Each recorded call of xgrammar's is made again as a request, with the flags that it had: what it
takes is taken, texts are members or not, masks are equal. Where an answer is another one, the
tables say who is right and why. Its Lark grammars are in ``tests/corpus/test_served_grammars.py``.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from support.serving.recorded import Call, Tokens, compiler_of, matched, tokens_in

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.compiler.serving.engines import DIALECTS
from constrain.compiler.serving.flags import FlagError
from constrain.compiler.serving.requests import request_of
from constrain.compiler.serving.service import SERVER_OPTIONS

# What a refusal matches, and why it is one.
REFUSED = {
    r"the attribute max_tokens=\d+ is not": "nobody counts the tokens of a text",
    r"this class is not closed": "a regex that ECMAScript reads otherwise",
    r"column \d+: (\\\S+ |there is nothing that)": "a regex that is none",
    r"tokens are counted where": "nobody counts the tokens of a text that a text ends",
    r"#/oneOf: no value": "of two equal branches never one alone holds; coerce_one_of is anyOf",
    r"no value satisfies this schema": "there is no such value",
    r"name of a type": "no value is of none of an empty list of types, which no metaschema allows",
    r"is an empty language": "no text matches",
    r"^lark: no structural tag": "grammars in Lark stand in no structural tag",
}

# What a call and the answer here match, and why the answer is right all the same.
DIFFERENT = {
    r"test_batch_rollback": "the calls that rolled back are not recorded",
    r"test_termination": "after the end nothing may follow, which is said by a mask and no error",
    r"test_lark|test_max_chars|_round_trip|_serialization": "the record has another grammar",
    r"multiple_of_unsupported": "multipleOf is held to",
    r"oneof_unsupported": "of oneOf one alone holds",
    r"any_order": "no key is written twice",
    r"complex_restrictions|uses_regex_macro": "a pattern is of the text, not of how JSON writes it",
    r"email_format": "backslashes in quoted local parts are left out, with a note",
    r"time_format.*60": "leap seconds are left out, with a note",
    r"ipv4_format": "no part of an address begins with a zero: RFC 3986, dec-octet",
    r"hostname_format.*--": "hyphens in the third and fourth place are those of IDNA alone",
    r"uri_template.*\{=": "operators that are reserved for extensions are left out, with a note",
    r"uri_template.*'": "an apostrophe is a literal: RFC 6570 by its erratum",
    r"format_length_schema": "lengths, formats and required keys inside of arguments are held to",
    r"\\u03a3": "letters of either case are those of Unicode",
    r"Regex.*a\.b.*\\n": "a dot is no line feed, in any standard",
    r"mixed_tag_and_token_dispatch": "after <mid> and a token free text may go on in its place",
    r"123invalid": "a schema that says nothing of a key allows any",
}

# So many grammars that xgrammar takes were refused at first, by file, and so many are at most now.
REFUSED_AT_FIRST_AND_NOW = {
    "test_builtin_structural_tag": (62, 0),
    "test_function_calling_converter": (137, 0),
    "test_grammar_matcher_ebnf": (3, 0),
    "test_grammar_matcher_macro": (37, 0),
    "test_grammar_matcher_structural_tag": (20, 4),
    "test_grammar_parser": (9, 1),
    "test_grammar_parser_macro": (5, 0),
    "test_grammar_regex_macro": (223, 13),
    "test_grammar_substring_macro": (300, 0),
    "test_json_schema_converter": (8, 1),
    "test_lark": (38, 9),
    "test_max_chars": (6, 0),
    "test_regex_converter": (24, 0),
    "test_structural_tag_converter": (31, 2),
    "test_token_edge": (61, 0),
}

# What an error says where branches that are the same leave ``oneOf`` no value.
SAY_ANY_OF = "say anyOf if several may"

# Kinds of grammars; those of Lark are asked about elsewhere.
KINDS = ("json", "json_schema", "structural_tag", "ebnf", "regex", "union", "concat")

# Without --full, one case in so many.
EVERY = 24


def request_fields(asked: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a request for a grammar, and the flags beside."""
    kind, arguments, flags = (*asked, [], {})[:3] if len(asked) < 3 else asked
    match kind:
        case "json":
            # Any JSON, but for scalars alone.
            return {"json_schema": {"type": ["object", "array"]}}, {}
        case "ebnf" | "regex":
            return {kind: arguments[0]}, flags
        case "structural_tag":
            return {"structural_tag": arguments[0]}, {"strict_mode": True}
        case "union" | "concat":
            formats = list(map(_format, arguments))
            combined = {"type": {"union": "or", "concat": "sequence"}[kind], "elements": formats}
            return {"structural_tag": {"type": "structural_tag", "format": combined}}, {}
    schema = arguments[0]
    if isinstance(schema, dict) and "__schema__" in schema:
        schema = schema["__schema__"]
    flags = {"strict_mode": True, "any_whitespace": True, **flags}
    if "json_format" not in flags:
        return {"json_schema": schema}, flags
    schema = json.loads(schema) if isinstance(schema, str) else schema
    style = flags.pop("json_format")
    form = {"type": "json_schema", "json_schema": schema, "style": style}
    return {"structural_tag": {"type": "structural_tag", "format": form}}, flags


def _format(asked: list[Any]) -> dict[str, Any]:
    """A grammar as a format of structural tags."""
    kind, (text,) = asked[0], asked[1]
    name = {"ebnf": "grammar", "regex": "pattern", "json_schema": "json_schema"}.get(kind)
    if name is None:
        raise FlagError(kind, "no structural tag has such a format")
    value = json.loads(text) if kind == "json_schema" else text
    return {"type": "grammar" if kind == "ebnf" else kind, name: value}


@cache
def compiled(asked: str, tokens: Tokens) -> Artifact | str:
    """The artifact of a recorded grammar; what is wrong with it, else."""
    try:
        fields, flags = request_fields(json.loads(asked))
        request = request_of(fields, options=SERVER_OPTIONS, dialects=DIALECTS, flags=flags)
        assert request is not None
        changes = {**request.changes, "limits": replace(SERVER_OPTIONS.limits, seconds=60)}
        compiler = compiler_of(*tokens, is_plain=True)
        return compiler.compile(request.text, name=request.name, **changes)
    except (ConstrainError, FlagError) as error:
        return str(error) if SAY_ANY_OF not in str(error) else compiled(_coerced(asked), tokens)


def _coerced(asked: str) -> str:
    """A schema in which several branches of ``oneOf`` may hold: where they overlap, the other
    engine warns and reads it so, which is asked for here."""
    kind, (text,), *flags = json.loads(asked)
    schema = {**json.loads(text), "x-guidance": {"coerce_one_of": True}}
    return json.dumps([kind, [json.dumps(schema)], *flags])


def calls_of(row: dict[str, Any]) -> Iterator[Call]:
    """What a grammar was compiled to, and what its matchers answered."""
    log = row["log"]
    for number, entry in enumerate(log):
        asked = entry.get("construct") or entry.get("matcher")
        if not isinstance(asked, list) or asked[0] not in KINDS:
            continue
        text = json.dumps(asked)
        what = f"{row['case']} | {text}"
        if "construct" in entry:
            if entry["error"] is not None:
                continue
            # Of the tokenizer that its matcher has: formats may name tokens.
            uses = (each["tok"] for each in log[number:] if each.get("matcher") == asked)
            found = compiled(text, tokens_in(next(uses, {"__tok__": 0})) or ((), ()))
            yield Call(what, None, found if isinstance(found, str) else None)
            continue
        tokens = tokens_in(entry["tok"])
        artifact = None if tokens is None else compiled(text, tokens)
        if tokens is None or not isinstance(artifact, Artifact):
            continue
        at_once = entry["kw"].get("terminate_without_stop_token", False)
        yield from matched(what, artifact.matcher(), entry["events"], at_once, len(tokens[0]))


def test_recorded_requests(
    data: Callable[[str], Path], full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Nothing is refused or answered otherwise but for a reason; without --full some cases."""
    with data("suites/served/xgrammar.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    asked, alike = Counter[str](), Counter[str]()
    refused, others = Counter[str](), Counter[str]()
    unexplained: list[str] = []
    for row in rows if full else rows[::EVERY]:
        for call in calls_of(row):
            file = row["file"]
            is_refusal = call.expected is None and isinstance(call.found, str)
            (asked if call.expected is None else alike)[file] += call.expected is None or (
                call.expected == call.found
            )
            if call.expected == call.found:
                continue
            (refused if is_refusal else others)[file] += 1
            known = REFUSED if is_refusal else DIFFERENT
            said = str(call.found) if is_refusal else f"{call.what} -> {call.found}"
            if not any(re.search(each, said) for each in known):
                unexplained.append(f"{call.what[:300]} … {said[-200:]}, and not {call.expected}")

    assert [] == unexplained[:5]
    counts = REFUSED_AT_FIRST_AND_NOW
    assert {} == {file: n for file, n in refused.items() if n > counts.get(file, (0, 0))[1]}
    assert sum(alike.values()) > 200
    for file, count in sorted(asked.items()):
        first = counts.get(file, (0, 0))[0]
        told = f"{count} read, {refused[file]} refused (at first {first})"
        record_property(f"{file}: {told}; {alike[file]} answers alike, others", others[file])
