"""Large JSON Schemas in the style of those for files of configuration, of 50 to 400 kB: jobs of
a workflow, steps of pipelines, options of a tool, charts, and records of many kinds."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from .request import Request
from .written_schemas import (
    BOOLEAN,
    NAME,
    NUMBER,
    STRING,
    Schema,
    array,
    closed,
    mapping,
    one_of,
    ref,
    said,
)

_DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def requests() -> Iterator[Request]:
    """One of each style."""
    makers: list[tuple[str, Callable[[random.Random], Schema]]] = [
        ("jobs", lambda rng: _jobs(rng, 60)),
        ("steps", lambda rng: _steps(rng, 200)),
        ("options", lambda rng: _options(rng, 360)),
        ("charts", lambda rng: _charts(rng, 150)),
        ("records", lambda rng: _records(rng, 70)),
    ]
    for name, make in makers:
        text = json.dumps(make(random.Random(name)))
        yield Request(f"{name}, {len(text) // 1000} kB", "json-schema", "", (), text)


def _jobs(rng: random.Random, count: int) -> Schema:
    """Events, permissions, and jobs by name that are of two kinds."""
    expression: Schema = {"type": "string", "pattern": r"^\$\{\{(.|[\r\n])*\}\}$"}
    kinds = ["created", "edited", "deleted", "moved", "opened", "closed", "labeled"]
    events = [f"event_{i}" for i in range(count)]

    def event(number: int) -> Schema:
        types = {**array(one_of(rng.sample(kinds, 4)), 1), "default": kinds[:2]}
        filters = {key: ref("globs") for key in ("branches", "tags", "paths")}
        return {
            "$comment": f"https://example.org/events#{number}",
            **said(rng, 40),
            "type": ["object", "null"],
            "properties": {"types": {"anyOf": [types, STRING]}, **filters},
            "additionalProperties": number % 3 == 0,
        }

    step: Schema = {
        "id": STRING,
        "if": {"type": ["boolean", "number", "string"]},
        "name": STRING,
        "uses": STRING,
        "run": STRING,
        "working-directory": STRING,
        "shell": ref("shell"),
        "with": ref("env"),
        "env": ref("env"),
        "continue-on-error": {"oneOf": [BOOLEAN, expression], "default": False},
        "timeout-minutes": {"oneOf": [NUMBER, expression]},
    }
    shared: Schema = {
        "name": STRING,
        "needs": {"oneOf": [array(ref("name"), 1), ref("name")]},
        "permissions": ref("permissions"),
        "if": {"type": ["boolean", "number", "string"]},
        "strategy": ref("strategy"),
        "concurrency": {"oneOf": [STRING, ref("concurrency")]},
    }
    labels = {"group": STRING, "labels": {"oneOf": [STRING, array(STRING)]}}
    machine = {"type": "array", "items": [STRING], "minItems": 1, "additionalItems": STRING}
    job = {
        **shared,
        "runs-on": {
            "anyOf": [STRING, machine, {"type": "object", "properties": labels}, expression]
        },
        "outputs": mapping(STRING, minProperties=1),
        "env": ref("env"),
        "defaults": ref("defaults"),
        "steps": array(ref("step"), 1),
        "container": {"oneOf": [STRING, ref("container")]},
        "services": mapping(ref("container")),
    }
    called = {
        **shared,
        "uses": {"type": "string", "pattern": r"^(.+\/)+(.+)\.(ya?ml)(@.+)?$"},
        "with": ref("env"),
        "secrets": {"oneOf": [ref("env"), one_of(["inherit"])]},
    }
    shells = closed({"shell": ref("shell"), "working-directory": STRING}, minProperties=1)
    container = {
        "image": STRING,
        "credentials": {"type": "object", "properties": {"username": STRING, "password": STRING}},
        "env": ref("env"),
        "ports": array({"oneOf": [NUMBER, STRING]}, 1),
        "volumes": array({"type": "string", "pattern": "^[^:]+:[^:]+$"}, 1),
    }
    several = {"oneOf": [array(ref("configuration"), 1), expression]}
    chosen = {"oneOf": [expression, array(mapping(ref("configuration")), 1)]}
    matrix = mapping(several, patternProperties={"^(in|ex)clude$": chosen}, minProperties=1)
    strategy = {
        "matrix": {"oneOf": [matrix, expression]},
        "fail-fast": {"type": ["boolean", "string"]},
        "max-parallel": {"type": ["number", "string"]},
    }
    level = one_of(["read", "write", "none"])
    scopes = closed({f"scope-{i}": level for i in range(15)})
    cancelled = {"group": STRING, "cancel-in-progress": {"oneOf": [BOOLEAN, expression]}}
    inner = ref("configuration")
    definitions: Schema = {
        "name": {"type": "string", "pattern": NAME},
        "globs": array({"type": "string", "minLength": 1}, 1),
        "env": {"oneOf": [mapping({"oneOf": [STRING, NUMBER, BOOLEAN]}), expression]},
        "shell": {"anyOf": [STRING, one_of(["bash", "sh", "python"])]},
        "permissions": {"oneOf": [one_of(["read-all", "write-all"]), scopes]},
        "concurrency": closed(cancelled, "group"),
        "defaults": closed({"run": shells}, minProperties=1),
        "container": closed(container, "image"),
        "strategy": closed(strategy, "matrix"),
        "configuration": {"oneOf": [STRING, NUMBER, BOOLEAN, mapping(inner), array(inner)]},
        "step": closed(
            {key: {**said(rng, 30), **schema} for key, schema in step.items()},
            dependencies={"working-directory": ["run"], "shell": ["run"]},
            oneOf=[{"required": ["uses"]}, {"required": ["run"]}],
        ),
        "job": closed(job, "runs-on"),
        "called": closed(called, "uses"),
        "event": one_of(events),
    }
    all_events = closed({name: event(i) for i, name in enumerate(events)})
    properties = {
        "name": STRING,
        "on": {"oneOf": [ref("event"), array(ref("event"), 1), all_events]},
        "env": ref("env"),
        "defaults": ref("defaults"),
        "permissions": ref("permissions"),
        "jobs": {
            "type": "object",
            "patternProperties": {NAME: {"oneOf": [ref("job"), ref("called")]}},
            "minProperties": 1,
            "additionalProperties": False,
        },
    }
    return {
        **_DRAFT_7,
        "$id": "https://example.org/jobs.json",
        "definitions": definitions,
        **closed(properties, "on", "jobs"),
    }


def _steps(rng: random.Random, count: int) -> Schema:
    """Steps that are distinguished by a key of their own, with inputs, and stages of jobs."""
    text = {"anyOf": [STRING, NUMBER, BOOLEAN]}
    named = closed({"name": STRING, "value": ref("text")}, "name")
    definitions: Schema = {
        "boolean": {"anyOf": [BOOLEAN, one_of(["true", "false"])]},
        "text": text,
        "variables": {"anyOf": [mapping(ref("text")), array(ref("variable"))]},
        "variable": {"anyOf": [named, closed({"group": STRING}, "group")]},
    }
    kinds: list[Schema] = [ref("text"), ref("boolean"), {"enum": ["a", "b", "c"]}]
    for i in range(count):
        names = (f"{rng.choice(('path', 'name', 'mode'))}_{j}" for j in range(rng.randint(2, 8)))
        inputs = {name: {**said(rng, 12), **rng.choice(kinds)} for name in names}
        task = {
            f"task_{i}": STRING,
            "inputs": {**closed(inputs), "additionalProperties": i % 4 == 0},
            "condition": STRING,
            "displayName": STRING,
            "env": ref("variables"),
            "enabled": ref("boolean"),
        }
        definitions[f"task_{i}"] = {**said(rng, 30), **closed(task, f"task_{i}")}
    tasks = [ref(f"task_{i}") for i in range(count)]
    definitions["step"] = {"anyOf": [one_of(["checkout", "wait"]), *tasks]}
    variables = {"variables": ref("variables")}
    job = {
        "job": {"type": "string", "pattern": NAME},
        "dependsOn": {"anyOf": [STRING, array(STRING)]},
        "steps": array(ref("step")),
        **variables,
    }
    definitions["job"] = {
        **closed(job, "job"),
        "if": {"properties": {"job": {"const": "none"}}},
        "then": {"not": {"required": ["steps"]}},
    }
    definitions["stage"] = closed({"stage": STRING, "jobs": array(ref("job"))}, "stage")
    inside = {"stages": "stage", "jobs": "job", "steps": "step"}
    wholes = [closed({key: array(ref(of)), **variables}, key) for key, of in inside.items()]
    nothing = {"type": "string", "pattern": "^$"}
    return {**_DRAFT_7, "definitions": definitions, "oneOf": [nothing, *wholes]}


def _options(rng: random.Random, count: int) -> Schema:
    """Hundreds of options, which rules for some packages may have, too."""
    whole = {"type": "object", "$ref": "#"}

    def option(number: int) -> Schema:
        kinds: list[Schema] = [
            {"type": "boolean", "default": True},
            STRING,
            {"type": ["string", "null"], "default": None},
            {"type": "integer", "default": 0},
            {**array(STRING), "default": []},
            {"oneOf": [array(STRING), STRING]},
            {**one_of(["auto", "never", f"mode-{number}"]), "default": "auto"},
            mapping(STRING),
            {"default": {}, **whole},
        ]
        return {**said(rng, 25), **rng.choice(kinds)}

    groups = ("allow", "branch", "commit", "ignore", "update")
    options = {f"{rng.choice(groups)}Option{i}": option(i) for i in range(count)}
    conditions = [
        {
            "if": {"properties": {"kind": {"const": f"kind-{i}"}}, "required": ["kind"]},
            "then": {"required": [f"of{i}"], "properties": {f"of{i}": STRING}},
        }
        for i in range(20)
    ]
    some = {name: options[name] for name in [*options][::2]}
    rule = {"type": "object", "properties": some, "allOf": conditions}
    managers = {f"manager-{i}": {**said(rng, 20), **whole} for i in range(count // 5)}
    return {
        **_DRAFT_7,
        "$id": "https://example.org/options.json",
        "title": "Options",
        "type": "object",
        "properties": {**options, "packageRules": array(rule), **managers},
    }


def _charts(rng: random.Random, count: int) -> Schema:
    """Definitions of each other's unions, without tags and with many keys."""
    color = {"type": "string", "format": "color-hex"}
    definitions: Schema = {
        "Color": {"anyOf": [one_of(f"color{i}" for i in range(140)), color, STRING]},
        "Expression": closed({"expr": STRING}, "expr"),
        "Dict": mapping({"anyOf": [STRING, {"type": "null"}]}),
    }
    share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    for i in range(count):
        parts = [ref(f"Part{j}") for j in rng.sample(range(count), 4)]
        kinds: list[Schema] = [
            NUMBER,
            BOOLEAN,
            {"anyOf": [share, ref("Expression")]},
            {"anyOf": [ref("Color"), {"type": "null"}, ref("Expression")]},
            parts[3],
            {"anyOf": [parts[0], parts[1], {"type": "null"}]},
            array(parts[2]),
            {"enum": ["left", "right", "center", None]},
        ]
        names = [
            f"{rng.choice(('axis', 'mark', 'scale', 'text', 'x'))}{j}"
            for j in range(rng.randint(5, 25))
        ]
        found = {name: {**said(rng, 10), **rng.choice(kinds)} for name in names}
        definitions[f"Part{i}"] = closed(found, rng.choice(names))
    size = {"anyOf": [NUMBER, one_of(["container"])]}
    unit: Schema = {"data": {"anyOf": [ref("Dict"), {"type": "null"}]}, "height": size}
    layers = array({"anyOf": [ref("Layered"), ref("Unit")]})
    repeat = closed({"row": STRING})
    some = {**unit, "repeat": array(STRING), "spec": ref("Any")}
    others = {**unit, "repeat": repeat, "spec": ref("Unit")}
    kinds = [closed(each, "repeat", "spec") for each in (some, others)]
    definitions |= {
        "Layer": {"anyOf": [ref(f"Part{i}") for i in range(0, count, 8)]},
        "Unit": closed({**unit, "mark": ref("Part0"), "encoding": ref("Part1")}, "mark"),
        "Layered": closed({**unit, "layer": layers}, "layer"),
        "Repeated": {"anyOf": kinds},
        "Any": {"anyOf": [ref(name) for name in ("Unit", "Layered", "Repeated", "Layer")]},
    }
    return {**_DRAFT_7, **ref("Any"), "definitions": definitions}


