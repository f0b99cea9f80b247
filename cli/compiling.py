"""Compile what the user named, with the bar and the notes that belong to it.

text, options            ->  grammar_of, automaton_of, recogniser_of   no tokenizer is needed
recogniser, tokenizer    ->  compilation_of                            the artifact; notes
grammar or artifact      ->  language_of                               its byte DFA
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from .console import Bar, UsageError, note
from .inputs import artifact_or_text, tokenizer_at
from .options import Given

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.frontend import Automaton, Recogniser
    from constrain.compiler.grammar.tree import Grammar
    from constrain.compiler.limits import Limits
    from constrain.compiler.options import CompileOptions
    from constrain.compiler.pipeline import Compilation


def grammar_of(text: str, path: str, options: "CompileOptions") -> "Grammar":
    """The tree alone, checked."""
    from constrain.compiler.frontend import read_checked

    return read_checked(text, options, path)


def recogniser_of(text: str, path: str, options: "CompileOptions") -> "Recogniser":
    """What recognises the texts of the grammar in the file ``path``, by the engine chosen."""
    from constrain.compiler.pipeline import build_engine

    return build_engine(text, options, name=path)


def automaton_of(text: str, path: str, options: "CompileOptions") -> "Automaton":
    """The same for a regular grammar."""
    from constrain.compiler.frontend import Automaton

    found = recogniser_of(text, path, replace(options, engine="dfa"))
    assert isinstance(found, Automaton)
    return found


def language_of(path: str, given: Given, limits: "Limits") -> "Dfa":
    """The byte DFA of the grammar or artifact at ``path``; token terminals are refused."""
    from constrain.compiler.automata.dfa import from_tables

    found = artifact_or_text(path)
    if isinstance(found, str):
        dfa = automaton_of(found, path, given.compile_options(path, limits)).dfa
    else:
        if not found.is_regular:
            raise UsageError(
                f"{path}: the languages of regular grammars alone are compared, and this artifact "
                f"is of the kind {found.manifest.kind}; compile it with --max-depth N"
            )
        dfa = from_tables(found.byte_dfa)
    if dfa.token_columns:
        refuse_tokens(path)
    return dfa


def refuse_tokens(path: str) -> NoReturn:
    """Raise ``UsageError``: no text stands for a token that a grammar names."""
    raise UsageError(f"{path}: it names tokens by id, so its members are not texts alone")


def canonical_text(artifact: "Artifact", text: str) -> bytes:
    """What a WordPiece artifact's tokenizer sees of ``text``: words between single spaces."""
    from constrain.compiler.wordpiece.normalizer import BertNormalizer

    normalizer = BertNormalizer(*map(bool, artifact.arrays["words.normalizer"].tolist()))
    return normalizer.canonical(text).encode("utf-8")


def compilation_of(
    recogniser: "Recogniser", given: Given, options: "CompileOptions"
) -> "Compilation":
    """The steps that need a tokenizer, for the one that the command line names; notes go to
    stderr."""
    from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
    from constrain.compiler.cache import Cache, default_folder
    from constrain.compiler.pipeline import build_artifact
    from constrain.compiler.tokenizers import Tokenizer

    tokenizer = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    cache = None if given.no_cache else Cache(default_folder())
    tables = TokenizerTables(tokenizer, cache) if isinstance(tokenizer, Tokenizer) else None
    with Bar() as bar:
        compilation = build_artifact(recogniser, tokenizer, options, progress=bar, tables=tables)
    for message in compilation.notes:
        note(message)
    return compilation
