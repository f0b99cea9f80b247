"""Schemas, structural tags, grammars and regexes that another engine's own tests ask about.

Each recorded call of xgrammar's is made again as a request, with the flags that it had: what it takes
is taken, texts are members or not, masks are equal. Where an answer is another one, the tables say who
is right and why. Its Lark grammars are in ``corpus/test_served_grammars.py``.
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

import pytest
from support.serving.recorded import Call, Tokens, compiler_of, matched, tokens_in

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.compiler.serving.engines import DIALECTS
from constrain.compiler.serving.flags import FlagError
from constrain.compiler.serving.requests import request_of
from constrain.compiler.serving.service import SERVER_OPTIONS

# What a refusal matches, and why it is one.
REFUSED: dict[str, str] = {}

# What a call and the answer here match, and why the answer is right all the same.
DIFFERENT: dict[str, str] = {}

# Kinds of grammars; those of Lark are asked about elsewhere.
KINDS = ("json", "json_schema", "structural_tag", "ebnf", "regex", "union", "concat")

# Without --full, one case in so many.
EVERY = 24


def request_fields(asked: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a request for a grammar, and the flags beside."""
    kind, arguments, flags = (*asked, [], {})[:3] if len(asked) < 3 else asked
    match kind:
        case "json":
            return {"format": "json"}, {}
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
        return compiler_of(*tokens).compile(request.text, name=request.name, **changes)
    except (ConstrainError, FlagError) as error:
        return str(error)


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
