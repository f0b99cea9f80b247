"""The drawings of ``constrain viz`` and ``compile --viz``, stage by stage."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from constrain.artifacts.errors import visible

from .compiling import automaton_of, compilation_of, counted_network, grammar_of, recogniser_of
from .console import UsageError, note, status
from .inputs import STDIN
from .options import Given, Meaning

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.drawing import Drawing, MissingDotError, Size, View
    from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, Parser
    from constrain.compiler.limits import Limits
    from constrain.compiler.options import CompileOptions
    from constrain.compiler.pipeline import Compilation

# The states that a drawing shows unless --draw-states says otherwise.
DRAW_STATES = 100


# What is drawn.
Stage = Literal["nfa", "dfa", "tokens", "tokenizer", "rules", "parser", "lexer"]
STAGES: tuple[Stage, ...] = get_args(Stage)


# Drawn for every grammar; the others are automata of regular ones.
_OF_ANY = ("rules", "parser", "lexer")


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
            return "parser"
        is_regular = isinstance(recogniser_of(subject, path, chosen), Automaton)
    else:
        is_regular = subject.is_regular
    return "dfa" if is_regular else "parser"


def draw_grammar(
    text: str, path: str, stage: Stage, given: Given, limits: "Limits", shown: "View"
) -> "Drawing":
    """The drawing of a grammar's stage."""
    from constrain.compiler.choose import semantics_of
    from constrain.compiler.diagnostics import NotRegularError
    from constrain.compiler.drawing import draw_network, draw_rules
    from constrain.compiler.frontend import Automaton

    wanted = given.compile_options(path, limits)
    if stage == "rules":
        marked = None if shown.prefix is None else _open_rules(text, path, wanted, shown.prefix)
        grammar = grammar_of(text, path, wanted)
        return draw_rules(grammar, shown, marked)
    if stage == "parser" and wanted.max_depth is None:
        counted = counted_network(text, path, wanted, 0)
        if counted is not None:
            return draw_network(counted, shown)
    if stage in _OF_ANY:
        grammar = grammar_of(text, path, wanted)
        engine = "network" if stage == "parser" else "earley"
        if semantics_of(grammar, wanted.meaning)[0] == "maximal-munch":
            engine = "greedy"
        if wanted.max_depth is not None:
            note(f"--max-depth has no effect on --stage {stage}, which has all nesting")
        wanted = replace(wanted, engine=engine, max_depth=None)
        parser = recogniser_of(text, path, wanted)
        assert not isinstance(parser, Automaton)
        return _draw_parser(stage, parser, shown)
    try:
        recogniser = automaton_of(text, path, wanted)
    except NotRegularError as error:
        raise UsageError(_only_regular(stage, error.diagnostics[0].message)) from None
    artifact = None
    if stage in ("tokens", "tokenizer"):
        artifact = compilation_of(recogniser, given, wanted).artifact
    return _draw_automaton(stage, recogniser, artifact, shown)


def draw_artifact(
    artifact: "Artifact", path: str, stage: Stage, limits: "Limits", shown: "View"
) -> "Drawing":
    """The drawing of an artifact's stage; what it does not hold comes from its grammar's text."""
    m = artifact.manifest
    if stage not in _OF_ANY and not artifact.is_regular:
        raise UsageError(
            _only_regular(stage, f"{visible(path)} is an artifact of the kind {m.kind}")
        )
    if stage in _OF_ANY or stage == "nfa":
        if m.source is None:
            what = f"its {stage.upper() if stage == 'nfa' else stage} cannot be"
            raise UsageError(f"{visible(path)}: the grammar's text was stripped, so {what} drawn")
        named = Given(meaning=cast("Meaning", m.meaning)).as_in(m)
        return draw_grammar(m.source, path, stage, named, limits, shown)
    return _draw_automaton(stage, None, artifact, shown)


