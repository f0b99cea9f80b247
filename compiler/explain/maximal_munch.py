"""Why a text is or is not a member by maximal munch: where the lexer or the parser stops.

    text -> configurations, up to the byte that cannot be read -> bytes and lexemes that could
    follow

What could have stood there is a byte with which the lexeme goes on, and, if it may end there, the
lexemes that the parser allows after it. The rules that lie inside each other at that place are
those of Earley's recogniser over the lexemes so far.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from constrain.artifacts.earley.recogniser import Earley
from constrain.artifacts.maximal_munch.configurations import Configurations
from constrain.artifacts.maximal_munch.lexer import BETWEEN
from constrain.artifacts.maximal_munch.parser_heads import REFUSED
from constrain.artifacts.maximal_munch.tables import FIRST_LEXEME
from constrain.artifacts.network.tables import DEAD

from ..automata import regex_ir as regex
from ..automata.dump import ranges
from ..automata.regex_ir import TokenTerminal
from ..earley.tables import layout
from ..frontend import MaximalMunchGrammar
from ..grammar.expand_permutations import in_any_number
from ..lnf import normalize_without_nullable
from ..maximal_munch.any_width import OpenBlocks
from ..maximal_munch.lexemes import as_written
from .earley import path_of
from .machines import MaximalMunchMachine
from .report import Status, Verdict, common, shortened, some, verdict_of

# Lexemes that are listed at most.
_MOST_LEXEMES = 12


def explain_maximal_munch(
    machine: Configurations, text: bytes, grammar: MaximalMunchGrammar | None = None
) -> Verdict:
    """The verdict on ``text``. ``grammar``: for the rules, which are not named without it."""
    found, configuration = verdict_of(MaximalMunchMachine(machine), text)
    state = machine.lexer_state(configuration)
    row = [DEAD] * 256
    if state != BETWEEN:
        steps = machine.lexer.rows[state]
        row = [steps[octet] for octet in range(256)]
    path: tuple[str, ...] = ()
    if grammar is not None and found.status is not Status.ACCEPTED:
        path = _path(machine, grammar, text[: found.offset])
    begun = ranges(octet for octet, target in enumerate(row) if target > DEAD)
    return replace(
        found,
        # Without the grammar's text lexemes have no names.
        expected=found.following if grammar is None else begun,
        path=path,
        terminals=_lexemes(machine, machine.head_after(configuration), row),
        begun=_begun(machine, state, row),
    )


def _begun(
    machine: Configurations, state: int, row: list[int]
) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
    """The lexemes that are being read and go on, and the bytes with which they do."""
    lexer, found = machine.lexer, dict[str, list[int]]()
    for octet, target in enumerate(row):
        for lexeme in sorted(lexer.lexemes(target)) if target > DEAD else ():
            if text := lexer.tables.texts[lexeme]:
                found.setdefault(text, []).append(octet)
    return tuple((text, ranges(sorted(set(octets)))) for text, octets in found.items())[
        :_MOST_LEXEMES
    ]


def _lexemes(machine: Configurations, head: int, row: list[int]) -> tuple[str, ...]:
    """What may begin after the lexeme, with a byte that this one cannot read."""
    if head == REFUSED:
        return ()
    lexer, found = machine.lexer, list[str]()
    for lexeme in [*sorted(machine.heads.view(head).allowed), *sorted(lexer.ignored)]:
        begin = lexer.tables.dfas.table[lexer.tables.dfas.starts[lexeme]][lexer.columns].tolist()
        text = lexer.tables.texts[lexeme]
        if (
            text
            and text not in found
            and any(b != DEAD and r == DEAD for b, r in zip(begin, row, strict=True))
        ):
            found.append(text)
    return some(found, _MOST_LEXEMES)


def _path(machine: Configurations, grammar: MaximalMunchGrammar, text: bytes) -> tuple[str, ...]:
    """The rules that lie inside each other after ``text``, which can be read."""
    earley, lexer = _recogniser(grammar), machine.lexer
    blocks = OpenBlocks(grammar.lexed.widths)

    def read(state: int) -> None:
        lexemes = lexer.accept_sets[lexer.accept_of[state]] - lexer.ignored
        _push(earley, blocks.read(lexemes))

    configuration = machine.start
    for octet in text:
        state = machine.lexer_state(configuration)
        if state != BETWEEN and lexer.rows[state][octet] == DEAD:
            read(state)
        configuration = machine.follow(configuration, (octet,))[1]
    state = machine.lexer_state(configuration)
    begun = frozenset[int]() if state == BETWEEN else lexer.lexemes(state)
    found = _waiting(earley, grammar, blocks.waiting(begun))
    head = machine.head_after(configuration)
    if head != REFUSED:
        if state != BETWEEN:
            read(state)
        found += _waiting(earley, grammar, blocks.waiting(machine.heads.view(head).allowed))
    return shortened(common(found))


def _recogniser(grammar: MaximalMunchGrammar) -> Earley:
    """Earley's recogniser over the numbers of lexemes, before any."""
    # What the machine does not allow is left out where lexemes are waited for.
    numbered = in_any_number(grammar.lexed.grammar)
    found = layout(normalize_without_nullable(numbered, merge=False))
    terminals = _Lexemes(found.nodes)
    return Earley(found.tables, terminals, terminals.states)


class _Lexemes:
    """The methods of ``StackedDfas`` for terminals that are each one of some lexemes: a table would
    have a column for each of thousands."""

    def __init__(self, nodes: Sequence[regex.Node]) -> None:
        # In front of terminal t is state 2t + 1, after it the one that follows.
        self._symbols = [DEAD]
        for node in nodes:
            parts = {part.index for part in regex.walk(node) if isinstance(part, TokenTerminal)}
            self._symbols += [sum(1 << FIRST_LEXEME + index for index in parts), 0]

    @property
    def states(self) -> int:
        """How many there are, the dead one included."""
        return len(self._symbols)

    def start(self, terminal: int) -> int:
        """The state before a terminal."""
        return 2 * terminal + 1

    def step(self, state: int, symbol: int) -> int:
        """The state after a symbol."""
        return state + 1 if self._symbols[state] >> symbol & 1 else DEAD

    def accepts(self, state: int) -> bool:
        """Whether the terminal may end here."""
        return state != DEAD and not state & 1

    def next_symbols(self, state: int) -> int:
        """The symbols that lead on, as bits."""
        return self._symbols[state]


def _push(earley: Earley, lexemes: Iterable[int]) -> None:
    """Read a lexeme, whichever of these it was; ignored ones are left out."""
    base = len(earley)
    symbols = [FIRST_LEXEME + lexeme for lexeme in sorted(lexemes)]
    if symbols:
        earley.push(symbols[0], [(base, symbol) for symbol in symbols[1:]])


def _waiting(
    earley: Earley, grammar: MaximalMunchGrammar, lexemes: Iterable[int]
) -> list[list[str]]:
    """The rules around each place that waits for one of these lexemes."""
    wanted = sum(1 << FIRST_LEXEME + lexeme for lexeme in lexemes)
    symbols, names = earley.tables.symbols, {rule.name for rule in grammar.grammar.rules}
    return [
        [name for name in as_written(path_of(earley, item), grammar.lexed.grammar) if name in names]
        for item in earley.items(len(earley))
        if symbols[item[0]] < 0 and earley.terminals.next_symbols(item[1]) & wanted
    ]
