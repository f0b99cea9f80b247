"""What building a network takes grows linearly with the rules: counts of work, never times."""

# Tests here say `expected == actual`.

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product

import pytest
from support.grammars import lnf_of, nullable_lnf_of, recogniser, tree_of
from support.maximal_munch import vocabulary_of
from support.network import check_against_earley, minimal_tables

from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk.summaries import Summaries
from constrain.compiler import thresholds
from constrain.compiler.earley.tables import RulePaths
from constrain.compiler.frontend import Parser
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.network import cutsets
from constrain.compiler.network.cutsets import SEARCHED
from constrain.compiler.network.from_tree import numbered
from constrain.compiler.network.precompute import precompute_summaries
from constrain.compiler.network.tree_plan import procedures_of
from constrain.compiler.network.tree_rules import Rules
from constrain.compiler.pipeline import build_engine


def nested_rules(count: int) -> str:
    """Rules that nest themselves, each of which may go on with the next one."""
    rules = [f"r{i} ::= '(' r{i} ')' | 'x{i}' r{i + 1};" for i in range(count)]
    return " ".join(["start ::= r0;", *rules, f"r{count} ::= 'y';"])


def object_rules(count: int) -> str:
    """Objects whose fields may be others of them: all call one another."""
    rules = [
        f"""o{i} ::= '{{' '"a{i}":' (o{(7 * i + 1) % count} | text) ("," '"b":'
        (o{(5 * i + 3) % count} | text))? '}}';"""
        for i in range(count)
    ]
    return " ".join(["start ::= o0;", *rules, "text ::= #'\"[a-z]*\"';"])


def optional_keys(count: int) -> str:
    """Keys that may be missing, in order, in an object that may be their value."""
    rules = [f"r{i} ::= (',k{i}:' value)? r{i + 1};" for i in range(count)]
    value = "value ::= '0' | start;"
    return " ".join(["start ::= '{' value r0 '}';", *rules, f"r{count} ::= '';", value])


FAMILIES = (nested_rules, object_rules, optional_keys)


@pytest.fixture(name="work")
def _work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls that are followed, from here on."""
    counts: Counter[str] = Counter()
    components = cutsets.strongly_connected

    def counting(uses: list[list[int]], without: int | None = None) -> object:
        counts["components"] += 1
        counts["followed"] += len(uses) + sum(map(len, uses))
        return components(uses, without)

    monkeypatch.setattr(cutsets, "strongly_connected", counting)
    return counts


def rules_of(text: str) -> Rules:
    """The numbered rules of a kbnf grammar."""
    return numbered(without_exceptions(tree_of(text), LIMITS), LIMITS)


LIMITS = Limits()


def test_rules_that_nest_themselves_are_planned_at_once(work: Counter[str]) -> None:
    """Components are looked for a few times, not once for each pair of rules."""
    found = procedures_of(rules_of(nested_rules(100)))
    assert len(found) == 100
    assert work["components"] < 5 * 100
    assert work["followed"] < 20 * 100


@pytest.mark.parametrize("family", [nested_rules, object_rules])
def test_work_grows_with_the_rules(family: Callable[[int], str], work: Counter[str]) -> None:
    """A rule takes no more work where there are more of them."""
    for count in (40, 160):
        work.clear()
        assert minimal_tables(family(count)).states < 50 * count
        assert work["followed"] < 50 * count


@pytest.mark.parametrize("family", [nested_rules, object_rules])
def test_rules_of_a_production_are_looked_for_nearby(family: Callable[[int], str]) -> None:
    """Not among all that its rule may use, which are all rules."""
    lnf = nullable_lnf_of(family(300))
    paths = RulePaths(lnf)
    for production in lnf.productions:
        paths.of(production)
    assert max(len(found) for found, _ in paths._searches.values()) < 150


@pytest.mark.parametrize("family", [nested_rules, object_rules])
def test_rules_of_a_production_come_nearest_first(family: Callable[[int], str]) -> None:
    """A search that ends early gives the order of one that goes everywhere."""
    lnf = nullable_lnf_of(family(50))
    near, whole = RulePaths(lnf), RulePaths(lnf)
    for rule in whole.names:
        whole._distances_from(rule, {"nowhere"})
    for production in lnf.productions:
        assert near.of(production) == whole.of(production)


def test_rules_that_are_jumped_to_are_not_built() -> None:
    """Optional keys make two automata: the object and its keys, and not one for each rest."""
    assert minimal_tables(optional_keys(30)).states < 300


def object_ring(count: int) -> str:
    """Objects that hold the next one, and may hold another: most are named once."""
    rules = [
        f"""o{i} ::= '{{' '"k":' (o{(i + 1) % count} | text | number)
        (',"m{i}":' o{(i * i + 3) % count})? '}}';"""
        for i in range(count)
    ]
    terminals = "text ::= #'\"[^\"\\\\\\x00-\\x1f]*\"'; number ::= #'-?[0-9]+';"
    return " ".join(["start ::= o0;", *rules, terminals])


def test_objects_in_a_ring_are_a_network_of_linearly_many_states() -> None:
    """What is copied is counted with what it copies itself, also where all rules are one cycle."""
    for count in (100, 300):
        found = build_engine(object_ring(count), dialect="kbnf")
        assert isinstance(found, Parser)
        assert found.network is not None
        assert found.network.states < 40 * count


def test_hundreds_of_objects_are_a_network() -> None:
    """The engine is chosen by the automaton of one rule, not by all of them."""
    key = "k" * 300
    rules = [f"o{i} ::= '{{' '{i}{key}' (o{i} | o{(i + 1) % 70}) '}}' | '0';" for i in range(70)]
    found = build_engine(" ".join(["start ::= o0;", *rules]), dialect="kbnf")
    assert isinstance(found, Parser)
    assert found.network is not None
    assert found.network.states > 20_000


@pytest.mark.parametrize("family", (nested_rules, optional_keys))
def test_long_chains_of_rules_are_a_network(
    family: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though rules that only follow each other are one automaton, as large as their text."""
    monkeypatch.setattr(thresholds, "NETWORK_STATES", 100)
    found = build_engine(family(100), dialect="kbnf")
    assert isinstance(found, Parser)
    assert found.network is not None
    assert len(found.network.accepting) > 400


