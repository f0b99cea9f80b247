"""Grammars as people have them, and requests, compiled as by a new user; and their masks when met.

    PYTHONPATH=tests python benchmarks/stores/people.py TOKENIZER.json DATA [--busy 8] [--only NAME]
    PYTHONPATH=tests python benchmarks/stores/people.py TOKENIZER.json DATA --first [--only NAME]
    PYTHONPATH=tests python benchmarks/stores/people.py TOKENIZER.json DATA --masks [--only NAME]

DATA: the folder of the tests' data (``.github/CONTRIBUTING.md``), of which ``grammars/people`` and
``grammars/gbnf`` are read; with them the schemas and tools of the examples.

Without ``--masks`` forty of them are compiled by the command line, by its defaults, each in a
process of its own: CPU seconds, peak memory and the artifact's size. ``--busy``: so many processes
that keep the processors busy meanwhile.

With ``--first`` the same forty, nothing being precomputed: CPU milliseconds from the text to the
first mask by the default tokenization, and where any tokens are allowed; the median of five later
ones in one process.

With ``--masks`` all grammars of ``people`` are read, any sequence of tokens being allowed: CPU
seconds of compiling by default and what the file takes; milliseconds to the first mask with nothing
precomputed; and of the masks that texts of the grammar meet first. Texts are drawn by ``constrain
sample``, or are those that stand in ``TEXTS``.
"""

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from support.corpus.people import NEEDS

from constrain.artifacts.errors import ConstrainError
from constrain.compiler import Compiler, load_tokenizer
from constrain.compiler.dialects import dialect_of
from constrain.compiler.dialects.ebnf.definitions import read_definitions

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = [sys.executable, "-m", "constrain.cli"]

# Files of people that are compiled: the grammars that nest, and the largest.
WANTED = (
    *("abnf__rfc5322.abnf", "antlr__JSON.g4", "antlr__Java8Parser.g4", "antlr__calculator.g4"),
    *("dolang__src_grammar.lark", "dotmotif.lark", "expertsql__grammar.gbnf"),
    *("hcl__grammar.gbnf", "iso__pascal.isoebnf", "kbnf__09.kbnf", "kbnf__s01.kbnf"),
    *("lark__examples_advanced_python2.lark", "lark__lark_grammars_python.lark"),
    *("larkpy__advanced_create_ast.lark", "ligurio__lark_grammars_grammars_regex.lark"),
    *("ligurio__lark_grammars_grammars_mime.lark", "llg__sample_parser_data_rfc.lark"),
    *("llg__sample_parser_data_from-llama.cpp_json.gbnf", "optimade.lark", "pl0__grammar_en.ebnf"),
    *("pry__grammar.ebnf", "syncode__syncode_parsers_grammars_prover9.lark"),
    *("tap4s__contract_parser_contract_grammar.lark", "tcfg__examples_grammars_chess.ebnf"),
    *("w3c__turtle.w3c", "wild__business-rules-dsl.ebnf"),
)

# How long texts are drawn, and what is drawn: options of ``constrain sample``.
SECONDS = 30
DRAWN = (("--shortest", "--max-bytes", "1000"), ("-n", "6", "--max-bytes", "200"))

# Texts of grammars of which none are drawn in time.
PYTHON = """\
class A:
    def f(self, x):
        for y in x:
            print(y + 1)
        return [x, 'a']
"""
TEXTS: Mapping[str, str] = {
    "antlr__Java8Parser.g4": ";;;",  # It ignores no blanks, which all else needs.
    "lark__examples_advanced_python2.lark": PYTHON,
    "lark__lark_grammars_python.lark": PYTHON,
    "ligurio__lark_grammars_grammars_python3.lark": PYTHON,
}


@dataclass(frozen=True)
class Case:
    """A grammar, and what commands have to be told of it."""

    path: Path
    needs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        found = [str(self.path)]
        for option, value in self.needs.items():
            values = [value] if isinstance(value, str) else value
            found += [word for each in values for word in (f"--{option}", each)]
        return found

    @property
    def options(self) -> dict[str, Any]:
        """And as options of ``Compiler.compile``."""
        return {
            "dialect": self.needs.get("dialect") or dialect_of(self.path.name),
            "is_guessed": "dialect" not in self.needs and self.path.suffix == ".ebnf",
            "start": self.needs.get("start"),
            "define": read_definitions(self.needs.get("define", ())),
            "imports": str(self.path.parent),
            "name": self.path.name,
            "tokenization": "any",
        }


