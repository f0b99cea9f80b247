"""Whatever a command is given, a terminal is sent the program's own escape sequences alone."""

import io
import json
import os
import random
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import pytest
from support.cli import Leaf, content, leaves

from constrain.artifacts.container import sections
from constrain.cli.app import COMMANDS, run
from constrain.cli.everywhere import bar
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.tokenizers import byte_alphabet

if sys.platform != "win32":
    import pty
    import tty

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")

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

# What the program itself sends: colours, and what shows and clears a progress bar. The colour in
# the text above is none of these.
OWN = re.compile(r"\x1b\[(?!35;5m)[0-9;]*m|\x1b\[\?25[lh]|\r?\x1b\[(?:2K|1A)")
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORGED = re.compile("^FORGED", re.MULTILINE)


# Of CPU, after which a command is not tried again without --full: some start processes.
_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Sent:
    """What a command line ended with, and what the terminals were sent; empty for a pipe."""

    code: int
    out: bytes
    err: bytes

    @property
    def flaw(self) -> str:
        """What a terminal was sent that is not the program's own; empty if nothing was."""
        if self.code not in (0, 1, 2, 3):
            return f"exit code {self.code}"
        for stream in (self.out, self.err):
            text = OWN.sub("", stream.decode("utf-8"))
            if found := RAW.search(text) or FORGED.search(text):
                return repr(text[max(found.start() - 200, 0) : found.end() + 200])
        return ""


@contextmanager
def _terminal() -> Iterator[tuple[TextIO, bytearray]]:
    """A stream that is a terminal, and what it is sent: complete when the context ends."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # Else the terminal's own driver makes "\r\n" of each "\n".
    sent = bytearray()

    def read() -> None:
        try:
            while part := os.read(ours, 1 << 16):
                sent.extend(part)
        except OSError:
            pass  # As the end of a terminal is told on Linux.

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        with open(theirs, "w", encoding="utf-8", errors="backslashreplace") as stream:  # noqa: PTH123
            yield stream, sent
    finally:
        reader.join(10)
        os.close(ours)


def at_terminal(*arguments: str, out: bool = True, err: bool = True) -> Sent:
    """Run a command line with terminals as streams, or files (``out``, ``err``)."""
    kept = sys.stdin, sys.stdout, sys.stderr
    with _terminal() as (one, written), _terminal() as (other, said), open(os.devnull, "w") as null:  # noqa: PTH123
        sys.stdin = io.TextIOWrapper(io.BytesIO(EVIL.encode()), "utf-8")
        sys.stdout, sys.stderr = one if out else null, other if err else null
        try:
            code = run(list(arguments))
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept
    return Sent(code, bytes(written), bytes(said))


class Lines:
    """Command lines by chance, of everything that a command takes."""

    def __init__(self, rng: random.Random, pool: dict[str, list[str]]) -> None:
        self.rng, self.pool = rng, pool

    def of(self, leaf: Leaf) -> list[str]:
        """A line of this command: mostly what can be read, and a few options."""
        arguments, options = [], []
        for each in leaf.parameters:
            if each.param_type_name == "argument":
                count = 1 + (each.nargs == -1) * self.rng.randrange(3)
                arguments += [self._file() for _ in range(count)]
        named = {each.name: each for each in leaf.parameters if each.param_type_name == "option"}
        named.pop("help", None)
        if "tokenizer" in named and self.rng.random() < 0.95:
            options += ["--tokenizer", self.pool["tokenizer"][0]]
            del named["tokenizer"]
        if "store" in named:
            options += ["--store", self.rng.choice(self.pool["store"])]
            del named["store"]
        chosen = self.rng.sample(sorted(named), min(self.rng.choice((0, 0, 1, 1, 2)), len(named)))
        for name in {*chosen, *(n for n, each in named.items() if each.required)}:
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
    """An artifact whose manifest is hostile, with checksums that are right."""
    text = 'a ::= "x" b; b ::= "y";'
    made = compile_grammar(text, dialect="kbnf", tokenizer=load_tokenizer(tokenizer))
    origins = tuple(replace(each, rule=each.rule + EVIL) for each in made.manifest.origins)
    manifest = replace(
        made.manifest,
        start=EVIL,
        dialect=EVIL,
        notes=(EVIL,),
        origins=origins,
        schema={EVIL: EVIL},
        counts={**made.manifest.counts, EVIL: 1},
    )
    path.write_bytes(b"".join(sections.encode(manifest.to_json(), dict(made.arrays))))
    return str(path)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The hostile files, in a folder of a hostile name."""
    return pool_of(tmp_path_factory.mktemp("all") / f"f{NAME}")


def test_all_commands_are_tried() -> None:
    """Those of the table, by their names."""
    assert {leaf.words[0] for leaf in leaves()} == {*COMMANDS}


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: " ".join(leaf.words))
def test_a_terminal_is_sent_our_own_sequences_alone(
    leaf: Leaf,
    pool: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """With any files and options; on both streams, and on either where the other is a pipe."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bar, "_AFTER", 0.0)
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", pool["cache"][0])
    rng = random.Random(" ".join(leaf.words))
    lines = Lines(rng, pool)
    begun = sum(os.times()[:4])
    for number in range(300 if full else 6):
        if not full and number > 1 and sum(os.times()[:4]) - begun > _SECONDS:
            break
        line = lines.of(leaf)
        out, err = ((True, True), (True, True), (True, False), (False, True))[number % 4]
        sent = at_terminal(*line, out=out, err=err)
        assert not sent.flaw, (line, sent.code, sent.flaw)
