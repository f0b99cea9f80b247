"""The drawings of ``constrain viz`` and ``compile --viz``, stage by stage."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError

from .compiling import canonical_text, compilation_of, counted_network, grammar_of, recogniser_of
from .console import UsageError, note, status
from .options import Engine, Given, Meaning

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.drawing import Drawing, Size
    from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, Parser
    from constrain.compiler.limits import Limits
    from constrain.compiler.pipeline import Compilation

# The states that a drawing shows unless --draw-states says otherwise.
DRAW_STATES = 100

# Transitions up to which a token DFA is built whole to be drawn.
TOKEN_TRANSITIONS = 200_000


class Stage(StrEnum):
    """What is drawn."""

    NFA = "nfa"
    DFA = "dfa"
    TOKENS = "tokens"
    TOKENIZER = "tokenizer"
    RULES = "rules"
    PARSER = "parser"
    LEXER = "lexer"


# Drawn for every grammar; the others are automata of regular ones.
_OF_ANY = (Stage.RULES, Stage.PARSER, Stage.LEXER)


def stage_for(
    subject: "Artifact | str", path: str, wanted: Stage | None, given: Given, limits: "Limits"
) -> Stage:
    """The stage that is drawn: the DFA unless another is wanted, the parser where rules nest."""
    from constrain.compiler.frontend import Automaton

    if wanted is not None:
        return wanted
    if isinstance(subject, str):
        chosen = replace(given.compile_options(path, limits), parser="earley")
        if counted_network(subject, path, chosen) is not None:
            return Stage.PARSER
        is_regular = isinstance(recogniser_of(subject, path, chosen), Automaton)
    else:
        is_regular = subject.is_regular
    return Stage.DFA if is_regular else Stage.PARSER


def draw_grammar(
    text: str,
    path: str,
    stage: Stage,
    given: Given,
    limits: "Limits",
    shown: "Shown",
) -> "Drawing":
    """The drawing of a grammar's stage."""
    from constrain.compiler.choose import semantics_of
    from constrain.compiler.drawing import draw_network, draw_rules
    from constrain.compiler.frontend import Automaton

    _check_prefix(prefix, stage in _OF_ANY)
    wanted = given.compile_options(path, limits)
    if stage is Stage.RULES:
        return draw_rules(grammar_of(text, path, wanted), size=size)
    if stage is Stage.PARSER and wanted.max_depth is None:
        counted = counted_network(text, path, wanted, 0)
        if counted is not None:
            start = grammar_of(text, path, wanted).start
            return draw_network(counted, title=start, size=size)
    if stage in _OF_ANY:
        grammar = grammar_of(text, path, wanted)
        engine = Engine.NETWORK if stage is Stage.PARSER else Engine.EARLEY
        if semantics_of(grammar, wanted.meaning)[0] == Meaning.MAXIMAL_MUNCH:
            engine = Engine.GREEDY
        if wanted.max_depth is not None:
            note(f"--max-depth has no effect on --stage {stage.value}, which has all nesting")
        wanted = replace(wanted, engine=engine.value, max_depth=None)
        parser = recogniser_of(text, path, wanted)
        assert not isinstance(parser, Automaton)
        return _draw_parser(stage, parser, size)
    recogniser = recogniser_of(text, path, replace(wanted, parser="earley"))
    if not isinstance(recogniser, Automaton):
        raise UsageError(_only_regular(stage, recogniser.reason))
    artifact = None
    if stage in (Stage.TOKENS, Stage.TOKENIZER):
        artifact = compilation_of(recogniser, given, wanted).artifact
    return _draw_automaton(stage, recogniser, artifact, size, prefix)


def draw_artifact(
    artifact: "Artifact",
    path: str,
    stage: Stage,
    limits: "Limits",
    size: "Size",
    prefix: str | None = None,
) -> "Drawing":
    """The drawing of an artifact's stage; what it does not hold comes from its grammar's text."""
    m = artifact.manifest
    if stage not in _OF_ANY and not artifact.is_regular:
        raise UsageError(_only_regular(stage, f"{path} is an artifact of the kind {m.kind}"))
    if stage in _OF_ANY or stage is Stage.NFA:
        if m.source is None:
            what = f"its {stage.value.upper() if stage is Stage.NFA else stage.value} cannot be"
            raise UsageError(f"{path}: the grammar's text was stripped, so {what} drawn")
        named = Given(dialect=m.dialect, start=m.start, meaning=Meaning(m.meaning))
        return draw_grammar(m.source, path, stage, named, limits, size, prefix)
    return _draw_automaton(stage, None, artifact, size, prefix)


