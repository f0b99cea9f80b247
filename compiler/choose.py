"""Every choice of a compilation, and why it falls so: nothing is built here.

    semantics_of      exactly, or by maximal munch       from the dialect and what the grammar says
    engine_of         dfa, network, earley or greedy     the first that can be built ...
    next_engine                                          ... and what is tried after it
    tokenization_of   canonical or any sequences         from the engine and the tokenizer
    without_canonical                                    ... and what follows where they fail

A choice is a frozen object with its reason. Whether an engine fits is mostly known when it has been
tried: the step that tries hands its error to ``next_engine``, which names what is tried instead, or
raises the error where there is nothing else. So it is with the methods of ``merge/methods.py``.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from constrain.artifacts.container.manifest import (
    EARLEY,
    EXACT,
    GREEDY,
    MAXIMAL_MUNCH,
    MEANINGS,
    NETWORK,
)
from constrain.artifacts.errors import visible

from . import thresholds
from .diagnostics import (
    CheckError,
    Diagnostic,
    LimitError,
    NotRegularError,
    TokenizerError,
    need_of,
)
from .dialects import STRUCTURAL_TAG
from .grammar.expand_permutations import (
    expand_permutations,
    permutations_of,
    states_of_orders,
    uses_of_parts,
)
from .grammar.tree import Grammar
from .limits import Limits
from .options import (
    ANY,
    AUTO,
    CANONICAL,
    DFA,
    AnyTokenizer,
    CompileOptions,
)
from .progress import Step

if TYPE_CHECKING:
    from .tokenizers import Tokenizer

AS_ASKED = "as asked for"
BY_DEFAULT = "the default, where there are such masks"
OF_WORDS = "WordPiece cuts each word in one way"
OF_LEXEMES = "a lexer reads texts, however they are tokenized"
# A note begins so, and ends with the reason.
ANY_ALLOWED = "any token sequence that spells a member is allowed, not only the tokenizer's own: "
OF_SCHEMAS = "schemas become networks"
SOON = "its network has canonical masks sooner than its DFA"
WHEN_MET = "states are made when they are met"

# --- match semantics and engine


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What recognises a grammar's texts, and why.

    ``semantics``: ``exact`` or ``maximal-munch``. ``engine``: ``dfa``, ``network``, ``earley`` or
    ``greedy``. ``others``: the engines that are tried after this one, in order. ``refused``: the
    limit that a DFA met, which is the error if no other engine can be built either.
    ``counted_from``: repetitions whose copies have more states are counted while decoding; None
    where all are copied. ``written_from``: permutations whose orders have more are sets; None where
    all are written out. ``most_states``: of one rule's automaton in a network, None where limits
    alone bound it. ``is_lazy``: states are made while decoding, which is so under any tokenization
    alone. ``is_soon``: a regular grammar's network is there for first canonical masks.
    ``copied_whole``: a network of at most so many states is one automaton, if it can be.
    """

    semantics: str
    engine: str
    reason: str
    others: tuple[str, ...] = ()
    refused: LimitError | None = None
    counted_from: int | None = None
    written_from: int | None = None
    most_states: int | None = None
    is_lazy: bool = False
    is_soon: bool = False
    copied_whole: int = 0


def semantics_of(grammar: Grammar, wanted: str | None = None) -> tuple[str, str]:
    """The match semantics of a grammar, and why it has them.

    Grammars of ANTLR, and those of Lark that ignore text, say ``%llguidance``, or have a rule that
    ends as soon as it may, are written for a lexer, and are read by maximal munch where nothing
    else is asked for; all others are read exactly. So are those that name tokens, which no lexer
    reads, where only such a rule asks for one.
    """
    if wanted is not None:
        return wanted, AS_ASKED
    if grammar.source.dialect == "lark":
        if grammar.indentation is not None:
            return MAXIMAL_MUNCH, "a lexer finds where lines begin"
        if grammar.follows_all:
            return MAXIMAL_MUNCH, "the grammar says %llguidance"
        if grammar.ignored:
            return MAXIMAL_MUNCH, "the grammar has %ignore, which is written for a lexer"
        lazy = next((rule.name for rule in grammar.rules if rule.shortest), None)
        if lazy is not None and not grammar.tokens:
            return MAXIMAL_MUNCH, f"rule {lazy!r} is lazy, which is written for a lexer"
    if grammar.source.dialect == "antlr":
        return MAXIMAL_MUNCH, "grammars of ANTLR are written for a lexer"
    return EXACT, "each way to cut a text into terminals counts"


