"""Changed texts of grammars: as a difference, or in the place of the old ones."""

from difflib import unified_diff

from .console import write_pieces
from .quoting import octets_of


def difference(path: str, before: str, after: str) -> str:
    """What is new in a text, as ``diff -u`` writes it; empty where nothing is."""
    lines = unified_diff(before.splitlines(True), after.splitlines(True), path, path)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_back(path: str, text: str) -> None:
    """A text into its file, whole or not at all; that of ``-`` to standard output."""
    write_pieces([octets_of(text)], path)
