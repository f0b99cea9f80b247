"""From JSON to the tools that may be called, and how.

Lists are those of OpenAI's chat completions and of its responses; what is no part of these, or asks
for what a grammar cannot hold to, is refused by its pointer.
"""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from itertools import islice

from ..schema.notes import Refused
from ..schema.read import Json, escaped
from .call_styles import STYLES, Style

AUTO, NONE, REQUIRED = "auto", "none", "required"
MODES = (AUTO, NONE, REQUIRED)

DISABLED, ENABLED = "disabled", "enabled"
REASONING = (DISABLED, ENABLED, AUTO)

_KEYS = ("tools", "tool_choice", "parallel_tool_calls", "style", "response", "reasoning")
_OF_FUNCTION = frozenset(["name", "description", "parameters", "strict"])
_FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Tool:
    """A function by its ``name``. ``pointer``: of its definition; ``parameters``: of the schema of
    its arguments, None where it takes none."""

    name: str
    pointer: str
    parameters: str | None


@dataclass(frozen=True, slots=True)
class Tools:
    """The ``tools`` that may be called. ``mode``: ``auto``, ``none`` or ``required``;
    ``is_parallel``: whether there may be several calls. ``response``: the pointer of a schema of
    which a text without calls is an instance, None where it may be any. ``reasoning``: whether a
    thought comes first, ``disabled``, ``enabled`` or ``auto``."""

    tools: tuple[Tool, ...]
    mode: str
    is_parallel: bool
    style: Style
    response: str | None = None
    reasoning: str = DISABLED


def tools_in(value: Json) -> Tools:
    """What the value of a text says of tools. A list alone is one of which a tool must be called.

    Raises ``Refused`` for what is no such text.
    """
    if isinstance(value, list):
        return Tools(_listed(value, "", False), REQUIRED, True, STYLES["json"])
    if not isinstance(value, dict) or "tools" not in value:
        hint = f"an object has the keys {', '.join(_KEYS)}"
        raise Refused("#", "this must be an array of tools, or an object with 'tools'", hint)
    _only(value, _KEYS, "")
    tools = _listed(value["tools"], "/tools", value.get("tool_choice") == NONE)
    style = STYLES[_one_of(value.get("style"), tuple(STYLES), "/style", "json")]
    reasoning = _one_of(value.get("reasoning"), REASONING, "/reasoning", DISABLED)
    if style.thought is None and reasoning != DISABLED:
        raise Refused("#/reasoning", f"the style {style.name!r} has no marks of thoughts")
    mode, chosen, is_one = _choice(
        value.get("tool_choice"), dict.fromkeys(tool.name for tool in tools)
    )
    is_parallel = value.get("parallel_tool_calls")
    if not isinstance(is_parallel, bool | None):
        raise Refused("#/parallel_tool_calls", "this must be true or false")
    kept = tuple(tool for tool in tools if chosen is None or tool.name in chosen)
    response = "/response" if value.get("response") is not None else None
    is_parallel = is_parallel is not False and not is_one
    return Tools(kept, mode, is_parallel, style, response, reasoning)


def _listed(value: Json, pointer: str, may_be_empty: bool) -> tuple[Tool, ...]:
    if not isinstance(value, list):
        raise Refused(f"#{pointer}", "this must be an array of tools")
    if not value and not may_be_empty:
        raise Refused(f"#{pointer}", "there is no tool")
    tools = [_tool(each, f"{pointer}/{i}") for i, each in enumerate(value)]
    places: dict[str, str] = {}
    for tool in tools:
        other = places.setdefault(tool.name, tool.pointer)
        if other != tool.pointer:
            raise Refused(f"#{tool.pointer}", f"#{other} has the name {tool.name!r}, too")
    return tuple(tools)


