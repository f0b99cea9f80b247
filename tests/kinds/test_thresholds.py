"""Sizes decide how a grammar is read, and no more: few of them, in one file."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, sampled, tokenizer_of, wordpiece
from support.matcher import check_random_texts

from constrain.artifacts import Artifact
from constrain.artifacts.growing import GrowingArtifact
from constrain.compiler import Compiler, Tokenizer, frontend, thresholds
from constrain.compiler.lazy_dfa import behind_loops, growth
from constrain.compiler.limits import Limits
from constrain.compiler.merge import joint_functions
from constrain.compiler.pipeline import build_artifact, build_engine

NAMES = [name for name in vars(thresholds) if name.isupper()]

# Files of decisions, which have no numbers of their own.
DECIDING = ["choose.py", "frontend.py", "options.py", "machine", "merge/methods.py"]
# Of options: what is precomputed, and how large files are.
OF_USERS = {"MAX_ARTIFACT_BYTES", "ROWS_BYTES", "PREWARM", "PREWARM_OVER_LEXEMES", "_ALL"}
OF_USERS |= {"_FRUITLESS"}
# What these count is of files: bytes, rows at a time, and members that no tokens spell.
OF_FILES = {"byte_rows.py", "file_size.py", "unspelled_members.py"}

LETTERS = "abc(),x"
MERGES = ["a b", "b b", "a a", "aa a", "( (", ") )", "b ,", "a )", ", a", "ab b"]


@dataclass(frozen=True)
class Case:
    """A grammar whose sizes are between ``low`` and values of any size, by one of the names."""

    name: str
    low: int
    text: str
    dialect: str = "gbnf"


CASES = {
    "copies": Case("COPIED_STATES", 0, 'root ::= "(" root ")" | ([a-c] "b"?){2,19} "c"'),
    "soon": Case("SOON_COPIED_STATES", 0, 'root ::= "(" root ")" | "x" ([ab] ","?){1,19}'),
    "regular": Case("COPIED_STATES", 1, "root ::= ([a-b]{1,20} [c]){0,17}"),
    "sets": Case("COPIED_STATES", 0, "start ::= permute!('ab', 'ba', 'c'+, ('x' start)?);", "kbnf"),
    "lexemes": Case("LARGE_STATES", 0, "start: A~2..19\nA: /a+b/\n%ignore /c/\n", "lark"),
    "called": Case("COPIED_STATES", 0, 'root ::= s "," s | "(" s ")"\ns ::= "x" [ab]* ","'),
    "shared": Case("SHARED_STATES", 0, 'root ::= s "," s "," | "(" root ")"\ns ::= "x" [ab]* ","'),
    "named again": Case(
        "LARGE_STATES",
        3,
        'root ::= s s\ns ::= a b\na ::= [ab] a | b\nb ::= [c,] b | x\nx ::= ("x" | "(a") x | ")"',
    ),
    "operation": Case("BUILT_STATES", 3, "[abc]{1,7}&~(.*ab.*)", "regex-extended"),
    "growing": Case("BUILT_STATES", 3, "[a-c]*a[a-c]{5}x?", "regex"),
    "soon growing": Case("LARGE_STATES", 3, "(ab|c)*a[a-c]{5}x?", "regex"),
    "rule": Case("NETWORK_STATES", 8, 'root ::= "(" root ")" | [ab]* "a" [ab]{5} "x"'),
    "open": Case("NETWORK_STATES", 0, 'root ::= s "x" s? | "(" root ")"\ns ::= "a" [ab]+'),
    "overlaps": Case(
        "SETS_OF_A_STATE", -200, 'root ::= w "(" root ")" w | "x" w\nw ::= ("a" [ab]* | ",")*'
    ),
}

LIMITS = Limits(seconds=60)

# How a grammar may be asked for.
WAYS: dict[str, dict[str, Any]] = {
    "any": {"tokenization": "any"},
    "any, lazily": {"tokenization": "any", "prewarm": 0},
    "by default": {},
    "by default, lazily": {"prewarm": 0},
}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A small tokenizer with tokens of several letters."""
    folder = tmp_path_factory.mktemp("letters")
    added = [(len(LETTERS) + len(MERGES), "<eos>", True)]
    return tokenizer_of(folder, LETTERS, MERGES, added=added)


def compiled(compiler: Compiler, text: str, dialect: str, way: str) -> Artifact:
    """As one asks for it, in full."""
    found = compiler.compile(text, dialect=dialect, **WAYS[way], limits=LIMITS)
    return found.completed if isinstance(found, GrowingArtifact) else found


