"""CPU time of whole commands, as ratios to an empty Typer application in the same run.

python benchmarks/command_line.py --tokenizer TOKENIZER.json [--runs 9]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

EXAMPLES = Path(__file__).parent.parent / "examples"
EMPTY = """
import typer

app = typer.Typer()
app.command("x")(lambda: None)
app.command("y")(lambda: None)
app()
"""


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one process, its exit code checked."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


def main() -> None:
    """Measure all commands in turn, round after round, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--runs", type=int, default=9)
    wanted = parser.parse_args()
    constrain = [sys.executable, "-m", "constrain.cli"]
    with tempfile.TemporaryDirectory() as folder:
        commands = {"empty Typer application": [sys.executable, "-c", EMPTY, "x"]}
        for example in ("date.ebnf", "ipv4.regex", "words.ebnf", "person.ebnf"):
            target = str(Path(folder, example).with_suffix(".cst"))
            path = str(EXAMPLES / example)
            arguments = ["compile", path, "-t", wanted.tokenizer, "-o", target]
            commands[f"compile {example}"] = [*constrain, *arguments]
        date = str(Path(folder, "date.cst"))
        commands["mask date.cst"] = [*constrain, "mask", date, "--prefix", "2024-0"]
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(wanted.runs):
            for name, command in commands.items():
                times[name].append(cpu_seconds(command))
    base = median(times["empty Typer application"])
    lines = [f"{'command':28} {'CPU s':>7} {'ratio':>7}"]
    for name, measured in times.items():
        lines.append(f"{name:28} {median(measured):7.3f} {median(measured) / base:7.1f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
