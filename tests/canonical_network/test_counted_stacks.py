"""Frames that count: few stacks, and tables of counters and sets that do not fit."""

# Tests here say `expected == actual`.

import numpy as np
import pytest
from support import encoded, tokenizer_of
from support.container import refused

from constrain.artifacts import Artifact
from constrain.artifacts.network.counted_stacks import CountedStacks
from constrain.artifacts.network.counts import MOST_ITEMS
from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler import compile_grammar, thresholds
from constrain.compiler.pipeline import build_engine


def network(text: str) -> NetworkTables:
    """The network of a GBNF grammar."""
    options = {"dialect": "gbnf", "tokenization": "any", "engine": "network", "prewarm": 0}
    found: NetworkTables = build_engine(f"root ::= {text}", **options).network  # type: ignore
    return found


@pytest.mark.parametrize("least", [0, 1, 5])
def test_of_counts_over_one_rest_the_least_that_is_enough_is_kept(least: int) -> None:
    """Where ends of items cannot be told, a set holds at most m + 2 stacks, however long the text
    is: the least count that is enough, those that are not, and the last item's plain frame."""
    tables = network(f'( [a-z] [a-z]* [ t]? ){{{least},900}} "." | "(" root ")"')
    found = CountedStacks(tables)
    reached = found.start
    for octet in b"that the tinta tat " * 20:
        reached = found.read(reached, [octet])
        sizes = [len(found.stacks.entries[node]) for _, node in found.threads[reached]]
        assert 0 < max(sizes) <= least + 2


def test_what_cannot_be_counted_is_copied() -> None:
    """Sets of stacks would hold as many counts as there are items whose end cannot be told."""
    assert network('( "a" | "aa" ){5,600} "." | "(" root ")"').counters is not None
    assert network('( "a" | "aa" ){500,600} "." | "(" root ")"').counters is None


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """An artifact with a counter and sets, small enough to try much with."""
    folder = tmp_path_factory.mktemp("small")
    tokenizer = tokenizer_of(folder, "ab(),", ["a b", ", a"], added=[(7, "<eos>", True)])
    text = "start ::= permute_by!(',', 'a', 'b('?, start2?, x?) ')'; start2 ::= '(' start;"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COPIED_STATES", "LARGE_STATES", "SOON_COPIED_STATES"):
            patch.setattr(thresholds, name, 0)
        return compile_grammar(
            text + " x ::= #'(b[ab]?){1,9}' '(';",
            dialect="kbnf",
            tokenizer=tokenizer,
            tokenization="canonical",
            engine="network",
            eos=["<eos>"],
            prewarm=0,
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count.items", 0),
        ("count.items", 99),
        ("count.items", "accepting"),
        ("count.items", None),
        ("count.backs", 0),
        ("count.backs", 99),
        ("count.backs", None),
        ("count.least", 0),
        ("count.least", 91),
        ("count.least", MOST_ITEMS),
        ("count.most", 0),
        ("count.most", 1),
        ("count.most", -2),
        ("count.most", MOST_ITEMS),
        ("network.call_returns", 9999),
        ("set.parts", 0),
        ("set.parts", 999),
        ("set.parts", "accepting"),
        ("set.parts", None),
        ("set.separators", 999),
        ("set.separators", "accepting"),
        ("set.adjoining", 2),
        ("set.flags", 4),
        ("set.flags", 2),
        ("set.least", 9),
        ("set.least", -1),
        ("set.most", 0),
        ("set.most", 99),
        ("set.backs", 0),
        ("set.backs", 999),
        ("set.offsets", 3),
        ("set.offsets", None),
    ],
)
@pytest.mark.quick
def test_counters_and_sets_that_do_not_fit_are_refused(
    small: Artifact, name: str, value: int | str | None
) -> None:
    """Bounds that are none, items, parts and states that are not there, parts that match ε,
    sections that are missing."""
    array = None
    if value is not None:
        array = small.arrays[name].copy()
        accepting = int(np.flatnonzero(small.arrays["network.accepting"])[0])
        array[-1] = accepting if value == "accepting" else value
        # A set with a part that is repeated does not count its parts.
        if (name, value) == ("set.flags", 2):
            least = small.arrays["set.least"].copy()
            least[-1] = 1
            assert "set.flags" in refused(encoded(small, {name: array, "set.least": least}))
            return
    assert "section" in refused(encoded(small, {name: array}))


def test_counters_elsewhere_are_refused(small: Artifact) -> None:
    """Under any tokenization repetitions are those of positions."""
    assert "section" in refused(encoded(small, None, {"tokenization": "any"}))
