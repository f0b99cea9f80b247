"""``constrain show``: every stage of a compilation as text."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import automaton_of, compilation_of, grammar_of, recogniser_of, subject_of
from ..console import UsageError, note, write_pieces
from ..quoting import octets_of, on_lines

if TYPE_CHECKING:
    from constrain.compiler.options import CompileOptions


# What is printed.
Stage = Literal["tree", "lnf", "nfa", "dfa", "tokens", "network", "lexemes"]


@options.compile_options(
    *options.TOKENIZER, *options.SOURCE, "max_depth", "meaning", "eos", *options.LIMITS
)
def show(
    subject: options.Subject,
    given: options.Given,
    stage: Annotated[Stage | None, typer.Option()] = None,
    output: options.Output = None,
) -> None:
    """Print a stage of the compilation of a grammar, or what an artifact says of itself.

    \b
    Examples:
      constrain show date.ebnf --stage dfa
      constrain show date.cst

    - ``stage``: tree: as parsed; lnf: the normal form; network: automata that call each other;
      lexemes: what a lexer cuts a text into, by maximal munch; of regular grammars nfa, dfa: over
      bytes; tokens: over tokens.  [default: lnf]
    """
    text = subject_of(subject, given)
    if not isinstance(text, str):
        if stage is not None:
            raise UsageError(
                f"{visible(subject)}: an artifact has no stages to print; name its grammar"
            )
        from constrain.compiler.inspection.report import manifest_text

        shown = manifest_text(text.manifest)
    else:
        shown = _shown(stage or "lnf", text, subject, given)
    write_pieces([octets_of(on_lines(shown))], output, subject)


def _shown(stage: Stage, text: str, grammar: str, given: options.Given) -> str:
    """A stage of the grammar at the path ``grammar``."""
    wanted = given.compile_options(grammar)
    if stage in ("tree", "lnf", "network", "lexemes"):
        return _of_any(stage, text, grammar, wanted)
    automaton = automaton_of(text, grammar, wanted)
    if stage == "nfa":
        from constrain.compiler.automata.dump import nfa_text

        return nfa_text(automaton.nfa, automaton.token_names)
    if stage == "dfa":
        from constrain.compiler.automata.dump import dfa_text

        rules = [[automaton.origins[o][0] for o in sorted(s)] for s in automaton.dfa.origins]
        return dfa_text(automaton.dfa.tables(), rules, automaton.token_names)
    from constrain.artifacts.container.manifest import WORD_DFA
    from constrain.compiler.limits import blaming
    from constrain.compiler.merge.dump import tokens_text

    artifact = compilation_of(automaton, given, wanted).artifact
    if artifact.manifest.kind == WORD_DFA:
        raise UsageError(
            "a WordPiece artifact's token automaton is never built whole; draw its first states "
            "with viz --stage tokens"
        )
    if not artifact.is_canonical:
        raise UsageError("only canonical artifacts have a token DFA")
    with blaming(automaton.grammar.longest_rule()):
        return tokens_text(artifact, wanted.limits)


def _network(text: str, path: str, wanted: "CompileOptions", engine: options.Engine) -> str:
    """The network that artifacts of any token sequences have, with as few states as it can have."""
    from constrain.compiler.frontend import Automaton, MaximalMunchGrammar
    from constrain.compiler.network.dump import network_text
    from constrain.compiler.network.minimal_network import minimal_network

    chosen = replace(wanted, engine=engine, tokenization="any", max_depth=None)
    found = recogniser_of(text, path, chosen)
    assert not isinstance(found, Automaton)
    if isinstance(found, MaximalMunchGrammar):
        tables, names = found.tables.network, found.tables.lexer.texts
    else:
        assert found.network is not None
        tables, names = found.network, found.token_names
    if tables.counters is not None and tables.counters.rows:
        note("repetitions are counted, as under --tokenization any, and not copied")
    return network_text(minimal_network(tables, wanted.limits), names)


def _of_any(stage: Stage, text: str, path: str, wanted: "CompileOptions") -> str:
    """The stages that every grammar has."""
    from constrain.compiler.choose import built_lexemes, engine_of, semantics_of
    from constrain.compiler.frontend import normal_form
    from constrain.compiler.grammar.tree_text import tree_text
    from constrain.compiler.lnf.components import recurses
    from constrain.compiler.lnf.dump import lnf_text
    from constrain.compiler.maximal_munch.dump import lexemes_text
    from constrain.compiler.maximal_munch.lexemes import lexeme_grammar

    limits = wanted.limits
    tree = grammar_of(text, path, wanted)
    if stage == "tree":
        return tree_text(tree)
    meaning, reason = semantics_of(tree, wanted.meaning)
    if meaning == "exact":
        if stage == "network":
            return _network(text, path, wanted, "network")
        if stage == "lexemes":
            raise UsageError(
                f"{visible(path)} is read exactly ({reason}); say --meaning maximal-munch"
            )
        return lnf_text(normal_form(tree, limits, is_lexed=True)[1])
    note(f"read by maximal munch: {reason}")
    if stage == "network":
        return _network(text, path, wanted, "greedy")
    most = built_lexemes(engine_of(tree, wanted), wanted, nests=recurses(tree))
    found = lexeme_grammar(tree, limits, most)
    return lexemes_text(found.lexemes) if stage == "lexemes" else lnf_text(found.lnf(limits))
