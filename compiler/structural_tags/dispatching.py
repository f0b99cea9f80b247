"""Formats in which patterns are met: triggered tags and dispatch, of texts and of tokens.

    {"triggers": ["<f"], "tags": [a tag that begins with "<f>"]}    text, "<f", the rest of the tag

``dispatched`` says what free text that leads to patterns is.
"""

from collections.abc import Callable, Sequence
from functools import partial

from ..grammar import tree
from ..schema.read import Json
from .expressions import TokenName
from .writing import Around, Writing


class Dispatching(Writing):
    """The part of ``Formats`` that follows patterns."""

    def triggered_tags(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        begins, rests = [], []
        for i, each in enumerate(value["tags"]):
            place = f"{pointer}/tags/{i}"
            if not isinstance(each["begin"], str):
                message = "a tag of triggered_tags begins with a string"
                hint = "tags that begin with a token stand in token_triggered_tags"
                return self.refuse(f"{place}/begin", message, hint)
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
        """``begins``: pointer and begin of each tag; ``rests``: what makes what is after it."""
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
        found = self.dispatched(pointer, "triggers", triggers, contents, excluded)
        if found is None:
            return self.text("")
        one, text = found
        if value.get("at_least_one", False):
            whole = zip(begins, behind, strict=True)
            first = self.choice([self.sequence(self.text(b), rest) for (_, b), rest in whole])
        else:
            first = None
        return self.runs(pointer, one, text, first, not value.get("stop_after_first", False))

    def _tags_of(
        self, pointer: str, value: Json, begins: Sequence[tuple[str, str]]
    ) -> dict[str, list[int]] | None:
        """The tags of each trigger, by number; None where one has none or several."""
        triggers = value["triggers"]
        found: dict[str, list[int]] = {trigger: [] for trigger in triggers}
        before = len(self.wrong)
        lengths = sorted(set(map(len, triggers)))
        for i, (place, begin) in enumerate(begins):
            self.limits.check_resources("free text", [f"#{pointer}"])
            beginnings = (begin[:length] for length in lengths if length <= len(begin))
            fitting = [text for text in beginnings if text in found]
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
        contents = [
            self.format(f"{pointer}/rules/{i}/1", content, around)
            for i, (_, content) in enumerate(value["rules"])
        ]
        is_of_tokens = value["type"] == "token_dispatch"
        write = self.tokens_with if is_of_tokens else self.texts_with
        excluded = value.get("exclude_tokens" if is_of_tokens else "excludes", ())
        patterns = [pattern for pattern, _ in value["rules"]]
        return write(pointer, patterns, contents, excluded, is_repeated=value.get("loop", True))

    def token_triggered_tags(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        triggers = list(dict.fromkeys(value["trigger_tokens"]))
        found: dict[TokenName, list[tree.Expr]] = {trigger: [] for trigger in triggers}
        for i, each in enumerate(value["tags"]):
            place, begin = f"{pointer}/tags/{i}", each["begin"]
            if isinstance(begin, str):
                message = "a tag of token_triggered_tags begins with a token"
                hint = "tags that begin with a string stand in triggered_tags"
                return self.refuse(f"{place}/begin", message, hint)
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
        without = [*value.get("exclude_tokens", ()), *around.tokens]
        one, text = self.token_text(triggers, tags, without)
        first = self.choice(tags) if value.get("at_least_one", False) else None
        return self.runs(pointer, one, text, first, not value.get("stop_after_first", False))
