"""Flatten bodies to sequences of symbols: groups, options and repetitions become rules.

    flatten_nested        A ::= ("a" | "b") "c"*;      ->   A   ::= A/1 A/2;
                                                            A/1 ::= "a" | "b";
                                                            A/2 ::= "c" (0 or more times);
    expand_repetitions    A ::= B (0 or 1 times);      ->   A ::= "" | B;
                          A ::= B (0 or more times);   ->   A ::= "" | A B;
                          A ::= B (1 or more times);   ->   A ::= B | A B;
                          A ::= B (2 to 4 times);      ->   A ::= B B A+1;  A+1 ::= "" | B A+2;  …
                          A ::= B (2 or more times);   ->   A ::= B B | A B;
    merge_terminals       A ::= 'b' 'c' 'd' X;         ->   A ::= 'bcd' X;

A sequence inside a sequence and a choice inside a choice need no name. A count such as {3,5} of a
terminal stays inside the terminal. Definitions of one name become alternatives of one nonterminal,
in the order of the text. Repetitions are left-recursive, as an Earley recogniser likes them. A
nonterminal with a repetition has no other production (``flatten_nested`` sees to it), except where
one name is defined twice; then the repetition moves to a nonterminal of its own first.
"""

from dataclasses import replace

from ..automata import regex_ir as regex
from ..diagnostics import Span
from ..grammar import tree
from ..limits import Limits
from .form import ONCE, Lnf, Origins, Production, Symbol, Terminal

_STAGE = "the normal form"

_Times = tuple[int, int | None]

# Characters of a part that a message may want to show.
_SHOWN = 80

_OPERATORS = ((0, 1), (0, None), (1, None))


def flatten_nested(grammar: tree.Grammar, limits: Limits | None = None) -> Lnf:
    """The grammar with flat bodies; grows linearly with the tree. Raises ``LimitError`` (time,
    memory)."""
    return _Flattener(grammar, limits or Limits()).run()


class _Flattener:
    def __init__(self, grammar: tree.Grammar, limits: Limits) -> None:
        self.grammar, self.limits = grammar, limits
        self.names: list[str] = []
        self.owners: list[str] = []
        self.terminals: list[Terminal] = []
        self.productions: list[Production] = []
        self.numbers: dict[str, int] = {}
        self.pending: list[tuple[int, tree.Expr]] = []
        self.anonymous: dict[str, int] = {}
        # One node for one meaning, so that equal token terminals are equal terminals.
        self.tokens: dict[object, regex.Node] = {
            token.meaning: regex.TokenTerminal(i) for i, token in enumerate(grammar.tokens)
        }

    def run(self) -> Lnf:
        """Number the rules, then flatten what is pending until nothing is."""
        for rule in self.grammar.rules:
            if rule.name not in self.numbers:
                self.numbers[rule.name] = self._new(rule.name, rule.shown)
        for rule in self.grammar.rules:
            self.pending.append((self.numbers[rule.name], rule.body))
            while self.pending:
                self.limits.check_resources(_STAGE)
                self._flatten(*self.pending.pop())
        return Lnf(
            self.grammar.source,
            self.names,
            self.owners,
            self.terminals,
            sorted(self.productions, key=lambda p: p.head),
            self.numbers[self.grammar.start],
            tokens=self.grammar.tokens,
        )

    def _new(self, name: str, owner: str) -> int:
        self.names.append(name)
        self.owners.append(owner)
        return len(self.names) - 1

    def _flatten(self, head: int, expr: tree.Expr) -> None:
        """Add the productions of ``head ::= expr``."""
        owner = self.owners[head]
        if isinstance(expr, tree.Repetition) and self._as_terminal(expr) is None:
            body = (self._symbol(expr.item, owner),)
            times = (expr.min_times, expr.max_times)
            self._produce(head, body, expr.span, times)
            return
        options: list[tree.Expr] = [expr]
        while options:
            option = options.pop()
            if isinstance(option, tree.Choice):
                options.extend(reversed(option.options))
                continue
            symbols: list[Symbol] = []
            items: list[tree.Expr] = [option]
            while items:
                item = items.pop()
                if isinstance(item, tree.Sequence):
                    items.extend(reversed(item.items))
                elif not (isinstance(item, tree.Literal) and not item.data):
                    symbols.append(self._symbol(item, owner))
            self._produce(head, tuple(symbols), option.span)

    def _produce(
        self, head: int, body: tuple[Symbol, ...], span: Span, times: _Times = ONCE
    ) -> None:
        origins = frozenset([(self.owners[head], span.start, span.end)])
        self.productions.append(Production(head, body, origins, times))

    def _symbol(self, expr: tree.Expr, owner: str) -> Symbol:
        """The number of a terminal, a rule, or a new anonymous nonterminal."""
        content = self._as_terminal(expr)
        if content is not None:
            origins: Origins = frozenset([(owner, expr.span.start, expr.span.end)])
            self.terminals.append(Terminal(content, origins))
            return ~(len(self.terminals) - 1)
        if isinstance(expr, tree.Reference):
            return self.numbers[expr.name]
        self.anonymous[owner] = self.anonymous.get(owner, 0) + 1
        number = self._new(f"{owner}/{self.anonymous[owner]}", owner)
        self.pending.append((number, expr))
        return number

    def _as_terminal(self, expr: tree.Expr) -> bytes | regex.Node | None:
        """The content of a text, a pattern, a token, or one of them with a count; else None."""
        times: list[tuple[int, int | None, str]] = []
        while isinstance(expr, tree.Repetition):
            if (expr.min_times, expr.max_times) in _OPERATORS:
                return None
            times.append((expr.min_times, expr.max_times, self._written(expr.span)))
            expr = expr.item
        match expr:
            case tree.Literal():
                if not times:
                    return expr.data
                node = regex.lit(expr.data)
            case tree.Pattern():
                node = expr.node
                if times and regex.looks(node):
                    # Its assertions look at each repetition by itself.
                    return None
            case tree.Token():
                node = self.tokens[expr.meaning]
            case _:
                return None
        for low, high, text in reversed(times):
            node = regex.repeat(node, low, high, text)
        return node

    def _written(self, span: Span) -> str:
        """What stands there, for messages."""
        return self.grammar.source.text[span.start : min(span.end, span.start + _SHOWN)]


