"""Compile what the user named, with the bar and the notes that belong to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from .console import Bar, UsageError, note
from .inputs import artifact_or_text, dialect_for, tokenizer_at
from .options import (
    ARTIFACT_BYTES,
    MEMORY,
    NESTING,
    SECONDS,
    STATES,
    TRANSITIONS,
    Engine,
    Meaning,
    Method,
    Tokenization,
    Unk,
)

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.frontend import Recogniser
    from constrain.compiler.grammar.tree import Grammar
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
    max_artifact_bytes: int = ARTIFACT_BYTES
    strip: bool = False
    extended: bool = False
    no_cache: bool = False
    method: Method | None = None
    engine: Engine | None = None
    prewarm: int | None = None
    max_depth: int | None = None
    unk: Unk | None = None
    meaning: Meaning | None = None


def limits_of(
    states: int = STATES,
    transitions: int = TRANSITIONS,
    memory: int = MEMORY,
    seconds: float = SECONDS,
    nesting: int = NESTING,
) -> "Limits":
    """The limits of the options, with the clock running."""
    from constrain.compiler.limits import Limits

    if not seconds >= 0:
        raise UsageError(f"--max-seconds takes a number of seconds, not {seconds}")
    return Limits(states, transitions, memory, seconds, nesting).started()


def automaton_of(text: str, path: str, wanted: Wanted, limits: "Limits") -> "Automaton":
    """The stages that need no tokenizer, for the regular grammar in the file ``path``."""
    from constrain.compiler.frontend import Automaton

    found = recogniser_of(text, path, replace(wanted, engine=Engine.DFA), limits)
    assert isinstance(found, Automaton)
    return found


def grammar_of(text: str, path: str, wanted: Wanted, limits: "Limits") -> "Grammar":
    """The tree alone, checked."""
    from constrain.compiler.frontend import read_checked

    dialect = dialect_for(path, wanted.dialect, wanted.extended)
    return read_checked(text, dialect, wanted.start, limits, path)


def recogniser_of(
    text: str, path: str, wanted: Wanted, limits: "Limits", *, parser: str = "auto"
) -> "Recogniser":
    """The same for any grammar: an automaton where there is one, else the tables of ``parser``,
    or those of maximal munch."""
    from constrain.compiler.pipeline import build_engine

    return build_engine(
        text,
        dialect=dialect_for(path, wanted.dialect, wanted.extended),
        start=wanted.start,
        limits=limits,
        name=path,
        engine=(wanted.engine or Engine.AUTO).value,
        parser=parser,
        max_depth=wanted.max_depth,
        meaning=wanted.meaning.value if wanted.meaning else None,
    )


def language_of(path: str, wanted: Wanted, limits: "Limits") -> "Dfa":
    """The byte DFA of the grammar or artifact at ``path``; token terminals are refused."""
    from constrain.compiler.automata.dfa import from_tables

    found = artifact_or_text(path)
    if isinstance(found, str):
        dfa = automaton_of(found, path, wanted, limits).dfa
    else:
        if found.parsers is not None:
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


def compilation_of(automaton: "Recogniser", wanted: Wanted, limits: "Limits") -> "Compilation":
    """All other stages; notes go to stderr."""
    from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
    from constrain.compiler.cache import Cache, default_folder
    from constrain.compiler.pipeline import build_artifact
    from constrain.compiler.tokenizers import Tokenizer

    tokenizer = tokenizer_at(wanted.tokenizer, no_cache=wanted.no_cache)
    cache = None if wanted.no_cache else Cache(default_folder())
    with Bar() as bar:
        compilation = build_artifact(
            automaton,
            tokenizer,
            tokenization=wanted.tokenization.value if wanted.tokenization else None,
            limits=limits,
            eos=wanted.eos or (),
            vocab_size=wanted.vocab_size,
            max_artifact_bytes=wanted.max_artifact_bytes,
            strip=wanted.strip,
            method=(wanted.method or Method.AUTO).value,
            prewarm=wanted.prewarm,
            keep_unknown=wanted.unk is Unk.ALLOW,
            progress=bar,
            tables=TokenizerTables(tokenizer, cache) if isinstance(tokenizer, Tokenizer) else None,
        )
    for message in compilation.notes:
        note(message)
    return compilation
