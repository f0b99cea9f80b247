"""``constrain show``: every stage of a compilation as text."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import (
    automaton_of,
    compilation_of,
    counted_network,
    grammar_of,
    recogniser_of,
    subject_of,
)
from ..console import UsageError, note, write_pieces
from ..quoting import octets_of, on_lines

if TYPE_CHECKING:
    from constrain.artifacts.network.tables import NetworkTables
    from constrain.compiler.options import CompileOptions


class Stage(StrEnum):
    """What is printed."""

    TREE = "tree"
    LNF = "lnf"
    NFA = "nfa"
    DFA = "dfa"
    TOKENS = "tokens"
    NETWORK = "network"
    LEXEMES = "lexemes"


@options.compile_options(
    *options.TOKENIZER, *options.SOURCE, "max_depth", "meaning", "eos", *options.LIMITS
)
def show(
    subject: options.Subject,
    given: options.Given,
    stage: Annotated[
        Stage | None,
        typer.Option(
            help="tree: as parsed; lnf: the normal form; network: automata that call each other; "
            "lexemes: what a lexer cuts a text into, by maximal munch; "
            "of regular grammars nfa, dfa: over bytes; tokens: over tokens.  [default: lnf]"
        ),
    ] = None,
    output: options.Output = None,
) -> None:
    """Print a stage of the compilation of a grammar, or what an artifact says of itself.

    \b
    Examples:
      constrain show date.ebnf --stage dfa
      constrain show date.cst
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
        shown = _shown(stage or Stage.LNF, text, subject, given)
    write_pieces([octets_of(on_lines(shown))], output, subject)


def _shown(stage: Stage, text: str, grammar: str, given: options.Given) -> str:
    """A stage of the grammar at the path ``grammar``."""
    wanted = given.compile_options(grammar)
    if stage in (Stage.TREE, Stage.LNF, Stage.NETWORK, Stage.LEXEMES):
        return _of_any(stage, text, grammar, wanted)
    automaton = automaton_of(text, grammar, wanted)
    if stage is Stage.NFA:
        from constrain.compiler.automata.dump import nfa_text

        return nfa_text(automaton.nfa, automaton.token_names)
    if stage is Stage.DFA:
        from constrain.compiler.automata.dump import dfa_text

        rules = [[automaton.origins[o][0] for o in sorted(s)] for s in automaton.dfa.origins]
        return dfa_text(automaton.dfa.tables(), rules, automaton.token_names)
    from constrain.artifacts.container.manifest import BYTE_DFA, WORD_DFA
    from constrain.compiler.limits import blaming
    from constrain.compiler.merge.dump import tokens_text

    artifact = compilation_of(automaton, given, wanted).artifact
    if artifact.manifest.kind == WORD_DFA:
        raise UsageError(
            "a WordPiece artifact's token automaton is never built whole; draw its first states "
            "with viz --stage tokens"
        )
    if artifact.manifest.kind == BYTE_DFA:
        raise UsageError("only canonical artifacts have a token DFA")
    with blaming(automaton.grammar.longest_rule()):
        return tokens_text(artifact, wanted.limits)


def _with_sets(text: str, path: str, wanted: "CompileOptions", engine: str) -> "NetworkTables":
    """The network that artifacts of any token sequences have, which holds sets in its frames."""
    from constrain.compiler.frontend import MaximalMunchGrammar, Parser

    chosen = replace(wanted, engine=engine, tokenization="any", max_depth=None)
    found = recogniser_of(text, path, chosen)
    if isinstance(found, MaximalMunchGrammar):
        return found.tables.network
    assert isinstance(found, Parser)
    assert found.network is not None
    return found.network


def _of_any(stage: Stage, text: str, path: str, wanted: "CompileOptions") -> str:
    """The stages that every grammar has."""
    from constrain.compiler.choose import built_lexemes, engine_of, semantics_of
    from constrain.compiler.frontend import normal_form
    from constrain.compiler.grammar.expand_permutations import permutations_of
    from constrain.compiler.grammar.tree_text import tree_text
    from constrain.compiler.lnf.components import recurses
    from constrain.compiler.lnf.dump import lnf_text
    from constrain.compiler.maximal_munch.dump import lexemes_text
    from constrain.compiler.maximal_munch.lexemes import lexeme_grammar
    from constrain.compiler.network.build import network
    from constrain.compiler.network.dump import network_text

    limits = wanted.limits
    tree = grammar_of(text, path, wanted)
    if stage is Stage.TREE:
        return tree_text(tree)
    meaning, reason = semantics_of(tree, wanted.meaning)
    if meaning == options.Meaning.EXACT:
        counted = counted_network(text, path, wanted, 0) if stage is Stage.NETWORK else None
        if counted is not None:
            note("repetitions are counted, as under --tokenization any, and not copied")
            return network_text(counted)
        if stage is Stage.LEXEMES:
            raise UsageError(
                f"{visible(path)} is read exactly ({reason}); say --meaning maximal-munch"
            )
        names = [token.text for token in tree.tokens]
        if stage is Stage.NETWORK and any(permutations_of(tree)):
            return network_text(_with_sets(text, path, wanted, "network"), names)
        lnf = normal_form(tree, limits)[1]
    else:
        note(f"read by maximal munch: {reason}")
        most = built_lexemes(engine_of(tree, wanted), wanted, nests=recurses(tree))
        found = lexeme_grammar(tree, limits, most)
        if stage is Stage.LEXEMES:
            return lexemes_text(found.lexemes)
        names = [lexeme.text for lexeme in found.lexemes]
        if stage is Stage.NETWORK and any(permutations_of(tree)):
            return network_text(_with_sets(text, path, wanted, "greedy"), names)
        lnf = found.lnf(limits)
    if stage is Stage.LNF:
        return lnf_text(lnf)
    return network_text(network(lnf, limits, len(names)), names)