@Step("choose")
def engine_of(grammar: Grammar, options: CompileOptions) -> EngineChoice:
    """The semantics of a grammar, and the engine to try first.

    Raises ``CheckError`` if an engine or a depth is asked for that the semantics exclude.
    """
    semantics, why = semantics_of(grammar, options.meaning)
    engine, depth = options.engine, options.max_depth
    counted = counted_from(grammar, semantics, options)
    written = written_from(grammar, semantics, options)
    if semantics == EXACT and grammar.indentation is not None:
        _refuse(grammar, f"the terminal {grammar.indentation.indent}", semantics, why)
    if semantics == MAXIMAL_MUNCH:
        if engine not in (AUTO, DFA, GREEDY):
            _refuse(grammar, f"the engine {engine}", semantics, why)
        if depth is not None:
            _refuse(grammar, "--max-depth", semantics, why)
        if engine == GREEDY:
            return EngineChoice(semantics, GREEDY, why, (), None, counted, written)
    elif engine == GREEDY:
        _refuse(grammar, f"the engine {engine}", semantics, why)
    elif depth is not None:
        return EngineChoice(semantics, DFA, "the nesting is bounded")
    if engine != AUTO:
        return EngineChoice(semantics, engine, AS_ASKED, (), None, counted, written)
    of_tags = grammar.source.dialect == STRUCTURAL_TAG and grammar.has_schema
    if grammar.is_of_schemas or of_tags:
        # Mostly it nests, and where it does not the automaton of all orders of choices is large.
        engine = NETWORK if options.parser == AUTO else options.parser
        # Canonical rows of one automaton are found several times sooner than those of its calls.
        has_rows = options.tokenization != ANY and options.prewarm != 0
        whole = thresholds.COPIED_STATES if has_rows else 0
        found = semantics, engine, OF_SCHEMAS, (), None, counted, written
        return EngineChoice(*found, copied_whole=whole)
    is_open = options.parser == AUTO
    other = NETWORK if is_open else options.parser
    return EngineChoice(
        semantics,
        DFA,
        "the grammar is regular",
        (GREEDY,) if semantics == MAXIMAL_MUNCH else (other,),
        counted_from=counted,
        written_from=written,
        most_states=thresholds.NETWORK_STATES
        if is_open and options.tokenization != CANONICAL
        else None,
    )


def next_engine(choice: EngineChoice, error: NotRegularError | LimitError) -> EngineChoice:
    """What is tried after an engine that could not be built. Raises if there is nothing."""
    if isinstance(error, NotRegularError):
        if not choice.others:
            raise (error if choice.semantics == MAXIMAL_MUNCH else _advised(error)) from None
        reason, refused = error.diagnostics[0].message, choice.refused
    else:
        if not choice.others or error.limit == "seconds":
            raise choice.refused or error from None
        if choice.engine == DFA:
            reason, refused = _cause(error), error
        else:
            reason, refused = f"{choice.reason}, and {_cause(error)}", choice.refused
    engine, *others = choice.others
    return replace(choice, engine=engine, reason=reason, others=tuple(others), refused=refused)


def counted_from(grammar: Grammar, semantics: str, options: CompileOptions) -> int | None:
    """The most states of repetitions that are copied, None where all are."""
    if semantics == MAXIMAL_MUNCH:
        needs_dfa = options.tokenization == CANONICAL or options.engine == DFA
        return None if needs_dfa else thresholds.LARGE_STATES
    if grammar.tokens:
        return None
    if options.prewarm == 0:
        return thresholds.SOON_COPIED_STATES
    # Canonical masks are precomputed where repetitions are copied alone.
    is_any = options.tokenization == ANY
    return thresholds.COPIED_STATES if is_any else thresholds.LARGE_STATES


