"""Command lines by chance, with files of each kind whose names and contents are hostile."""

import json
import os
import random
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from constrain.artifacts import Artifact
from constrain.artifacts.container import sections
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.tokenizers import byte_alphabet
from support.cli import Leaf, content

# A title, a link, a cleared screen, C1's CSI, what turns and breaks lines; what rich would take
# for markup and emoji; and a line that looks like one of ours.
EVIL = (
    "\x1b]0;x\x07\x1b]8;;http:x\x1b\\l\x1b[2J\x9b5n\u202eabc\u2066\u200f\u2028\r\x7f\x0b\x0c\x85"
    "[red]r[link=x]:smile:[/]\nFORGED: error: \x1b[35;5mx"
)
# Where a line may not break, and a backslash is one of an escape.
_INSIDE = EVIL.replace("\n", "").replace("\\", "")
# As the name of a file: with a byte that is no UTF-8, and without a slash.
NAME = os.fsdecode(EVIL.replace("/", "").encode() + b"\xff")

# What no foreign text may hold where a terminal shows it, and a line that it may not begin.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORGED = re.compile("^FORGED", re.MULTILINE)


class Lines:
    """Command lines by chance, of everything that a command takes."""

    def __init__(self, rng: random.Random, pool: dict[str, list[str]]) -> None:
        self.rng, self.pool = rng, pool

    def of(self, leaf: Leaf, *, without: Collection[str] = ()) -> list[str]:
        """A line of this command: mostly what can be read, and a few options, ``without`` those of
        these names."""
        arguments, options = [], []
        for each in leaf.parameters:
            if each.param_type_name == "argument":
                count = 1 + (each.nargs == -1) * self.rng.randrange(3)
                arguments += [self._file() for _ in range(count)]
        named = {each.name: each for each in leaf.parameters if each.param_type_name == "option"}
        for name in ("help", *without):
            named.pop(name, None)
        if "tokenizer" in named and self.rng.random() < 0.95:
            options += ["--tokenizer", self.pool["tokenizer"][0]]
            del named["tokenizer"]
        if "store" in named:
            options += ["--store", self.rng.choice(self.pool["store"])]
            del named["store"]
        chosen = self.rng.sample(sorted(named), min(self.rng.choice((0, 0, 1, 1, 2)), len(named)))
        for name in sorted({*chosen, *(n for n, each in named.items() if each.required)}):
            options += self._said(named[name])
        return [*leaf.words, *options, *arguments]

    def _said(self, option: Any) -> list[str]:
        name = max(option.opts, key=len)
        if option.is_flag:
            return [name]
        if choices := getattr(option.type, "choices", None):
            return [name, self.rng.choice([*map(str, choices)] * 4 + [EVIL])]
        if option.type.name in ("integer", "float") or "range" in option.type.name:
            return [name, self.rng.choice(("1", "3", "40", EVIL))]
        return [f"{name}={self._value()}"]

    def _file(self) -> str:
        if self.rng.random() < 0.7:
            return self.rng.choice(self.pool["good"])
        return EVIL if self.rng.random() < 0.3 else self._value()

    def _value(self) -> str:
        kind = self.rng.choice([*self.pool])
        return self.rng.choice(self.pool[kind])


