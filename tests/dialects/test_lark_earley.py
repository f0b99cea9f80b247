"""Lark grammars of people, read as Lark's parsers read them.

With ``dynamic_complete`` each division of a text into terminals counts, as in the exact meaning.
With ``dynamic``, its default, a regex matches what ``re.match`` takes at a place, whatever other
terminals take there; by maximal munch the longest one of all counts. Lark's LALR parser has a
contextual lexer. The tables say how many texts of which grammars are read otherwise.
"""

import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import pytest
import regex
from lark import Lark
from lark.exceptions import LarkError
from lark.grammar import NonTerminal
from support import LARK_STARTS, ROOT
from support.automata import build_automaton

from constrain.artifacts.container.manifest import CONTEXTUAL
from constrain.compiler.automata.members import Members, shortest
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, Parser
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.to_dfa import accepts, text_machine
from constrain.compiler.pipeline import build_engine

# Where Lark's grammars are.
FOLDERS = ["lark/lark/grammars", "lark/examples", "lark/tests/grammars", "people", "wild"]

# Starts of files that have no rule ``start``.
STARTS = {
    **{Path(name).name: start for name, start in LARK_STARTS.items()},
    "ligurio__lark_grammars_grammars_python3.lark": "file_input",
}

# Characters of a text, and symbols of which it is made, at most.
LONGEST, LONGEST_OF_LALR, MOST_SYMBOLS = 30, 150, 300

# Texts of these are too long to find some.
LONG = {"ligurio-sqlite.lark", "syncode-sql.lark"}

# Of 300 texts, how many are read otherwise. In the exact meaning: word characters are those of
# another Unicode (dolang, conf_earley), a lazy quantifier takes more, too, where Lark tries what
# re.match takes and less (create_ast, dotmotif, optimade), Lark joins alternatives without brackets
# (c89), and an escape is JSON's (escapes).
WITH_DYNAMIC_COMPLETE: Mapping[str, int] = {
    "c89.lark": 1,
    "dolang__src_grammar.lark": 4,
    "dotmotif.lark": 1,
    "grammar.lark": 1,
    "larkpy__advanced_conf_earley.lark": 26,
    "larkpy__advanced_create_ast.lark": 13,
    "optimade.lark": 1,
}
# By maximal munch, beside these, what is longer is not divided: ``print6610`` is a name, and a
# comment in which others could stand is one.
WITH_DYNAMIC: Mapping[str, int] = {
    "c89.lark": 4,
    "dolang__src_grammar.lark": 6,
    "dotmotif.lark": 128,
    "grammar.lark": 1,
    "graphene__tests_test_config_grammar.lark": 2,
    "lark.lark": 27,
    "lark__examples_advanced_template_lark.lark": 49,
    "lark__examples_grammars_verilog.lark": 10,
    "larkpy__advanced_conf_earley.lark": 26,
    "larkpy__advanced_create_ast.lark": 55,
    "larkpy__advanced_dynamic_complete.lark": 64,
    "ligurio__lark_grammars_grammars_palindrome.lark": 163,
    "ligurio__lark_grammars_grammars_python3.lark": 100,
    "lua.lark": 27,
    "python.lark": 111,
    "python2.lark": 105,
    "storage.lark": 3,
    "syncode-c.lark": 1,
    "template_lark.lark": 49,
    "verilog.lark": 10,
}

# With the contextual lexer of an LALR parser: Lark takes of terminals that begin alike the first in
# an order, also of ``aſ``, which is a keyword in any case (syncode's SQL), and where a rule may end
# before what goes on with it, it goes on (Go).
WITH_CONTEXTUAL: Mapping[str, int] = {
    "dolang__src_grammar.lark": 11,
    "grammar.lark": 1,
    "lark.lark": 53,
    "lark__examples_advanced_template_lark.lark": 84,
    "larkpy__advanced_conf_earley.lark": 43,
    "larkpy__advanced_dynamic_complete.lark": 74,
    "storage.lark": 18,
    "syncode-go.lark": 1,
    "syncode-sql.lark": 20,
    "template_lark.lark": 84,
}


def files(data: Callable[[str], Path], longest: int) -> Iterator[Path]:
    """All that Lark itself may read and that have texts so long."""
    folders = [data(f"grammars/{name}") for name in FOLDERS]
    for folder in [*folders, ROOT / "examples", ROOT / "tests" / "cases"]:
        found = sorted(folder.rglob("*.lark"))
        yield from (each for each in found if longest > LONGEST or each.name not in LONG)