def write_drawing(
    drawing: "Drawing", path: Path, stage: Stage, size: "Size", limits: "Limits"
) -> "list[MissingDotError]":
    """One file, or pages where it does not hold all: an index under the name, the others beside it;
    all in a folder where ``path`` is one. Where Graphviz is missing, DOT text, and the errors
    that say so. ``limits``: of Graphviz, for each page."""
    from constrain.compiler.drawing import DOT_SUFFIXES, MissingDotError, render

    in_folder = path.is_dir()
    files = [(path / f"{stage}.svg" if in_folder else path, drawing)]
    of_pages = drawing.is_cramped and path.suffix.lower() not in DOT_SUFFIXES
    if drawing.pages is not None and (in_folder or of_pages):
        first = files[0][0]

        def name(page: str) -> str:
            return f"{first.stem}-{page}{first.suffix}" if page else first.name

        pages = drawing.pages(size, name)
        files = [(first.with_name(file), page) for file, page in pages] if len(pages) > 2 else files
    missing, written = list[MissingDotError](), list[Path]()
    for file, page in files:
        try:
            written.append(render(page, file, limits))
        except MissingDotError as error:
            missing.append(error)
    if missing:
        return missing
    beside = f", the index of {len(written) - 1:,} pages beside it" if len(written) > 1 else ""
    status(f"{visible(written[0])}: {stage}{beside}")
    if drawing.left_out and len(written) == 1:
        note(drawing.left_out)
    return []


def say_without_dot(missing: "list[MissingDotError]") -> None:
    """A note with all files of DOT text that stand in the place of drawings."""
    if missing:
        note(", ".join([str(missing[0]), *(visible(each.written) for each in missing[1:])]))


def write_all_drawings(
    compilation: "Compilation", path: str, folder: Path, limits: "Limits"
) -> None:
    """All stages as SVG; where Graphviz is missing, as DOT text with a note. ``path``: of the
    grammar. ``limits``: of Graphviz, for each drawing."""
    from constrain.compiler.drawing import View
    from constrain.compiler.frontend import Automaton, Parser

    folder.mkdir(parents=True, exist_ok=True)
    missing = list["MissingDotError"]()
    recogniser, artifact = compilation.automaton, compilation.artifact
    shown = View(title_of(path))
    for stage in STAGES:
        if not isinstance(recogniser, Automaton):
            earley = isinstance(recogniser, Parser) and recogniser.network is None
            if stage not in _OF_ANY or (stage == "parser" and earley):
                continue
            if stage == "lexer" and _lazy_lexeme(recogniser):
                continue
            drawing = _draw_parser(stage, recogniser, shown)
        elif stage in _OF_ANY or (stage == "tokenizer" and not artifact.is_canonical):
            continue  # Under `any` every token may follow every other: there is nothing to draw.
        else:
            drawing = _draw_automaton(stage, recogniser, artifact, shown)
        missing += write_drawing(drawing, folder / f"{stage}.svg", stage, shown.size, limits)
    say_without_dot(missing)


def title_of(path: str) -> str:
    """The name of a file, without its folder: the same everywhere."""
    return "standard input" if path == STDIN else visible(Path(path).name)


def _open_rules(text: str, path: str, options: "CompileOptions", prefix: bytes) -> list[str]:
    """The rules that lie inside each other where ``prefix`` ends, or stops."""
    from constrain.compiler.explain.explainer import explainer_of_grammar

    verdict = explainer_of_grammar(text, options, path).verdict(prefix)
    return [*verdict.path, *verdict.rules]


def _draw_parser(stage: Stage, parser: "Parser | MaximalMunchGrammar", shown: "View") -> "Drawing":
    from constrain.compiler.drawing import draw_lexer, draw_network, draw_rules
    from constrain.compiler.earley.union_lexer import joint_lexer
    from constrain.compiler.frontend import MaximalMunchGrammar, Parser

    names = parser.token_names
    if stage == "rules":
        return draw_rules(parser.grammar, shown)
    if stage == "parser":
        if isinstance(parser, MaximalMunchGrammar):
            network, symbols = parser.tables.network, parser.tables.lexer.texts
            return draw_network(network, shown, symbols, parser.tables.lexer)
        assert parser.network is not None
        return draw_network(parser.network, shown, names)
    if isinstance(parser, Parser):
        dfas, texts = parser.lexer, parser.layout.tables.texts
    else:
        if lazily := _lazy_lexeme(parser):
            message = f"the states of {lazily} are made while decoding: the lexer is not drawn"
            raise UsageError(message)
        dfas, texts = parser.tables.lexer.dfas, parser.tables.lexer.texts
    return draw_lexer(joint_lexer(dfas), shown, texts, names)


