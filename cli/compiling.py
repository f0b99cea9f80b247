"""Compile what the user named, with the notes that belong to it.

text, options            ->  grammar_of, automaton_of, recogniser_of   no tokenizer is needed
recogniser, tokenizer    ->  compilation_of                            the artifact; notes
grammar or artifact      ->  language_of                               what reads its texts
"""

from dataclasses import fields, replace
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeVar

from constrain.artifacts.errors import visible

from .console import UsageError, note, progress, status
from .inputs import STDIN, artifact_or_text, read_bytes, shown_name, tokenizer_at
from .options import OF_A_GRAMMAR, Given

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.artifacts.network.tables import NetworkTables
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.explain.machines import TextMachine
    from constrain.compiler.frontend import Automaton, Recogniser
    from constrain.compiler.grammar.tree import Grammar
    from constrain.compiler.inspection.texts import Text
    from constrain.compiler.limits import Limits
    from constrain.compiler.options import AnyTokenizer, CompileOptions
    from constrain.compiler.pipeline import Compilation


def grammar_of(text: str, path: str, options: "CompileOptions") -> "Grammar":
    """The tree alone, checked."""
    from constrain.compiler.frontend import read_checked

    return read_checked(text, options, path)


def recogniser_of(text: str, path: str, options: "CompileOptions") -> "Recogniser":
    """What recognises the texts of the grammar in the file ``path``, by the engine chosen."""
    from constrain.compiler.pipeline import build_engine

    return build_engine(text, options, name=path)


def say_depth(recogniser: "Recogniser", options: "CompileOptions") -> None:
    """A note where a bound of the nesting changed nothing."""
    from constrain.compiler.notes import depth_without_effect

    for message in depth_without_effect(recogniser, options):
        note(message)


def counted_network(
    text: str, path: str, options: "CompileOptions", most: int | None = None
) -> "NetworkTables | None":
    """The network of a grammar whose repetitions are counted, if their copies would have more than
    ``most`` states: by default so many that nothing is made of them."""
    from constrain.compiler.explain.explainer import counted_network
    from constrain.compiler.network.counter_tables import MANY_COPIES

    return counted_network(text, options, path, MANY_COPIES if most is None else most)


def automaton_of(text: str, path: str, options: "CompileOptions") -> "Automaton":
    """The same for a regular grammar."""
    from constrain.compiler.frontend import Automaton

    found = recogniser_of(text, path, replace(options, engine="dfa"))
    assert isinstance(found, Automaton)
    return found


def subject_of(path: str, given: Given) -> "Artifact | str":
    """An artifact, or the text of a grammar, as ``artifact_or_text`` reads it.

    An artifact has a tokenizer and a grammar inside. Another tokenizer is an error, since its ids
    would mean other tokens; options for a grammar, which change nothing, are said in a note.
    """
    found = artifact_or_text(path)
    if isinstance(found, str):
        return found
    if given.tokenizer is not None:
        tokenizer = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
        if tokenizer.sha256 != found.manifest.tokenizer_sha256:
            raise UsageError(
                f"{visible(path)}: it was compiled for another tokenizer than "
                f"{visible(given.tokenizer)}, whose ids "
                f"are other tokens; compile the grammar for that one, or leave out --tokenizer"
            )
    said = [
        f"--{field.name.replace('_', '-')}"
        for field in fields(given)
        if field.name in OF_A_GRAMMAR and getattr(given, field.name) != field.default
    ]
    if given.tokenization and given.tokenization != found.manifest.tokenization:
        said.remove("--tokenization")
        note(
            f"{visible(path)} was compiled with --tokenization {found.manifest.tokenization}; "
            f"compile the grammar again with --tokenization {given.tokenization}"
        )
    if said:
        note(
            f"{', '.join(said)} change{'s' * (len(said) == 1)} nothing: {visible(path)} is an "
            "artifact, which has its own grammar and tokenizer"
        )
    return found


T = TypeVar("T", "Artifact", "Artifact | str")

# What reads the texts of a language.
Language: TypeAlias = "Dfa | TextMachine"


