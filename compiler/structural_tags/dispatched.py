"""Free text, of characters or of tokens, in which patterns are met.

    patterns p, q with contents x, y      (text before p, p x | text before q, q y)* text

``free_text`` says which texts stand before a pattern.
"""

from collections.abc import Collection, Sequence

from ..grammar import tree
from .expressions import Expressions, TokenName
from .free_text import forbidden_ends, never_met


class Dispatched(Expressions):
    """Writes expressions of such texts."""

    def texts_with(
        self,
        pointer: str,
        patterns: Sequence[str],
        contents: Sequence[tree.Expr],
        excluded: Collection[str],
        *,
        is_repeated: bool,
    ) -> tree.Expr:
        """Free text, and after each pattern in it its content. Patterns stand at
        ``rules/i/0`` of the pointer."""
        if not patterns:
            return self.free_text(pointer, excluded)
        found = self.dispatched(pointer, "rules", patterns, contents, excluded)
        return self.text("") if found is None else self.runs(pointer, *found, None, is_repeated)

    def tokens_with(
        self,
        pointer: str,
        patterns: Sequence[TokenName],
        contents: Sequence[tree.Expr],
        excluded: Sequence[TokenName],
        *,
        is_repeated: bool,
    ) -> tree.Expr:
        """The same of tokens."""
        for i, pattern in enumerate(patterns):
            if pattern in patterns[:i]:
                return self.refuse(f"{pointer}/rules/{i}/0", f"{pattern!r} stands here twice")
        if not patterns:
            return self.repetition(self.one_token(excluded, negated=True), 0, None)
        tags = [
            self.sequence(self.one_token([pattern]), content)
            for pattern, content in zip(patterns, contents, strict=True)
        ]
        one, text = self.token_text(patterns, tags, excluded)
        return self.runs(pointer, one, text, None, is_repeated)

    def dispatched(
        self,
        pointer: str,
        field: str,
        patterns: Sequence[str],
        contents: Sequence[tree.Expr],
        excluded: Collection[str],
    ) -> tuple[tree.Expr, tree.Expr] | None:
        """Text that leads to a pattern, the pattern and its content; and text without any. None
        where patterns have no meaning."""
        every = {*patterns, *excluded}
        rules = [f"#{pointer}"]
        wrong = dict(never_met(patterns, excluded, self.limits, rules))
        seen: set[str] = set()
        before = len(self.wrong)
        for i, pattern in enumerate(patterns):
            place = f"{pointer}/{field}/{i}{'/0' * (field == 'rules')}"
            if pattern in wrong:
                message = f"{pattern!r} is never met: {wrong[pattern]!r} in it comes before"
                self.refuse(place, message, "leave one of the two out")
            elif pattern in seen:
                self.refuse(place, f"{pattern!r} stands here twice")
            seen.add(pattern)
        if len(self.wrong) > before:
            return None
        ends_before = forbidden_ends(patterns, excluded, self.limits, rules)
        by_ends: dict[frozenset[str], list[tree.Expr]] = {}
        for pattern, content in zip(patterns, contents, strict=True):
            behind = self.sequence(self.text(pattern), content)
            by_ends.setdefault(ends_before[pattern], []).append(behind)
        text = self.free_text(pointer, every)
        options = [
            self.sequence(self.free_text(pointer, every, ends), self.choice(behind))
            for ends, behind in by_ends.items()
        ]
        return self.choice(options), text

    def runs(
        self,
        pointer: str,
        one: tree.Expr,
        text: tree.Expr,
        first: tree.Expr | None,
        is_repeated: bool,
    ) -> tree.Expr:
        """Text, and in it any number of ``one``, or at most one at the end; ``first`` before all
        that, if there is one, or alone."""
        if first is None:
            first = self.text("")
            last = self.choice([one, text])
        else:
            last = self.text("")
        if is_repeated:
            last = self.sequence(self.repetition(one, 0, None), text)
        return self.rule(f"#{pointer}", self.sequence(first, last))

    def token_text(
        self,
        patterns: Sequence[TokenName],
        tags: Sequence[tree.Expr],
        excluded: Sequence[TokenName],
    ) -> tuple[tree.Expr, tree.Expr]:
        """Tokens that lead to one of ``tags``, and that; and tokens without any."""
        without = [*patterns, *excluded]
        text = self.repetition(self.one_token(without, negated=True), 0, None)
        return self.sequence(text, self.choice(tags)), text