@pytest.mark.parametrize("name", CASES)
def test_masks_are_the_same_on_both_sides(
    name: str, letters: Tokenizer, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Of each size: what is too large by it is read in another way, and as before."""
    case = CASES[name]
    made = partial(compiled, Compiler(letters), case.text, case.dialect)
    for module in (growth, behind_loops):
        monkeypatch.setattr(module, "MANY", 4)
    ways = [way for way in WAYS if full or way != "by default"]
    before = {way: made(way) for way in ways}
    monkeypatch.setattr(thresholds, case.name, case.low)
    behind = {way: made(way) for way in ways}

    assert any(before[way].to_bytes() != behind[way].to_bytes() for way in ways)
    for tokenization in ("any", "canonical"):
        every = [*before.values(), *behind.values()]
        every = [each for each in every if each.manifest.tokenization == tokenization]
        if every:
            check_random_texts(every, 60 if full else 1, 20, seed=3)


@pytest.mark.parametrize("list_items", [{"type": "string"}, {"$ref": "#"}], ids=["flat", "nests"])
def test_canonical_rows_are_those_of_one_automaton(
    list_items: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an object of texts, which calls them where it has no such rows, as one does that nests;
    masks are the same."""
    text = {"type": "string"}
    keys = {"a": text, "b": text, "c": {"type": "array", "items": list_items}}
    closed = {"type": "object", "required": [*keys], "additionalProperties": False}
    schema = json.dumps({**closed, "properties": keys})
    compiler = Compiler()
    made = {way: compiled(compiler, schema, "json-schema", way) for way in WAYS}
    calls = {way: made[way].manifest.counts["calls"] > 0 for way in WAYS}
    assert {way: way != "by default" or "$ref" in list_items for way in WAYS} == calls
    every = [made["by default"], made["by default, lazily"]]
    for module, size in (thresholds, "COPIED_STATES"), (joint_functions, "_MOST_STATES"):
        # Of this size a tokenizer has too many states to stand beside one automaton.
        with monkeypatch.context() as patch:
            patch.setattr(module, size, 20)
            every.append(compiled(compiler, schema, "json-schema", "by default"))
        assert every[-1].manifest.counts["calls"]
    check_random_texts(every, 12, 24, seed=5)


CHAIN = 'root ::= ws p1\nws ::= " " ws | ""\n' + "\n".join(
    f'p{i} ::= "a{i}" ws p{i + 1} | p{i + 1}' for i in range(1, 40)
)


def test_rules_that_are_named_again_and_again_are_not_copied(
    letters: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The DFA of a regular grammar of many copies does not come by way of them, whatever it is for;
    its members are those of the network."""
    text = f'{CHAIN}\np40 ::= "b" ws'
    monkeypatch.setattr(frontend, "_automata", None)
    front = build_engine(text, dialect="gbnf")
    assert "dfa" == front.choice.engine
    found = build_artifact(front, letters, tokenization="any").artifact
    words = wordpiece.tokenizer_of([str(digit) for digit in range(10)] + ["a", "b", "##b", "a1"])
    assert "word-dfa" == build_artifact(front, words).artifact.manifest.kind
    for method in ("direct", "cartesian"):
        assert "dfa" == build_engine(text, dialect="gbnf", method=method).choice.engine
    asked = Compiler(letters).compile(text, dialect="gbnf", tokenization="any", engine="network")
    assert (True, False) == (found.is_regular, asked.is_regular)
    check_random_texts([found, asked], 3, 20, seed=4)


FAMILIES = {
    "counts": 's ::= "(" s ")" | #"[a-z]{{1,{0}}}x[a-z]{{1,{0}}}";',
    "after a loop": "s ::= '(' s ')' | #'[a-z]'* 'a' #'[a-z]{{{0}}}';",
}
SIZES = [("counts", 300), ("counts", 30_000), ("after a loop", 3), ("after a loop", 20)]
MORE = [("counts", n) for n in (16, 64, 65, 1_000, 1_001)]
MORE += [("after a loop", n) for n in (12, 13, 14, 16, 64, 65, 200)]


@sampled(("family", "size"), SIZES, SIZES + MORE)
def test_no_size_needs_another_recogniser(
    family: str, size: int, default_tokenizer: Tokenizer
) -> None:
    """However many states there are: of all ways some is quick, and masks are the same."""
    text, found = FAMILIES[family].format(size), list[Artifact]()
    for way in WAYS:
        limits = Limits(seconds=30)
        compiler = Compiler(default_tokenizer)
        artifact = compiler.compile(text, dialect="kbnf", **WAYS[way], limits=limits)
        assert artifact.manifest.kind in ("network", "lazy-network")
        found += [artifact] * (artifact.manifest.tokenization == "any")
    check_random_texts(found, 2, 20, seed=size)


def numbers(path: Path) -> dict[str, int]:
    """Names of a module that are numbers, and how many these are."""
    found: dict[str, int] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            every = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            some = [each for each in every if type(each) in (int, float)]
            for name in ast.walk(node.targets[0]):
                if isinstance(name, ast.Name) and some:
                    found[name.id] = len(some)
    return found


@pytest.mark.quick
def test_numbers_that_decide_are_few_and_in_one_file() -> None:
    """Each is asked for somewhere, and has a case here."""
    folder = ROOT / "compiler"
    assert sum(numbers(folder / "thresholds.py").values()) <= 7
    assert {*numbers(folder / "thresholds.py")} == {case.name for case in CASES.values()}
    files = [
        f
        for name in DECIDING
        for f in ([folder / name] if "." in name else (folder / name).glob("*.py"))
    ]
    assert {} == {
        f"{file.name}: {name}": count
        for file in files
        for name, count in numbers(file).items()
        if name not in OF_USERS and file.name not in OF_FILES
    }
    text = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("*.py"))
    for name in NAMES:
        assert f"thresholds.{name}" in text or f"thresholds import {name}" in text
