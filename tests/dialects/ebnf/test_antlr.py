"""Grammars of ANTLR 4 mean what Lark's mean that say the same.

ANTLR's lexer reads all tokens everywhere, and this one what the parser allows: `ifa` is what
`'if' ID` reads, as a note says.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constrain.compiler.automata.compare import are_equal
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import dialect_of, read_grammar
from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, read_checked
from constrain.compiler.maximal_munch.to_dfa import accepts, text_machine
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine
from constrain.compiler.writers.convert import convert

# ANTLR's, Lark's, members and others.
PAIRS: dict[str, tuple[str, str, list[str], list[str]]] = {
    "terminals and ignored text": (
        "grammar G; /* all */ r : 'if' ID (',' ID)* EOF ; // one\n"
        "ID : [a-z]+ ; WS : [ \\t]+ -> skip ; C : '//' ~[\\n]* -> channel(HIDDEN) ;",
        'start: "if" ID ("," ID)*\nID: /[a-z]+/\n%ignore /[ \\t]+/\n%ignore /\\/\\/[^\\n]*/',
        ["if a,b", "if\tx // y", "ifa"],
        ["if", "if a b", "ifa,"],
    ),
    "the first of two that match": (
        "grammar G; r : (A | B) '!' | B '?' ; A : 'a' 'b'? ; B : [a-c]+ ;",
        'start: (A | B) "!" | B "?"\nA.2: /ab?/\nB.1: /[a-c]+/',
        ["a!", "ab!", "abc!", "abc?"],
        ["a?", "ab?"],
    ),
    "texts that are terminals": (
        "grammar G; r : '+' X | PLUS '-' ; PLUS : '+' ; X : '+' | 'x' ;",
        'start: PLUS X | PLUS "-"\nPLUS.2: "+"\nX.1: "+" | "x"',
        ["+x", "+-", "++"],
        ["+", "x+"],
    ),
    "fragments, sets and ranges": (
        "grammar G; r : N+ ; N : '-'? D+ H ; fragment D : '0'..'8' | '9' ;\n"
        "fragment H : ~[a-z\\u0000-\\u001F\\]0-9-] | ~('b' | 'c'..'d') 'x' | [^\\p{Lu}-] ;",
        'start: N+\nN: "-"? D+ H\nD: /[0-8]/ | "9"\n'
        r"H: /[^a-z\x00-\x1f\]0-9-]/ | /[^b-d]/ " + '"x"' + r" | /[\^\p{Lu}-]/",
        ["1A", "-12^3]x", "9é"],
        ["1", "1b", "-A"],
    ),
    "both cases": (
        "grammar G; options { caseInsensitive = true; } r : 'Select' ID ; ID : [a-c] '1' ;",
        "start: /[sS][eE][lL][eE][cC][tT]/ ID\nID: /[a-cA-C]1/",
        ["SELECTa1", "selectC1"],
        ["selectd1"],
    ),
    "labels, actions and lazy repetitions": (
        "parser grammar G; @header { import '}'; }\n"
        "r returns [int v] @init { f(); } : a=X b+='y'*? { g(\"}\"); } # one\n"
        "  | <assoc=right> X 'z' # two ;\n"
        "X : '\"' .*? '\"' ;",
        'start: X "y"* | X "z"\nX: "\\"" /.*?/s "\\""',
        ['"a"', '"a"yy', '""z'],
        ['"a"b"', '"', '"a"zz'],
    ),
    "empty alternatives": (
        "grammar G; r : 'a' ( | 'b' ) s 'c' ; s : | 'd' ;",
        'start: "a" ("b" | ) s "c"\ns: | "d"',
        ["ac", "abdc"],
        ["a", "abd"],
    ),
}

REFUSED = {
    "predicate": ("r : {p()}? 'a' ;", "a predicate asks code"),
    "mode": ("r : A ; A : 'a' ; mode M ; B : 'b' ;", "modes of the lexer are not read"),
    "push": ("r : A ; A : 'a' -> pushMode(M) ;", "the command pushMode of a lexer is not read"),
    "type": ("r : A ; A : 'a' -> type(B) ;", "the command type of a lexer is not read"),
    "import": ("import X; r : 'a' ;", "no folder has the grammar X"),
    "tokens": ("r : ~A ; A : 'a' ;", "'~' of what is no set of characters"),
    "set": ("r : [a-z] ;", "a set of characters in a rule of the parser"),
    "any": ("r : . ;", "a set of characters in a rule of the parser"),
    "eof inside": ("r : s 'a' ; s : EOF ;", "EOF is read at the end of rules that no other"),
    "eof before": ("r : EOF 'a' ;", "EOF is read at the end of rules that no other"),
    "fragment": ("r : A ; fragment A : 'a' ;", "'A' is no token"),
    "skipped": ("r : A ; A : 'a' -> skip ;", "'A' is no token"),
    "one command": (
        "r : B ; A : 'a' -> skip | 'b' ; B : 'b' ;",
        "belongs to one alternative alone",
    ),
    "lazy": ("r : A ; A : B*? 'a' ; B : 'b' ;", "a lazy repetition of other rules"),
    "undefined": ("r : IDENT ;", "--define 'IDENT=REGEX'"),
    "twice": ("r : 'a' ; r : 'b' ;", "rule 'r' is defined twice"),
    "code": ("r : 'a' { b ;", "code without an end"),
    "semicolon": ("r : 'a' s : 'b' ;", "unexpected ':'"),
    "quotes": ('r : "a" ;', "strings stand in single quotes"),
    "range": ("r : A ; A : 'b'..'a' ;", "a range goes from one character to a later one"),
}


def language(text: str, dialect: str) -> Dfa:
    """The automaton of a text, by maximal munch."""
    found = build_engine(text, dialect=dialect, meaning="maximal-munch")
    assert isinstance(found, Automaton)
    return found.dfa


@pytest.mark.parametrize("name", PAIRS)
def test_the_language_is_that_of_lark_s_grammar(name: str) -> None:
    """By maximal munch, ignored text and priorities included."""
    antlr, lark, members, others = PAIRS[name]
    expected, found = language(lark, "lark"), language(antlr, "antlr")

    assert [] == [text for text in members if not found.accepts(text.encode())]
    assert [] == [text for text in others if found.accepts(text.encode())]
    assert are_equal(expected, found)


@pytest.mark.parametrize("name", PAIRS)
def test_written_as_lark_the_language_is_the_same(name: str) -> None:
    """With %ignore, and terminals in upper case."""
    options = CompileOptions(dialect="antlr")
    grammar = read_checked(PAIRS[name][0], options, "G.g4")
    text = convert(grammar, "lark", options).text

    assert are_equal(language(PAIRS[name][0], "antlr"), language(text, "lark")), text


LEXER = "lexer grammar L; NAME : [a-z]+ ; KEY : 'if' ; END : ';' ; WS : ' ' -> skip ;"


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("head", "others"),
    [
        ("parser grammar G; options { tokenVocab=L; }", {"L": LEXER}),
        ("grammar G; import L, P; KEY : 'if' ;", {"L": LEXER, "P": "parser grammar P; s : KEY ;"}),
        ("grammar G; import P;", {"P": "grammar P; import L;", "L": LEXER}),
    ],
)
def test_other_files_are_imported(
    head: str, others: dict[str, str], inside: bool, tmp_path: Path
) -> None:
    """Beside the grammar, or from a folder that is included."""
    for name, text in others.items():
        (tmp_path / f"{name}.g4").write_text(text)
    folders: dict[str, Any] = {"include": (str(tmp_path),)} if inside else {"imports": tmp_path}
    found = build_engine(f"{head} r : (NAME ';' | KEY)+ EOF ;", dialect="antlr", **folders)
    assert isinstance(found, Automaton)
    members = ["a;", "a ; b;", "ifs;", "if;"]
    # What comes first here counts first.
    expected = [True, True, True, "KEY :" not in head]
    assert expected == [found.dfa.accepts(text.encode()) for text in members]


def test_a_grammar_that_imports_itself_is_refused(tmp_path: Path) -> None:
    """By way of others, too."""
    (tmp_path / "A.g4").write_text("grammar A; import B; a : 'a' ;")
    (tmp_path / "B.g4").write_text("grammar B; import A; b : 'b' ;")
    with pytest.raises(GrammarError, match="imports itself"):
        build_engine("grammar G; import A; r : a ;", dialect="antlr", imports=str(tmp_path))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_by_name(name: str) -> None:
    """With its place."""
    text, message = REFUSED[name]
    with pytest.raises(GrammarError) as caught:
        build_engine(f"grammar G; {text}", dialect="antlr")

    assert message in str(caught.value)
    assert caught.value.diagnostics[0].span is not None


def test_the_note_says_what_differs_and_what_was_left_out() -> None:
    """Code, which might have had a say."""
    found = build_engine("grammar G; r : 'a' B ; B : 'b' ;", dialect="antlr")
    (note,) = read_grammar("grammar G; r : 'a' {f();} ;", "antlr").notes

    assert "ANTLR's reads all tokens" in note.message
    assert "left out: code" in note.message
    assert "antlr" == dialect_of("SQL.g4")
    assert "maximal-munch" == found.choice.semantics


def test_json_of_the_reference_is_read(data: Callable[[str], Path]) -> None:
    """Nested objects and arrays, with white space anywhere between the tokens."""
    path = data("grammars/people/antlr__JSON.g4")
    found = build_engine(path.read_text(encoding="utf-8"), dialect="antlr", name=path.name)
    assert isinstance(found, MaximalMunchGrammar)
    machine = text_machine(found.tables)
    for text in ('{"a": [1, -2.5e3 , true], "\\u00e9\\n": {}}', "[]", ' "x"\n'):
        assert accepts(machine, text.encode()), text
    for text in ("{a: 1}", "[1,]", "01", '"\n"', "tru"):
        assert not accepts(machine, text.encode()), text
