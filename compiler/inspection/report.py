"""An inspection as JSON and as a table; the facts that ``show`` prints of an artifact.

Lines are ``name: value``; a section's are indented. Control characters are shown as symbols.
"""

import json
from collections.abc import Iterator, Mapping

from constrain.artifacts.container.manifest import Manifest
from constrain.artifacts.errors import visible

from ..options import CARTESIAN
from .choices import TOKEN_TRANSITIONS, Choice, Closure, Effort
from .density import STATES, Density
from .encoding import FEWEST
from .inspection import Inspection, TokenDfa
from .sizes import Sizes
from .texts import TextFacts

# The version of the JSON.
SCHEMA = 1

# Sections of a table that are listed by name, and counters.
_SECTIONS, _COUNTERS = 12, 8

_OWNERS = {
    "grammar": "the grammar's own",
    "tokenizer": "the tokenizer's own",
    "both": "of both, as masks are",
}


def as_json(found: Inspection) -> str:
    """One object on a line."""
    return json.dumps({"schema": SCHEMA, **found.to_json()}) + "\n"


def as_table(found: Inspection) -> str:
    """For people: a line for each fact, the largest sections, each text."""
    grammar, tokenizer = found.grammar, found.tokenizer
    text = "stripped" if grammar.bytes is None else f"{grammar.bytes:,} bytes"
    ends = ", ".join(f"{token.text} ({token.id})" for token in tokenizer.eos)
    model = f"{visible(tokenizer.name)} ({tokenizer.model})" if tokenizer.name else tokenizer.model
    splits = "splits texts" if tokenizer.splits else "splits no texts"
    if tokenizer.splits and not tokenizer.splits_applied:
        splits += ", which these masks need not follow"
    lines = [
        f"{found.name}: {'artifact' if found.is_artifact else 'grammar'} of kind {found.kind}",
        *_choices(found),
        f"grammar: {grammar.dialect}, start {grammar.start}, {text}, sha256 {grammar.sha256}",
        *(["names tokens: yes, which no text matches"] if grammar.names_tokens else []),
        *schema_lines(grammar.schema),
        f"tokenizer: {model}, sha256 {tokenizer.sha256}",
        f"vocabulary: {tokenizer.vocab_size:,} ids, {tokenizer.texts:,} of text, "
        f"{tokenizer.special:,} special, {tokenizer.unused:,} unused; {splits}",
        f"end of text: {ends}",
        *count_lines(found.counts),
        *token_dfa_lines(found.choices.method, found.token_dfa),
        *_counters(found),
        *_masks(found),
        *_sizes(found.sizes),
        *([] if found.effort is None else _effort(found.effort)),
        *_limits(found),
        *(f"note: {note}" for note in found.notes),
        *(line for text in found.texts for line in _text(text)),
    ]
    return "".join(f"{visible(line)}\n" for line in lines)


def manifest_text(m: Manifest) -> str:
    """What an artifact says of itself, the compiler's notes last."""
    lines = [
        f"kind: {m.kind}",
        f"meaning: {m.meaning}",
        f"tokenization: {m.tokenization}",
        f"dialect: {m.dialect}",
        f"start: {m.start}",
        *schema_lines(m.schema),
        f"tokenizer: sha256 {m.tokenizer_sha256}",
        f"vocabulary: {m.vocab_size:,} ids; end of text {', '.join(map(str, m.eos))}",
        *count_lines(m.counts),
        *(f"note: {note}" for note in m.notes),
    ]
    return "".join(f"{visible(line)}\n" for line in lines)


def schema_lines(schema: Mapping[str, str]) -> list[str]:
    """The options that a JSON Schema was read with."""
    return ["schema: " + ", ".join(map(" ".join, schema.items()))] if schema else []


def count_lines(counts: Mapping[str, int]) -> list[str]:
    """States, transitions and rows."""
    return [f"{name.replace('_', ' ')}: {count:,}" for name, count in counts.items()]


def _choices(found: Inspection) -> Iterator[str]:
    for name in ("engine", "meaning", "tokenization", "method"):
        choice = getattr(found.choices, name)
        if choice is not None:
            yield f"{name}: {choice.name}" + (f", {choice.reason}" if choice.reason else "")


