"""Measurements along texts: figures, places, and other engines, which have child processes."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support import EXAMPLES, ROOT
from support.automata import build_automaton
from support.cli import DATE, Cli, content

from constrain.compiler import CompileOptions, Limits
from constrain.compiler.automata.compare import compare
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.inspection import bench_child, bench_plot
from constrain.compiler.inspection.bench import Bench
from constrain.compiler.inspection.bench_figures import (
    Differing,
    EngineFigures,
    Latency,
    Member,
    Place,
    figures_of,
    rank,
)
from constrain.compiler.inspection.bench_grammar import LLGUIDANCE, XGRAMMAR, given_to, peer_of
from constrain.compiler.inspection.bench_run import ChildError, run_child

# Masks of an artifact, after the names of xgrammar.
EXACT = """
import os
from constrain.artifacts.read import load
print("a library that prints")

class TokenizerInfo:
    def __init__(self, vocabulary, vocab_size, stop_token_ids):
        assert len(vocabulary) == vocab_size and vocabulary[stop_token_ids[0]] == b""

class GrammarCompiler:
    def __init__(self, info, cache_enabled):
        pass

    def compile_grammar(self, text):
        assert text.startswith("root ::= ")
        return load(os.environ["EXACT"])

class GrammarMatcher:
    def __init__(self, artifact):
        self.matcher = artifact.matcher()

    def fill_next_token_bitmask(self, rows):
        self.matcher.fill(rows[0])
        return True

    def accept_token(self, token):
        return self.matcher.accept([token]) == 1
"""

# Allows all tokens, and refuses the third, after the names of llguidance.
WRONG = """
import ctypes

class TokenizerWrapper:
    def __init__(self, tokenizer):
        assert tokenizer(b"-") == [tokenizer.tokens.index(b"-")]

class LLTokenizer:
    def __init__(self, wrapper, n_vocab):
        pass

class LLMatcher:
    grammar_from_regex = grammar_from_lark = grammar_from_json_schema = staticmethod(str)

    def __init__(self, tokenizer, grammar, log_level):
        self.taken = 0
        self.grammar = grammar

    def is_error(self):
        return "b" in self.grammar

    def get_error(self):
        return "it reads no b"

    def deep_copy(self):
        return LLMatcher(None, "", 0)

    def unsafe_compute_mask_ptr(self, place, size):
        ctypes.memset(place, 255, size)

    def consume_token(self, token):
        self.taken += 1
        return self.taken < 3

    def is_accepting(self):
        return False
"""


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with stand-ins for other engines, which this process finds and children import."""
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "xgrammar.py").write_text(EXACT)
    (folder / "llguidance.py").write_text(WRONG)
    monkeypatch.syspath_prepend(str(folder))
    paths = [str(folder), str(ROOT / ".typing")]
    monkeypatch.setenv("PYTHONPATH", ":".join(paths))
    return folder


