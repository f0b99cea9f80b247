"""The loop over Lark's tables reads what Lark's own loop reads, and stops where that stops."""

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from generators.make_lalr_tables import BUILDERS, text_of
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from support import ROOT
from support.corpus.recorded import FOLDERS, grammar_of

from constrain.compiler.diagnostics import GrammarError, LimitError
from constrain.compiler.dialects import dialect_of, parse, read_grammar
from constrain.compiler.dialects.builder import CLOSING, OPENING, Builder, Token, token_of
from constrain.compiler.dialects.lalr_driver import END, Driver, Unexpected
from constrain.compiler.dialects.lalr_tables import built
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick

Find = Callable[[str], Path]

# Characters that mean something in some dialect, and some that mean nothing.
MARKS = "()[]{}|*+?.;:=,\"'\\/#-<>!~&%@ \n\té0a_$^"

# What stands behind these is read by their own readers, which Lark's loop does not call.
READ_APART = ("%json", "%regex", "%lark")

# The builders of the texts that are being read, the innermost last.
reading: list[Builder] = []


class Forward:
    """Passes Lark's calls on to the builder of the text that is being read."""

    def __getattr__(self, name: str) -> Callable[[list[Any]], Any]:
        if not name.islower() or name.startswith("_"):
            raise AttributeError(name)  # Terminals and inlined rules have no callback.
        return lambda children: getattr(reading[-1], name)([own(child) for child in children])


def own(child: Any) -> Any:
    """The token of ours that one of Lark's is; anything else as it is."""
    if not isinstance(child, lark.Token):
        return child
    if isinstance(child.value, Token):
        return child.value
    return token_of(child.type, str(child), child.start_pos or 0, child.end_pos or 0)


@cache
def parser(grammar_file: str) -> lark.Lark:
    """What Lark makes of a grammar."""
    builder = BUILDERS[grammar_file]
    return built(builder, text_of(builder), Forward())


class LarkInstead(Driver):
    """Lark's lexer, its loop and its trees in the place of ours."""

    texts = 0

    def parse(self) -> Any:
        """The value of the whole text. Raises ``Unexpected``."""
        builder = self._builder
        text = " " * self._begin + builder.source.text[self._begin :]
        self._interactive = parser(builder.grammar_file).parse_interactive(text)
        LarkInstead.texts += 1
        reading.append(builder)
        depth, token = 0, None
        try:
            for token in self._without_breaks(builder):
                mine = own(token)
                self._follow(mine)
                depth += (mine.type in OPENING) - (mine.type in CLOSING)
                builder.limits.check_nesting(depth, "the grammar")
                self._interactive.feed_token(token)
            return self._interactive.feed_eof(token)
        except UnexpectedCharacters as error:
            raise Unexpected(error.pos_in_stream or 0, None) from None
        except UnexpectedToken as error:
            found = END if error.token.type == "$END" else own(error.token)
            raise Unexpected(found.span.start, found) from None
        finally:
            reading.pop()

    def _without_breaks(self, builder: Builder) -> Iterator[lark.Token]:
        depth, last = 0, builder.line_break_token
        for token in self._all(builder):
            depth += (token.type in OPENING) - (token.type in CLOSING)
            if token.type == builder.line_break_token and depth > 0:
                continue
            if token.type == builder.line_break_token and last in builder.line_break_ignored_after:
                continue
            last = token.type
            yield token

    def _all(self, builder: Builder) -> Iterator[lark.Token]:
        tokens = builder.tokens()
        if tokens is None:
            yield from self._interactive.lexer_thread.lex(self._interactive.parser_state)
        else:
            yield from (lark.Token(token.type, token) for token in tokens)

    def accepted(self) -> list[str]:
        """The terminals that may stand where the parser is."""
        return list(self._interactive.accepts())  # type: ignore[no-untyped-call]


def outcome(text: str, dialect: str) -> tuple[bool, str]:
    """Whether a text can be read, and the tree or what is said of it."""
    try:
        return True, repr(read_grammar(text, dialect, limits=Limits(nesting=200)))
    except (GrammarError, LimitError) as error:
        return False, str(error)


def damaged(chance: random.Random, text: str) -> str:
    """Some characters cut, doubled, moved or put in."""
    for _ in range(chance.randrange(1, 4)):
        start, other = chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randrange(1, 12))
        part = chance.choice(["", text[start:end], chance.choice(MARKS)])
        text = text[:start] + text[end:] if not part else text[:other] + part + text[other:]
    return text


def grammars(folder: Path) -> list[tuple[str, str]]:
    """The grammars below a folder with their dialects. Lark's own loop cannot read JSON, whose end
    no regex finds."""
    names = {".ebnf": "w3c"} if folder.name in ("dryruby-ebnf", "ebnf-convert") else {}
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    texts = [
        (path.read_bytes().decode("utf-8"), names.get(path.suffix, dialect_of(path.name) or ""))
        for path in files
        if path.suffix in (".gbnf", ".ebnf", ".kbnf", ".w3c", ".lark", ".isoebnf", ".regex")
    ]
    return [(text, name) for text, name in texts if all(each not in text for each in READ_APART)]


def check(monkeypatch: pytest.MonkeyPatch, texts: list[tuple[str, str]]) -> None:
    """All texts are read alike; some can be read, and some cannot."""
    found = [outcome(*each) for each in texts]
    assert {readable for readable, _ in found} == {True, False}
    LarkInstead.texts = 0
    with monkeypatch.context() as patch:
        patch.setattr(parse, "Driver", LarkInstead)
        # Fixes are no part of messages, and read tokens without trees, which Lark's loop cannot.
        patch.setattr(parse, "_missing_end", lambda *_: None)
        for each, one in zip(texts, found, strict=True):
            assert outcome(*each) == one, each
    assert LarkInstead.texts >= len(texts)


def test_trees_and_messages_are_those_of_larks_own_loop(
    monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Of the recorded cases and the examples, and of each damaged somewhere."""
    chance = random.Random(5)
    texts = [each for each in grammars(ROOT / "examples") if full or len(each[0]) < 2_000]
    for path in map(grammar_of, FOLDERS):
        texts.append((path.read_bytes().decode("utf-8"), dialect_of(path.name) or ""))
    texts = [each for each in texts if all(name not in each[0] for name in READ_APART)]
    texts = texts if full else chance.sample(texts, len(texts) // 10)
    for text, dialect in list(texts):
        for _ in range(60 if full else 1):
            texts.append((damaged(chance, text), dialect))
    check(monkeypatch, texts)


def test_grammars_of_others_are_read_as_by_larks_own_loop(
    monkeypatch: pytest.MonkeyPatch, full: bool, data: Find
) -> None:
    """A sample of them, and of each damaged ones."""
    chance = random.Random(8)
    texts = [each for each in grammars(data("grammars")) if len(each[0]) < 20_000]
    texts = chance.sample(texts, 150 if full else 6)
    for text, dialect in list(texts):
        texts += [(damaged(chance, text), dialect) for _ in range(10 if full else 1)]
    check(monkeypatch, texts)