def write_all_drawings(compilation: "Compilation", folder: Path) -> None:
    """All stages as SVG; where Graphviz is missing, as DOT text with a note."""
    from constrain.compiler.drawing import USUAL_SIZE, MissingDotError, render
    from constrain.compiler.frontend import Automaton, Parser

    folder.mkdir(parents=True, exist_ok=True)
    missing: ConstrainError | None = None
    recogniser = compilation.automaton
    for stage in Stage:
        if not isinstance(recogniser, Automaton):
            earley = isinstance(recogniser, Parser) and recogniser.network is None
            if stage not in _OF_ANY or (stage is Stage.PARSER and earley):
                continue
            if stage is Stage.LEXER and _lazy_lexeme(recogniser):
                continue
            drawing = _draw_parser(stage, recogniser, USUAL_SIZE)
        elif stage in _OF_ANY or (stage is Stage.TOKENIZER and compilation.canonical is None):
            continue  # Under `any` every token may follow every other: there is nothing to draw.
        else:
            drawing = _draw_automaton(stage, recogniser, compilation.artifact, USUAL_SIZE)
        try:
            status(f"{render(drawing, folder / f'{stage.value}.svg')}: {stage.value}")
        except MissingDotError as error:
            missing = error
    if missing is not None:
        note(str(missing))


def _draw_parser(stage: Stage, parser: "Parser | MaximalMunchGrammar", size: "Size") -> "Drawing":
    from constrain.compiler.drawing import draw_lexer, draw_network, draw_rules
    from constrain.compiler.earley.union_lexer import joint_lexer
    from constrain.compiler.frontend import MaximalMunchGrammar, Parser

    title, names = parser.grammar.start, parser.token_names
    if stage is Stage.RULES:
        return draw_rules(parser.grammar, size=size)
    if stage is Stage.PARSER:
        if isinstance(parser, MaximalMunchGrammar):
            network, symbols = parser.tables.network, parser.tables.lexer.texts
            return draw_network(network, title=title, terminal_names=symbols, size=size)
        assert parser.network is not None
        return draw_network(parser.network, title=title, terminal_names=names, size=size)
    if isinstance(parser, Parser):
        dfas, texts = parser.lexer, parser.layout.tables.texts
    else:
        if lazily := _lazy_lexeme(parser):
            message = f"the states of {lazily} are made while decoding: the lexer is not drawn"
            raise UsageError(message)
        dfas, texts = parser.tables.lexer.dfas, parser.tables.lexer.texts
    return draw_lexer(
        joint_lexer(dfas),
        title=title,
        texts=texts,
        terminal_names=names,
        size=size,
    )


def _lazy_lexeme(parser: "Parser | MaximalMunchGrammar") -> str:
    """The first terminal whose states are made while decoding, as it is written; empty for none."""
    from constrain.compiler.frontend import MaximalMunchGrammar

    lexemes = parser.lexemes if isinstance(parser, MaximalMunchGrammar) else ()
    return next((lexeme.text for lexeme in lexemes if lexeme.lazily is not None), "")


def _check_prefix(prefix: str | None, is_other: bool) -> None:
    if prefix is not None and is_other:
        raise UsageError("--prefix is for --stage tokenizer with a WordPiece tokenizer")


def _draw_automaton(
    stage: Stage,
    automaton: "Automaton | None",
    artifact: "Artifact | None",
    size: "Size",
    prefix: str | None = None,
) -> "Drawing":
    """``automaton`` serves nfa and dfa, ``artifact`` all but nfa."""
    from constrain.artifacts.container.manifest import WORD_DFA

    is_words = artifact is not None and artifact.manifest.kind == WORD_DFA
    is_transducer = is_words and stage is Stage.TOKENIZER
    _check_prefix(prefix, not is_transducer)
    from constrain.compiler.automata.dump import terminal_names
    from constrain.compiler.drawing import (
        draw_dfa,
        draw_nfa,
        draw_tokenizer,
        draw_tokens,
        draw_transducer,
    )

    rule = automaton.grammar.start if automaton else artifact.manifest.start if artifact else ""
    if stage is Stage.NFA and automaton is not None:
        names = automaton.token_names
        return draw_nfa(automaton.nfa, title=rule, terminal_names=names, size=size)
    if stage is Stage.DFA:
        if artifact is not None:
            dfa, names = artifact.byte_dfa, terminal_names(artifact.byte_dfa)
        else:
            assert automaton is not None
            dfa, names = automaton.dfa.tables(), automaton.token_names
        return draw_dfa(dfa, title=rule, terminal_names=names, size=size)
    assert artifact is not None
    if is_transducer:
        text = None if prefix is None else canonical_text(artifact, prefix)
        return draw_transducer(artifact, title=rule, size=size, prefix=text)
    if stage is Stage.TOKENS:
        return draw_tokens(_with_token_dfa(artifact), title=rule, size=size)
    return draw_tokenizer(artifact, title=rule, size=size)


def _with_token_dfa(artifact: "Artifact") -> "Artifact":
    """The artifact of the minimal token DFA where it is small enough, else as it is."""
    from constrain.compiler.diagnostics import LimitError
    from constrain.compiler.limits import Limits
    from constrain.compiler.merge.dump import tabulated

    try:
        return tabulated(artifact, Limits(transitions=TOKEN_TRANSITIONS))
    except LimitError:
        return artifact


def _only_regular(stage: Stage, reason: str) -> str:
    return (
        f"--stage {stage.value} is there for regular grammars alone ({reason}); "
        f"draw --stage {', '.join(_OF_ANY[:-1])} or {_OF_ANY[-1].value}, or bound the nesting "
        "with --max-depth"
    )
