"""The text of a case file, in the shape of tree-sitter's corpus, which README.md here describes.

    ==================
    a leap day
    :accept
    ==================
    2024-02-29
    ---
    rule: day

``parse`` reads all that is wrong before it refuses; ``write`` writes what ``parse`` reads as equal
cases.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from ..diagnostics import Diagnostic, Source, Span
from .cases import Case, CaseFile, CaseFileError, Kind, Samples, Setting
from .expectations import EXPECTATIONS, check_value
from .notation import NotationError, escaped, from_hex, tokens_of, unescaped

# What a file says before its first case, besides ``grammar``: options of the command line.
OPTIONS = (
    *("dialect", "extended", "start", "meaning", "max-depth", "tokenizer", "tokenization"),
    *("engine", "unk", "eos", "vocab-size", "draft", "order", "any-limit", "whitespace", "integer"),
    *("ascii", "escapes", "formats", "unique", "max-count", "max-conj", "schemas"),
)
SETTINGS = ("grammar", *OPTIONS)

ATTRIBUTES = (
    *(kind.value for kind in Kind),
    *("start", "skip", "todo", "fail-fast", "escape", "lines", "hex", "tokens", "sample"),
    "command",
)

# What each attribute says after its name.
_TEXTS = {
    "start": "a rule",
    "command": "a command",
    "sample": "a number, and a seed if it is not 0",
}
_MAY_SAY = {"skip", "todo"}

# Names that other tools have for the same.
_ELSEWHERE = {
    "error": "reject",
    "valid": "accept",
    "ok": "accept",
    "xfail": "todo",
    "prefix": "incomplete",
}

_FENCE = re.compile(r"={3,}([^=\s].*)?")
_KEY = re.compile(r"([^\s:]+)[ \t]*:(?:[ \t]+(.*))?$", re.DOTALL)

# So many members are drawn for one case at most.
_MOST_SAMPLES = 100_000


class Line(NamedTuple):
    """A line without its end; ``behind``: where the next one begins."""

    start: int
    text: str
    behind: int

    @property
    def span(self) -> Span:
        """The line without the white space around it."""
        begin = len(self.text) - len(self.text.lstrip())
        return Span(self.start + begin, self.start + max(begin + 1, len(self.text.rstrip())))


def parse(text: str, name: str) -> CaseFile:
    """The cases of a file. Raises ``CaseFileError``."""
    return _Reader(Source(text, name, "")).file()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.wrong = source, list[Diagnostic]()
        self.lines = list(_lines(source.text))
        self.suffix = fence_suffix(source.text)
        self.at = 0

    def file(self) -> CaseFile:
        settings = self.settings(SETTINGS, "a file")
        cases = list[Case]()
        while self.at < len(self.lines) and not any(d.span is None for d in self.wrong):
            try:
                cases += self.case()
            except _Stop:
                break
        if not cases and not self.wrong:
            end = Span(len(self.source.text), len(self.source.text))
            self.say("there is no case in this file", end, "a case begins with a line of '==='")
        if self.wrong:
            raise CaseFileError(self.source, self.wrong)
        return CaseFile(self.source, tuple(cases), tuple(settings), is_written=True)

    def say(self, message: str, span: Span, help_: str | None = None) -> None:
        self.wrong.append(Diagnostic(message, span, help_))

    def fails(self, message: str, span: Span, help_: str | None = None) -> "_Stop":
        """What leaves nothing to read on with."""
        self.say(message, span, help_)
        return _Stop()

    def fence(self, char: str) -> int:
        """The number of the next line that is a fence of these, or of all lines."""
        fence = re.compile(f"{char}{{3,}}(.*)", re.DOTALL)
        for number in range(self.at, len(self.lines)):
            found = fence.fullmatch(self.lines[number].text.rstrip())
            if found is not None and found[1] == self.suffix.rstrip():
                return number
        return len(self.lines)

    def settings(self, known: Sequence[str], of: str) -> list[Setting]:
        """Lines ``key: value`` up to the next case."""
        found = dict[str, Setting]()
        before, self.at = self.at, self.fence("=")
        for line in self.lines[before : self.at]:
            if not line.text.strip() or line.text.lstrip().startswith("#"):
                continue
            setting = self.setting(line, known, of)
            if setting is not None and setting.key in found:
                self.say(f"'{setting.key}' is said twice", setting.key_span)
            elif setting is not None:
                found[setting.key] = setting
        return list(found.values())

    def setting(self, line: Line, known: Sequence[str], of: str) -> Setting | None:
        written = line.text[line.span.start - line.start : line.span.end - line.start]
        match = _KEY.match(written)
        if match is None:
            suffix = "a body with a line of '---' or '===' needs a suffix: '===|x' and '---|x'"
            begins = "a line of '===' begins a case, and '#' a comment"
            help_ = suffix if known is EXPECTATIONS else begins
            self.say("here stands a line 'key: value'", line.span, help_)
            return None
        key_span = Span(line.span.start, line.span.start + len(match[1]))
        if match[1] not in known:
            self.say(f"there is no '{match[1]}' of {of}", key_span, _did_you_mean(match[1], known))
            return None
        value = match[2] or ""
        begin = line.span.start + (match.start(2) if match[2] is not None else len(written))
        setting = Setting(match[1], value, Span(begin, begin + len(value)), key_span)
        if known is EXPECTATIONS and value:
            try:
                check_value(setting.key, value)
            except NotationError as error:
                place = begin + error.place
                self.say(error.message, Span(place, place + 1), error.help)
                return None
        return setting

    # --- one case

    def case(self) -> list[Case]:
        fence = self.lines[self.at]
        self.at += 1
        head = self.head(fence)
        if not head or not head[0].text.strip() or head[0].text.lstrip().startswith(":"):
            place = head[0].span if head else fence.span
            self.say("a case begins with its name", place, "write a line with a name after '==='")
            named = Line(fence.start, "?", fence.behind)
        else:
            named, head = head[0], head[1:]
        said = dict[str, tuple[str, Span, Span]]()
        for line in head:
            self.attribute(line, said)
        before = self.at
        behind, self.at = self.fence("="), self.fence("-")
        if behind <= self.at:
            is_last = behind == len(self.lines)
            where = "follows" if is_last else "stands before this one"
            raise self.fails(
                f"the text of '{named.text.strip()}' has no end: no line of '---{self.suffix}' "
                f"{where}",
                named.span if is_last else self.lines[behind].span,
                "a line of '---' ends a text; expectations may stand after it",
            )
        body = self.lines[before : self.at]
        self.at += 1
        expectations = self.settings(EXPECTATIONS, "a case")
        case = Case(
            named.text.strip(),
            b"",
            expectations=tuple(expectations),
            source=self.source,
            place=named.span,
            body_start=body[0].start if body else None,
        )
        return self.with_attributes(case, said, body)

    def head(self, fence: Line) -> list[Line]:
        before, self.at = self.at, self.fence("=")
        if self.at == len(self.lines):
            raise self.fails(
                "the head of this case has no end",
                fence.span,
                "after its name and attributes stands a second line of '==='" + self.suffix,
            )
        self.at += 1
        return self.lines[before : self.at - 1]

    def attribute(self, line: Line, said: dict[str, tuple[str, Span, Span]]) -> None:
        written = line.text.strip()
        name, _, rest = written[1:].partition(" ")
        rest = rest.strip()
        span = Span(line.span.start, line.span.start + 1 + len(name))
        if not written.startswith(":") or not name:
            self.say("after its name a case has attributes", line.span, "they begin with ':'")
        elif name not in ATTRIBUTES:
            self.say(f"there is no attribute ':{name}'", span, _did_you_mean(name, ATTRIBUTES, ":"))
        elif name in said:
            self.say(f"':{name}' is said twice", span)
        elif name in _TEXTS and not rest:
            self.say(f"':{name}' needs {_TEXTS[name]} after it", span)
        elif rest and name not in _TEXTS and name not in _MAY_SAY:
            self.say(f"nothing stands after ':{name}'", line.span)
        else:
            said[name] = rest, span, Span(line.span.end - len(rest), line.span.end)

    def with_attributes(
        self, case: Case, said: dict[str, tuple[str, Span, Span]], body: list[Line]
    ) -> list[Case]:
        def of(name: str) -> str | None:
            return said[name][0] if name in said else None

        self.exclude(said, [kind.value for kind in Kind])
        self.exclude(said, ["escape", "hex", "tokens", "sample"])
        self.exclude(said, ["lines", "sample"])
        for other in ("reject", "incomplete", "invalid"):
            self.exclude(said, ["sample", other])
        kind = next((kind for kind in Kind if kind.value in said), Kind.ACCEPT)
        case = replace(
            case,
            kind=kind,
            start=of("start"),
            skip=of("skip"),
            todo=of("todo"),
            fails_fast="fail-fast" in said,
            in_tokens="tokens" in said,
            command=of("command"),
            samples=self.samples(said),
            body_start=None if said.keys() & {"escape", "hex"} else case.body_start,
        )
        if "sample" in said and any(line.text.strip() for line in body):
            self.say("the texts of ':sample' are drawn, and here stands one", body[0].span)
        if "sample" in said and "command" not in said:
            span = said["sample"][1]
            self.say("':sample' needs a ':command', which takes the members that it draws", span)
        if "lines" not in said:
            return [replace(case, body=self.decoded(_joined(self.source.text, body), said, body))]
        return [
            replace(
                case,
                name=f"{case.name} [{number}]",
                body=self.decoded(line.text, said, [line]),
                place=Span(line.start, line.start + max(1, len(line.text))),
                body_start=case.body_start and line.start,
            )
            for number, line in enumerate(body, 1)
        ]

    def exclude(self, said: dict[str, tuple[str, Span, Span]], names: list[str]) -> None:
        both = [name for name in names if name in said]
        if len(both) > 1:
            both.sort(key=lambda name: said[name][1])
            self.say(f"':{both[0]}' and ':{both[1]}' exclude each other", said[both[1]][1])

    def samples(self, said: dict[str, tuple[str, Span, Span]]) -> Samples | None:
        if "sample" not in said:
            return None
        text, _, span = said["sample"]
        numbers = text.split()
        if len(numbers) > 2 or not all(
            n.isascii() and n.isdigit() and len(n) < 19 for n in numbers
        ):
            self.say("':sample' takes a number, and a seed", span, "such as ':sample 100 7'")
            return None
        number = int(numbers[0])
        if not 1 <= number <= _MOST_SAMPLES:
            self.say(f"':sample' draws from 1 to {_MOST_SAMPLES:,} members", span)
        return Samples(number, int(numbers[1]) if numbers[1:] else 0)

    def decoded(
        self, text: str, said: dict[str, tuple[str, Span, Span]], body: list[Line]
    ) -> bytes:
        start = body[0].start if body else 0
        try:
            if "escape" in said:
                return unescaped(text)
            if "hex" in said:
                return from_hex(text)
            if "tokens" in said:
                tokens_of(text)
        except NotationError as error:
            place = min(start + error.place, len(self.source.text))
            self.say(error.message, Span(place, place + 1), error.help)
        return text.encode()


class _Stop(Exception):  # noqa: N818 - nothing went wrong that is not said already
    """The rest of the file cannot be divided into cases."""


def _lines(text: str) -> Iterable[Line]:
    start = len(text) - len(text.removeprefix("\ufeff"))
    while start < len(text):
        end = text.find("\n", start)
        behind = len(text) if end < 0 else end + 1
        end = len(text) if end < 0 else end
        yield Line(start, text[start:end].removesuffix("\r"), behind)
        start = behind


def _joined(text: str, body: list[Line]) -> str:
    """All lines as they are, but for the end of the last one."""
    if not body:
        return ""
    return text[body[0].start : body[-1].start + len(body[-1].text)]


def _did_you_mean(name: str, known: Sequence[str], before: str = "") -> str:
    close = [_ELSEWHERE[name]] if name in _ELSEWHERE else get_close_matches(name, known, n=1)
    if close and close[0] in known:
        return f"did you mean '{before}{close[0]}'?"
    return "known are: " + ", ".join(before + each for each in known)


# --- writing


def write(
    cases: Iterable[Case], settings: Iterable[Setting] = (), suffix: str | None = None
) -> str:
    """The text of a file with these cases: what ``parse`` reads as the same. ``suffix``: of lines
    of ``=`` and ``-``, where that is fixed."""
    found = list(cases)
    suffix = _suffix(found) if suffix is None else suffix
    head = "".join(f"{each.key}: {each.value}".rstrip() + "\n" for each in settings)
    texts = [_written(case, suffix) for case in found]
    return "\n".join([head, *texts] if head else texts)


def fence_suffix(text: str) -> str:
    """What stands after the lines of ``=`` and ``-`` of a file."""
    found = (_FENCE.fullmatch(line.text.rstrip()) for line in _lines(text))
    return next((each[1] or "" for each in found if each), "")


def _suffix(cases: list[Case]) -> str:
    """A suffix that no line of a text has, empty where none is needed."""
    lines = {line.rstrip() for case in cases for line in case.body.decode("latin-1").split("\n")}
    fences = {line.lstrip("=-") for line in lines if re.match("===|---", line)}
    number, suffix = 0, ""
    while suffix in fences:
        number += 1
        suffix = f"|{number}"
    return suffix


def _written(case: Case, suffix: str) -> str:
    attributes = [] if case.kind is Kind.ACCEPT else [f":{case.kind.value}"]
    for name, value in (("start", case.start), ("skip", case.skip), ("todo", case.todo)):
        attributes += [] if value is None else [f":{name} {value}".rstrip()]
    attributes += [":fail-fast"] * case.fails_fast + [":tokens"] * case.in_tokens
    if case.samples is not None:
        attributes.append(f":sample {case.samples.number} {case.samples.seed}")
    attributes += [] if case.command is None else [f":command {case.command}"]
    text = case.body.decode("utf-8", "surrogateescape")
    is_plain = all(char.isprintable() or char in "\n\t" for char in text)
    if not is_plain and not case.in_tokens:
        attributes.append(":escape")
        text = escaped(case.body)
    fence = "=" * 18 + suffix
    said = [f"{each.key}: {each.value}".rstrip() for each in case.expectations]
    # No line at all is an empty text, and so is one that is empty.
    body = [text] if text else []
    return "\n".join([fence, case.name, *attributes, fence, *body, f"---{suffix}", *said, ""])
