"""DFAs straight from the tree, where rules share so much that each cannot be built by itself."""

# Tests here say `expected == actual`.

import random

import numpy as np
import pytest
from support.grammars import random_grammars, tree_of

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, frontend
from constrain.compiler.automata.dfa import trimmed
from constrain.compiler.automata.minimize import minimal, minimize
from constrain.compiler.diagnostics import LimitError, NotRegularError
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.network.from_tree import dfa_for_masks, dfa_from_tree, numbered
from constrain.compiler.network.nesting import check_nesting
from constrain.compiler.network.tree_layout import Layout
from constrain.compiler.network.tree_rules import Rules
from constrain.compiler.pipeline import build_automaton

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
    for text, _ in random_grammars(1500 if full else 150, seed=12):
        grammar = without_exceptions(tree_of(text), LIMITS)
        rules = numbered(grammar, LIMITS)
        try:
            check_nesting(rules)
        except NotRegularError:
            continue
        found += 1
        dfa, _ = dfa_from_tree(rules, LIMITS)
        for_masks = dfa_for_masks(rules, LIMITS)
        assert for_masks is not None
        assert trimmed(for_masks).states == for_masks.states, text
        assert (dfa.table == minimize(for_masks).table).all(), text
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
    monkeypatch.setattr(frontend, "_SHARED_STATES", 0)
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
    assert artifact.manifest.kind == "byte-dfa"
    assert artifact.manifest.counts["dfa_states"] < 30 * 100
    rng = random.Random(2)
    for _ in range(3):
        chosen = sorted(rng.sample(range(100), 12))
        text = ",".join(f'"key{i}":"x"' for i in chosen)
        matcher = artifact.matcher()
        for token in default_tokenizer.encode(f"{{{text}}}"):
            matcher.advance(token)
        assert matcher.is_accepting


REGULAR = {
    "date": "start ::= #'[12][0-9]{3}' '-' (#'0[1-9]' | #'1[0-2]');",
    "list": "start ::= item | item ',' start; item ::= #'[a-z]{1,20}' | '\"' #'[^\"]*' '\"';",
    "sums": "start ::= start '+' term | term; term ::= #'[0-9]+' | 'x' term;",
    "keys": keys(20),
    "a note": "start ::= #'.{0,9}' '!'?;",
}


@pytest.mark.parametrize("text", REGULAR.values(), ids=REGULAR)
def test_the_first_mask_needs_no_minimal_automaton_and_a_file_has_it(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masks along texts are the same; what explains texts comes with the file."""
    whole = compiled(text, default_tokenizer)

    def refused(*_: object) -> None:
        raise AssertionError("it is made")

    with monkeypatch.context() as patched:
        for name in ("normalize", "to_nfa", "determinize", "minimize"):
            patched.setattr(frontend, name, refused)
        soon = compiled(text, default_tokenizer, prewarm=0)
        rng = random.Random(5)
        for _ in range(3):
            one, other = whole.matcher(), soon.matcher()
            for _ in range(30):
                assert one.mask().tobytes() == other.mask().tobytes()
                if one.is_finished:
                    break
                token = rng.choice(tokenset.to_ids(one.mask()).tolist())
                one.advance(token)
                other.advance(token)
    loaded = load_bytes(soon.to_bytes())
    sections = ["dfa.table", "dfa.classes", "dfa.accepting", "origins.ids", "origins.offsets"]
    for name in sections:
        assert np.array_equal(whole.arrays[name], loaded.arrays[name]), name
    start = whole.manifest.byte_start
    assert whole.manifest.origins == loaded.manifest.origins
    assert whole.manifest.counts["dfa_states"] == loaded.manifest.counts["dfa_states"]
    assert whole.origins_of(start) == soon.origins_of(start) != ()
    assert whole.matcher().mask().tobytes() == loaded.matcher().mask().tobytes()


def test_a_rule_that_is_used_often_is_called_for_the_first_mask_alone(
    default_tokenizer: Tokenizer,
) -> None:
    """The DFA, which would copy it, is left where it is asked for, and masks are the same."""
    items = ' "," '.join(["item"] * 400)
    text = f"""root ::= "[" {items} "]"
item ::= "<'identifier':" n ",'name':" n ">"
n ::= [0-9] | "'" [a-z]* "'"
"""
    options = {"dialect": "gbnf", "prewarm": 0}
    soon = compiled(text, default_tokenizer, **options)
    asked = compiled(text, default_tokenizer, engine="dfa", **options)
    assert (soon.manifest.kind, asked.manifest.kind) == ("network", "byte-dfa")
    assert any("is called" in note for note in soon.notes)
    counts = soon.manifest.counts, asked.manifest.counts
    assert counts[1]["dfa_states"] > 10 * counts[0]["network_states"]
    rng = random.Random(7)
    one, other = soon.matcher(), asked.matcher()
    for _ in range(60):
        assert one.mask().tobytes() == other.mask().tobytes()
        token = rng.choice(tokenset.to_ids(one.mask()).tolist())
        one.advance(token)
        other.advance(token)


def test_the_words_of_a_rule_share_their_beginnings() -> None:
    """A hundred alternatives are a trie before any subset is made."""
    words = " | ".join(f"'value-{i:03}'" for i in range(100))
    rules = Rules(without_exceptions(tree_of(f"start ::= {words};"), LIMITS), LIMITS)
    assert Layout(rules, (), LIMITS).components.states < 150


def test_what_only_the_tree_can_hold_is_in_its_file_nevertheless(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the normal form's automaton passes a limit, states know the rules behind them."""

    def refused(*_: object) -> None:
        raise LimitError("the grammar's automaton", "states", 1)

    soon = compiled(REGULAR["list"], default_tokenizer, prewarm=0)
    monkeypatch.setattr(frontend, "to_nfa", refused)
    loaded = load_bytes(soon.to_bytes())
    names = {origin.rule for origin in loaded.origins_of(loaded.manifest.byte_start)}
    assert {"item"} == names
    whole = compiled(REGULAR["list"], default_tokenizer, prewarm=0).completed
    assert np.array_equal(whole.arrays["dfa.table"], loaded.arrays["dfa.table"])


def compiled(text: str, tokenizer: Tokenizer, **options: object) -> Artifact:
    """The artifact under ``any``."""
    options = {"dialect": "kbnf", "tokenization": "any", **options}
    return compile_grammar(text, tokenizer=tokenizer, **options)