def over_lexemes(choice: EngineChoice, counts: bool, lazily: bool) -> EngineChoice:
    """The engine over lexemes where their network counts, or some have too many states to be built;
    else the same choice."""
    if not lazily and (not counts or choice.engine == GREEDY):
        return choice
    reason = "a long repetition is counted, or a permutation of many parts a set"
    reason = "a terminal is too large to be built" if lazily else reason
    return replace(choice, engine=GREEDY, reason=reason, others=())


def built_lexemes(choice: EngineChoice, options: CompileOptions, *, nests: bool) -> int | None:
    """The most states of terminals that are built by maximal munch; None where all are."""
    needs_dfa = options.tokenization == CANONICAL or (choice.engine == DFA and not choice.others)
    if needs_dfa or options.lexer is not None:
        return None
    is_any = nests or choice.engine == GREEDY or options.tokenization == ANY
    return thresholds.LARGE_STATES if is_any else thresholds.BUILT_STATES


def written_from(grammar: Grammar, semantics: str, options: CompileOptions) -> int | None:
    """The most states of permutations whose orders are written out, None where all are."""
    is_open = semantics == MAXIMAL_MUNCH and options.tokenization is None
    many = (uses_of_parts(p) > options.limits.states for p in permutations_of(grammar))
    # Where canonical masks are the default, they go before sets.
    if grammar.tokens or (is_open and not any(many)):
        return None
    return counted_from(grammar, semantics, options)


def counted_instead(choice: EngineChoice, copies: int) -> EngineChoice:
    """The network instead of a DFA where the engine was left open, if the copies of one
    repetition, so many states, are many; else the same choice."""
    if choice.others[:1] != (NETWORK,) or copies <= (choice.counted_from or 0):
        return choice
    reason = f"a repetition of {copies:,} states is counted"
    return replace(choice, engine=NETWORK, reason=reason, others=choice.others[1:])


def soon_instead(
    choice: EngineChoice, options: CompileOptions, grammar: Grammar
) -> EngineChoice | None:
    """The network of a regular grammar instead of its DFA, where the engine was left open and
    canonical masks are wanted soon; else None."""
    is_soon = options.prewarm == 0 and options.tokenization != ANY and options.method == AUTO
    if not is_soon or choice.others[:1] != (NETWORK,) or grammar.tokens:
        return None
    found = replace(choice, engine=NETWORK, reason=SOON, others=(), most_states=None)
    return replace(found, is_soon=True)


def copying(
    choice: EngineChoice, grammar: Grammar, options: CompileOptions, *, may_count: bool
) -> EngineChoice:
    """What writes out the orders of permutations, and repetitions where these may not be counted,
    of a grammar for which something else was chosen."""
    # Whole words need a DFA, which schemas that do not nest have, too.
    engine = DFA if choice.reason == OF_SCHEMAS and not may_count else options.engine
    found = replace(engine_of(grammar, replace(options, engine=engine)), written_from=None)
    # What has masks soon is regular.
    found = replace(found, others=()) if choice.is_soon else found
    return found if may_count else replace(found, counted_from=None)


def may_count_sooner(choice: EngineChoice, copies: int) -> bool:
    """Whether a network of too many states has repetitions that can be counted, though their
    copies, so many states at most, are few."""
    few = thresholds.SOON_COPIED_STATES
    return choice.engine == NETWORK and few < min(choice.counted_from or 0, copies)


def permuted(
    choice: EngineChoice, grammar: Grammar, limits: Limits
) -> tuple[EngineChoice, Grammar]:
    """The grammar without permutations, but for those that a network holds in its frames, which is
    then the choice. Raises ``LimitError``."""
    if not any(permutations_of(grammar)):
        return choice, grammar
    most = choice.written_from
    may_hold = choice.engine == NETWORK or bool(choice.others)
    if most is None or not may_hold:
        return choice, expand_permutations(grammar, limits)
    found = expand_permutations(grammar, limits, lambda p: states_of_orders(p) > most)
    held = [len(p.parts) for p in permutations_of(found)]
    if not held or choice.engine == NETWORK:
        return choice, found
    reason = f"a permutation of {max(held)} parts is a set in a frame"
    return replace(choice, engine=NETWORK, reason=reason, others=choice.others[1:]), found