def expand_repetitions(lnf: Lnf, limits: Limits | None = None) -> Lnf:
    """The grammar without repetitions; a count m to n grows it by n symbols.

    Raises ``LimitError`` for a count that is a symbol, and so a state, too much; and on time.
    """
    limits = limits or Limits()
    counted = 0
    for production in lnf.productions:
        low, high = production.times
        if max(low, high or 0) > 1:
            counted += max(low, high or 0)
            _, start, end = min(production.origins, key=lambda o: (o[1], -o[2]))
            part = lnf.source.text[start : min(end, start + _SHOWN)]
            limits.check_states(counted, _STAGE, [lnf.owners[production.head]], part)
    names, owners = list(lnf.names), list(lnf.owners)
    out: list[Production] = []
    for number, productions in enumerate(lnf.by_head):
        limits.check_resources(_STAGE)
        for production in productions:
            if production.times == ONCE:
                out.append(production)
                continue
            head = number
            if len(productions) > 1:
                head = len(names)
                names.append(f"{names[number]}/{head}")
                owners.append(owners[number])
                out.append(Production(number, (head,), production.origins))
            out.extend(_expand(replace(production, head=head), names, owners))
    ordered = sorted(out, key=lambda p: p.head)
    return replace(lnf, names=names, owners=owners, productions=ordered)


def _expand(production: Production, names: list[str], owners: list[str]) -> list[Production]:
    head, body, origins = production.head, production.body, production.origins
    low, high = production.times
    if high is None:
        return [
            Production(head, body * low, origins),
            Production(head, (head, *body), origins),
        ]
    if (low, high) == (0, 1):
        return [Production(head, (), origins), Production(head, body, origins)]
    out: list[Production] = []
    required = body * low
    for extra in range(high - low):
        optional = len(names)
        names.append(f"{names[production.head]}+{extra + 1}")
        owners.append(owners[production.head])
        out.append(Production(head, (*required, optional), origins))
        out.append(Production(optional, (), origins))
        head, required = optional, body
    out.append(Production(head, required, origins))
    return out


def merge_terminals(lnf: Lnf) -> Lnf:
    """The grammar with no two texts next to each other; origins add up."""
    terminals = list(lnf.terminals)

    def merged(body: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        out: list[Symbol] = []
        run: list[Terminal] = []

        def end_run() -> None:
            if len(run) > 1:
                content = b"".join(t.content for t in run if isinstance(t.content, bytes))
                origins = frozenset().union(*(t.origins for t in run))
                terminals.append(Terminal(content, origins))
                out[-len(run) :] = [~(len(terminals) - 1)]
            run.clear()

        for symbol in body:
            if symbol < 0 and isinstance(terminals[~symbol].content, bytes):
                run.append(terminals[~symbol])
            else:
                end_run()
            out.append(symbol)
        end_run()
        return tuple(out)

    productions = [p.with_symbols(p.head, merged(p.body)) for p in lnf.productions]
    return lnf.with_productions(productions, terminals)
