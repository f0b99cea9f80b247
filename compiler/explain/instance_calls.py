"""What is wrong with calls of tools, in sentences: the tool by its name, its arguments by pointers.

{"name": "serch", "arguments": {…}}   ->  there is no tool `serch`; did you mean `search`?
{"name": "search", "arguments": {}}   ->  in a call of `search`: argument `query` is missing
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..diagnostics import closest
from ..schema.places import Place
from ..structural_tags.call_styles import NUMBER
from ..structural_tags.tools import Tool, Tools
from .instance_sentences import Sentences
from .instance_text import Complaint, Member, Part, Read, read_instance

# Keys under which models write arguments, too.
_OTHERS = ("arguments", "parameters", "args", "input")

# What stands between two calls.
_BETWEEN = re.compile(r"\s*;\s*")

# Tools that a sentence lists.
_LISTED = 8


class Calls:
    """Of ``tools``. ``schemas``: those of their arguments, by the tools' names."""

    def __init__(
        self, tools: Tools, schemas: Mapping[str, Place | bool], sentences: Sentences
    ) -> None:
        self._tools = {tool.name: tool for tool in tools.tools}
        self._style, self._is_parallel = tools.style, tools.is_parallel
        self._schemas, self._sentences = schemas, sentences

    def about(self, text: str) -> Iterator[Complaint]:
        """All that is wrong with the calls in a text, but for those with arguments in tags."""
        style = self._style
        if style.tags is not None:
            return
        if style.arguments is None:
            texts = (style.opening, style.behind_name, style.closing)
            opening, behind, closing = (
                re.escape(each).replace(re.escape(NUMBER), r"\d+") for each in texts
            )
            pattern = rf"{opening}([^\n]{{0,200}}?){behind}(.*?)(?:{closing}|\Z)"
            for found in re.finditer(pattern, text, re.DOTALL):
                tool = self._tools.get(found[1])
                if tool is None:
                    yield self._no_tool(found[1], *found.span(1))
                else:
                    read = read_instance(text, *found.span(2))
                    yield from self._arguments(read.part, tool)
                    yield from _called(read.complaints, tool.name)
            return
        if style.trigger is not None:
            last = style.closing.strip()
            pattern = rf"{re.escape(style.trigger)}(.*?)(?:{re.escape(last)}|\Z)"
            for inside in re.finditer(pattern, text, re.DOTALL):
                yield from self._read(read_instance(text, *inside.span(1)))
            return
        place = 0
        while place < len(text):
            read = read_instance(text, place, alone=not style.between)
            yield from self._read(read)
            more = _BETWEEN.match(text, read.end)
            if not (style.between and more and not read.complaints):
                break
            place = more.end()

    def _read(self, read: Read) -> Iterator[Complaint]:
        part, name = read.part, None
        if part is not None and self._style.is_array:
            if self._is_parallel and part.kind == "object":
                yield _at(part, 'calls stand in an array here: [{"name": …}]')
            if not self._is_parallel and part.kind == "array":
                yield _at(part, "one call stands here, not an array of calls")
        if part is not None:
            for call in part.items if part.kind == "array" and self._style.is_array else [part]:
                yield from self._call(call)
                name = self._name_of(call)
        yield from _called(read.complaints, name)

    def _name_of(self, call: Part) -> str | None:
        found = next((m.value.value for m in call.members if m.key == "name" and m.value), None)
        return found if isinstance(found, str) and found in self._tools else None

    def _call(self, part: Part) -> Iterator[Complaint]:
        if part.kind != "object":
            yield _at(part, 'a call is an object, {"name": …}')
            return
        members = {member.key: member for member in part.members}
        name, key = members.get("name"), self._style.arguments
        if name is None:
            if part.is_whole:
                yield _at(part, "key `name` is missing")
            return
        if name.value is None:
            return
        tool = self._tools.get(name.value.value) if name.value.kind == "string" else None
        if tool is None:
            yield self._no_tool(str(name.value.plain), name.value.start, name.value.end)
        elif part.members[0] is not name:
            yield _at(part, "a call begins with its `name`")
        else:
            yield from self._members(part, members, tool, key or "")

    def _members(
        self, part: Part, members: Mapping[str, Member], tool: Tool, key: str
    ) -> Iterator[Complaint]:
        for member in part.members:
            if member.key in ("name", key):
                continue
            message = f"unknown key `{member.key}`"
            if member.key in _OTHERS and key not in members:
                message = f"the arguments stand under `{key}`, not `{member.key}`"
            end = member.end if member.value is None else member.value.end
            yield Complaint(message, "", member.start, end, member.start, call=tool.name)
        if key in members:
            yield from self._arguments(members[key].value, tool)
        elif part.is_whole and not any(other in members for other in _OTHERS):
            at = part.end - 1
            message = f"key `{key}` is missing"
            yield Complaint(message, "", part.start, part.end, at, call=tool.name)

    def _arguments(self, part: Part | None, tool: Tool) -> Iterator[Complaint]:
        if part is None:
            return
        schema = self._schemas.get(tool.name)
        if part.kind != "object":
            message = f"the arguments are an object, not {_what(part)}"
            yield replace(_at(part, message), call=tool.name)
        elif schema is None:
            for member in part.members[:1]:
                message = f"it takes no arguments, and `{member.key}` is one"
                yield replace(_at(part, message), at=member.start, call=tool.name)
        else:
            found = self._sentences.of_text(part, schema)
            yield from (_of_arguments(each, tool.name) for each in found)

    def _no_tool(self, name: str, start: int, end: int) -> Complaint:
        near, known = closest(name, self._tools), [f"`{each}`" for each in self._tools]
        listed = ", ".join(known[:_LISTED]) + ", …" * (len(known) > _LISTED)
        hint = f"did you mean `{near}`?" if near else f"the tools are {listed}"
        return Complaint(f"there is no tool `{name}`; {hint}", "", start, end, start)


def _at(part: Part, message: str) -> Complaint:
    return Complaint(message, "", part.start, part.end, part.start)


def _what(part: Part) -> str:
    if part.kind == "string" and part.value.strip()[:1] == "{":
        return "a string with JSON in it; write the JSON itself"
    return (
        "an array" if part.kind == "array" else f"a {part.kind}" * (part.kind != "null") or "null"
    )


def _of_arguments(found: Complaint, name: str) -> Complaint:
    message = found.message
    if not found.where:
        message = re.sub(r"^key (?=`)", "argument ", message)
        message = re.sub(r"^unknown key", "unknown argument", message)
    return replace(found, message=message, call=name)


def _called(complaints: Iterable[Complaint], name: str | None) -> Iterator[Complaint]:
    """Complaints about the text of a call, whose pointers are those of its arguments then."""
    for each in complaints:
        where = re.sub(r"^(/\d+)?(/(arguments|parameters)(?=/|$))?", "", each.where)
        yield replace(each, where=where, call=name)