def held_over_lexemes(choice: EngineChoice, grammar: Grammar, limits: Limits) -> Grammar:
    """The grammar without permutations, but for those of rules that a network over lexemes holds
    in its frames. Raises ``LimitError``."""
    most = choice.written_from
    if most is None:
        return expand_permutations(grammar, limits)
    inside = {
        permutation.span
        for rule in grammar.rules
        if rule.terminal
        for permutation in permutations_of(replace(grammar, rules=(rule,)))
    }
    return expand_permutations(
        grammar, limits, lambda p: p.span not in inside and states_of_orders(p) > most
    )


def may_be_lazy(choice: EngineChoice, options: CompileOptions) -> bool:
    """Whether states of a DFA may be made while decoding: the engine was left open, and canonical
    masks are not asked for."""
    is_open = choice.engine == DFA and bool(choice.others) and choice.semantics == EXACT
    return is_open and options.max_depth is None and options.tokenization != CANONICAL


def may_be_met(choice: EngineChoice, options: CompileOptions) -> bool:
    """The same of a network."""
    is_open = options.engine == options.parser == AUTO and choice.engine == NETWORK
    return is_open and options.max_depth is None and options.tokenization != CANONICAL


def met_instead(choice: EngineChoice, error: LimitError) -> EngineChoice:
    """A network whose states are made when texts meet them, as all together are too many."""
    return replace(choice, reason=f"{choice.reason}, and {_cause(error)}", is_lazy=True)


def with_lazy_terminals(choice: EngineChoice) -> EngineChoice:
    """A network that calls what is too large to be built."""
    reason = "the automaton of a terminal in it is too large to be built"
    return replace(choice, engine=NETWORK, reason=reason, others=())


def as_lazy(choice: EngineChoice, what: str) -> EngineChoice:
    """The same choice, with states that are made while decoding, as ``what`` is too large."""
    reason = f"{what} is too large to be built"
    return replace(choice, reason=reason, is_lazy=True)


def when_met(choice: EngineChoice) -> EngineChoice:
    """The network instead of a DFA, whose states need not be made before a text meets them."""
    return replace(choice, engine=NETWORK, reason=WHEN_MET, others=(), refused=None)


def _refuse(grammar: Grammar, what: str, semantics: str, reason: str) -> NoReturn:
    """``what`` does not go with a grammar's semantics."""
    other = next(known for known in MEANINGS if known != semantics)
    message = f"{what} is for --meaning {other}, and this grammar's is {semantics} ({reason})"
    raise CheckError(grammar.source, [Diagnostic(message, help=f"say --meaning {other}")])


def _advised(error: NotRegularError) -> NotRegularError:
    """The same, and what helps besides another grammar."""
    advice = "--max-depth N keeps the members that nest at most so deep"
    found = [replace(d, help=f"{d.help}; {advice}") for d in error.diagnostics]
    return NotRegularError(error.source, found)


def _cause(error: LimitError) -> str:
    """A limit in a few words."""
    unit = "bytes" if error.limit == "memory" else error.limit
    return f"{error.stage} {need_of(error.stage)} more than {error.value:,.12g} {unit}"


# --- canonical token sequences, or any that spell a member


@dataclass(frozen=True, slots=True)
class TokenizationChoice:
    """Which token sequences are allowed, ``canonical`` or ``any``, and why.

    ``note``: what the user should know of it, empty where it is no surprise.
    """

    tokenization: str
    reason: str
    note: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The note, if there is one."""
        return (self.note,) if self.note else ()

    @property
    def is_canonical(self) -> bool:
        """Whether the tokenizer's own sequences alone are allowed."""
        return self.tokenization == CANONICAL


