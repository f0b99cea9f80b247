"""Compile what the user named, with the bar and the notes that belong to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .console import Bar, UsageError, note
from .inputs import artifact_or_text, dialect_for, tokenizer_at
from .options import Method, Tokenization

if TYPE_CHECKING:
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.limits import Limits
    from constrain.compiler.pipeline import Automaton, Compilation


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options that say how a grammar is compiled; None is the default."""

    tokenizer: str | None = None
    dialect: str | None = None
    start: str | None = None
    tokenization: Tokenization | None = None
    eos: Sequence[str] | None = None
    vocab_size: int | None = None
    max_artifact_bytes: int = 256_000_000
    strip: bool = False
    extended: bool = False
    no_cache: bool = False
    method: Method | None = None


def limits_of(states: int, transitions: int, memory: int, seconds: float, nesting: int) -> "Limits":
    """The limits of the options, with the clock running."""
    from constrain.compiler.limits import Limits

    if not seconds >= 0:
        raise UsageError(f"--max-seconds takes a number of seconds, not {seconds}")
    return Limits(states, transitions, memory, seconds, nesting).started()


def automaton_of(text: str, path: str, wanted: Wanted, limits: "Limits") -> "Automaton":
    """The stages that need no tokenizer, for the grammar in the file ``path``."""
    from constrain.compiler.pipeline import build_automaton

    dialect = dialect_for(path, wanted.dialect, wanted.extended)
    return build_automaton(text, dialect=dialect, start=wanted.start, limits=limits, name=path)


def language_of(path: str, wanted: Wanted, limits: "Limits") -> "Dfa":
    """The byte DFA of the grammar or artifact at ``path``; token terminals are refused."""
    from constrain.compiler.automata.dfa import from_tables

    found = artifact_or_text(path)
    if isinstance(found, str):
        dfa = automaton_of(found, path, wanted, limits).dfa
    else:
        dfa = from_tables(found.byte_dfa)
    if dfa.token_columns:
        raise UsageError(f"{path}: it names tokens by id, so its members are not texts alone")
    return dfa


def compilation_of(automaton: "Automaton", wanted: Wanted, limits: "Limits") -> "Compilation":
    """All other stages; notes go to stderr."""
    from constrain.compiler.cache import Cache, default_folder
    from constrain.compiler.merge.stored import TokenizerTables
    from constrain.compiler.pipeline import build_artifact
    from constrain.compiler.tokenizers import Tokenizer

    tokenizer = tokenizer_at(wanted.tokenizer, no_cache=wanted.no_cache)
    cache = None if wanted.no_cache else Cache(default_folder())
    with Bar() as bar:
        compilation = build_artifact(
            automaton,
            tokenizer,
            tokenization=(wanted.tokenization or Tokenization.CANONICAL).value,
            limits=limits,
            eos=wanted.eos or (),
            vocab_size=wanted.vocab_size,
            max_artifact_bytes=wanted.max_artifact_bytes,
            strip=wanted.strip,
            method=(wanted.method or Method.AUTO).value,
            progress=bar,
            tables=TokenizerTables(tokenizer, cache) if isinstance(tokenizer, Tokenizer) else None,
        )
    for message in compilation.notes:
        note(message)
    return compilation
