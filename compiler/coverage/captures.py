"""What rules have read of a text, where that is a capture, as spans.

    item[capture]: /[a-z]+/        of "ab,cd,"   ->   {"item": [(0, 2), (3, 5)]}

The text is derived again, so that nothing is noted while decoding. All its derivations count: of an
ambiguous text the spans are those of each reading of the whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import MAXIMAL_MUNCH
from constrain.artifacts.errors import ConstrainError

from ..automata import regex_ir as regex
from ..frontend import read_checked
from ..grammar import tree
from ..limits import Limits
from ..options import options_of
from .chart import Used
from .coverage import Coverage
from .lexed import LexedText

Spans: TypeAlias = dict[str, list[tuple[int, int]]]


class CaptureError(ConstrainError):
    """Texts whose captures cannot be found."""


def captures_of(artifact: Artifact, text: bytes | Sequence[int]) -> Spans | None:
    """The captures of a text of the grammar that an artifact is of, or of the tokens that a matcher
    has ``taken``: by name the spans of bytes [start, end), in order; None of what is no member.
    Raises ``CaptureError`` for an artifact without its grammar's text, else as ``Captures``."""
    manifest = artifact.manifest
    if not isinstance(text, bytes):
        words = artifact.vocabulary
        text = b"".join(words.token(token) for token in text if words.is_text(token))
        text = text.removeprefix(artifact.text_prefix)
    if manifest.source is None:
        raise CaptureError("captures are found by the grammar's text, which was left out")
    grammar = read_checked(manifest.source, options_of(manifest), "<grammar>")
    return Captures(grammar, over_lexemes=manifest.meaning == MAXIMAL_MUNCH).of(text)


class Captures:
    """Of a checked grammar; ``over_lexemes``: it is read by maximal munch. Raises ``LimitError``,
    and ``CaptureError`` where a text does not tell what was read."""

    def __init__(
        self, grammar: tree.Grammar, limits: Limits | None = None, *, over_lexemes: bool = False
    ) -> None:
        rules = tuple(map(_of_any_length, grammar.rules))
        if tree.distinct_tokens(rules):
            raise CaptureError("a text does not tell its tokens, for which the grammar asks")
        grammar = replace(grammar, rules=rules, tokens=())
        self._named = {r.name: r.capture for r in grammar.rules if r.capture is not None}
        self._coverage = Coverage(grammar, limits, over_lexemes=over_lexemes)

    def of(self, text: bytes) -> Spans | None:
        """By name the spans of bytes [start, end), in the order of their beginnings; None of what
        is no member."""
        found: dict[str, set[tuple[int, int]]] = {}
        for capture in self._named.values():
            for name in filter(None, (capture.name, capture.end_name)):
                found.setdefault(name, set())
        if not found:
            return {}
        read = self._coverage.used_by(text)
        if read is None:
            return None
        for capture, start, end in self._read(*read):
            middle = end if capture.end is None else self._end_of(capture.end, text, start, end)
            if capture.name:
                found[capture.name].add((start, middle))
            if capture.end_name:
                found[capture.end_name].add((middle, end))
        return {name: sorted(spans) for name, spans in found.items()}

    def _read(self, used: Used, lexed: LexedText | None) -> Iterator[tuple[tree.Capture, int, int]]:
        """Which rules are read, from where to where."""
        graph = self._coverage.graph
        rules = {graph.rule(name): capture for name, capture in self._named.items()}
        # What is ignored in front of a rule is none of it.
        ignored = graph.ignored() if graph.grammar.ignored and lexed is None else -1
        behind = {begin: end for each, begin, end in sorted(used.calls) if each == ignored}
        calls = [(rules[p], begin, end) for p, begin, end in used.calls if p in rules]
        for (leaf, begin), ends in used.leaves.items():
            use = graph.leaves[leaf]
            if isinstance(use, tree.Reference) and use.name in self._named:
                calls += ((self._named[use.name], begin, end) for end in ends)
        for capture, begin, end in calls:
            if lexed is None:
                yield capture, min(behind.get(begin, begin), end), end
                continue
            while begin + 1 in used.carried and begin < end:
                begin += 1
            spans = lexed.spans
            place = spans[end][1] if end else 0
            yield capture, spans[begin + 1][0] if begin < end else place, place

    def _end_of(self, expr: tree.Expr, text: bytes, start: int, end: int) -> int:
        """Where what ends a text begins, as late as may be."""
        if isinstance(expr, tree.Literal):
            return end - len(expr.data)
        matcher = self._coverage.matchers(expr)
        places = range(end, start - 1, -1)
        return next((each for each in places if end in matcher.ends(text, each, end)), end)


def _of_any_length(rule: tree.Rule) -> tree.Rule:
    """A rule of so many tokens, whichever, as one of any text: what it has read is known."""
    body = rule.body
    if not isinstance(body, tree.Repetition) or not isinstance(body.item, tree.Token):
        return rule
    is_any = body.item.meaning == tree.Token(None, (), True, body.span).meaning
    return replace(rule, body=tree.Pattern(regex.EVERYTHING, "", body.span)) if is_any else rule