def lark_of(path: Path, lexer: str) -> Lark | None:
    """Lark's parser of a file, by Earley or LALR; None of one that it does not read so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Lark(
                path.read_text(encoding="utf-8"),
                parser="lalr" if lexer == CONTEXTUAL else "earley",
                lexer=lexer,
                start=STARTS.get(path.name, "start"),
                import_paths=[str(path.parent)],
            )
        except (LarkError, ValueError, OSError, re.error, regex.error):
            return None


class Texts:
    """Random texts of a grammar by Lark's own rules, and texts near them."""

    def __init__(self, parser: Lark, seed: int) -> None:
        self._rng = random.Random(seed)
        self._start = NonTerminal(parser.options.start[0])
        self._rules: dict[str, list[list[str]]] = {}
        for rule in parser.rules:
            names = [symbol.name for symbol in rule.expansion]
            self._rules.setdefault(rule.origin.name, []).append(names)
        self._words = {t.name: self._of(t.pattern.to_regexp()) for t in parser.terminals}
        self._depth: dict[str, float] = {}
        before = None
        while before != self._depth:
            before = dict(self._depth)
            for name, options in self._rules.items():
                self._depth[name] = min(map(self._depth_of, options))
        self.gaps = (
            ["", " "] if any(" " in self._words.get(n, ()) for n in parser.ignore_tokens) else [""]
        )

    @staticmethod
    def _of(pattern: str) -> list[str]:
        """Some texts of a terminal."""
        try:
            dfa = build_automaton(pattern, dialect="regex-plain").dfa
        except GrammarError:
            return []
        least = shortest(dfa)
        drawn = [] if least is None else islice(Members(dfa, Limits()).draws(len(least) + 3, 3), 8)
        usual = ["a", "b", "x1", "1", "20", '"s"', " ", "\n", "A", "0.5", "true"]
        fitting = [each for each in usual if dfa.accepts(each.encode())]
        return fitting * 3 + [each.decode() for each in drawn]

    def _depth_of(self, names: list[str]) -> float:
        inside = (self._depth.get(name, float("inf")) for name in names if name in self._rules)
        return 1 + max(inside, default=0)

    def _derived(self, depth: int) -> list[str] | None:
        """The words of a random derivation; None of one that is too long."""
        words, pending = [], [(self._start.name, depth)]
        for _ in range(MOST_SYMBOLS):
            if not pending:
                return words
            name, left = pending.pop()
            if name not in self._rules:
                fitting = self._words.get(name)
                if not fitting:
                    return None
                words.append(self._rng.choice(fitting))
                continue
            options = self._rules[name]
            if left <= 0:
                least = min(map(self._depth_of, options))
                options = [each for each in options if self._depth_of(each) == least]
            pending += [(n, left - 1) for n in reversed(self._rng.choice(options))]
        return None

    def drawn(self, count: int, longest: int) -> list[str]:
        """So many, half of them changed at a place; fewer where few are found."""
        found: list[str] = []
        for _ in range(20 * count):
            words = self._derived(self._rng.randint(1, 9))
            if words is None:
                continue
            if self._rng.random() < 0.5 and words:
                place = self._rng.randrange(len(words))
                words[place : place + self._rng.randrange(2)] = self._rng.choices(words)
            text = words[0] if words else ""
            for word in words[1:]:
                text += self._rng.choice(self.gaps) + word
            if len(text) <= longest and text not in found:
                found.append(text)
                if len(found) == count:
                    break
        return found


def is_member(parser: Lark, text: str) -> bool | None:
    """By Lark; None where it fails by an error of its own."""
    try:
        parser.parse(text)
    except LarkError:
        return False
    except RuntimeError:
        return None
    return True


def ours(path: Path, meaning: str, lexer: str | None) -> Callable[[bytes], bool]:
    """What says whether a text is a member. Raises ``GrammarError``."""
    found = build_engine(
        path.read_text(encoding="utf-8"),
        dialect="lark",
        start=STARTS.get(path.name),
        imports=str(path.parent),
        meaning=meaning,
        lexer=lexer,
        engine="greedy" if meaning == "maximal-munch" else "earley",
        name=path.name,
    )
    if isinstance(found, MaximalMunchGrammar):
        machine = text_machine(found.tables)
        return lambda text: accepts(machine, text)
    if isinstance(found, Automaton):
        return found.dfa.accepts
    assert isinstance(found, Parser)
    parser = found

    def by_earley(text: bytes) -> bool:
        earley = parser.recogniser()
        return earley.feed(text) == len(text) and earley.is_accepting

    return by_earley


@pytest.mark.parametrize(
    ("lexer", "meaning", "longest", "known", "least"),
    [
        ("dynamic_complete", "exact", LONGEST, WITH_DYNAMIC_COMPLETE, 53),
        ("dynamic", "maximal-munch", LONGEST, WITH_DYNAMIC, 58),
        (CONTEXTUAL, "maximal-munch", LONGEST_OF_LALR, WITH_CONTEXTUAL, 54),
    ],
)
def test_texts_are_those_of_larks_parsers(
    lexer: str,
    meaning: str,
    longest: int,
    known: Mapping[str, int],
    least: int,
    data: Callable[[str], Path],
    full: bool,
) -> None:
    """Of each grammar that both read, at ``least`` so many; without --full a few texts of every
    sixth."""
    others: dict[str, int] = {}
    read = members = 0
    for path in list(files(data, longest))[:: 1 if full else 12]:
        theirs = lark_of(path, lexer)
        if theirs is None:
            continue
        try:
            accepts_it = ours(path, meaning, CONTEXTUAL if lexer == CONTEXTUAL else None)
        except GrammarError:
            continue
        read += 1
        for text in Texts(theirs, 11).drawn(300 if full else 12, longest):
            expected = is_member(theirs, text)
            if expected is None:
                continue
            members += expected
            is_other = expected != accepts_it(text.encode())
            others[path.name] = others.get(path.name, 0) + is_other

    assert {name: n for name, n in others.items() if n > known.get(name, 0)} == {}
    assert read >= (least if full else 2)
    assert members > 3 * read