def _tool(value: Json, pointer: str) -> Tool:
    if not isinstance(value, dict):
        raise Refused(f"#{pointer}", "a tool is an object")
    kind = value.get("type", _FUNCTION)
    if kind != _FUNCTION:
        hint = "a custom tool is a request of its own, by its grammar" * (kind == "custom")
        raise Refused(f"#{pointer}/type", f"tools of the type {kind!r} are not supported", hint)
    if _FUNCTION in value:
        _only(value, ("type", _FUNCTION), pointer)
        value, pointer = value[_FUNCTION], f"{pointer}/{_FUNCTION}"
        if not isinstance(value, dict):
            raise Refused(f"#{pointer}", "a function is an object")
        _only(value, _OF_FUNCTION, pointer)
    else:
        _only(value, _OF_FUNCTION | {"type"}, pointer)
    name = value.get("name")
    if not isinstance(name, str) or not name:
        at = f"{pointer}/name" if "name" in value else pointer
        raise Refused(f"#{at}", "a function has a name, which is a string")
    has_schema = value.get("parameters") is not None
    return Tool(name, pointer, f"{pointer}/parameters" if has_schema else None)


def _choice(value: Json, names: Collection[str]) -> tuple[str, Set[str] | None, bool]:
    """The mode, the names of the tools that may be called, None for all, and whether there is one
    call, as there is of a tool that is chosen by its name."""
    pointer = "/tool_choice"
    if value is None or isinstance(value, str):
        return _one_of(value, MODES, pointer, AUTO), None, False
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == _FUNCTION:
        return REQUIRED, {_named(value, pointer, names)}, True
    if kind == "allowed_tools":
        # Chat completions have it one level deeper.
        if "allowed_tools" in value:
            _only(value, ("type", "allowed_tools"), pointer)
            value, pointer = value["allowed_tools"], f"{pointer}/allowed_tools"
        known = ("type", "mode", "tools")
        if not isinstance(value, dict):
            raise Refused(f"#{pointer}", "this must be an object")
        _only(value, known, pointer)
        mode = _one_of(value.get("mode"), (AUTO, REQUIRED), f"{pointer}/mode", AUTO)
        listed = value.get("tools")
        if not isinstance(listed, list) or not listed:
            raise Refused(f"#{pointer}", "'tools' must be an array of tools")
        kept = {_named(each, f"{pointer}/tools/{i}", names) for i, each in enumerate(listed)}
        return mode, kept, False
    hint = "it is 'auto', 'none', 'required', a function by its name, or allowed_tools"
    raise Refused(f"#{pointer}", f"there is no such choice as {_shown(value)}", hint)


def _named(value: Json, pointer: str, names: Collection[str]) -> str:
    """The tool that an object names."""
    if not isinstance(value, dict) or value.get("type") != _FUNCTION:
        raise Refused(f"#{pointer}", "this must be a function by its name")
    inner = value
    if _FUNCTION in value:
        _only(value, ("type", _FUNCTION), pointer)
        inner, pointer = value[_FUNCTION], f"{pointer}/{_FUNCTION}"
    if not isinstance(inner, dict):
        raise Refused(f"#{pointer}", "this must be an object with a name")
    _only(inner, ("type", "name"), pointer)
    name = inner.get("name")
    if not isinstance(name, str) or name not in names:
        hint = f"the tools are {', '.join(islice(names, _LISTED))}{', …' * (len(names) > _LISTED)}"
        raise Refused(f"#{pointer}", f"there is no tool {_shown(name)}", hint)
    return name


# Names that a message lists, and characters of a value that it shows.
_LISTED, _SHOWN = 8, 60


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _one_of(value: Json, known: tuple[str, ...], pointer: str, default: str) -> str:
    if value is None:
        return default
    if value not in known:
        message = f"this must be one of {', '.join(known)}, not {_shown(value)}"
        raise Refused(f"#{pointer}", message)
    return str(value)


def _only(value: Mapping[str, Json], known: "frozenset[str] | tuple[str, ...]", at: str) -> None:
    """Raise ``Refused`` for a key that nothing would be done about."""
    for key in value:
        if key not in known:
            message, hint = f"{key!r} is not known", f"known are {', '.join(sorted(known))}"
            raise Refused(f"#{at}/{escaped(key)}", message, hint)