def token_dfa_lines(method: Choice | None, found: TokenDfa | None) -> list[str]:
    """Of the DFA over tokens that is walked, how large it is."""
    if method is None or method.name != CARTESIAN:
        return []
    if found is None:
        return [f"token DFA: not counted, it has more than {TOKEN_TRANSITIONS:,} transitions"]
    return [f"token DFA: {found.states:,} states, {found.transitions:,} transitions"]


def _counters(found: Inspection) -> Iterator[str]:
    if found.counters:
        shown = [
            f"{c.least:,} or more" if c.most is None else f"{c.least:,} to {c.most:,}"
            for c in found.counters[:_COUNTERS]
        ]
        more = [f"{len(found.counters) - _COUNTERS:,} more"] * (len(found.counters) > _COUNTERS)
        yield f"counted repetitions: {', '.join([*shown, *more])}"
    if found.sets:
        yield f"sets: of {', '.join(map(str, found.sets))} parts"


def _masks(found: Inspection) -> Iterator[str]:
    masks = found.masks
    over = "all states" if masks.over == STATES else f"a walk of {masks.density.masks} masks"
    how = {
        "all": "all precomputed",
        "some": "precomputed in part, put together while decoding",
        "none": "computed while decoding",
    }
    yield f"masks: {how[found.precomputed]}"
    yield f"first mask: {masks.first:,} tokens"
    yield f"allowed over {over}: {_density(masks.density)}"


def _density(found: Density) -> str:
    return (
        f"min {found.min:,} ({found.min_share:.3%}), median {found.median:,.12g} "
        f"({found.median_share:.3%}), max {found.max:,} ({found.max_share:.3%}) tokens; "
        f"{found.single:,} of {found.masks:,} masks hold one"
    )


def _sizes(found: Sizes) -> Iterator[str]:
    yield f"bytes: {found.file:,}"
    yield f"  {found.header:>13,}  header and manifest"
    for owner, said in _OWNERS.items():
        yield f"  {getattr(found, owner):>13,}  {said}"
        listed = [section for section in found.sections if section.owner == owner]
        for section in listed[:_SECTIONS]:
            shape = "×".join(map(str, section.shape))
            yield f"    {section.bytes:>13,}  {section.name}  {section.dtype} {shape}"
        rest = listed[_SECTIONS:]
        if rest:
            size = sum(section.bytes for section in rest)
            yield f"    {size:>13,}  {len(rest)} smaller ones"


def _effort(found: Effort) -> Iterator[str]:
    if found.closure is not None:
        yield closure_line(found.closure)
    if found.growth:
        peak = max(found.growth, key=lambda step: step.transitions)
        yield (
            f"largest automaton: {peak.states:,} states, {peak.transitions:,} transitions after "
            f"{peak.merges:,} merges"
        )


def closure_line(found: Closure) -> str:
    """How far masks by maximal munch were precomputed."""
    which = "for every text" if found.complete else "in part"
    return f"precomputed {which}: {found.heads:,} heads, {found.summaries:,} summaries"


def _limits(found: Inspection) -> Iterator[str]:
    if found.limits is not None:
        bounds = (f"{n.replace('_', ' ')} {v:,.12g}" for n, v in found.limits.items())
        yield f"limits: {', '.join(bounds)}"


def _text(found: TextFacts) -> Iterator[str]:
    if found.message is not None:
        yield f"text {found.message}"
        return
    line_break = ", without the line break at its end" if found.without_line_break else ""
    tokens = ", by the fewest tokens" * (found.encoding == FEWEST)
    yield f"text {found.name}: accepted, {found.bytes:,} bytes{line_break}{tokens}"
    share = found.forced_bytes / found.spelled if found.spelled else 0.0
    yield f"  forced: {found.forced_tokens:,} of {found.tokens:,} tokens ({found.forced_share:.1%})"
    yield f"  forced: {found.forced_bytes:,} of {found.spelled:,} bytes ({share:.1%})"
    if found.masks is not None:
        yield f"  allowed: {_density(found.masks)}"
