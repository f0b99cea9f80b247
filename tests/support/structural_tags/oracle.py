"""A recogniser of structural tags by their description, and random ones over a few letters."""

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

# Where a part of a text that begins at a place may end.
Ends = set[int]


def member(form: Any, text: str) -> bool:
    """Whether a text is one of a format."""
    return len(text) in ends(form, text, 0, ())


def ends(form: Any, text: str, start: int, around: tuple[str, ...]) -> Ends:
    """Where a format that begins at a place may end. ``around``: the ends of the nearest tag."""

    def inside(part: Any) -> Callable[[int], Ends]:
        return lambda place: ends(part, text, place, around)

    match form["type"]:
        case "const_string":
            return _literal(text, start, form["value"])
        case "regex":
            found = range(start, len(text) + 1)
            return {e for e in found if re.fullmatch(form["pattern"], text[start:e])}
        case "any_text":
            without = (*form.get("excludes", ()), *around)
            most = start + form.get("max_chars", len(text))
            return {e for e in _free(text, start, without) if e <= most}
        case "sequence":
            return _chain({start}, [inside(each) for each in form["elements"]])
        case "or":
            return {e for each in form["elements"] for e in inside(each)(start)}
        case "optional":
            return {start} | inside(form["content"])(start)
        case "star":
            return _closure({start}, inside(form["content"]))
        case "plus":
            once = inside(form["content"])
            return _closure(once(start), once)
        case "repeat":
            once = inside(form["content"])
            found = _chain({start}, [once] * form["min"])
            if form["max"] < 0:
                return _closure(found, once)
            for _ in range(form["max"] - form["min"]):
                found |= {e for place in found for e in once(place)}
            return found
        case "tag":
            return _tag(form, text, start)
        case "tags_with_separator":
            tags = [lambda place, t=each: _tag(t, text, place) for each in form["tags"]]
            one = _any_of(tags)
            found = one(start)
            if not form.get("stop_after_first"):
                between = _chained(lambda place: _literal(text, place, form["separator"]), one)
                found = _closure(found, between)
            return found if form.get("at_least_one") else found | {start}
        case "triggered_tags":
            without = (*form.get("excludes", ()), *around)

            def behind(trigger: str, place: int) -> Ends:
                begun = place - len(trigger)
                fitting = (each for each in form["tags"] if each["begin"].startswith(trigger))
                return {e for each in fitting for e in _tag(each, text, begun)}

            begins = {start}
            if form.get("at_least_one"):
                begins = {e for each in form["tags"] for e in _tag(each, text, start)}
                if form.get("stop_after_first"):
                    return begins
            loops = not form.get("stop_after_first")
            return _dispatched(text, begins, form["triggers"], behind, without, loops=loops)
        case "dispatch":
            rules = dict(form["rules"])
            return _dispatched(
                text,
                {start},
                list(rules),
                lambda pattern, place: inside(rules[pattern])(place),
                form.get("excludes", ()),
                loops=form.get("loop", True),
            )
    raise ValueError(form["type"])


def _literal(text: str, start: int, value: str) -> Ends:
    return {start + len(value)} if text.startswith(value, start) else set()


def _free(text: str, start: int, without: Any) -> Iterator[int]:
    for end in range(start, len(text) + 1):
        if any(each in text[start:end] for each in without):
            return
        yield end


def _tag(form: Any, text: str, start: int) -> Ends:
    last = [form["end"]] if isinstance(form["end"], str) else form["end"]
    found = {
        e
        for place in _literal(text, start, form["begin"])
        for e in ends(form["content"], text, place, tuple(each for each in last if each))
    }
    return {e for place in found for each in last for e in _literal(text, place, each)}


def _dispatched(
    text: str,
    begins: Ends,
    patterns: Any,
    behind: Callable[[str, int], Ends],
    without: Any,
    *,
    loops: bool,
) -> Ends:
    """Where free text that begins at one of these places may end."""
    found: Ends = set()
    pending, seen = list(begins), set(begins)
    while pending:
        start = pending.pop()
        for end in range(start, len(text) + 1):
            met = [p for p in (*patterns, *without) if text[start:end].endswith(p)]
            if not met:
                found.add(end)
                continue
            longest = max(met, key=len)
            if longest in patterns and longest not in without:
                further = behind(longest, end)
                if loops:
                    pending += further - seen
                    seen |= further
                else:
                    found |= further
            break
    return found


def _chained(*steps: Callable[[int], Ends]) -> Callable[[int], Ends]:
    return lambda place: _chain({place}, list(steps))


def _any_of(steps: list[Callable[[int], Ends]]) -> Callable[[int], Ends]:
    return lambda place: {e for step in steps for e in step(place)}


def _chain(places: Ends, steps: list[Callable[[int], Ends]]) -> Ends:
    for step in steps:
        places = {e for place in places for e in step(place)}
    return places


def _closure(places: Ends, step: Callable[[int], Ends]) -> Ends:
    found, pending = set(places), list(places)
    while pending:
        new = step(pending.pop()) - found
        found |= new
        pending += new
    return found


def random_format(rng: random.Random, depth: int, letters: str) -> Any:
    """A format over a few letters. Some have no meaning: patterns that are never met."""

    def word(least: int = 1) -> str:
        return "".join(rng.choices(letters, k=rng.randint(least, 3)))

    def words(most: int) -> list[str]:
        return sorted({word() for _ in range(rng.randint(0, most))})

    def inner() -> Any:
        return random_format(rng, depth - 1, letters)

    def tag(begin: str) -> Any:
        end = word() if rng.random() < 0.7 else [word(), word(0)]
        return {"type": "tag", "begin": begin, "content": inner(), "end": end}

    flags = {name: rng.random() < 0.4 for name in ("at_least_one", "stop_after_first")}
    leaves = ("const_string", "any_text", "any_text", "regex")
    kinds = (*leaves, "sequence", "or", "optional", "star", "plus", "repeat", "tag", "tag")
    kinds += ("tags_with_separator", *("triggered_tags", "dispatch") * 4)
    kind = rng.choice(kinds if depth else leaves)
    match kind:
        case "const_string":
            fields = {"value": word(0)}
        case "regex":
            fields = {"pattern": f"{word()}|{rng.choice(letters)}*"}
        case "any_text":
            fields = {"excludes": words(2)}
            if rng.random() < 0.3:
                fields["max_chars"] = rng.randint(0, 3)
        case "sequence" | "or":
            fields = {"elements": [inner() for _ in range(rng.randint(1, 3))]}
        case "optional" | "star" | "plus":
            fields = {"content": inner()}
        case "repeat":
            least = rng.randint(0, 2)
            fields = {"min": least, "max": rng.choice((-1, least, least + 1)), "content": inner()}
        case "tag":
            return tag(word(0))
        case "tags_with_separator":
            tags = [tag(word()) for _ in range(rng.randint(1, 2))]
            fields = {"tags": tags, "separator": word(0), **flags}
        case "triggered_tags":
            triggers = [word(), *words(1)]
            tags = [tag(t + word(0)) for t in triggers]
            fields = {"triggers": triggers, "tags": tags, "excludes": words(1), **flags}
        case _:
            rules = [[pattern, inner()] for pattern in [word(), *words(1)]]
            fields = {"rules": rules, "excludes": words(1), "loop": rng.random() < 0.6}
    return {"type": kind, **fields}