def pool_of(folder: Path) -> dict[str, list[str]]:
    """Files of each kind with hostile names and contents, and words that are none."""
    folder.mkdir(exist_ok=True)
    tokenizer = _tokenizer(folder / f"tokenizer{NAME}.json")
    cases = f"===\none {EVIL[:30]}\n===\n{EVIL[:30]}\n---\nat: 1:1\n\n===\ntwo\n===\ny\n---\n"
    schema = {
        "type": "object",
        "properties": {EVIL: {"enum": [EVIL, 1]}, "b": {"$ref": f"#/$defs/{_pointer(EVIL)}"}},
        "$defs": {EVIL: {"type": "array", "items": {"const": EVIL}}},
        "title": EVIL,
        f"x{EVIL}": 1,
        "required": [EVIL],
    }
    listed = f'allow = ["{_escaped()}"]\n[tokenizers]\n"{_escaped()}" = "{_escaped()}"\n'
    named = {
        "good": [
            (".ebnf", f'a ::= "{_INSIDE}x" b;\nb ::= "y"?; (* {EVIL} *)\nunused ::= "{_INSIDE}";'),
            (".schema.json", json.dumps(schema)),
            (".regex", f"({_INSIDE.replace('[', '.')}|\x1b)b|c"),
            ("nested.ebnf", 'a ::= "(" a ")" | "\\x1b";'),
        ],
        "bad": [
            (".ebnf", f'a{EVIL} ::= "x" | b{EVIL};'),
            (".gbnf", f"root ::= nothing-{EVIL}\n"),
            (".lark", f'start: "{EVIL}" | UNDEFINED\n%import {EVIL}.X\n'),
            (".regex", f"a(?P<{EVIL}>"),
            (".schema.json", json.dumps({"type": EVIL, "$ref": f"#/{EVIL}"})),
            (".tools.json", json.dumps([{"type": "function", "function": {"name": EVIL}}])),
            (".structural-tag.json", json.dumps({"type": EVIL, "format": {"type": EVIL}})),
            (".cst", "no artifact"),
            (".other", EVIL),
        ],
        "cases": [
            (".test", cases),
            ("bad.test", f"grammar: {EVIL}\n===\n{EVIL}\n:{EVIL}\n===\n"),
            ("good.test", f"grammar: {EVIL}\n===\na\n===\nb\n---\n"),
        ],
        "jobs": [
            (".jsonl", json.dumps({"grammar": f'a ::= "{EVIL}";', "name": EVIL}) + "\n"),
            ("bad.jsonl", json.dumps({"path": EVIL, "name": EVIL, EVIL: EVIL}) + f"\n{EVIL}"),
        ],
        "project": [
            (".toml", f'"{_escaped()}" = 1\n'),
            ("good.toml", listed),
            ("bad.toml", f"# {EVIL}"),
        ],
    }  # fmt: skip
    pool = {
        kind: [content(folder / f"{NAME}{kind}{suffix}", text) for suffix, text in files]
        for kind, files in named.items()
    }
    good = (
        f"===\none {_INSIDE}\n:todo {_INSIDE}\n===\n{EVIL}\n---\n\n===\ntwo\n===\ny\n---\nat: 1:2\n"
    )
    content(folder / f"{NAME}good.test", good)
    evil = _artifact(folder / f"{NAME}made.cst", tokenizer)
    pool["good"] += [evil, evil]
    store = folder / f"store{NAME}"
    store.mkdir()
    (store / NAME).write_bytes(b"x")
    (store / f"{NAME}.cst").write_bytes(b"x")
    pool["tokenizer"] = [tokenizer, _bad_tokenizer(folder / f"bad{NAME}.json")]
    pool["store"] = [str(store), str(folder / f"none{NAME}"), f"{NAME}://x"]
    pool["cache"] = [str(folder / f"cache{NAME}")]
    pool["other"] = [EVIL, NAME, str(folder), str(folder / f"gone{NAME}"), "out.svg", f"{NAME}.svg"]
    pool["other"] += ["-", f"out{NAME}", f"new{NAME}/", "1", "tree", "gbnf", "x"]
    for file in folder.iterdir():
        if file.is_file():
            file.chmod(0o444)  # What a line names as its output stays as it is.
    return pool


def _pointer(text: str) -> str:
    return text.replace("~", "~0").replace("/", "~1")


def _escaped() -> str:
    return json.dumps(EVIL.replace("\x7f", ""))[1:-1]


def _tokenizer(path: Path) -> str:
    alphabet = byte_alphabet.characters()
    vocab = {c: i for i, c in enumerate(alphabet)}
    vocab["".join(alphabet[o] for o in EVIL.encode())] = 256
    document = {
        "added_tokens": [
            {"id": 300, "content": f"<{EVIL}>", "special": True},
            {"id": 301, "content": EVIL + EVIL, "special": False},
        ],
        "pre_tokenizer": {"type": "ByteLevel", "use_regex": False},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }
    content(path.with_name("tokenizer_config.json"), json.dumps({"eos_token": f"<{EVIL}>"}))
    return content(path, json.dumps(document))


def _bad_tokenizer(path: Path) -> str:
    return content(path, json.dumps({"model": {"type": EVIL, "vocab": {EVIL: EVIL}}, EVIL: EVIL}))


def _artifact(path: Path, tokenizer: str) -> str:
    text = 'a ::= "x" b; b ::= "y";'
    made = compile_grammar(text, dialect="kbnf", tokenizer=load_tokenizer(tokenizer))
    path.write_bytes(with_names(made, EVIL))
    return str(path)


def with_names(artifact: Artifact, text: str) -> bytes:
    """An artifact's file with ``text`` wherever its manifest has a name or a note, and checksums
    that are right."""
    manifest = replace(
        artifact.manifest,
        start=text,
        dialect=text,
        notes=(text,),
        origins=tuple(replace(o, rule=o.rule + text) for o in artifact.manifest.origins),
        schema={text: text},
        counts={**artifact.manifest.counts, text: 1},
    )
    return b"".join(sections.encode(manifest.to_json(), dict(artifact.arrays)))
