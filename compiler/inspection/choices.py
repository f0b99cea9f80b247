"""What was chosen in a compilation, and why: engine, meaning, tokenization, method.

A compilation knows its reasons. An artifact has those that are no matter of course in its notes; of
the others nothing is said.
"""

from dataclasses import dataclass

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import NETWORK, TOKEN_DFA

from ..choose import ANY_ALLOWED, AS_ASKED, BY_DEFAULT, OF_LEXEMES, OF_WORDS, semantics_of
from ..merge.direct_merge import CanonicalDfa, Growth
from ..options import ANY, CANONICAL, CARTESIAN, DFA, DIRECT, CompileOptions
from ..pipeline import Compilation

# Larger token DFAs are not counted.
TOKEN_TRANSITIONS = 200_000

# Rows of the table of growth.
_GROWTH_ROWS = 20

# Canonical masks of regular grammars by the kind of an artifact.
_METHODS = {NETWORK: CARTESIAN, TOKEN_DFA: DIRECT}


@dataclass(frozen=True, slots=True)
class Choice:
    """What was taken, and why; no reason where an artifact says none."""

    name: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """``engine``: ``dfa``, ``network``, ``earley`` or ``greedy``. ``meaning``: ``exact`` or
    ``maximal-munch``. ``tokenization``: ``canonical`` or ``any``. ``method``: ``direct`` or
    ``cartesian``, of canonical masks of regular grammars; None where there is no such choice."""

    engine: Choice
    meaning: Choice
    tokenization: Choice
    method: Choice | None


@dataclass(frozen=True, slots=True)
class Closure:
    """How far masks by maximal munch were precomputed: ``complete`` for every text."""

    complete: bool
    heads: int
    summaries: int


@dataclass(frozen=True, slots=True)
class Effort:
    """What a compilation went through. ``closure``: by maximal munch. ``growth``: of a DFA over
    tokens along the merges, thinned to a screenful with its largest size in it."""

    closure: Closure | None
    growth: tuple[Growth, ...]


def choices_of(artifact: Artifact) -> Choices:
    """What is known of an artifact by its kind and notes."""
    m, notes = artifact.manifest, artifact.notes
    engine = DFA if m.is_regular else m.kind
    weaker = _said(notes, ANY_ALLOWED) if m.tokenization == ANY else None
    has_method = m.is_regular and m.tokenization == CANONICAL
    method = _METHODS.get(m.kind) if has_method else None
    return Choices(
        Choice(engine, _said(notes, f"engine {engine}: ")),
        Choice(m.meaning),
        Choice(m.tokenization, weaker),
        None if method is None else Choice(method),
    )


def choices_made(compilation: Compilation, options: CompileOptions) -> Choices:
    """The same of a compilation by ``options``."""
    found, recogniser = choices_of(compilation.artifact), compilation.automaton
    choice, meaning = recogniser.choice, found.meaning.name
    why = semantics_of(recogniser.grammar, options.meaning)[1]
    method = found.method
    if method is not None:
        method = Choice(method.name, compilation.reason or None)
    return Choices(
        Choice(found.engine.name, choice.reason),
        Choice(meaning, why),
        Choice(found.tokenization.name, _of_tokenization(found, compilation, options)),
        method,
    )


def _of_tokenization(
    found: Choices, compilation: Compilation, options: CompileOptions
) -> str | None:
    if found.tokenization.reason is not None:
        return found.tokenization.reason
    if compilation.artifact.manifest.kind == "word-dfa":
        return OF_WORDS
    if options.tokenization is not None:
        return AS_ASKED
    return BY_DEFAULT if found.tokenization.name != ANY else OF_LEXEMES


def _said(notes: tuple[str, ...], begin: str) -> str | None:
    """The rest of the note that begins so."""
    return next((note.removeprefix(begin) for note in notes if note.startswith(begin)), None)


def effort_of(compilation: Compilation) -> Effort:
    """What ``compile --stats`` says besides."""
    closure = compilation.closure
    reached = None
    if closure is not None:
        reached = Closure(closure.complete, closure.heads, closure.results)
    if not isinstance(compilation.canonical, CanonicalDfa):
        return Effort(reached, ())
    growth = compilation.canonical.growth
    peak = max(range(len(growth)), key=lambda i: growth[i].transitions)
    step = max(1, len(growth) // _GROWTH_ROWS)
    shown = sorted({*range(0, len(growth), step), peak, len(growth) - 1})
    return Effort(reached, tuple(growth[i] for i in shown))
