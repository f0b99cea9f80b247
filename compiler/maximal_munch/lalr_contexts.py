"""Rules over lexemes that know the states of an LALR parser in which they are read.

    start: "(" start ")" | NAME     ->     start: "(" start' ")" | NAME refused?
                                           start': "(" start' ")" | NAME

A rule becomes one for each state in which it begins, from which those inside follow; a text of
lexemes leads an LALR(1) parser to one state. After a lexeme may stand what that state allows, and
the stack does not always: it is *refused* then. The lexer reads such a lexeme as any other, and
nothing ends with it. Rules that begin in several states are one where no lexer tells these apart.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from constrain.artifacts.tokens.memo import memoised

from ..automata import regex_ir as regex
from ..automata.dfa import DEAD
from ..automata.graphs import reached, refined
from ..diagnostics import CheckError, Diagnostic
from ..earley.tables import stacked_dfas
from ..grammar.expand_permutations import expand_permutations
from ..grammar.tree import Choice, Expr, Grammar, Literal, Pattern, Reference, Rule, Token
from ..grammar.tree import Sequence as Concatenation
from ..limits import Limits
from ..options import CompileOptions
from .lalr_states import HINT, lalr_states
from .lexemes import LexemeGrammar

# Before the number of one of the rules that an author's rule became.
_STATE = " @"

# A rule and the state in which it begins.
_Begun: TypeAlias = tuple[str, int]

# What stands in a rule: a lexeme and what is refused after it, or a rule.
_Part: TypeAlias = tuple[int, frozenset[int]] | _Begun


def as_lexer_reads(found: LexemeGrammar, whole: Grammar, options: CompileOptions) -> LexemeGrammar:
    """The lexemes of a ``whole`` grammar; where the contextual lexer is asked for, with rules that
    know what the states of Lark's LALR parser allow.

    Raises ``CheckError`` where Lark finds that it is not LALR(1), and where lines are read by an
    indenter, whose rules are not Lark's; and ``LimitError``.
    """
    if options.lexer is None:
        return found
    if whole.indentation is not None:
        message = "the contextual lexer is not known for lines that an indenter reads"
        raise CheckError(whole.source, [Diagnostic(message, help=HINT)])
    grammar = expand_permutations(found.grammar, options.limits)
    return _Contexts(LexemeGrammar(found.lexemes, grammar), options.limits).run()


class _Contexts:
    def __init__(self, found: LexemeGrammar, limits: Limits) -> None:
        self.lexemes, self.grammar, self.limits = found.lexemes, found.grammar, limits
        self.states = lalr_states(found.grammar)
        self._dfas = stacked_dfas([each.dfa for each in found.lexemes], limits)
        self._refused: dict[int, frozenset[int]] = {}

    def run(self) -> LexemeGrammar:
        """The rules by state, and the refused lexemes."""
        start = self.grammar.start, self.states.start
        bodies = dict[_Begun, Sequence[Sequence[_Part]]]()

        def used(begun: _Begun) -> Iterator[_Begun]:
            every = (part for parts in bodies[begun] for part in parts)
            return (part for part in every if not isinstance(part[0], int))

        for begun in reached([start], used):
            self.limits.check_resources("the states of the parser", [self.grammar.start])
            bodies[begun] = self._productions(*begun)
        return self._written(bodies, _classes(bodies))

    def _productions(self, name: str, begun: int) -> Sequence[Sequence[_Part]]:
        """What a rule that begins in a state may be."""
        found = []
        for production in self.states.productions[name]:
            parts, state = list[_Part](), begun
            for symbol in production:
                after = self.states.moves[state][symbol]
                if isinstance(symbol, int):
                    parts.append((symbol, self._refused_in(after)))
                else:
                    parts.append((symbol, state))
                state = after
            found.append(parts)
        return found

    def _refused_in(self, state: int) -> frozenset[int]:
        """The lexemes before which some rule ends in a state, if they hide others that may be read
        there."""
        found = self._refused.get(state)
        if found is None:
            moves, ended = self.states.moves[state], self.states.ended[state]
            read = {*self._ignored, *ended, *(each for each in moves if isinstance(each, int))}
            found = self._refused[state] = frozenset(
                i
                for i in ended
                if i not in self._ignored and any(self._is_hidden(j, i) for j in read if j != i)
            )
        return found

    @cached_property
    def _ignored(self) -> frozenset[int]:
        return frozenset(i for i, lexeme in enumerate(self.lexemes) if lexeme.ignored)

    @memoised
    def _is_hidden(self, lexeme: int, by: int) -> bool:
        """Whether a lexer that reads another lexeme, too, reads some text of one no more."""
        rows, accepting = self._dfas.table, self._dfas.accepting
        above = self.lexemes[by].precedence > self.lexemes[lexeme].precedence
        shortest = self.lexemes[by].shortest
        begun = int(self._dfas.starts[lexeme]), int(self._dfas.starts[by])

        def leads(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
            pairs = {*zip(*(rows[state].tolist() for state in pair), strict=True)}
            return (each for each in pairs if DEAD not in each)

        for one, other in reached([begun], leads):
            if accepting[one] and (rows[other].any() or (above and accepting[other])):
                return True
            if shortest and accepting[other] and rows[one].any():
                return True
        return False

    def _written(
        self, bodies: Mapping[_Begun, Sequence[Sequence[_Part]]], classes: Mapping[_Begun, int]
    ) -> LexemeGrammar:
        """The lexemes and the rules, one for each class."""
        of_lexeme = {r.body.ids[0][0]: r for r in self.grammar.rules if isinstance(r.body, Token)}
        spans = {rule.name: rule.name_span for rule in self.grammar.rules}
        lexemes, rules, tokens = [*self.lexemes], [*of_lexeme.values()], [*self.grammar.tokens]
        uses = {number: Reference(rule.name, rule.span) for number, rule in of_lexeme.items()}
        refused = dict[int, Reference]()
        for number in sorted(frozenset().union(*self._refused.values())):
            last = len(lexemes)
            token = Token(None, ((last, last),), False, uses[number].span)
            rules.append(Rule(f"{uses[number].name} refused", token.span, token, token.span))
            refused[number] = Reference(rules[-1].name, token.span)
            lexemes.append(replace(lexemes[number], refused=True))
            tokens.append(token)
        members: dict[int, _Begun] = {}
        for begun, number in classes.items():
            members.setdefault(number, begun)
        names, counts = dict[int, str](), Counter[str]()
        for number, (name, _) in members.items():
            names[number] = name + (f"{_STATE}{counts[name]}" if counts[name] else "")
            counts[name] += 1
        for number, begun in members.items():
            span = spans.get(begun[0], spans[self.grammar.start])
            options = list[Expr]()
            for parts in bodies[begun]:
                rest: Expr = Literal(b"", span)
                for part in reversed(parts):
                    if isinstance(part[0], int):
                        others = [refused[each] for each in sorted(part[1])]
                        after = Choice((*others, rest), span) if others else rest
                        rest = Concatenation((uses[part[0]], after), span)
                    else:
                        rest = Concatenation((Reference(names[classes[part]], span), rest), span)
                options.append(rest)
            body = Choice(tuple(options), span) if options else Pattern(regex.NOTHING, "", span)
            author = begun[0].partition(" ")[0]
            rules.append(Rule(names[number], span, body, span, within=author))
        grammar = replace(self.grammar, rules=tuple(rules), tokens=tuple(tokens))
        return LexemeGrammar(lexemes, grammar)


def _classes(bodies: Mapping[_Begun, Sequence[Sequence[_Part]]]) -> Mapping[_Begun, int]:
    """By rule and state a number, equal where nothing that is read tells them apart."""

    def leads(begun: _Begun, of: Mapping[_Begun, int]) -> Hashable:
        parts = ([p if isinstance(p[0], int) else of[p] for p in parts] for parts in bodies[begun])
        return begun[0], tuple(map(tuple, parts))

    return refined(dict.fromkeys(bodies, 0), leads)
