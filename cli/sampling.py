"""Where ``sample`` takes members from.

a DFA       uniform over texts, by its counts, if the grammar is regular; over readings where
            repetitions are counted whose copies would be too many
a network   uniform over readings, by its counts; of a grammar read by maximal munch those members
            of its network that the lexer accepts as well
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, cast

from constrain.artifacts.errors import visible

from .compiling import (
    counted_network,
    recogniser_of,
    refuse_tokens,
    say_depth,
    subject_of,
    with_automaton,
)
from .console import UsageError
from .options import Given, Meaning

if TYPE_CHECKING:
    from constrain.artifacts.network.tables import NetworkTables
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.automata.members import Counted
    from constrain.compiler.limits import Limits
    from constrain.compiler.options import CompileOptions

# So many draws in a row are tried for one that is a member by maximal munch.
_DRAWS = 100_000


class Source:
    """The members of one grammar: all of an automaton, all readings of a network are equally
    likely. ``accepts``: whether a member that is counted is meant."""

    def __init__(
        self, members: "Counted", accepts: Callable[[bytes], bool] = lambda _: True
    ) -> None:
        self._members, self._accepts = members, accepts

    def nothing(self, at_most: int) -> str | None:
        """Why no member has at most so many bytes; None if one may have."""
        return too_short(at_most) if self._members.least(at_most) is None else None

    def shortest(self, at_most: int) -> bytes | None:
        """The shortest member, None if it has more than so many bytes."""
        return next(self.up_to(at_most), None)

    def draws(self, number: int, at_most: int, seed: int) -> Iterator[bytes]:
        """Independent draws."""
        drawn = self._members.draws(at_most, seed)
        for _ in range(number):
            found = next(filter(self._accepts, islice(drawn, _DRAWS)), None)
            if found is None:
                raise UsageError(
                    f"none of {_DRAWS:,} texts that were drawn is a member by maximal munch; "
                    "another --max-bytes may help, or --all"
                )
            yield found

    def up_to(self, at_most: int) -> Iterator[bytes]:
        """The members of at most so many bytes, by length, then by bytes."""
        return filter(self._accepts, self._members.up_to(at_most))


class _Regular(Source):
    """Those of an automaton, whose shortest member, ``least``, is found without counts."""

    def __init__(self, members: "Counted", least: bytes | None) -> None:
        super().__init__(members)
        self._least = least

    def nothing(self, at_most: int) -> str | None:
        if self._least is None:
            return "the grammar has no member"
        return None if len(self._least) <= at_most else too_short(at_most, len(self._least))

    def shortest(self, at_most: int) -> bytes | None:
        return self._least if self._least is not None and len(self._least) <= at_most else None


def source_of(path: str, given: Given, limits: "Limits") -> Source:
    """The members of the grammar or artifact at ``path``; token terminals are refused."""
    found = with_automaton(subject_of(path, given), limits)
    if isinstance(found, str):
        return _of_grammar(found, path, given.compile_options(path, limits))
    from constrain.artifacts.kinds.met_states import MetStatesRuntime
    from constrain.artifacts.kinds.network import NetworkGrammar
    from constrain.compiler.automata.dfa import from_tables
    from constrain.compiler.machine.whole_tables import network_in

    if found.is_regular:
        return _regular(from_tables(found.byte_dfa), path, limits)
    runtime = found.runtime
    is_met = isinstance(runtime, MetStatesRuntime) and not runtime.grows
    if is_met or isinstance(runtime, NetworkGrammar):
        return _nesting(network_in(found, limits), path, limits)
    m = found.manifest
    if m.source is None:
        raise UsageError(
            f"{visible(path)}: members of an artifact of the kind {m.kind} are drawn by its "
            "grammar, which was left out"
        )
    named = replace(given.as_in(m), meaning=cast("Meaning", m.meaning))
    return _of_grammar(m.source, path, named.compile_options(path, limits))


def _of_grammar(text: str, path: str, wanted: "CompileOptions") -> Source:
    from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, Parser
    from constrain.compiler.maximal_munch.to_dfa import accepts, text_machine

    limits = wanted.limits
    counted = counted_network(text, path, wanted)
    # Orders of parts are not counted.
    if counted is not None and not counted.some_counters.set_rules:
        return _nesting(counted, path, limits)
    found = recogniser_of(text, path, replace(wanted, parser="network"))
    say_depth(found, wanted)
    if isinstance(found, Automaton):
        return _regular(found.dfa, path, limits)
    if not isinstance(found, MaximalMunchGrammar):
        assert found.network is not None
        return _nesting(found.network, path, limits)
    # What maximal munch reads can be cut up exactly, too: its members are some of those.
    machine = text_machine(found.tables)
    exact = replace(wanted, meaning="exact", engine="network")
    whole = recogniser_of(text, path, exact)
    assert isinstance(whole, Parser)
    assert whole.network is not None
    return _nesting(whole.network, path, limits, partial(accepts, machine))


def _regular(dfa: "Dfa", path: str, limits: "Limits") -> Source:
    from constrain.compiler.automata.dfa import trimmed
    from constrain.compiler.automata.members import Members, shortest
    from constrain.compiler.progress import Step

    if dfa.token_columns:
        refuse_tokens(path)
    with Step("count"):
        # Artifacts of strangers have states without a way to the end.
        return _Regular(Members(dfa, limits), shortest(trimmed(dfa)))


def _nesting(
    tables: "NetworkTables",
    path: str,
    limits: "Limits",
    accepts: Callable[[bytes], bool] = lambda _: True,
) -> Source:
    from constrain.compiler.network.members import NetworkMembers
    from constrain.compiler.progress import Step

    if tables.terminals:
        refuse_tokens(path)
    with Step("count"):
        return Source(NetworkMembers(tables, limits), accepts)


def too_short(at_most: int, least: int | None = None) -> str:
    """What to say where no member is so short."""
    shortest = "" if least is None else f", the shortest has {least}"
    return f"no member has at most {at_most} bytes{shortest}; raise --max-bytes"
