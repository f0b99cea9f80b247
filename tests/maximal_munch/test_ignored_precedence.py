"""What is ignored takes precedence over strings as in Lark, and where not is in the document."""

import pytest
from lark import Lark
from lark.exceptions import LarkError
from support.oracles.maximal_munch import MaximalMunchOracle

from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.pipeline import build_engine


def lark_accepts(grammar: str, text: str) -> bool:
    """Whether Lark parses a text."""
    try:
        Lark(grammar, parser="lalr").parse(text)
    except LarkError:
        return False
    return True


def accepts(grammar: str, text: str) -> bool:
    """Whether the automaton accepts a text, of which the definition says the same."""
    expected = MaximalMunchOracle(read_grammar(grammar, "lark")).accepts(text.encode())
    try:
        found = build_engine(grammar, dialect="lark")
    except CheckError:  # No text is a member.
        assert not expected
        return False
    assert isinstance(found, Automaton)
    assert expected == found.dfa.accepts(text.encode())
    return expected


@pytest.mark.parametrize(
    ("grammar", "texts"),
    [
        # A string that an ignored regex matches is never read.
        ('start: "a" "\\n"\n%ignore /[ \\n]+/\n', ["a\n", "a", "a \n"]),
        ('start: "a" "\\n"?\n%ignore /[ \\n]+/\n', ["a\n", "a", "a \n"]),
        ('start: "a" NL?\nNL: "\\n"\n%ignore /[ \\n]/\n', ["a\n", "a \n", "a\n\n", "a"]),
        ('start: "a" "\\n\\n"?\n%ignore /[ \\n]/\n', ["a\n", "a\n\n", "a\n\n\n"]),
        # Priorities go first.
        ('start: "a" NL\nNL.1: "\\n"\n%ignore /[ \\n]+/\n', ["a\n", "a", "a \n"]),
        # Nor is a terminal that is ignored itself.
        ('start: "a" " "\n%ignore " "\n', ["a ", "a", "a  "]),
        ('start: "a" WS "b"\nWS: / +/\n%ignore WS\n', ["a b", "ab"]),
        ('start: "a" WS? "b"\nWS: / +/\n%ignore WS\n', ["a b", "ab"]),
    ],
)
def test_an_ignored_regex_goes_before_an_equally_long_string_as_in_lark(
    grammar: str, texts: list[str]
) -> None:
    """The same texts are members as Lark parses."""
    expected = [lark_accepts(grammar, text) for text in texts]
    assert expected == [accepts(grammar, text) for text in texts]


@pytest.mark.parametrize(
    ("grammar", "text", "lark", "ours"),
    [
        # Of an ignored regex and another one Lark takes the one that is written longer.
        ('start: "a" NL "b"\nNL: /\\n+/\n%ignore /[ \\n]+/\n', "a\nb", False, True),
        # The first alternative is taken in Lark, though another is longer.
        ('start: N\nN: /a|ab/\n%ignore " "\n', "ab", False, True),
        # In Lark a regex is tried before a string, though the string is longer.
        ('start: A | "ab"\nA: /a+/\n%ignore " "\n', "ab", False, True),
        # Lark goes back to a shorter match.
        ('start: A "b"\nA: /a(bc)?/\n%ignore " "\n', "ab", True, False),
        # A string that is ignored is no name, but Lark hands it to the parser.
        ('start: "a" NAME? "b"\nNAME: /[c-z]+/\n%ignore "x"\n', "axb", False, True),
    ],
)
def test_the_differences_from_lark_that_the_document_names(
    grammar: str, text: str, lark: bool, ours: bool
) -> None:
    """Each as compiler/maximal_munch/README.md says."""
    assert (lark, ours) == (lark_accepts(grammar, text), accepts(grammar, text))


def test_llguidance_follows_ignored_text_and_strings_both() -> None:
    """Strings and regexes count alike there."""
    grammar = '%llguidance {}\nstart: "a" "\\n"\n%ignore /[ \\n]+/\n'
    assert accepts(grammar, "a\n")
