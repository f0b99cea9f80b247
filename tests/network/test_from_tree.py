"""Networks straight from the tree: the same language and masks as by way of the normal form."""

# Tests here say `expected == actual`.

import random
import re

import numpy as np
import pytest
from support.grammars import (
    ARITHMETIC,
    JSON,
    MARKUP,
    SAMPLES,
    STATEMENTS,
    lnf_of,
    nullable_lnf_of,
    random_grammar,
    random_grammars,
    tree_of,
)
from support.network import check_against_earley, inline_up_to, made
from support.normal_form.network import network

from constrain.artifacts.container.sections import is_acyclic
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler import Tokenizer, frontend, thresholds
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.lnf.components import components
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.network import components as subsets
from constrain.compiler.network import from_tree
from constrain.compiler.network.from_tree import network_from_tree, numbered
from constrain.compiler.network.minimal_network import minimal_network
from constrain.compiler.network.nesting import check_nesting
from constrain.compiler.network.tree_plan import procedures_of
from constrain.compiler.network.tree_rules import Rules
from constrain.compiler.pipeline import build_engine


def rules_of(text: str) -> Rules:
    """The numbered rules of a kbnf grammar."""
    return numbered(without_exceptions(tree_of(text), LIMITS), LIMITS)


LIMITS = Limits()