@Step("choose")
def tokenization_of(
    grammar: Grammar, engine: EngineChoice, tokenizer: AnyTokenizer, options: CompileOptions
) -> TokenizationChoice:
    """Which token sequences a grammar's artifact allows, by its engine.

    Raises ``TokenizerError`` and ``CheckError`` for what the tokenizer or the engine cannot do.
    """
    from .tokenizers import Tokenizer

    wanted = options.tokenization
    if not isinstance(tokenizer, Tokenizer):
        _check_wordpiece(grammar, engine, tokenizer, wanted)
        return TokenizationChoice(CANONICAL, OF_WORDS)
    if wanted == ANY:
        return TokenizationChoice(ANY, OF_LEXEMES if engine.engine == GREEDY else AS_ASKED)
    if engine.is_lazy:
        message = f"there are no canonical masks where {engine.reason}"
        return without_canonical(CheckError(grammar.source, [Diagnostic(message)]), options)
    if grammar.marks_equal:
        message = "items that must differ are compared while decoding"
        return without_canonical(CheckError(grammar.source, [Diagnostic(message)]), options)
    reason = AS_ASKED if wanted else BY_DEFAULT
    choice = TokenizationChoice(CANONICAL, reason)
    try:
        _check_canonical(grammar, engine, tokenizer)
    except (CheckError, TokenizerError) as error:
        return without_canonical(error, options)
    return choice


def without_canonical(
    error: CheckError | TokenizerError | LimitError, options: CompileOptions
) -> TokenizationChoice:
    """What follows where canonical masks cannot be had: raises ``error`` if they are asked for."""
    if options.tokenization == CANONICAL:
        raise error
    reason = error.diagnostics[0].message if isinstance(error, CheckError) else str(error)
    reason = reason.removesuffix("; use --tokenization any")
    return TokenizationChoice(ANY, reason, f"{ANY_ALLOWED}{reason}")


def _check_canonical(grammar: Grammar, engine: EngineChoice, tokenizer: "Tokenizer") -> None:
    """Canonical masks need merges, and a DFA or a network; beside token terminals, texts that are
    encoded as they are elsewhere."""
    if tokenizer.unigram is not None:
        raise TokenizerError(
            f"{visible(tokenizer.name)}: canonical masks follow merges, and its model is Unigram, "
            "which divides each text as a whole by scores; use --tokenization any"
        )
    if engine.engine == EARLEY:
        message = f"canonical masks need the engine dfa or network, and this is {engine.engine}"
        hint = f"{engine.reason}; say --tokenization any, or --max-depth to bound the nesting"
        raise CheckError(grammar.source, [Diagnostic(message, help=hint)])
    if not grammar.tokens:
        return
    from .bpe.not_followed import not_followed

    hint = "say --tokenization any"
    reasons = not_followed(grammar, tokenizer, is_dfa=engine.engine == DFA)
    found = [
        Diagnostic(f"canonical masks cannot follow {why}", token.span, help=hint)
        for token, why in reasons
    ]
    if found:
        raise CheckError(grammar.source, found)


def _check_wordpiece(
    grammar: Grammar, engine: EngineChoice, tokenizer: AnyTokenizer, wanted: str | None
) -> None:
    """WordPiece needs a DFA over texts alone."""
    if wanted == ANY:
        raise TokenizerError(
            f"{visible(tokenizer.name)}: WordPiece tokenizers are compiled as 'canonical' only: a "
            f"member's words may be cut in one way each"
        )
    if grammar.marks_equal:
        message = "the items of an array are not compared by WordPiece tokenizers"
        hint = "--unique ignore leaves it to the reader that they differ"
        raise CheckError(grammar.source, [Diagnostic(message, help=hint)])
    if engine.engine != DFA:
        message = f"WordPiece tokenizers need the engine dfa, and this is {engine.engine}"
        exact = "with --meaning exact " * (engine.semantics == MAXIMAL_MUNCH)
        hint = f"{engine.reason}; {exact}--max-depth bounds the nesting"
        raise CheckError(grammar.source, [Diagnostic(message, help=hint)])
    if grammar.tokens:
        message = "token terminals are not supported with WordPiece tokenizers"
        found = [Diagnostic(message, token.span) for token in grammar.tokens]
        raise CheckError(grammar.source, found)