def with_automaton(found: T, limits: "Limits") -> T:
    """An artifact with its byte DFA, if it is of a regular grammar that calls nothing."""
    if isinstance(found, str):
        return found
    from constrain.compiler.machine.whole_tables import with_dfa

    return with_dfa(found, limits)


def language_of(subject: "Artifact | str", path: str, given: Given, limits: "Limits") -> "Language":
    """What reads the texts of the grammar or artifact from ``path``: its byte DFA if it is regular
    and not too large, else a machine of any engine. Token terminals are refused."""
    from constrain.artifacts.kinds.met_states import MetStatesRuntime
    from constrain.compiler.automata.dfa import from_tables
    from constrain.compiler.diagnostics import LimitError, NotRegularError
    from constrain.compiler.explain.explainer import explainer_of_artifact, explainer_of_grammar

    found = with_automaton(subject, limits)
    if not isinstance(found, str):
        if found.names_tokens:
            refuse_tokens(path)
        grows = isinstance(found.runtime, MetStatesRuntime) and found.runtime.grows
        m = found.manifest
        if not grows or m.source is None:
            is_dfa = found.is_regular and not grows
            return from_tables(found.byte_dfa) if is_dfa else explainer_of_artifact(found).machine()
        found, given = m.source, replace(given.as_in(m), extended=False)
    options = given.compile_options(path, limits)
    try:
        dfa = automaton_of(found, path, options).dfa
    except (NotRegularError, LimitError) as error:
        if options.max_depth is not None or (isinstance(error, LimitError) and error.is_measured):
            raise
        if isinstance(error, LimitError):
            note(f"{visible(path)}: {error}; texts are compared as far as there is room")
        explainer = explainer_of_grammar(found, options, path)
        grammar = getattr(explainer.recogniser, "grammar", None)
        if grammar is not None and grammar.tokens:
            refuse_tokens(path)
        return explainer.machine()
    if dfa.token_columns:
        refuse_tokens(path)
    return dfa


def refuse_tokens(path: str) -> NoReturn:
    """Raise ``UsageError``: no text stands for a token that a grammar names."""
    raise UsageError(f"{visible(path)}: it names tokens by id, so its members are not texts alone")


def tokenizer_of(artifact: "Artifact", given: Given) -> "AnyTokenizer | None":
    """The tokenizer of an artifact: the one that was named, or the embedded one; None if it is
    another one, which is not there."""
    found = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    return found if found.sha256 == artifact.manifest.tokenizer_sha256 else None


def texts_at(files: list[str], subject: str) -> "list[Text]":
    """The texts in these files, to be read by the grammar or artifact at ``subject``."""
    from constrain.compiler.inspection.texts import Text

    if [subject, *files].count(STDIN) > 1:
        raise UsageError("only one of the grammar and the texts can come from standard input")
    return [Text(shown_name(file), read_bytes(file)) for file in files]


def compilation_of(
    recogniser: "Recogniser", given: Given, options: "CompileOptions"
) -> "Compilation":
    """The steps that need a tokenizer, for the one that the command line names; notes go to
    stderr."""
    from constrain.compiler.diagnostics import DEFINE, READ_AS
    from constrain.compiler.files.cache import cache_of
    from constrain.compiler.pipeline import build_artifact

    tokenizer = tokenizer_at(given.tokenizer, no_cache=given.no_cache)
    cache = cache_of(None if given.no_cache else "default")
    compilation = build_artifact(recogniser, tokenizer, options, progress=progress, cache=cache)
    said = [*compilation.notes]
    for found in compilation.findings:
        if found.message.startswith((READ_AS, DEFINE)):
            continue  # Noted when the grammar was read.
        if found.span is None:
            said.append(found.in_a_line(recogniser.grammar.source))
        else:
            status(found.render(recogniser.grammar.source, "warning"), in_colour=True)
    _say(said)
    return compilation


def _say(notes: list[str]) -> None:
    """Each note with the name of its kind, and which of them to look at."""
    if notes:
        from constrain.compiler.notes import kind_of, summary

        for message in notes:
            note(f"{message} [{kind_of(message).name}]")
        status(f"  = {summary(notes)} (constrain --explain-note NAME says more)")