def forty(data: Path) -> list[Case]:
    """What is compiled."""
    people = data / "grammars" / "people"
    cases = [Case(people / name, NEEDS.get(name, {})) for name in WANTED]
    cases += map(Case, sorted((data / "grammars" / "gbnf").glob("*.gbnf")))
    cases += map(Case, sorted((EXAMPLES / "schemas").glob("*.schema.json")))
    cases += map(Case, sorted((EXAMPLES / "agents").glob("*.tools.json")))
    return [*cases, Case(EXAMPLES / "tool_call.schema.json"), Case(EXAMPLES / "json.ebnf")]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that count, until this is over."""
    loop = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(loop) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def compiled(case: Case, tokenizer: str, folder: Path) -> str:
    """A line of the table: how a compilation by the command line went."""
    target = folder / f"{case.path.name}.cst"
    words = [*COMMAND, "compile", *case.words, "-t", tokenizer, "-o", str(target), "-q"]
    begin = time.perf_counter()
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall, taken = time.perf_counter() - begin, used.ru_utime + used.ru_stime
    size = target.stat().st_size / 1e6 if target.exists() else 0.0
    end = f"{size:8.1f}" if size else f" exit code {process.returncode}: {said.strip()[:60]}"
    # Linux counts kilobytes, macOS bytes.
    peak = used.ru_maxrss / (1e6 if sysconfig.get_platform().startswith("macos") else 1e3)
    return f"{case.path.name[:44]:46}{taken:7.1f}{wall:8.1f}{peak:8.0f}{end}"


def texts_of(case: Case) -> list[str]:
    """Members of a grammar."""
    found = [TEXTS[case.path.name]] if case.path.name in TEXTS else []
    for options in () if found else DRAWN:
        words = [*COMMAND, "sample", *case.words, *options, "-f", "json", "-q"]
        try:
            drawn = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False).stdout
        except subprocess.TimeoutExpired:
            continue
        found += json.loads(drawn)["members"] if drawn else []
    return found


def first(case: Case, compiler: Compiler) -> tuple[str, float]:
    """A line of a third table: the first mask by default, whose time is given, and of any."""
    text, cells, medians = case.path.read_text(encoding="utf-8"), "", list[float]()
    for tokenization in (None, "any"):
        options = case.options | {"tokenization": tokenization, "precompute": "none"}
        times = []
        for _ in range(6):
            begin = time.process_time()
            artifact = compiler.compile(text, **options)
            artifact.matcher().mask()
            times.append((time.process_time() - begin) * 1e3)
        medians.append(median(times[1:]))
        cells += f"{artifact.manifest.tokenization:>11}{medians[-1]:9.1f}"
    return f"{case.path.name[:44]:46}{cells}", medians[0]


def met(case: Case, compiler: Compiler) -> str:
    """A line of the other table: masks that are made when they are met."""
    text = case.path.read_text(encoding="utf-8")
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.cst"
        compiler.compile(text, **case.options).save(path)
        whole, size = time.process_time() - begin, path.stat().st_size / 1e6
    firsts, times = [], []
    for member in ["", *texts_of(case)]:
        begin = time.process_time()
        matcher = compiler.compile(text, **case.options, precompute="none").matcher()
        matcher.mask()
        firsts.append((time.process_time() - begin) * 1e3)
        for token in compiler.tokenizer.encode(member):
            matcher.advance(token)
            begin = time.process_time()
            if not matcher.is_finished:
                matcher.mask()
            times.append((time.process_time() - begin) * 1e3)
    times.sort()
    shown = f"{len(times):7}" + "".join(
        f"{times[min(int(len(times) * part), len(times) - 1)]:8.2f}"
        for part in (0.5, 0.99, 1)
        if times
    )
    return f"{case.path.name[:44]:46}{whole:7.1f}{size:7.1f}{min(firsts):9.1f}{shown}"


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer")
    parser.add_argument("data", type=Path)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--masks", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    write = sys.stdout.write
    warnings.simplefilter("ignore")
    compiler = Compiler(load_tokenizer(given.tokenizer)) if given.masks or given.first else None
    if given.first and compiler is not None:
        times = []
        for case in forty(given.data):
            if given.only in case.path.name:
                line, taken = first(case, compiler)
                times.append(taken)
                write(line + "\n")
                sys.stdout.flush()
        write(f"median {median(times):.1f}, most {max(times):.1f} ms\n")
        return
    if compiler is not None:
        columns = ("CPU s", 7), ("MB", 7), ("first ms", 9), ("masks", 7)
        columns += ("p50", 8), ("p99", 8), ("most", 8)
        write(" " * 46 + "".join(f"{name:>{width}}" for name, width in columns) + "\n")
        for path in sorted((given.data / "grammars" / "people").iterdir()):
            if given.only in path.name and path.name != "INDEX.md":
                case, said = Case(path, NEEDS.get(path.name, {})), "of no dialect"
                try:
                    said = met(case, compiler) if case.options["dialect"] else said
                except (ConstrainError, ValueError) as error:
                    said = str(error).splitlines()[0][:100]
                write(said if said.startswith(path.name[:44]) else f"{path.name[:44]:46}{said}")
                write("\n")
                sys.stdout.flush()
        return
    write(f"{'':46}{'CPU s':>7}{'wall s':>8}{'MB RAM':>8}{'MB file':>8}\n")
    with busy(given.busy), tempfile.TemporaryDirectory() as folder:
        for case in forty(given.data):
            if given.only in case.path.name:
                write(compiled(case, given.tokenizer, Path(folder)) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