def test_masks_of_others_are_compared_and_texts_named_that_are_no_members(
    cli: Cli, engines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In child processes alone; with masks of any tokenization where ours are canonical."""
    assert 0 == cli("compile", DATE, "--tokenization", "any", "-o", "any.cst").code
    monkeypatch.setenv("EXACT", str(tmp_path / "any.cst"))
    good, bad = content(tmp_path / "a.txt", "2024-02-29\n"), content(tmp_path / "b.txt", "2024-x")
    before = set(sys.modules)
    result = cli("bench", DATE, good, bad, "--format", "json", "--runs", "2")
    found = json.loads(result.out)
    own, wrong, exact = found["engines"]

    assert (1, 1) == (result.code, found["schema"])
    assert {"llguidance", "xgrammar"}.isdisjoint(set(sys.modules) - before)
    assert ["accepted", "rejected"] == [text["status"] for text in found["texts"]]
    assert f'{bad}:1:6: rejected at "x"' in found["texts"][1]["message"]
    tokens = found["texts"][0]["tokens"]
    assert ["constrain", "llguidance", "xgrammar"] == [e["name"] for e in found["engines"]]
    assert tokens + 1 == own["masks"]["count"] == own["masks_again"]["count"]
    assert tokens == own["steps"]["count"]
    assert {"masks": tokens + 1, "differing": 0} == slice_of(exact["differing"])
    assert [] == exact["refusals"]
    assert {"masks": 3, "differing": 3} == slice_of(wrong["differing"])
    # 2024, -, and 0 or 02: the third token.
    assert [("2024-02-29"[5:7].startswith(p["shown"]), p["token"]) for p in wrong["refusals"]] == [
        (True, 2)
    ]
    assert found["vocab_size"] == wrong["differing"]["allowed"]
    assert own["masks"]["p50"] * exact["ratios"]["masks_p50"] == pytest.approx(
        exact["masks"]["p50"]
    )


def slice_of(found: dict[str, object]) -> dict[str, object]:
    """Without the first place."""
    return {name: found[name] for name in ("masks", "differing")}


def test_an_engine_without_figures_says_why(engines: Path) -> None:
    """It does not read the grammar; it is not there; it dies; it takes too long or too much."""
    request = {"engine": LLGUIDANCE, "grammar": "ab", "notation": "regex", "vocab_size": 2}
    request |= {"tokens": ["-", "<eos>"], "special": [1], "eos": [1], "texts": [], "runs": 1}
    with pytest.raises(ChildError, match="it reads no b"):
        run_child(request, Limits())
    for program, limits, said in (
        ("import os; os._exit(7)", Limits(), "code 7"),
        ("raise SystemError('no such kernel')", Limits(), "no such kernel"),
        ("import time; time.sleep(60)", Limits(seconds=0.4), "more than 0.4 seconds"),
        (
            "kept = b'x' * 300_000_000; import time; time.sleep(60)",
            Limits(memory=200_000_000),
            "0 bytes",
        ),
    ):
        (engines / "llguidance.py").write_text(program)
        with pytest.raises(ChildError, match=said):
            run_child(request, limits)
    options = CompileOptions(dialect="kbnf")
    for text, wanted, why in (
        (None, options, "stripped"),
        ('s ::= "a";', CompileOptions(dialect="kbnf", max_depth=2), "--max-depth"),
        ("s ::= <think>;", CompileOptions(dialect="kbnf"), "cannot be written as gbnf"),
    ):
        found = peer_of(XGRAMMAR, text, wanted, "g.ebnf").given
        assert why in str(found)
    (engines / "xgrammar.py").unlink()
    assert "not installed" in str(peer_of(XGRAMMAR, 's ::= "a";', options, "g.ebnf").given)


def test_a_slow_engine_is_measured_as_far_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer runs, or a part of the texts, instead of no figures. A mask takes a twentieth of a
    second by the clock of this test."""
    masks = 0

    def fill() -> None:
        nonlocal masks
        masks += 1

    def now() -> float:
        return masks / 20

    clock = {"monotonic": now, "time": now, "perf_counter": now}
    clock |= {"perf_counter_ns": lambda: masks * 50_000_000}
    monkeypatch.setattr(bench_child, "time", SimpleNamespace(**clock))
    session = bench_child.Session(fill, lambda _: True, lambda: False)
    engine = bench_child.Engine(np.full(1, 1, dtype=np.uint32), lambda: session)
    monkeypatch.setitem(bench_child._MAKERS, LLGUIDANCE, lambda: lambda _: lambda: engine)
    request = {"engine": LLGUIDANCE, "vocab_size": 2, "eos": [1], "runs": 2}
    ids = [0] * 400
    found = bench_child.run({**request, "texts": [ids], "begun": 0.0, "seconds": 2.5})
    member = Member("x", tuple(ids), tuple(range(1, 401)), ("-",) * 400)
    figures = figures_of(LLGUIDANCE, "", found, [member], None)

    assert figures.masks is not None
    assert 0 < figures.masks.count < 40
    assert 401 == figures.masks.count + figures.unread
    assert (None, ()) == (figures.masks_again, figures.refusals)


def test_options_that_cannot_be_kept_are_refused(cli: Cli, tmp_path: Path) -> None:
    """An engine that is not known or not there, and a drawing that is none."""
    text = content(tmp_path / "a.txt", "2024-02-29")
    for options, said in (
        (("--peers", "outlines"), "there is no 'outlines'; known are llguidance, xgrammar, none"),
        (("--plot", "x.png"), "x.png: the drawing is an SVG"),
        (("--runs", "0"), "runs"),
    ):
        result = cli("bench", DATE, text, *options)
        assert (2, b"") == (result.code, result.out)
        assert said in result.err


@pytest.mark.quick
def test_grammars_are_handed_on_with_the_same_members() -> None:
    """In their author's words, or written."""
    date = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")
    kbnf, gbnf = CompileOptions(dialect="kbnf"), CompileOptions(dialect="gbnf")
    for engine, dialect in ((LLGUIDANCE, "regex"), (XGRAMMAR, "gbnf")):
        found = given_to(engine, date, kbnf, "date.ebnf")
        assert dialect == found.notation
        ours, theirs = build_automaton(date, kbnf), build_automaton(found.text, dialect=dialect)
        assert compare(ours.dfa, theirs.dfa).is_equal

    assert "lark" == given_to(LLGUIDANCE, 's ::= "(" s ")" | "a";', kbnf, "x").notation
    own = 'root ::= "a"'
    assert ("gbnf", own) == given_as(given_to(XGRAMMAR, own, gbnf, "x"))
    schema = CompileOptions(dialect="json-schema")
    assert ("json-schema", "{}") == given_as(given_to(LLGUIDANCE, "{}", schema, "x"))
    with pytest.raises(GrammarError):
        given_to(XGRAMMAR, "s ::= <think>;", kbnf, "x")


def given_as(found: object) -> tuple[object, object]:
    """Notation and text."""
    return getattr(found, "notation", None), getattr(found, "text", None)


def test_ranks_are_the_nearest() -> None:
    """By the definition: so many per cent are not above, and it is the smallest."""
    for count in (1, 2, 3, 10, 99, 100, 101, 1000):
        ordered = [float(i * i) for i in range(count)]
        for percent in (1, 50, 90, 99, 100):
            slowly = next(
                x for x in ordered if 100 * sum(y <= x for y in ordered) >= percent * count
            )
            assert slowly == rank(ordered, percent)


def test_a_drawing_of_the_same_figures_is_the_same() -> None:
    """No date and no random names in it."""
    pytest.importorskip("matplotlib")
    engines = [EngineFigures(name, series=(3.0, 1.0, 2.0)) for name in ("constrain", "xgrammar")]
    found = Bench("<g>.ebnf", "product", "canonical", "t", 10, 5, 1, (), tuple(engines), "")
    drawn = bench_plot.plot(found)

    assert drawn == bench_plot.plot(found)
    assert b"dc:date" not in drawn
    assert b"&lt;g&gt;.ebnf" in drawn


def test_each_field_is_documented() -> None:
    """README.md names them all."""
    text = (ROOT / "compiler" / "inspection" / "MEASURING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"`[^`]+`", text))))
    parts = (Bench, EngineFigures, Latency, Place, Differing)

    assert {"series"} == {field.name for part in parts for field in fields(part)} - named
