"""The help in groups: options by panel, and commands by what they are for.

Typer groups where rich draws boxes, which would clutter pipes and slow every start; the formatter
for plain text writes the same groups here, on terminals and elsewhere.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The panels in the order of every help; a command's own options, which have none, come first.
OUTPUT, GRAMMAR, SCHEMA, TOKENIZER = "Output", "Grammar", "JSON Schema", "Tokenizer"
COMPILATION, LIMITS, GLOBAL = "Compilation", "Limits", "Global options"
PANELS = (OUTPUT, GRAMMAR, SCHEMA, TOKENIZER, COMPILATION, LIMITS, GLOBAL)

# Options that stand under these titles.
of_grammar = partial(typer.Option, rich_help_panel=GRAMMAR)
of_schema = partial(typer.Option, rich_help_panel=SCHEMA)
of_tokenizer = partial(typer.Option, rich_help_panel=TOKENIZER)
of_compilation = partial(typer.Option, rich_help_panel=COMPILATION)
of_limits = partial(typer.Option, rich_help_panel=LIMITS)
of_all = partial(typer.Option, rich_help_panel=GLOBAL)

# Panels of which a help shows but some options, by name, so that it fits a screen; and the option
# that shows all.
FOLDED = (GRAMMAR, SCHEMA, TOKENIZER, COMPILATION, LIMITS)
SHOWN = {"dialect", "start", "max_depth", "tokenizer", "tokenization", "precompute"}
HELP_ALL = "--help-all"

_OWN = "Options"

# Parameters that stand under a title in every command, by name.
_TITLES = dict.fromkeys(("format_", "output"), OUTPUT)
_TITLES |= dict.fromkeys(("help", "_version", "install_completion", "show_completion"), GLOBAL)


class Command(TyperCommand):
    """A command whose options are listed by panel, all of them for ``--help-all``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """``--help-all`` is a longer ``--help``."""
        end = args.index("--") if "--" in args else len(args)
        if HELP_ALL in args[:end]:
            ctx.meta[HELP_ALL] = True
            args[args.index(HELP_ALL)] = "--help"
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, own options, and the panels in their order."""
        listed = [p for p in self.get_params(ctx) if not getattr(p, "hidden", False)]
        shown = [p for p in listed if p.name in SHOWN or panel_of(p) not in FOLDED]
        if HELP_ALL in ctx.meta or len(shown) == len(listed):
            return _write(formatter, _panels(listed, ctx))
        folded = Counter(panel_of(p) for p in listed if p not in shown)
        counts = ", ".join(f"{title} {folded[title]}" for title in FOLDED if folded[title])
        groups = _panels(shown, ctx)
        groups[GLOBAL].append((HELP_ALL, f"Show all options, {folded.total()} more: {counts}."))
        return _write(formatter, groups)


class Group(TyperGroup):
    """Commands, listed by panel, too."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands, which are what is looked for, and the options after them."""
        listed = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        width = max((len(name) for name, _ in listed), default=0)
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in listed:
            panel = getattr(command, "rich_help_panel", None)
            said = command.get_short_help_str(formatter.width - width - 6)
            named = panel if isinstance(panel, str) else "Commands"
            groups.setdefault(named, []).append((name.ljust(width), said))
        _write(formatter, groups)
        _write(formatter, _panels(self.get_params(ctx), ctx))


def _panels(parameters: Iterable[Any], context: Any) -> dict[str, list[tuple[str, str]]]:
    """The lines of the parameters by the title that they stand under."""
    order = ("Arguments", _OWN, *PANELS)
    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in order}
    for parameter in parameters:
        record = parameter.get_help_record(context)
        if record is not None:
            groups.setdefault(panel_of(parameter), []).append(record)
    return groups


def panel_of(parameter: Any) -> str:
    """The title that a parameter stands under."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    panel = getattr(parameter, "rich_help_panel", None)
    return panel if isinstance(panel, str) else _TITLES.get(parameter.name, _OWN)


def _write(formatter: Any, groups: dict[str, list[tuple[str, str]]]) -> None:
    for title, lines in groups.items():
        if lines:
            with formatter.section(title):
                formatter.write_dl(lines)
