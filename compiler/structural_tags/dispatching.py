"""Free text in which patterns are met: triggered tags and dispatch, of texts and of tokens.

    patterns p, q with contents x, y      (text before p, p x | text before q, q y)* text

``free_text`` says which texts stand before a pattern.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ..grammar import tree
from ..schema.read import Json
from .beginnings import Beginnings
from .free_text import forbidden_ends, never_met
from .writing import Around, TokenName, Writing


class Dispatching(Writing):
    """The part of ``Formats`` that follows patterns."""

    def triggered_tags(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        begins, rests = [], []
        for i, each in enumerate(value["tags"]):
            place = f"{pointer}/tags/{i}"
            if not isinstance(each["begin"], str):
                return self.refuse(
                    f"{place}/begin",
                    "a tag of triggered_tags begins with a string",
                    "tags that begin with a token stand in token_triggered_tags",
                )
            begins.append((place, each["begin"]))
            rests.append(partial(self.rest_of, place, each))
        return self._triggered(pointer, value, begins, rests, around)

    def structures(self, value: Json) -> tree.Expr:
        """The older form, whose contents are JSON alone."""
        self._span = self.document.spans[""]
        begins, rests = [], []
        for i, each in enumerate(value["structures"]):
            place = f"/structures/{i}"
            begins.append((place, each["begin"]))
            rests.append(partial(self._rest_of_structure, place, each["end"]))
        return self._triggered("", value, begins, rests, Around())

    def _rest_of_structure(self, pointer: str, end: str) -> tree.Expr:
        return self.sequence(self.schema(f"{pointer}/schema", self.options), self.text(end))

    def _triggered(
        self,
        pointer: str,
        value: Json,
        begins: Sequence[tuple[str, str]],
        rests: Sequence[Callable[[], tree.Expr]],
        around: Around,
    ) -> tree.Expr:
        """``begins``: pointer and begin of each tag; ``rests``: what makes what is behind it."""
        triggers, of_trigger = value["triggers"], self._tags_of(pointer, value, begins)
        if of_trigger is None:
            return self.text("")
        behind = [
            self.rule(f"#{place} inside", rest())
            for (place, _), rest in zip(begins, rests, strict=True)
        ]
        contents = [
            self.choice(
                [
                    self.sequence(self.text(begins[i][1][len(trigger) :]), behind[i])
                    for i in of_trigger[trigger]
                ]
            )
            for trigger in triggers
        ]
        excluded = {*value.get("excludes", ()), *around.texts}
        found = self._dispatched(pointer, "triggers", triggers, contents, excluded)
        if found is None:
            return self.text("")
        one, text = found
        if value.get("at_least_one", False):
            whole = zip(begins, behind, strict=True)
            first = self.choice([self.sequence(self.text(b), rest) for (_, b), rest in whole])
        else:
            first = None
        return self._runs(pointer, one, text, first, not value.get("stop_after_first", False))

    def _tags_of(
        self, pointer: str, value: Json, begins: Sequence[tuple[str, str]]
    ) -> dict[str, list[int]] | None:
        """The tags of each trigger, by number; None where one has none or several."""
        triggers = value["triggers"]
        found: dict[str, list[int]] = {trigger: [] for trigger in triggers}
        before = len(self.wrong)
        known = Beginnings(triggers, self.limits, [f"#{pointer}"])
        trigger_at = {node: trigger for trigger, node in known.ends.items()}
        for i, (place, begin) in enumerate(begins):
            fitting = [trigger_at[node] for node in known.path(begin) if node in trigger_at]
            if len(fitting) == 1:
                found[fitting[0]].append(i)
            elif fitting:
                shown = " and ".join(map(repr, fitting[:2]))
                message = f"the tag has two triggers, {shown}"
                self.refuse(f"{place}/begin", message, "no trigger begins with another one")
            else:
                hint = "a trigger is the beginning of the tags that it stands for"
                self.refuse(f"{place}/begin", "the tag has no trigger", hint)
        for i, trigger in enumerate(triggers):
            if not found[trigger] and len(self.wrong) == before:
                message = f"no tag begins with the trigger {trigger!r}"
                self.refuse(f"{pointer}/triggers/{i}", message, "remove it, or add the tag")
        return found if len(self.wrong) == before else None

    def dispatch(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        patterns = [pattern for pattern, _ in value["rules"]]
        contents = [
            self.format(place, content, around) for place, content in self._contents(pointer, value)
        ]
        excluded = set(value.get("excludes", ()))
        found = self._dispatched(pointer, "rules", patterns, contents, excluded)
        if found is None:
            return self.text("")
        return self._runs(pointer, *found, None, value.get("loop", True))

    def _contents(self, pointer: str, value: Json) -> list[tuple[str, Json]]:
        return [(f"{pointer}/rules/{i}/1", pair[1]) for i, pair in enumerate(value["rules"])]

    def _dispatched(
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

    def _runs(
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

    def token_triggered_tags(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        triggers = list(dict.fromkeys(value["trigger_tokens"]))
        found: dict[TokenName, list[tree.Expr]] = {trigger: [] for trigger in triggers}
        for i, each in enumerate(value["tags"]):
            place, begin = f"{pointer}/tags/{i}", each["begin"]
            if isinstance(begin, str):
                return self.refuse(
                    f"{place}/begin",
                    "a tag of token_triggered_tags begins with a token",
                    "tags that begin with a string stand in triggered_tags",
                )
            if begin["token"] not in found:
                hint = "each tag begins with one of trigger_tokens, named as it is there"
                return self.refuse(f"{place}/begin", "the tag has no trigger", hint)
            found[begin["token"]].append(self.rule(f"#{place} inside", self.rest_of(place, each)))
        for i, trigger in enumerate(value["trigger_tokens"]):
            if not found[trigger]:
                message = f"no tag begins with the trigger {trigger!r}"
                return self.refuse(f"{pointer}/trigger_tokens/{i}", message, "remove it")
        tags = [
            self.sequence(self.one_token([trigger]), self.choice(rests))
            for trigger, rests in found.items()
        ]
        one, text = self._token_text(value, triggers, tags, around.tokens)
        first = self.choice(tags) if value.get("at_least_one", False) else None
        return self._runs(pointer, one, text, first, not value.get("stop_after_first", False))

    def token_dispatch(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        patterns = [pattern for pattern, _ in value["rules"]]
        seen: set[TokenName] = set()
        for i, pattern in enumerate(patterns):
            if pattern in seen:
                return self.refuse(f"{pointer}/rules/{i}/0", f"{pattern!r} stands here twice")
            seen.add(pattern)
        tags = [
            self.sequence(self.one_token([pattern]), self.format(place, content, around))
            for pattern, (place, content) in zip(
                patterns, self._contents(pointer, value), strict=True
            )
        ]
        one, text = self._token_text(value, patterns, tags, ())
        return self._runs(pointer, one, text, None, value.get("loop", True))

    def _token_text(
        self,
        value: Json,
        patterns: Sequence[TokenName],
        tags: Sequence[tree.Expr],
        excluded: Sequence[TokenName],
    ) -> tuple[tree.Expr, tree.Expr]:
        """Tokens that lead to one of ``tags``, and that; and tokens without any."""
        without = [*patterns, *value.get("exclude_tokens", ()), *excluded]
        text = self.repetition(self.one_token(without, negated=True), 0, None)
        return self.sequence(text, self.choice(tags)), text