@pytest.mark.parametrize("count", [SEARCHED // 2, SEARCHED + 10])
@pytest.mark.parametrize("family", FAMILIES)
def test_large_grammars_are_read_as_by_earley(family: Callable[[int], str], count: int) -> None:
    """Components that are searched and those that are not give the same language."""
    text = family(count)
    found = Network(minimal_tables(text, Limits()))
    check_against_earley(found, lnf_of(text), random.Random(count), text[:60])


@pytest.mark.parametrize("seed", range(20))
def test_procedures_break_all_framed_cycles(seed: int) -> None:
    """Random rules that call each other, in components of all sizes: without the procedures no
    call with a frame comes back to its rule."""
    rng = random.Random(seed)
    count = rng.choice([5, 20, 30, 60])
    rules = [
        f"r{i} ::= "
        + " | ".join(
            f"'{rng.choice('ab')}{i}' r{rng.randrange(count)} {rng.choice(['', 'z'])!r}"
            for _ in range(rng.randrange(1, 3))
        )
        + " | '0';"
        for i in range(count)
    ]
    text = " ".join(["start ::= 'a' r0 'b';", *rules])
    rules = rules_of(text)
    procedures, rest, framed = procedures_of(rules), dict[int, set[int]](), dict[int, set[int]]()
    for rule in rules.reached:
        uses = rules.uses(rule)
        rest[rule], framed[rule] = set(uses.callees - procedures), set(uses.copies)
    for caller in rest.keys() - procedures:
        for first in framed[caller] - procedures:
            reached, pending = {first}, [first]
            while pending:
                new = rest[pending.pop()] - reached
                reached |= new
                pending += new
            assert caller not in reached


def test_readings_of_a_token_share_what_is_left_of_it() -> None:
    """A run of signs can be cut into operators in Fibonacci many ways: summaries of sets of
    suspended nodes are as many as the run has signs."""
    tables = minimal_tables("start ::= e; e ::= 'x' | '(' e ')' | ('+'|'++'|'+-') e '.';")
    sizes = []
    for longest in (4, 8):
        lengths = range(1, longest + 1)
        tokens = [bytes(signs) for n in lengths for signs in product(b"+-", repeat=n)]
        trie = partial(Trie.from_vocabulary, vocabulary_of(tokens))
        summaries = Summaries(TableStates(tables), trie, len(tokens) + 1)
        effort = Effort(Limits().started(), ())
        assert precompute_summaries(tables, summaries, 1_000, 1 << 30, effort)
        sizes.append(len(summaries.found))
    assert sizes[1] < 2.2 * sizes[0]


# A comment may end after each of its characters: what follows may have begun anywhere in it.
COMMENTS = r"""
start ::= ws (function ws)*;
function ::= 'int' ws name ws '(' ws (list ws)? ')' ws block;
list ::= 'int' ws name (ws ',' ws 'int' ws name)*;
block ::= '{' ws (statement ws)* '}';
statement ::= block | 'if' ws '(' ws e ws ')' ws statement | e ws ';' | 'int' ws name ws ';';
e ::= e ws '+' ws e | name | '(' ws e ws ')' | name ws '(' ws e ws ')';
name ::= #'[a-z]+';
ws ::= (#'[ \\n]+' | #'//[^\\n]*')*;
"""
PROGRAM = b"int f ( int a, // int b\n int b) { // note (\n a + g(b); if (a) { int c; } // x\n }"


def test_comments_are_called() -> None:
    """What a comment overlaps with is distinguished by threads, not by powers of states."""
    tables = minimal_tables(COMMENTS, Limits(states=2000))
    assert "ws" in {name.split("/")[0] for name in tables.names}
    assert tables.states < 400


def test_comments_are_read_as_by_earley() -> None:
    """Random changes of a text are as viable as Earley says."""
    rng = random.Random(5)
    found, earley = Network(minimal_tables(COMMENTS)), recogniser(lnf_of(COMMENTS))
    assert found.viable(PROGRAM) == len(PROGRAM)
    for _ in range(60):
        text = bytearray(PROGRAM)
        for _ in range(rng.randint(1, 3)):
            text[rng.randrange(len(text))] = rng.choice(b"a+(){};,/ \n")
        earley.truncate(0)
        assert earley.feed(text) == found.viable(text), bytes(text)
        reached = found.read(found.start, text[: len(earley)])
        assert earley.is_accepting == found.may_end(reached), bytes(text)
