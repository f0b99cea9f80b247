"""What an editor shows over a name: the rule as it is written, and what is known of it."""

import re
from dataclasses import replace

from constrain.artifacts.errors import ConstrainError

from ..quoting import quoted
from .jobs import Stop
from .navigation import definition
from .texts import Document
from .workspace import Workspace

# Seconds of the processor that facts of a rule may take, and characters of it that are shown.
_SECONDS, _SHOWN = 0.5, 2_000


def hover_text(document: Document, offset: int, workspace: Workspace, stop: Stop) -> str | None:
    """Markdown about the rule whose name stands at an offset; None where none does."""
    places = definition(document, offset, workspace, stop)
    if not places:
        return None
    home = places[0].document
    names = workspace.names(home, stop)
    rules = [each for each in names.definitions if each.span in [p.span for p in places]]
    written = "\n".join(home.text[each.whole.start : each.whole.end] for each in rules)
    shown = written[:_SHOWN] + "…" * (len(written) > _SHOWN)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", shown))])
    known = [f"- {line}" for line in _facts(home, rules[0].name, workspace, stop)]
    return "\n".join([f"{fence}{home.dialect}", shown, fence, *known])


def _facts(document: Document, rule: str, workspace: Workspace, stop: Stop) -> list[str]:
    """Lines about a rule; one that says why where nothing is known."""
    from constrain.compiler.diagnostics import GrammarError
    from constrain.compiler.inspection.rule_facts import facts_of

    given = workspace.given(document, stop, seconds=_SECONDS)
    try:
        wanted = replace(given.compile_options(document.path), start=rule)
        facts = facts_of(document.text, wanted, document.path)
    except GrammarError as error:
        return [f"nothing more is known: {error.diagnostics[0].message}"]
    except ConstrainError as error:
        return [f"nothing more is known: {error}"]
    regular = "regular" if facts.is_regular else "not regular"
    found = [f"{regular}: engine `{facts.engine}`, {facts.reason}"]
    if facts.first != "[]":
        found.append(f"begins with `{facts.first}`, ends with `{facts.last}`")
    if facts.example is not None:
        found.append(f"a shortest member: `{quoted(facts.example)}`")
    return found
