"""Join texts that stand side by side.

A ::= 'b' 'c' 'd' X;    ->    A ::= 'bcd' X;
"""

from .form import Lnf, Symbol, Terminal


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
