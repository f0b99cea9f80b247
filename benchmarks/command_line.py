"""CPU time of whole commands, beside the imports that each of them needs, in the same run.

python benchmarks/command_line.py --tokenizer TOKENIZER.json [--runs 9]

Medians of processes in turn. ``above the imports`` is the time less that of a process that imports
numpy and Typer. A first round, which fills the caches of bytecode and tables, does not count.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

EXAMPLES = Path(__file__).parent.parent / "examples"
IMPORTS = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'; import numpy, typer"
EMPTY = """
import typer

app = typer.Typer()
app.command("x")(lambda: None)
app.command("y")(lambda: None)
app()
"""


def cpu_seconds(command: list[str], variables: dict[str, str]) -> float:
    """User and system time of one process, its exit code checked."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands_of(folder: Path, tokenizer: str) -> dict[str, list[str]]:
    """What is measured, by name; artifacts are written by the first commands."""
    constrain = [sys.executable, "-m", "constrain.cli"]
    anything = folder / "anything.regex"
    anything.write_text("(.|\\n)*", encoding="utf-8")
    found = {"--version": [*constrain, "--version"], "--help": [*constrain, "--help"]}

    def compiled(grammar: Path, *options: str) -> str:
        target = str(folder / f"{grammar.stem}.cst")
        name = " ".join(["compile", grammar.name, *options])
        given = ["-t", tokenizer] if tokenizer else []
        found[name] = [*constrain, "compile", str(grammar), *given, "-o", target, *options]
        return target

    def mask(artifact: str, *options: str) -> None:
        name = " ".join(["mask", Path(artifact).name, *options])
        found[name] = [*constrain, "mask", artifact, *options]

    date, *_, network, every = [
        *(compiled(EXAMPLES / name) for name in ("date.ebnf", "ipv4.regex", "words.ebnf")),
        compiled(EXAMPLES / "person.ebnf"),
        compiled(EXAMPLES / "json.ebnf"),
        compiled(anything, "--tokenization", "any"),
    ]
    mask(date, "--prefix", "2024-0")
    mask(network, "--prefix", "[1,")
    for form in ("bits", "ids", "table"):
        mask(every, "--format", form)
    return found


def main() -> None:
    """Measure all commands in turn, round after round, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", default="", help="by default the embedded one")
    parser.add_argument("--runs", type=int, default=9)
    wanted = parser.parse_args()
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        variables["PYTHONPYCACHEPREFIX"] = str(Path(folder, "bytecode"))
        commands = {
            "import numpy, typer": [sys.executable, "-c", IMPORTS],
            "empty Typer application": [sys.executable, "-c", EMPTY, "x"],
            **commands_of(Path(folder), wanted.tokenizer),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(wanted.runs + 1):
            for name, command in commands.items():
                taken = cpu_seconds(command, variables)
                times[name] += [taken] if turn else []
    base = median(times["import numpy, typer"])
    lines = [f"{'command':44} {'CPU ms':>7} {'above the imports':>18} {'ratio':>6}"]
    for name, measured in times.items():
        taken = median(measured)
        lines.append(
            f"{name:44} {taken * 1e3:7.0f} {(taken - base) * 1e3:18.0f} {taken / base:6.1f}"
        )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