@pytest.mark.parametrize("plan", ["copies", "calls", "overlapping"])
def test_random_grammars_are_read_as_by_earley(
    plan: str, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Whatever is called, whatever is copied: viable prefixes and members are Earley's, also of
    the minimal network. A frame can read on, no callee matches ε, and first calls end."""
    if plan == "calls":
        inline_up_to(monkeypatch, 0)
    if plan == "overlapping":
        monkeypatch.setattr(thresholds, "SETS_OF_A_STATE", 0)
        monkeypatch.setattr(thresholds, "LARGE_STATES", 3)
    rng = random.Random(8)
    read = called = 0
    for text, lnf in random_grammars(1500 if full else 14, seed=43):
        rules = rules_of(text)
        tables = network_from_tree(rules, LIMITS)
        read += 1
        called += len(tables.names) > 1
        check_sound(tables)
        assert lnf.nullable_start == tables.nullable_start
        for found in (tables, minimal_network(tables, LIMITS)):
            check_against_earley(Network(found), lnf, rng, text)
    assert read > 5
    assert called


def test_procedures_that_start_alike_keep_their_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that calls two procedures of one start with different frames is no automaton's."""
    inline_up_to(monkeypatch, 0)
    tables = network_from_tree(
        rules_of("s ::= (#'a+b?' | s) y s x | 'b'*; x ::= #'a+b?' | 'c'; y ::= '' '' | x;"), LIMITS
    )
    assert any(len({start for start, _ in calls}) < len(calls) for calls in tables.calls)
    for found in (tables, minimal_network(tables, LIMITS)):
        network = Network(found)
        for text in (b"", b"a", b"c", b"ab", b"ac", b"bca"):
            assert network.may_end(network.read(network.start, text)), text


def check_sound(tables: NetworkTables) -> None:
    """What walks rely on."""
    assert not tables.accepting[tables.call_starts].any()
    callers = np.repeat(np.arange(tables.states), np.diff(tables.call_offsets))
    assert is_acyclic(tables.states, callers, tables.call_starts)
    assert all(tables.table[frame].any() or tables.calls[frame] for frame in tables.frames)


@pytest.mark.parametrize("text", [JSON, ARITHMETIC, STATEMENTS], ids=["json", "sums", "code"])
def test_masks_are_those_of_the_normal_forms_network(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit by bit along random walks, lazily and precomputed."""
    lazy = made(text, default_tokenizer, engine="network", prewarm=0)
    ahead = made(text, default_tokenizer, engine="network")

    def network_via_normal_form(rules: Rules, *_: object, **__: object) -> NetworkTables:
        return network(normalize(rules.grammar))

    monkeypatch.setattr(from_tree, "network_from_tree", network_via_normal_form)
    artifacts = [made(text, default_tokenizer, engine="network"), lazy, ahead]
    rng = random.Random(text)
    masks = 0
    for _ in range(5):
        matchers = [artifact.matcher() for artifact in artifacts]
        for _ in range(40):
            rows = [matcher.mask().copy() for matcher in matchers]
            masks += 1
            assert all(np.array_equal(rows[0], row) for row in rows)
            allowed = np.flatnonzero(np.unpackbits(rows[0].view(np.uint8), bitorder="little"))
            token = int(rng.choice(allowed.tolist()))
            for matcher in matchers:
                matcher.advance(token)
            if matchers[0].is_finished:
                break
    assert masks > 60


@pytest.mark.parametrize("text", [JSON, MARKUP, STATEMENTS], ids=["json", "markup", "code"])
def test_the_minimal_network_is_no_larger_than_the_normal_forms(text: str) -> None:
    """What is precomputed costs no more than it did."""
    direct = minimal_network(network_from_tree(rules_of(text), LIMITS), LIMITS)
    assert direct.states <= network(nullable_lnf_of(text)).states
    found = Network(direct)
    assert found.viable(SAMPLES[text]) == len(SAMPLES[text])


def test_what_a_list_repeats_is_written_once() -> None:
    """In "x (y x)*" what is in front of the loop and what ends it is one copy: nested lists of
    lists, as operators of several ranks are, do not double with each."""
    text = """
        start ::= sum ';';
        sum ::= product (('+' | '-') product)*;
        product ::= power (('*' | '/') power)*;
        power ::= operand ('^' operand)*;
        operand ::= #'[a-z]+' | #'[0-9]+' '.' #'[0-9]+' | '(' sum ')';
    """
    tables = network_from_tree(rules_of(text), LIMITS)
    assert tables.states < minimal_network(tables, LIMITS).states * 3 // 2


def keys_by_rules(count: int) -> str:
    """Optional keys in a fixed order, as a schema is translated."""
    rules = ["start ::= '{' m0 '}';", f"m{count} ::= ''; c{count} ::= '';"]
    for i in range(count):
        rules.append(f"m{i} ::= '\"key{i}\":' v c{i + 1} | m{i + 1};")
        rules.append(f"c{i} ::= ',\"key{i}\":' v c{i + 1} | c{i + 1};")
    return "\n".join([*rules, "v ::= #'[0-9]+' | start;"])


def keys_in_a_row(count: int) -> str:
    """The same in one rule, with white space that may be missing."""
    keys = " ".join(f"(ws ',' ws '\"key{i}\":' v)?" for i in range(count))
    return f"start ::= '{{' '\"id\":' v {keys} '}}'; v ::= #'[0-9]+' | start; ws ::= #'[ \\n]*';"


def keys_before_space(count: int) -> str:
    """The same by rules, with white space in front of all that may follow."""
    rules = ["start ::= '{' ws m0 ws '}';", f"m{count} ::= ''; c{count} ::= ''; ws ::= #'[ \\n]*';"]
    for i in range(count):
        rules.append(f"m{i} ::= '\"key{i}\":' v ws c{i + 1} | m{i + 1};")
        rules.append(f"c{i} ::= ',' ws '\"key{i}\":' v ws c{i + 1} | c{i + 1};")
    return "\n".join([*rules, "v ::= #'[0-9]+' | start;"])


def keys_by_rests(count: int) -> str:
    """The same as llama.cpp's converter writes it: a choice of the first key, and rests."""
    first = " | ".join(f"kv{i} rest{i}" for i in range(count))
    rules = [f"start ::= '{{' ({first})? '}}'; v ::= #'[0-9]+' | start; rest{count - 1} ::= '';"]
    rules += [f"kv{i} ::= '\"key{i}\":' v;" for i in range(count)]
    rules += [f"rest{i} ::= (',' kv{i + 1})? rest{i + 1};" for i in range(count - 1)]
    return "\n".join(rules)


FAMILIES = (keys_by_rules, keys_in_a_row, keys_before_space, keys_by_rests)


@pytest.mark.parametrize("family", FAMILIES)
def test_optional_keys_take_linear_work(family: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the keys: four times the sets of states and the runs that they read by."""
    work: list[subsets.StateLists] = []

    lists_asked_for = [0]

    class Counted(subsets.StateLists):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            work.append(self)
            lists_asked_for[0] = 0

        def _list(self, head: int, rest: int) -> int:
            lists_asked_for[0] += 1
            return super()._list(head, rest)

    monkeypatch.setattr(subsets, "StateLists", Counted)
    counts = []
    for count in (50, 200):
        work.clear()
        tables = network_from_tree(rules_of(family(count)), LIMITS)  # type: ignore[operator]
        (lists,) = work
        runs = sum(len(runs or ()) for runs in lists._runs)
        counts.append((lists.count, runs, tables.states, lists_asked_for[0]))
    small, large = counts
    # Keys have numbers, of one more digit.
    assert all(after < 5 * before for before, after in zip(small, large, strict=True))
    assert large[2] < 50 * 200


@pytest.mark.parametrize("family", FAMILIES)
def test_optional_keys_are_read_as_by_earley(family: object) -> None:
    """What is left out, and what stands in another order."""
    text = family(6)  # type: ignore[operator]
    found, earley = Network(network_from_tree(rules_of(text), LIMITS)), lnf_of(text)
    from support.grammars import recogniser

    recognised = recogniser(earley)
    rng = random.Random(1)
    for _ in range(60):
        chosen = [i for i in range(6) if rng.random() < 0.5]
        if rng.random() < 0.3:
            rng.shuffle(chosen)
        keys = [f'"key{i}":{rng.choice(["7", "{}"])}' for i in chosen]
        keys = ['"id":1', *keys] if family is keys_in_a_row else keys
        word = f"{{{','.join(keys)}}}".encode()
        recognised.truncate(0)
        assert recognised.feed(word) == found.viable(word), word


def test_the_verdict_on_nesting_is_the_normal_forms(full: bool) -> None:
    """Which grammars are regular, and which have no member, is decided as it was."""
    rng = random.Random(3)
    nested = 0
    for _ in range(3000 if full else 150):
        text = random_grammar(rng)
        grammar = without_exceptions(tree_of(text), LIMITS)
        rules = Rules(grammar, LIMITS)
        try:
            lnf = normalize(grammar)
        except CheckError:
            assert rules.is_empty, text
            continue
        assert not rules.is_empty, text
        assert (refusal(lambda lnf=lnf: components(lnf)) == "") == (
            refusal(lambda rules=rules: check_nesting(rules)) == ""
        ), text
        nested += refusal(lambda rules=rules: check_nesting(rules)) != ""
    assert nested > 50


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        ARITHMETIC,
        MARKUP,
        STATEMENTS,
        "start ::= 'x' (a | 'y')+; a ::= '(' (start b)? ')'; b ::= ('z' start)*;",
    ],
)
def test_the_rule_that_nests_is_named_as_by_the_normal_form(text: str) -> None:
    """With the rules on the way back to it, wherever that begins."""
    named = refusal(lambda: check_nesting(rules_of(text)))
    expected = refusal(lambda: components(nullable_lnf_of(text)))
    assert set(re.findall(r"\w+", expected)) == set(re.findall(r"\w+", named))
    assert "nests itself" in named


def refusal(decide: object) -> str:
    """Why a grammar is not regular, empty if it is."""
    try:
        decide()  # type: ignore[operator]
    except NotRegularError as error:
        return error.diagnostics[0].message
    return ""


def test_first_masks_need_no_normal_form(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor Earley's tables, where no masks are precomputed; files have them."""
    whole = made(JSON, default_tokenizer, engine="network", prewarm=0).to_bytes()

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a normal form is made")

    with monkeypatch.context() as patch:
        patch.setattr(from_tree, "normalize", refused)
        patch.setattr(frontend, "normalize", refused)
        patch.setattr(frontend, "normalize_without_nullable", refused)
        artifact = made(JSON, default_tokenizer, engine="network", prewarm=0)
        assert artifact.manifest.kind == "network"
        matcher = artifact.matcher()
        for token in default_tokenizer.encode('{"a": [1]}'):
            matcher.advance(token)
        assert matcher.is_accepting
    assert "earley.symbols" not in artifact.arrays
    assert "earley.symbols" in artifact.completed.arrays
    assert artifact.completed.manifest.counts["productions"] > 10
    assert len(artifact.to_bytes()) == pytest.approx(len(whole), abs=200)
    recogniser = artifact.runtime.recogniser()  # type: ignore[attr-defined]
    assert recogniser.feed(b"[1, x]") == 4


def test_what_ends_with_a_byte_of_its_own_is_called() -> None:
    """A large string is, and a number, which may go on where it ends, is copied."""
    text = r"""start ::= '[' (item (',' item)*)? ']';
    item ::= s | n | start | s ':' n | s '=' n ';';
    s ::= '"' ('abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz' | #'[0-9]{900}')* '"';
    n ::= #'-?[0-9]{1,300}';"""
    rules = rules_of(text)
    called = {rules.names[rule] for rule in procedures_of(rules)}
    assert "s" in called
    assert "n" not in called


def test_a_text_that_stands_in_several_places_is_called_where_nothing_else_begins_so() -> None:
    """Not where a literal stands in its place, nor an item of a loop, nor what has no loop."""
    rules = rules_of(
        """
        start ::= '[' (text ',' | number) text other | 'x' start 'y';
        text ::= '"' char* '"'; char ::= 'a' | 'b' | '%' 'hex' 'hex';
        number ::= 'n' digits 'one' | 'm' digits 'two';
        digits ::= '1' ('234' | '5678')* ';';
        other ::= '{' ('key=' | 'k' key) '}' | '(' ('kay=' | key) ')' | '/' char;
        key ::= 'k' ('1' | '2')+ '=';
        """
    )
    more = procedures_of(rules, frozenset(), 5) - procedures_of(rules)
    assert {rules.names[rule] for rule in more} == {"text", "digits"}


def test_a_count_that_is_too_large_is_named() -> None:
    """The rule and the part of it, before the states are made: where tokens are named, which are
    not counted."""
    text = 'root ::= "(" root? ")" | (item ","){9000000}\nitem ::= "x" | "y" item? | <t>'
    with pytest.raises(LimitError) as error:
        build_engine(text, dialect="gbnf", engine="network")
    assert error.value.rules == ("root",)
    assert error.value.part.endswith('","){9000000}')


def test_no_state_is_a_dead_end() -> None:
    """Also where assertions and exceptions leave states that reach no end."""
    text = "start ::= '(' start ')' | #'(x?^a)+b' | except!('bb', 3) 'c';"
    tables = network_from_tree(rules_of(text), LIMITS)
    going_on = tables.accepting.astype(bool)
    for _ in range(tables.states):
        calls = [any(going_on[frame] for _, frame in calls) for calls in tables.calls]
        going_on = going_on | going_on[tables.table].any(axis=1) | np.array(calls)
    assert going_on[1:].all()


def test_what_several_rules_end_with_is_called_where_copies_would_multiply() -> None:
    """Definitions whose last parts are others: those are copied with what they end with."""

    def grammar(count: int) -> str:
        rules = ["d0 ::= '{\"last\":0}';", f"start ::= d{count - 1};"]
        for i in range(1, count):
            inside = f"'\"number{i}\":' #'[0-9]{{9}}' (',\"a\":' d{i - 1})?"
            rules.append(f"d{i} ::= '{{' m{i} '}}'; m{i} ::= k{i} (',\"b\":' d{i // 2})?;")
            rules.append(f"k{i} ::= {inside};")
        return "\n".join(rules)

    small, large = (network_from_tree(rules_of(grammar(n)), LIMITS).states for n in (10, 40))
    assert large < 6 * small


def test_the_limit_of_states_is_about_those_of_the_network() -> None:
    """Automata before the subset construction have more: states that read nothing."""
    text = keys_before_space(30)
    states = network_from_tree(rules_of(text), LIMITS).states

    assert states == network_from_tree(rules_of(text), Limits(states=states)).states
    with pytest.raises(LimitError):
        network_from_tree(rules_of(text), Limits(states=states - 2))