def _records(rng: random.Random, count: int) -> Schema:
    """Records of a kind each, with elements, and what extends any of these."""
    day = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    texts: Schema = {
        "id": r"^[A-Za-z0-9\-.]{1,64}$",
        "uri": r"^\S*$",
        "code": r"^[^\s]+(\s[^\s]+)*$",
        "instant": f"^{day}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](Z|[+-][0-9]{{2}}:[0-9]{{2}})$",
    }
    definitions: Schema = {
        name: {"type": "string", "pattern": pattern, **said(rng, 20)}
        for name, pattern in texts.items()
    }
    values = {f"value{i}": ref(rng.choice(("code", "uri", "Coding"))) for i in range(40)}
    element = ref("Element")
    coding = {"system": ref("uri"), "code": ref("code"), "_code": element, "display": STRING}
    definitions |= {
        "decimal": NUMBER,
        "Element": closed({"id": ref("id"), "extension": array(ref("Extension"))}),
        "Extension": closed({"url": ref("uri"), **values, "_url": element}),
        "Coding": closed(coding),
    }
    simple = (*texts, "decimal")
    for i in range(count):
        own = f"Record{i}"
        properties: dict[str, Any] = {"kind": {**said(rng, 6), "const": own}, "id": ref("id")}
        for j in range(rng.randint(12, 28)):
            name = f"{rng.choice(('name', 'status', 'period', 'subject'))}{j}"
            kind = rng.choice((*simple, "Coding", "Extension", f"{own}_Part"))
            one = ref(kind) if rng.random() < 0.6 else array(ref(kind))
            properties[name] = {**said(rng, 25), **one}
            if kind in simple:
                properties[f"_{name}"] = {"description": f"Extensions for {name}", **element}
        properties["contained"] = array(ref("Any"))
        definitions[own] = {**said(rng, 40), **closed(properties, "kind")}
        part = {"id": STRING, "count": NUMBER, "part": ref(f"{own}_Part"), "of": one_of("abc")}
        definitions[f"{own}_Part"] = closed(part)
    every = [ref(f"Record{i}") for i in range(count)]
    definitions["Any"] = {"oneOf": every}
    return {
        "$schema": "http://json-schema.org/draft-06/schema#",
        "$id": "http://example.org/records.json",
        "oneOf": every,
        "definitions": definitions,
    }
