"""The loop over Lark's tables reads what Lark's own loop reads, and stops where that stops."""

import random

import pytest
from lark import Token
from lark.parsers.lalr_interactive_parser import InteractiveParser
from support.corpus.recorded import FOLDERS, grammar_of

from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import dialect_of, parse, read_grammar
from constrain.compiler.dialects.gbnf import GbnfBuilder
from constrain.compiler.dialects.lalr_driver import Driver

pytestmark = pytest.mark.quick

TEXTS = [(path.read_bytes().decode("utf-8"), path.name) for path in map(grammar_of, FOLDERS)]
# Lark's own loop cannot read JSON, whose end no regex finds.
TEXTS = [(text, name) for text, name in TEXTS if "%json {" not in text and "%regex {" not in text]


def outcome(text: str, dialect: str) -> tuple[bool, str]:
    """Whether a text can be read, and the tree or what is said of it."""
    try:
        return True, repr(read_grammar(text, dialect))
    except GrammarError as error:
        return False, str(error)


def lark_instead(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let Lark's interactive parser stand in the driver's place; the texts that it has read."""
    read: list[str] = []

    def lark(
        _: object, interactive: InteractiveParser, text: str, *_more: object
    ) -> InteractiveParser:
        read.append(text)
        return interactive

    monkeypatch.setattr(parse, "Driver", lark)
    return read


def test_trees_and_messages_are_those_of_larks_own_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the recorded cases, and of each with a character too few somewhere."""
    chance = random.Random(5)
    texts = []
    for text, name in TEXTS:
        dialect = dialect_of(name)
        assert dialect is not None
        place = chance.randrange(len(text)) if text else 0
        texts += [(text, dialect), (text[:place] + text[place + 1 :], dialect)]
    found = [outcome(*case) for case in texts]
    assert {readable for readable, _ in found} == {True, False}
    read = lark_instead(monkeypatch)
    for case, one in zip(texts, found, strict=True):
        assert outcome(*case) == one, case
    assert len(read) >= len(texts)


def test_tokens_have_the_places_that_lark_gives_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments and white space between them count."""
    places: list[list[tuple[str, str, int | None, int | None]]] = []
    fed = Driver.feed_token

    def noted(self: Driver, token: Token) -> object:
        places[-1].append((token.type, str(token), token.start_pos, token.end_pos))
        return fed(self, token)

    text = 'root ::= "a" | # one\n   ( b [c-d]{2, 3} )*\n\nb ::= "é" b?\n'
    monkeypatch.setattr(Driver, "feed_token", noted)
    places.append([])
    read_grammar(text, "gbnf")
    lark, _ = parse._parser("gbnf.lark", GbnfBuilder.postlex)
    expected = [(t.type, str(t), t.start_pos, t.end_pos) for t in lark.lex(text)]
    assert [place for place in places[0] if place[0] != "$END"] == expected
