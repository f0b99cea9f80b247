"""From tools to the rules of a grammar.

texts ::= (until call)* plain       auto, calls that a trigger begins anywhere
texts ::= plain | calls             auto, calls that a text begins with
texts ::= plain                     none
texts ::= calls                     required
texts ::= response | calls          auto, where texts without calls have a schema
call  ::= "{" "\\"name\\"" ":" ("\\"f\\"" "," "\\"arguments\\"" ":" schema of f | …) "}"
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..automata import regex_ir as regex
from ..automata.boolean import complement, embedded, shortest_matches
from ..automata.dfa import Dfa
from ..automata.minimize import minimal
from ..automata.thompson import thompson
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
from .read import AUTO, NONE, Tool, Tools, tools_in

_TEXTS = "texts"

# What a text that calls nothing does not begin with, where no trigger begins a call.
_SPACE, _CALLING = " \t\n\r", "{["


def grammar_of(source: Source, options: SchemaOptions, limits: Limits) -> tree.Grammar:
    """The grammar, as ``tools_grammar`` says."""
    document = read_json(source, limits)
    try:
        tools = tools_in(document.value)
    except Refused as error:
        raise CheckError(source, [error.placed(document.spans)]) from None
    roots, around = _schemas_and_calls(tools, document)
    grammar = grammar_around(document, roots, options, limits, around)
    if tools.style.marks is None:
        return grammar
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
        return grammar_of(source, options, limits)
    roots, around = _schemas_and_calls(tools, Document(source, value, {}, {}, {}))
    whole = partial(grammar_of, source, options)
    found = deferred_around(source, value, roots, options, limits, around, whole)
    return found or grammar_of(source, options, limits)


def _schemas_and_calls(
    tools: Tools, document: Document
) -> tuple[list[str], Callable[[Emitter, Sequence[Goal]], str]]:
    """The pointers of the schemas of arguments, and what writes the rules around them."""
    called = tools.tools if tools.mode != NONE else ()
    roots = [tool.parameters for tool in called if tool.parameters is not None]
    if tools.response is not None and tools.mode in (AUTO, NONE):
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
        self.span = self._place("")

    def _place(self, pointer: str) -> Span:
        """Where a value stands, as far as that is known."""
        return self.document.spans.get(pointer, Span(0, 0))

    def texts(self) -> str:
        """The rule of whole texts, and all others that it needs."""
        write, tools = self.emitter, self.tools
        write.begin(_TEXTS, self.span)
        if tools.mode == NONE:
            options = [self._plain()]
        elif tools.mode != AUTO:
            options = [self._calls()]
        elif self.style.trigger is None or tools.response is not None:
            options = [self._plain(), self._calls()]
        else:
            options = list(self._calls_in_text(self.style.trigger))
        write.rule(_TEXTS, options)
        return _TEXTS

    def _calls_in_text(self, trigger: str) -> Iterator[tree.Expr]:
        write, plain = self.emitter, self._plain()
        if self.style.marks is None:
            found = embedded(shortest_matches(_ending(trigger)))
            until = self._pattern("text before a call", found)
            turn = write.sequence(until, self._call(without=trigger))
        else:
            turn = write.sequence(plain, self._call())
        most = None if self.tools.is_parallel else 1
        yield write.sequence(write.repetition(turn, 0, most), plain)

    def _plain(self) -> tree.Expr:
        """A text that calls nothing, which may be empty; one of a schema, if there is one."""
        write = self.emitter
        if self.tools.response is not None:
            return write.value(self.goals[self.tools.response])
        if self.style.trigger is not None:
            found = complement(_holding(self.style.trigger), write.limits)
            return self._pattern("text", embedded(found))
        space = regex.char_class((ord(char), ord(char)) for char in _SPACE)
        taken = sorted(ord(char) for char in _SPACE + _CALLING)
        runs = zip([-1, *taken], [*taken, 0x110000], strict=True)
        first = regex.char_class((a + 1, b - 1) for a, b in runs if a + 1 < b)
        rest = regex.Optional(regex.seq(first, regex.EVERYTHING))
        return self._pattern("text", regex.seq(regex.repeat(space, 0, None), rest))

    def _calls(self) -> tree.Expr:
        """One call or, if there may be, several."""
        write, style = self.emitter, self.style
        call = self._call()
        if not self.tools.is_parallel:
            return call
        if style.is_array:
            more = write.repetition(write.sequence(write.comma(), call), 0, None)
            return write.bracketed("[", write.sequence(call, more), "]")
        more = write.repetition(write.sequence(write.literal(style.between), call), 0, None)
        return write.sequence(call, more)

    def _call(self, without: str = "") -> tree.Expr:
        """One call; ``without``: what it begins with, and was read already."""
        write, style = self.emitter, self.style
        opening, closing = style.opening.removeprefix(without), write.literal(style.closing)
        options = [self._of_tool(tool) for tool in self.tools.tools]
        write.begin(_TEXTS, self.span)
        tools = write.choice(options)
        if style.arguments is None:
            found = write.sequence(write.literal(opening), tools, closing)
        else:
            inside = write.sequence(write.text("name"), write.colon(), tools)
            called = write.bracketed("{", inside, "}")
            found = write.sequence(write.literal(opening), called, closing)
        if style.marks is not None:
            first, last = (tree.Token(name, (), False, self.span) for name in style.marks)
            found = write.sequence(first, found, last)
        write.rule("call", [found])
        return write.reference("call")

    def _of_tool(self, tool: Tool) -> tree.Expr:
        """Its name and its arguments."""
        write, style = self.emitter, self.style
        write.begin(f"call of {tool.name}", self._place(tool.pointer))
        arguments = self._arguments(tool)
        if style.arguments is None:
            return write.sequence(write.literal(tool.name + style.behind_name), arguments)
        key = write.sequence(write.comma(), write.text(style.arguments), write.colon())
        return write.sequence(write.text(tool.name), key, arguments)

    def _arguments(self, tool: Tool) -> tree.Expr:
        write = self.emitter
        if tool.parameters is None:
            return write.bracketed("{", write.literal(""), "}")
        goal, schema = self.goals[tool.parameters], self.document.at(tool.parameters)
        if not _says_object(schema):
            near = write.goals.nearest(goal)
            of_objects = write.goals.made({"type": "object"}, near)
            goal = of_objects if goal == ANYTHING else write.goals.both(goal, of_objects)
        if write.normal.is_surely_empty(goal):
            message = f"no object satisfies this schema, so that {tool.name!r} cannot be called"
            why = contradiction(goal, write.normal, f"#{tool.parameters}")
            raise Refused(f"#{tool.parameters}", message, str(why) if why else "")
        return write.value(goal)

    def _pattern(self, name: str, node: regex.Node) -> tree.Expr:
        write = self.emitter
        body = tree.Pattern(node, "", self.span)
        write.by_name[name] = tree.Rule(name, self.span, body, self.span, terminal=True)
        return write.reference(name)


def _ending(text: str) -> Dfa:
    """The texts that end with one."""
    return minimal(thompson(regex.seq(regex.EVERYTHING, regex.lit(text.encode("utf-8")))))


def _holding(text: str) -> Dfa:
    """The texts that one stands in."""
    inside = regex.seq(regex.EVERYTHING, regex.lit(text.encode("utf-8")), regex.EVERYTHING)
    return minimal(thompson(inside))


def _says_object(schema: Json) -> bool:
    """Whether all values of a schema are plainly objects."""
    return isinstance(schema, dict) and schema.get("type") == "object" and "$ref" not in schema