def _lazy_lexeme(parser: "Parser | MaximalMunchGrammar") -> str:
    """The first terminal whose states are made while decoding, as it is written; empty for none."""
    from constrain.compiler.frontend import MaximalMunchGrammar

    lexemes = parser.lexed.lexemes if isinstance(parser, MaximalMunchGrammar) else ()
    return next((lexeme.text for lexeme in lexemes if lexeme.lazily is not None), "")


def _draw_automaton(
    stage: Stage, automaton: "Automaton | None", artifact: "Artifact | None", shown: "View"
) -> "Drawing":
    """``automaton`` serves nfa and dfa, ``artifact`` all but nfa."""
    from constrain.artifacts.container.manifest import WORD_DFA
    from constrain.compiler.automata.dump import terminal_names
    from constrain.compiler.drawing import (
        draw_dfa,
        draw_nfa,
        draw_tokenizer,
        draw_tokens,
        draw_transducer,
    )
    from constrain.compiler.inspection.encoding import canonical_text
    from constrain.compiler.inspection.inspection import small_table
    from constrain.compiler.limits import Limits

    if stage == "nfa" and automaton is not None:
        names = automaton.token_names
        return draw_nfa(automaton.nfa, shown, names, automaton.grammar.start)
    if stage == "dfa":
        if artifact is not None:
            dfa, names = artifact.byte_dfa, terminal_names(artifact.byte_dfa)
            start = artifact.manifest.start
            origins = [[o.rule for o in artifact.origins_of(q)] for q in range(dfa.states)]
        else:
            assert automaton is not None
            dfa, names = automaton.dfa.tables(), automaton.token_names
            start, places = automaton.grammar.start, automaton.origins
            origins = [[places[i][0] for i in found] for found in automaton.dfa.origins]
        return draw_dfa(dfa, shown, names, [sorted({*rules} - {start}) for rules in origins])
    assert artifact is not None
    prefix = None if shown.prefix is None else os.fsdecode(shown.prefix)
    if artifact.manifest.kind == WORD_DFA and stage == "tokenizer":
        text = None if prefix is None else canonical_text(artifact, prefix)
        return draw_transducer(artifact, shown._replace(prefix=text))
    if stage == "tokens":
        # The minimal token DFA where it is small enough.
        whole = small_table(artifact, Limits()) or artifact
        return draw_tokens(whole, shown, _tokens_of(whole, prefix))
    return draw_tokenizer(artifact, shown, _tokens_of(artifact, prefix))


def _tokens_of(artifact: "Artifact", prefix: str | None) -> "tuple[int, ...] | None":
    """The tokens of a text, as ``mask --prefix`` has them; as far as whole tokens go."""
    from constrain.artifacts.container.manifest import WORD_DFA
    from constrain.artifacts.prefix import boundaries
    from constrain.compiler.inspection.encoding import canonical_text

    if prefix is None:
        return None
    is_words = artifact.manifest.kind == WORD_DFA
    text = canonical_text(artifact, prefix) if is_words else os.fsencode(prefix)
    found = boundaries(artifact, text)
    if not found:
        raise UsageError(
            f"--prefix: no member begins with this text: it stops at byte "
            f"{artifact.viable_bytes(text)}; explain says why"
        )
    return found[0].ids


def _only_regular(stage: Stage, reason: str) -> str:
    return (
        f"--stage {stage} is there for regular grammars alone ({reason}); "
        f"draw --stage {', '.join(_OF_ANY[:-1])} or {_OF_ANY[-1]}, or bound the nesting "
        "with --max-depth"
    )
