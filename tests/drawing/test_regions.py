"""Drawings keep the names of rules that are inlined: on frames around states, or on states."""

import random
from pathlib import Path

from support import EXAMPLES, compiled
from support.automata import REGEXES, build_automaton
from support.cli import Cli
from support.drawing import DATE, outline, shown_names

from constrain.compiler import Tokenizer
from constrain.compiler.drawing import View, draw_dfa, draw_nfa, draw_tokens
from constrain.compiler.drawing.picture import Size
from constrain.compiler.frontend import Automaton
from constrain.compiler.grammar.productive import used_rules

WHOLE = Size(10_000, 100_000, fits=False)

NESTED = """start ::= value;
value ::= number | word;
number ::= digit "." digit;
word ::= letter "-" | letter word;
digit ::= "0" | "1";
letter ::= "a";"""


def nfa_of(text: str) -> str:
    """The DOT text of all states of a grammar's NFA."""
    return draw_nfa(build_automaton(text, dialect="kbnf").nfa, View("g", WHOLE)).dot


def rules_of(automaton: Automaton) -> list[list[str]]:
    """Those whose text may follow each state of the DFA, but the start."""
    origins = automaton.origins
    start = automaton.grammar.start
    return [sorted({origins[i][0] for i in found} - {start}) for found in automaton.dfa.origins]


def test_frames_of_an_nfa_lie_in_each_other_as_rules_do() -> None:
    """Also a rule that is nothing but others, and one that reads nothing by itself; each use has
    a frame."""
    assert outline(nfa_of(NESTED)) == (
        "value: 1 18\n"
        "  number: 17 21\n"
        "    digit: 2 5 6 9 10 13\n"
        "    digit: 23 25 26 28 29 30\n"
        "  word: 11 14\n"
        "    letter: 3 7\n"
        "  word: 12 22 24 27\n"
        "    letter: 4 8\n"
        "    letter: 15 19\n"
        "    letter: 16 20\n"
    )


def test_a_dfa_has_frames_where_states_of_a_rule_stand_together() -> None:
    """The states where the start's own text follows have none."""
    automaton = build_automaton(DATE, dialect="kbnf")
    dot = draw_dfa(automaton.dfa.tables(), View("date"), rules=rules_of(automaton)).dot
    assert outline(dot) == "year: 1 2 3 4\nmonth: 6 7 8\nday: 10 11 12 13\n"


def test_a_state_has_the_names_where_a_way_leads_back() -> None:
    """A frame would lie across the edges: the two rules follow each other again and again."""
    text = "start ::= (digit letter)+; digit ::= #'[0-9]'; letter ::= #'[a-z]';"
    automaton = build_automaton(text, dialect="kbnf")
    dot = draw_dfa(automaton.dfa.tables(), View("g"), rules=rules_of(automaton)).dot
    assert outline(dot) == ""
    assert shown_names(dot) == ["1\\ndigit", "2\\nletter", "3\\ndigit"]


def test_tokens_have_the_names_of_the_dfa(default_tokenizer: Tokenizer) -> None:
    """On the way of a text, too."""
    artifact = compiled(DATE, default_tokenizer, dialect="kbnf")
    ids = [default_tokenizer.encode("2024-")[i] for i in range(2)]
    dot = draw_tokens(artifact, View("date"), ids=ids).dot
    assert {"0\\nyear", "2\\nmonth"} <= {*shown_names(dot)}


def test_regexes_have_no_names_of_rules() -> None:
    """They have one rule, which nobody wrote."""
    for pattern in REGEXES.values():
        automaton = build_automaton(pattern, dialect="regex")
        nfa = draw_nfa(automaton.nfa, View("r"), (), automaton.grammar.start).dot
        dfa = draw_dfa(automaton.dfa.tables(), View("r"), rules=rules_of(automaton)).dot
        assert outline(nfa) == outline(dfa) == ""
        assert not shown_names(nfa) + shown_names(dfa)


def test_each_inlined_rule_is_named(full: bool) -> None:
    """Of random grammars without recursion; the same grammar gives the same drawing."""
    rng = random.Random(7)
    for _ in range(60 if full else 15):
        text = layered_grammar(rng)
        automaton = build_automaton(text, dialect="kbnf")
        dot = nfa_of(text)
        named = {part for line in outline(dot).split("\n") for part in names_in(line)}
        used = set(used_rules(automaton.grammar.rules, ["r0"])) - {"r0"}
        assert named == used, text
        assert dot == nfa_of(text)


def test_rules_used_often_are_named_where_they_are_made_small() -> None:
    """What they use is named as one, as its states are merged."""
    text = f"start ::= big '-' big; big ::= {' '.join(['pair'] * 40)}; pair ::= 'ab' | 'c';"
    assert outline(nfa_of(text)).count("big:\n") == 2
    assert outline(nfa_of(text)).count("  pair: ") == 2


def test_frames_stay_on_the_way_of_a_text_and_on_pages(cli: Cli, tmp_path: Path) -> None:
    """And where states are left out, or all bytes drawn."""
    date = str(EXAMPLES / "date.ebnf")
    near = cli("viz", date, "--stage", "nfa", "--prefix", "2024-", "--draw-states", "20").out
    assert outline(near.decode()).startswith("year: 1 2")
    assert outline(cli("viz", date, "--stage", "nfa", "--bytes").out.decode()).count("\n") == 3
    assert outline(cli("viz", date, "--draw-states", "3").out.decode()) == "year: 1 2 3\n"


def names_in(line: str) -> list[str]:
    """The rules that a line of an outline names."""
    return [name for name in line.partition(":")[0].strip().split(", ") if name]


def layered_grammar(rng: random.Random) -> str:
    """Rules r0 to r5, of which each uses later ones alone."""

    def item(rule: int) -> str:
        later = rng.randint(rule + 1, 7)
        text = f"r{later}" if later < 6 else rng.choice(["'a'", "'b'", "'cd'"])
        return text + rng.choice(["", "", "", "?", "+", "*"])

    def body(rule: int) -> str:
        return " ".join(item(rule) for _ in range(rng.randint(1, 3)))

    rules = [" | ".join(body(rule) for _ in range(rng.randint(1, 3))) for rule in range(6)]
    return "\n".join(f"r{i} ::= {body};" for i, body in enumerate(rules))
