"""``constrain new``: a grammar with cases, a schema, or a repository of grammars, to begin with."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import typer

from constrain.artifacts.errors import visible

from .. import templates
from ..console import UsageError, note, status

# What a template calls the thing, and the version of constrain.
_NAME, _VERSION = "NAME", "VERSION"

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


# What is made.
Kind = Literal["grammar", "schema", "project"]


# The files of each, by their names in the folder of templates.
_FILES = {
    "grammar": {"grammar.ebnf": f"{_NAME}.ebnf", "grammar.test": f"{_NAME}.test"},
    "schema": {"schema.json": f"{_NAME}.schema.json", "schema.test": f"{_NAME}.test"},
    "project": {
        "grammar.ebnf": "grammars/reply.ebnf",
        "grammar.test": "grammars/reply.test",
        "project.toml": "constrain.toml",
        "workflow.yml": ".github/workflows/grammars.yml",
        "hooks.yaml": ".pre-commit-config.yaml",
        "project.md": "README.md",
    },
}


def new(
    kind: Annotated[Kind, typer.Argument(metavar="KIND")],
    place: Annotated[Path, typer.Argument(metavar="NAME")],
) -> int:
    """Make a grammar, a schema or a project to begin with.

    What is there is never overwritten: where a file of that name stands, nothing is made.

    \b
    Examples:
      constrain new project replies
      constrain new grammar grammars/date
      constrain new schema grammars/call

    - ``kind``: grammar: a grammar and its cases; schema: a JSON Schema and its cases; project: a
      folder with a grammar, cases, constrain.toml, a workflow and hooks of pre-commit.
    - ``place``: What it is called: a name, or a path that ends in it.
    """
    from importlib.metadata import version

    from constrain.artifacts.container.write import write_atomically

    name = place.name
    if not _WORD.fullmatch(name) and kind != "project":
        raise UsageError(
            f"{visible(name)!r} is no name for a {kind}: letters, digits and '_' are, and no "
            "digit comes first"
        )
    folder = place if kind == "project" else place.parent
    targets = {each: folder / to.replace(_NAME, name) for each, to in _FILES[kind].items()}
    for target in targets.values():
        if target.exists():
            raise UsageError(f"{visible(target)} is there already; nothing was made")
    rule = name if kind != "project" else "reply"
    for each, target in targets.items():
        text = files(templates).joinpath(each).read_text(encoding="utf-8")
        text = text.replace(_NAME, rule).replace(_VERSION, version("constrain-grammar"))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(str(target), [text.encode()])
        status(f"{visible(target)}")
    if kind == "project":
        workflow = visible(targets["workflow.yml"])
        note(f"set CONSTRAIN in {workflow} to where constrain comes from: it is a placeholder")
    return 0
