"""From tools to the rules of a grammar.

texts ::= (plain calls)* plain      auto, calls that a trigger begins anywhere
texts ::= plain | calls             auto, calls that a text begins with
texts ::= plain                     none
texts ::= calls                     required
texts ::= response | calls          auto, where texts without calls have a schema
texts ::= plain calls? end          messages
texts ::= thought texts             where a model thinks before
call  ::= "{" "\\"name\\"" ":" ("\\"f\\"" "," "\\"arguments\\"" ":" schema of f | …) "}"
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..automata import regex_ir as regex
from ..automata.boolean import embedded
from ..diagnostics import CheckError, Source, Span
from ..grammar import tree
from ..limits import Limits
from ..schema.convert import deferred_around, grammar_around
from ..schema.goals import ANYTHING, Goal
from ..schema.notes import Refused
from ..schema.options import SchemaOptions
from ..schema.read import Document, Json, read_json, value_of
from ..schema.rules.contradictions import contradiction
from ..schema.rules.deferred import Deferred
from ..schema.rules.emit import Emitter
from .call_styles import NUMBER
from .free_text import texts_without
from .tools import AUTO, DISABLED, ENABLED, NONE, Tool, Tools, tools_in
from .xml_styles import Tags

_TEXTS = "texts"

# What a text that calls nothing does not begin with, where no trigger begins a call.
_SPACE, _CALLING = " \t\n\r", "{["

# The most digits of a number.
_DIGITS = 9


def tools_grammar(
    source: Source, options: SchemaOptions | None = None, limits: Limits | None = None
) -> tree.Grammar:
    """The grammar of what a model may write that has tools.

    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no list of tools
    or has a schema without a grammar, ``LimitError``.
    """
    options, limits = options or SchemaOptions(), (limits or Limits()).started()
    document = read_json(source, limits)
    try:
        tools = tools_in(document.value)
    except Refused as error:
        raise CheckError(source, [error.placed(document.spans)]) from None
    roots, around = _schemas_and_calls(tools, document)
    grammar = grammar_around(document, roots, options, limits, around)
    return replace(grammar, tokens=tree.distinct_tokens(grammar.rules))


def deferred_grammar(
    source: Source, options: SchemaOptions, limits: Limits | None = None
) -> Deferred | tree.Grammar:
    """The same; where that surely raises nothing, rules are made when they are read."""
    limits = (limits or Limits()).started()
    value = value_of(source.text, limits)
    try:
        tools = tools_in(value)
    except Refused:
        return tools_grammar(source, options, limits)
    if tools.style.tags is not None:
        return tools_grammar(source, options, limits)
    roots, around = _schemas_and_calls(tools, Document(source, value, {}, {}, {}))
    whole = partial(tools_grammar, source, options)
    found = deferred_around(source, value, roots, options, limits, around, whole)
    return found or tools_grammar(source, options, limits)


def _schemas_and_calls(
    tools: Tools, document: Document
) -> tuple[list[str], Callable[[Emitter, Sequence[Goal]], str]]:
    """The pointers of the schemas of arguments, and what writes the rules around them."""
    called = tools.tools if tools.mode != NONE else ()
    roots = [tool.parameters for tool in called if tool.parameters is not None]
    if tools.response is not None and (tools.mode in (AUTO, NONE) or tools.style.end):
        roots.append(tools.response)

    def around(emitter: Emitter, goals: Sequence[Goal]) -> str:
        writer = _Calls(emitter, tools, document, dict(zip(roots, goals, strict=True)))
        return writer.texts()

    return roots, around


class _Calls:
    """Writes the rules of calls. ``goals``: of the arguments, by their schemas' pointers."""

    def __init__(
        self, emitter: Emitter, tools: Tools, document: Document, goals: Mapping[str, Goal]
    ) -> None:
        self.emitter, self.tools, self.document = emitter, tools, document
        self.style, self.goals = tools.style, goals
        self.tags = None if tools.style.tags is None else Tags(emitter, tools.style.tags)
        self._parts = re.compile(f"({'|'.join(map(re.escape, [NUMBER, *tools.style.tokens]))})")
        self.span = document.spans.get("/style", self._place(""))

    def _place(self, pointer: str) -> Span:
        """Where a value stands, as far as that is known."""
        return self.document.spans.get(pointer, Span(0, 0))

    def texts(self) -> str:
        """The rule of whole texts, and all others that it needs."""
        write, tools = self.emitter, self.tools
        write.begin(_TEXTS, self.span)
        if self.style.end:
            found = self._message()
        elif tools.mode == NONE:
            found = self._plain()
        elif tools.mode != AUTO:
            found = self._calls()
        elif self.style.trigger is None or tools.response is not None:
            found = write.choice([self._plain(), self._calls()])
        else:
            plain = self._plain()
            turn = write.sequence(plain, self._calls(self.style.trigger))
            most = None if tools.is_parallel else 1
            found = write.sequence(write.repetition(turn, 0, most), plain)
        write.begin(_TEXTS, self.span)
        write.rule(_TEXTS, [write.sequence(self._thought(), found)])
        return _TEXTS

    def _message(self) -> tree.Expr:
        """A text, calls after it, and what ends both."""
        write, mode = self.emitter, self.tools.mode
        found = [self._plain()]
        if mode != NONE:
            found.append(write.repetition(self._calls(), 0 if mode == AUTO else 1, 1))
        return write.sequence(*found, self._written(self.style.end))

    def _thought(self) -> tree.Expr:
        """What a model thinks before all else, if it does."""
        write, thought = self.emitter, self.style.thought
        if thought is None or self.tools.reasoning == DISABLED:
            return write.literal("")
        is_needed = self.tools.reasoning == ENABLED
        opening, inside = self._written(thought.opening), self._text_without("thought", [])
        if is_needed and thought.in_prompt:
            opening = write.repetition(opening, 0, 1)
        whole = write.sequence(opening, inside, self._written(thought.closing + thought.behind))
        return whole if is_needed else write.repetition(whole, 0, 1)

    def _plain(self) -> tree.Expr:
        """A text that calls nothing, which may be empty; one of a schema, if there is one."""
        write, style = self.emitter, self.style
        first, last = style.text
        if style.end and self.tools.reasoning == DISABLED:
            first = ""
        unwanted = [each for each in (style.trigger, last) if each]
        if self.tools.response is not None:
            found: tree.Expr = write.value(self.goals[self.tools.response])
        elif unwanted or first:
            found = self._text_without("text", unwanted)
        else:
            return self._uncalled()
        return write.sequence(self._written(first), found, self._written(last))

    def _uncalled(self) -> tree.Expr:
        """A text that does not begin as a call."""
        space = regex.char_class((ord(char), ord(char)) for char in _SPACE)
        taken = regex.normalized((ord(char), ord(char)) for char in _SPACE + _CALLING)
        first = regex.char_class(regex.complement(taken))
        rest = regex.Optional(regex.seq(first, regex.EVERYTHING))
        return self._pattern("text", regex.seq(regex.repeat(space, 0, None), rest))

    def _text_without(self, name: str, unwanted: list[str]) -> tree.Expr:
        """Any text without these and other marks, those of a thought where there may be one."""
        unwanted = [*unwanted, *self.style.excludes]
        if self.style.thought is not None and self.tools.reasoning != DISABLED:
            unwanted = [*unwanted, self.style.thought.opening, self.style.thought.closing]
        return self._pattern(name, embedded(texts_without(unwanted, (), self.emitter.limits)))

    def _calls(self, trigger: str = "") -> tree.Expr:
        """One call or, if there may be, several. In a text they begin with the ``trigger``, and
        each stands alone if there is nothing around all."""
        write, style = self.emitter, self.style
        first, last = style.around
        call = self._call(trigger if not first else "")
        if self.tools.is_parallel and style.is_array:
            more = write.repetition(write.sequence(write.comma(), call), 0, None)
            return write.bracketed("[", write.sequence(call, more), "]")
        if self.tools.is_parallel and not style.is_last and (first or not trigger):
            between = self._written(style.between)
            call = write.sequence(call, write.repetition(write.sequence(between, call), 0, None))
        first = first[first.index(trigger) :] if first else ""
        return write.sequence(self._written(first), call, self._written(last))

    def _call(self, trigger: str) -> tree.Expr:
        """One call, from its trigger on."""
        write, style = self.emitter, self.style
        opening, closing = style.opening, self._written(style.closing)
        options = []
        for before, behind in [(opening, style.behind_name), *style.others]:
            tools = write.choice([self._of_tool(tool, behind) for tool in self.tools.tools])
            write.begin(_TEXTS, self.span)
            if style.arguments is not None:
                inside = write.sequence(write.text("name"), write.colon(), tools)
                tools = write.bracketed("{", inside, "}")
            before = before[before.index(trigger) :]
            options.append(write.sequence(self._written(before), tools))
        if style.is_last:
            closing = write.repetition(closing, 0, 1)
        write.rule("call", [write.sequence(write.choice(options), closing)])
        return write.reference("call")

    def _of_tool(self, tool: Tool, behind: str) -> tree.Expr:
        """Its name and its arguments."""
        write, style = self.emitter, self.style
        write.begin(f"call of {tool.name}", self._place(tool.pointer))
        arguments = self._arguments(tool)
        if style.arguments is None:
            return write.sequence(write.literal(tool.name), self._written(behind), arguments)
        key = write.sequence(write.comma(), write.text(style.arguments), write.colon())
        return write.sequence(write.text(tool.name), key, arguments)

    def _arguments(self, tool: Tool) -> tree.Expr:
        write = self.emitter
        if tool.parameters is None:
            return (self.tags or write).bracketed("{", write.literal(""), "}")
        goal, schema = self.goals[tool.parameters], self.document.at(tool.parameters)
        if not _says_object(schema):
            near = write.goals.nearest(goal)
            of_objects = write.goals.made({"type": "object"}, near)
            goal = of_objects if goal == ANYTHING else write.goals.both(goal, of_objects)
        if write.normal.is_surely_empty(goal):
            message = f"no object satisfies this schema, so that {tool.name!r} cannot be called"
            why = contradiction(goal, write.normal, f"#{tool.parameters}")
            raise Refused(f"#{tool.parameters}", message, str(why) if why else "")
        if self.tags is None:
            return write.value(goal)
        name = f"#{tool.parameters} in tags"
        if name not in write.by_name:
            place, is_close = self._place(tool.parameters), not self.style.behind_name
            self.tags.write(goal, name, tool.parameters, place, is_close=is_close)
        return write.reference(name)

    def _written(self, text: str) -> tree.Expr:
        """A text of the style: its tokens, its numbers, and the rest as it is."""
        write = self.emitter
        found: list[tree.Expr] = []
        for part in self._parts.split(text):
            if part == NUMBER:
                digits = regex.repeat(regex.char_class([(0x30, 0x39)]), 1, _DIGITS)
                found.append(self._pattern("number of a call", digits))
            elif part in self.style.tokens:
                found.append(tree.Token(part, (), False, self.span))
            else:
                found.append(write.literal(part))
        return write.sequence(*found)

    def _pattern(self, name: str, node: regex.Node) -> tree.Expr:
        write = self.emitter
        body = tree.Pattern(node, "", self.span)
        write.by_name[name] = tree.Rule(name, self.span, body, self.span, terminal=True)
        return write.reference(name)


def _says_object(schema: Json) -> bool:
    """Whether all values of a schema are plainly objects."""
    return isinstance(schema, dict) and schema.get("type") == "object" and "$ref" not in schema
