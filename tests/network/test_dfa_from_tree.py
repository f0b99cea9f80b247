"""DFAs straight from the tree, where rules share so much that each cannot be built by itself."""

# Tests here say `expected == actual`.

import random

import pytest
from support.automata import build_automaton
from support.grammars import random_grammars, tree_of

from constrain.artifacts import Artifact
from constrain.compiler import Tokenizer, compile_grammar, frontend, thresholds
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.diagnostics import NotRegularError
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.network.from_tree import dfa_from_tree, numbered
from constrain.compiler.network.nesting import check_nesting
from constrain.compiler.network.tree_layout import Layout
from constrain.compiler.network.tree_rules import Rules

LIMITS = Limits()


def keys(count: int) -> str:
    """Optional keys in a fixed order, a rule for what may follow each, with a comma or without."""
    rules = ["start ::= '{' m0 '}';", f"m{count} ::= ''; c{count} ::= '';"]
    for i in range(count):
        rules.append(f"m{i} ::= '\"key{i}\":' v c{i + 1} | m{i + 1};")
        rules.append(f"c{i} ::= ',\"key{i}\":' v c{i + 1} | c{i + 1};")
    return "\n".join([*rules, "v ::= #'[0-9]+' | '\"' #'[a-z]*' '\"';"])


def test_random_grammars_have_the_dfa_of_the_normal_form(full: bool) -> None:
    """State for state, as minimal automata are numbered by their language alone."""
    found = 0
    for text, _ in random_grammars(1500 if full else 75, seed=12):
        grammar = without_exceptions(tree_of(text), LIMITS)
        rules = numbered(grammar, LIMITS)
        try:
            check_nesting(rules)
        except NotRegularError:
            continue
        found += 1
        dfa, _ = dfa_from_tree(rules, LIMITS)
        expected = minimal(to_nfa(normalize(grammar))[0])
        assert (expected.table == dfa.table).all(), text
        assert (expected.accepting == dfa.accepting).all(), text
        assert (expected.classes == dfa.classes).all(), text
    assert found > 20


def test_chains_of_optional_keys_are_as_by_the_normal_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same automaton, and states know rules whose text may follow."""
    expected = build_automaton(keys(9), dialect="kbnf").dfa
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    found = build_automaton(keys(9), dialect="kbnf")
    assert (expected.table == found.dfa.table).all()
    names = {found.rules[origin] for origin in found.dfa.origins[found.dfa.start]}
    assert {"start"} == names
    inside = found.dfa.run(b'{"key2":1,"')
    assert {"c3", "c8"} <= {found.rules[origin] for origin in found.dfa.origins[inside]}


def test_a_hundred_optional_keys_need_no_normal_form(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose rules, each built by itself, would take many times as long."""

    def refused(*_: object) -> None:
        raise AssertionError("a normal form is made")

    monkeypatch.setattr(frontend, "normalize", refused)
    artifact = compiled(keys(100), default_tokenizer)
    assert artifact.is_regular
    assert artifact.manifest.counts["dfa_states"] < 30 * 100
    rng = random.Random(2)
    for _ in range(3):
        chosen = sorted(rng.sample(range(100), 12))
        text = ",".join(f'"key{i}":"x"' for i in chosen)
        matcher = artifact.matcher()
        for token in default_tokenizer.encode(f"{{{text}}}"):
            matcher.advance(token)
        assert matcher.is_accepting


def test_the_words_of_a_rule_share_their_beginnings() -> None:
    """A hundred alternatives are a trie before any subset is made."""
    words = " | ".join(f"'value-{i:03}'" for i in range(100))
    rules = Rules(without_exceptions(tree_of(f"start ::= {words};"), LIMITS), LIMITS)
    assert Layout(rules, (), LIMITS).components.states < 150


def compiled(text: str, tokenizer: Tokenizer, **options: object) -> Artifact:
    """The artifact under ``any``."""
    options = {"dialect": "kbnf", "tokenization": "any", **options}
    return compile_grammar(text, tokenizer=tokenizer, **options)
