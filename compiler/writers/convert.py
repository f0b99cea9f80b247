"""A grammar in another dialect, with the same members there.

    exactly read        ->  its rules, ignored text woven in
    by maximal munch    ->  as Lark: its rules, %ignore and all
                            else, where nothing nests: the language, an expression of its DFA
                            else refused, or loosened: its rules, read exactly

The writers say of each part whether a dialect has a counterpart. What is here is about the whole:
only Lark's grammars are read by a lexer, so written in another dialect the rules of one have more
members, such as ``ifa;`` of ``"if" NAME ";"``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from constrain.artifacts.container.manifest import EXACT

from ..automata.boolean import difference
from ..automata.dfa import Dfa
from ..automata.eliminate_states import NotTextError, TooLongError, eliminate_states
from ..automata.folding import fold
from ..automata.members import shortest
from ..automata.minimize import minimal
from ..automata.regex_ir import Embedded
from ..choose import AS_ASKED, EngineChoice, engine_of, semantics_of
from ..diagnostics import Diagnostic, LimitError, NotRegularError
from ..frontend import Automaton, compile_regular, compile_texts
from ..grammar.tree import Expr, Grammar, Pattern, Rule, children, with_children
from ..lnf.longest_ignored import weave_longest
from ..options import DFA, CompileOptions
from . import losses, write
from .one_regex import LONGEST
from .printer import WriterError

_LARK, _KBNF = "lark", "kbnf"


@dataclass(frozen=True, slots=True)
class Conversion:
    """The text in the other dialect, and what should be known of it."""

    text: str
    notes: tuple[str, ...] = ()


def convert(
    grammar: Grammar, target: str, options: CompileOptions, *, loosen: bool = False
) -> Conversion:
    """A checked grammar in the dialect ``target``.

    ``loosen``: a grammar that is read by maximal munch keeps its rules, and gains members. Raises
    ``WriterError`` for what has no counterpart, and where the language would change;
    ``LimitError``, and ``NotRegularError`` where ``regex`` is wanted of a grammar that nests.
    """
    meaning, _ = semantics_of(grammar, options.meaning)
    if meaning == EXACT:
        without = ("--loosen changes nothing: this grammar is read without a lexer",) * loosen
        return _as_rules(grammar, target, options, without)
    if target == _LARK and semantics_of(grammar)[0] == meaning:
        without = ("--loosen changes nothing: Lark's grammars have a lexer",) * loosen
        return Conversion(write(grammar, target, options.limits), without)
    if loosen:
        return _as_rules(grammar, target, options, (_gain(grammar, target, options),))
    try:
        dfa = _by_maximal_munch(grammar, options)
        node = eliminate_states(dfa, LONGEST, options.limits)
    except tuple(_WHY) as error:
        raise _refusal(grammar, f"{target} has no lexer, and {_WHY[type(error)]}") from None
    head = next(rule for rule in grammar.rules if rule.name == grammar.start)
    body = Pattern(node, "", head.body.span)
    whole = replace(
        grammar,
        rules=(Rule(head.name, head.name_span, body, head.span),),
        ignored=(),
        follows_all=False,
    )
    text = write(whole, target, options.limits)
    note = f"{target} has no lexer: what maximal munch leaves is written as one expression"
    return Conversion(text, (note,))


def _as_rules(
    grammar: Grammar, target: str, options: CompileOptions, notes: tuple[str, ...]
) -> Conversion:
    """The rules as they are read exactly."""
    grammar = _spelled_out(grammar, options, target)
    if grammar.source.dialect != _LARK:
        # Schemas may be read with options of their own there, which Lark's grammars cannot say.
        grammar = replace(grammar, embedded=())
    woven = grammar
    if target == _LARK:
        woven = replace(weave_longest(grammar), follows_all=False)
    if target == _LARK and grammar.ignored:
        notes += ("%ignore would be read by a lexer: ignored text is written out instead",)
    text = write(woven, target, options.limits)
    return Conversion(text, (*notes, *losses(grammar, target)))


def _spelled_out(grammar: Grammar, options: CompileOptions, target: str) -> Grammar:
    """The grammar with expressions for finished automata, which schemas have. Raises
    ``WriterError`` for one that has none of a readable length."""
    is_kept = target == grammar.source.dialect == _LARK
    kept = grammar.embedded_rules if is_kept else frozenset[str]()

    def spelled(expr: Expr, parts: list[Expr]) -> Expr:
        if not isinstance(expr, Pattern) or not isinstance(expr.node, Embedded):
            return with_children(expr, tuple(parts))
        if _is_kept(expr, target):
            return expr
        dfa = minimal(expr.node.automaton, options.limits)
        try:
            return replace(expr, node=eliminate_states(dfa, LONGEST, options.limits), kind="regex")
        except (NotTextError, TooLongError):
            message = f"as an expression this has more than {LONGEST:,} characters"
            raise WriterError(grammar.source, [Diagnostic(message, expr.span)]) from None

    rules = (
        rule if rule.name in kept else replace(rule, body=fold(rule.body, children, spelled))
        for rule in grammar.rules
    )
    return replace(grammar, rules=tuple(rules))


def _is_kept(pattern: Pattern, target: str) -> bool:
    """Whether a dialect writes an automaton as its author did."""
    return (pattern.kind, target) in (("structured", _LARK), ("e", _KBNF), ("substrs", _KBNF))


def _by_maximal_munch(grammar: Grammar, options: CompileOptions) -> Dfa:
    """The language of a grammar in which nothing nests. Raises ``NotRegularError``."""
    choice = engine_of(grammar, replace(options, engine=DFA, max_depth=None))
    found = compile_texts(grammar, choice, options)
    assert isinstance(found, Automaton)
    return found.dfa


def _gain(grammar: Grammar, target: str, options: CompileOptions) -> str:
    """What is lost by reading rules exactly, with an example where one is found."""
    lost = f"{target} has no lexer: texts that maximal munch excludes are members now"
    try:
        exact = compile_regular(grammar, EngineChoice(EXACT, DFA, AS_ASKED), options.limits).dfa
        gained = difference(exact, _by_maximal_munch(grammar, options), options.limits)
    except (NotRegularError, LimitError):
        return lost
    example = shortest(gained)
    if example is None:
        return f"{target} has no lexer, but here that makes no difference"
    return f"{lost}, such as {example.decode('utf-8', 'backslashreplace')!r}"


# Why what maximal munch leaves of a grammar is not written without a lexer.
_WHY: Mapping[type[Exception], str] = {
    NotRegularError: "this grammar nests",
    TooLongError: f"as an expression this grammar has more than {LONGEST:,} characters",
    NotTextError: "here bytes stand alone",
}


def _refusal(grammar: Grammar, reason: str) -> WriterError:
    span = grammar.ignored[0].span if grammar.ignored else None
    hint = (
        "--loosen writes its rules all the same; --meaning exact reads them without a lexer, and "
        "--to lark keeps it"
    )
    found = Diagnostic(f"{reason}, so it would gain members", span, hint)
    return WriterError(grammar.source, [found])
