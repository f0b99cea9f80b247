"""All that is known of a compiled grammar in numbers, as one frozen object.

inspection_of(artifact, name="date.cst")                      of a file: what it says of itself
inspection_of(compilation.artifact, compilation=compilation)  ... and why it was compiled so
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import TOKEN_DFA, WORD_DFA
from constrain.artifacts.network.counts import UNBOUNDED
from constrain.artifacts.tokens.vocabulary import SPECIAL, TEXT

from ..diagnostics import LimitError
from ..explain.report import Verdict
from ..limits import Limits
from ..merge.dump import tabulated
from ..notes import is_of_masks
from ..options import AnyTokenizer, CompileOptions
from ..pipeline import Compilation
from ..progress import Step
from .choices import TOKEN_TRANSITIONS, Choices, Effort, choices_made, choices_of, effort_of
from .density import MaskFacts, mask_facts
from .sizes import Sizes, sizes_of
from .texts import Reader, Text, TextFacts, explain_of

# How much of the masks is in the file.
ALL, SOME, NONE = "all", "some", "none"


@dataclass(frozen=True, slots=True)
class GrammarFacts:
    """``schema``: the options that a JSON Schema was read with. ``bytes``: of its text, None where
    that was stripped. ``names_tokens``: it names tokens, which no text matches."""

    dialect: str
    start: str
    sha256: str
    bytes: int | None
    schema: Mapping[str, str]
    names_tokens: bool


@dataclass(frozen=True, slots=True)
class EndToken:
    """A token that ends a text."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """``name``: as it was given, None where an artifact alone was. ``model``: ``bpe``, ``unigram``
    or ``wordpiece``; ``bpe or unigram`` where an artifact alone does not say. ``vocab_size``: bits
    of a mask, of which ``texts`` are tokens of text, ``special`` special ones, and ``unused`` no
    tokens. ``splits``: it splits a text before merging, and ``splits_applied``: masks follow
    that."""

    name: str | None
    model: str
    sha256: str
    vocab_size: int
    texts: int
    special: int
    unused: int
    eos: tuple[EndToken, ...]
    splits: bool
    splits_applied: bool


@dataclass(frozen=True, slots=True)
class Counter:
    """A repetition that is counted while decoding; ``most`` is None for any number."""

    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class TokenDfa:
    """The minimal DFA over canonical tokens that is walked."""

    states: int
    transitions: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a grammar was compiled to, or what an artifact is. ``README.md`` has each field.

    ``name``: of the file. ``is_artifact``: it was an artifact, which does not know ``effort`` and
    ``limits``. ``counts``: states, transitions, rows, by the names of the manifest. ``token_dfa``:
    only where it has at most ``TOKEN_TRANSITIONS``. ``precomputed``: ``all`` masks, ``some`` or
    ``none``.
    """

    name: str
    is_artifact: bool
    kind: str
    choices: Choices
    grammar: GrammarFacts
    tokenizer: TokenizerFacts
    counts: Mapping[str, int]
    token_dfa: TokenDfa | None
    counters: tuple[Counter, ...]
    sets: tuple[int, ...]
    precomputed: str
    masks: MaskFacts
    sizes: Sizes
    effort: Effort | None
    limits: Mapping[str, float] | None
    notes: tuple[str, ...]
    texts: tuple[TextFacts, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-serialisable object with a field for each attribute."""
        found = asdict(self)
        for text, facts in zip(found["texts"], self.texts, strict=True):
            text["forced_share"] = facts.forced_share
        return found


@Step("inspect")
def inspection_of(
    artifact: Artifact,
    *,
    name: str,
    say: Callable[[Verdict, Text], str],
    compilation: Compilation | None = None,
    options: CompileOptions | None = None,
    tokenizer: AnyTokenizer | None = None,
    texts: Sequence[Text] = (),
    limits: Limits | None = None,
) -> Inspection:
    """The facts of an artifact; with ``compilation`` and its ``options`` also why it is so.

    ``tokenizer``: the artifact's, which encodes ``texts``. ``say``: a verdict on a text in words.
    Raises ``LimitError`` for time and resident memory.
    """
    limits = (limits or Limits()).started()
    whole = artifact.completed
    table = small_table(whole, limits)
    source = None if compilation is None else compilation.automaton.grammar.source.text
    reader = None
    if texts:
        explain = explain_of(whole, source, options)
        reader = Reader(whole, explain, say, tokenizer, limits)
    choices = choices_of(whole)
    if compilation is not None and options is not None:
        choices = choices_made(compilation, options)
    return Inspection(
        name=name,
        is_artifact=compilation is None,
        kind=whole.manifest.kind,
        choices=choices,
        grammar=_grammar_facts(whole),
        tokenizer=_tokenizer_facts(whole, tokenizer),
        counts=whole.manifest.counts,
        token_dfa=token_dfa_of(table),
        counters=_counters(whole),
        sets=tuple(np.diff(whole.arrays.get("set.offsets", [])).tolist()),
        precomputed=_precomputed(whole),
        masks=mask_facts(whole, table, limits),
        sizes=sizes_of(whole),
        effort=None if compilation is None else effort_of(compilation),
        limits=None if options is None else _bounds(options),
        notes=whole.notes,
        texts=tuple(map(reader.facts, texts)) if reader else (),
    )


def is_walked(artifact: Artifact) -> bool:
    """Whether it has no table of the DFA over canonical tokens, but walks it."""
    is_table = artifact.manifest.kind in (TOKEN_DFA, WORD_DFA)
    return artifact.is_regular and artifact.is_canonical and not is_table


def small_table(artifact: Artifact, limits: Limits) -> Artifact | None:
    """Such an artifact with a table of all states, the minimal DFA over tokens, if that has at most
    ``TOKEN_TRANSITIONS`` and there is time; None for all else. Raises ``LimitError`` for resident
    memory."""
    if not is_walked(artifact):
        return None
    try:
        return tabulated(artifact, replace(limits, transitions=TOKEN_TRANSITIONS))
    except LimitError:
        return None


def token_dfa_of(table: Artifact | None) -> TokenDfa | None:
    """The size of what ``small_table`` found."""
    if table is None:
        return None
    return TokenDfa(len(table.arrays["tokens.accepting"]), len(table.arrays["tokens.edge_tokens"]))


def _grammar_facts(artifact: Artifact) -> GrammarFacts:
    m = artifact.manifest
    size = None if m.source is None else len(m.source.encode("utf-8", "surrogatepass"))
    return GrammarFacts(m.dialect, m.start, m.grammar_sha256, size, m.schema, artifact.names_tokens)


def _model_of(artifact: Artifact) -> str:
    """The kind of tokenizer that an artifact was compiled for; masks of any tokens are alike."""
    merges = "bpe" if artifact.is_canonical else "bpe or unigram"
    return "wordpiece" if artifact.manifest.kind == WORD_DFA else merges


def _tokenizer_facts(artifact: Artifact, tokenizer: AnyTokenizer | None) -> TokenizerFacts:
    m, vocabulary = artifact.manifest, artifact.vocabulary
    is_text, is_special = vocabulary.kinds == TEXT, vocabulary.kinds == SPECIAL
    texts, special = int(is_text.sum()), int(is_special.sum())
    names = [vocabulary.token(i).decode("utf-8", "backslashreplace") for i in m.eos]
    return TokenizerFacts(
        name=None if tokenizer is None else tokenizer.name,
        model=_model_of(artifact) if tokenizer is None else tokenizer.kind,
        sha256=m.tokenizer_sha256,
        vocab_size=m.vocab_size,
        texts=texts,
        special=special,
        unused=m.vocab_size - texts - special,
        eos=tuple(map(EndToken, m.eos, names)),
        splits=m.splits,
        splits_applied=m.splits_applied,
    )


def _counters(artifact: Artifact) -> tuple[Counter, ...]:
    a = artifact.arrays
    bounds = a.get("repeats.bounds")
    if "count.least" in a:
        bounds = np.stack([a["count.least"], a["count.most"]], axis=1)
    pairs = [] if bounds is None else bounds.tolist()
    return tuple(Counter(least, None if most == UNBOUNDED else most) for least, most in pairs)


def _precomputed(artifact: Artifact) -> str:
    """How much of the masks is in the file."""
    a = artifact.arrays
    if artifact.is_regular and artifact.spells_bytes and not is_walked(artifact):
        return ALL if "row_of" in a else NONE
    if "closed.all" in a:
        return ALL if bool(a["closed.all"][1]) else SOME
    found = ("memo.keys", "greedy.first_keys")
    if not any(name in a and len(a[name]) for name in found):
        return NONE
    return SOME if any(map(is_of_masks, artifact.notes)) else ALL


def _bounds(options: CompileOptions) -> dict[str, float]:
    names = "states", "transitions", "memory", "seconds", "nesting"
    bounds = {name: getattr(options.limits, name) for name in names}
    return {**bounds, "artifact_bytes": options.max_artifact_bytes}
