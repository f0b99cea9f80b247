"""The options that say how a grammar is compiled: one table, one decorator, one object.

    @options.compile_options("dialect", "start")           the command takes --dialect and --start
    def show(grammar: options.Grammar, given: options.Given) -> None: ...

``Given`` has a field for each option: its name is the option's, and the docstring has the help.
Commands take the options that they name, with the same names and help everywhere, and receive one
object. ``Given.compile_options`` makes the library's ``CompileOptions`` of it, which explains them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer

from constrain.artifacts.errors import visible

from .configuration.current import choice
from .console import UsageError, noting
from .everywhere import panels
from .everywhere.described import option_parameters, with_parameters
from .inputs import GENERIC, beside, dialect_for
from .limit_options import ALL_THERE_IS, OfLimits, OfPrecomputing, amount
from .schema_options import SCHEMA, OfSchemas
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from constrain.artifacts.container.manifest import Manifest
    from constrain.compiler.limits import Limits
    from constrain.compiler.options import CompileOptions

    from .configuration.keys import Key
    from .configuration.project import Project

R = TypeVar("R")

# The largest artifact by default, as the library's own.
ARTIFACT_BYTES = 256_000_000


def dialect_names(typed: str) -> list[str]:
    """The dialects whose names begin so, for the shell's completion."""
    from constrain.compiler.dialects import DIALECTS

    return [name for name in DIALECTS if name.startswith(typed)]


def lint_names(typed: str) -> list[str]:
    """The lints whose names begin so, for the shell's completion."""
    from constrain.compiler.lints import LINTS

    return [name for name in LINTS if name.startswith(typed)]


# How most answers are written.
TextOrJson = Literal["text", "json"]


# Which token sequences spell a member.
Tokenization = Literal["canonical", "any"]


# What follows a grammar.
Engine = Literal["auto", "dfa", "network", "earley", "greedy"]


# How a grammar reads a text.
Meaning = Literal["exact", "maximal-munch"]
LexerOfLark = Literal["contextual"]


# How the automaton over canonical token sequences is found.
Method = Literal["auto", "direct", "cartesian"]


# What becomes of members with a word that WordPiece does not know.
Unk = Literal["omit", "allow"]


Grammar = Annotated[
    str, typer.Argument(metavar="GRAMMAR", help="A grammar file, or - for standard input.")
]
GrammarFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE…]",
        help="Grammar files, folders of such files, or - for standard input.  [default: the "
        "grammars of the project file]",
    ),
]

PrefixIds = Annotated[
    str | None, typer.Option(metavar="IDS", help="The text so far is these tokens, as in 464,3290.")
]

Diff = Annotated[bool, typer.Option("--diff", help="Write no file, but print what would change.")]

Subject = Annotated[
    str,
    typer.Argument(
        metavar="SUBJECT", help="A grammar or a compiled artifact, or - for standard input."
    ),
]


Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write to FILE.  [default: standard output]"
    ),
]


Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="URL",
        help="A folder, or a URL that fsspec knows, as s3://…  [default: the project file's]",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Given(OfLimits, OfSchemas, OfPrecomputing):
    """What the command line says about a compilation; options that it does not say, or that its
    command does not take, have their defaults.

    - ``tokenizer``: A Hugging Face tokenizer.json or its folder, SentencePiece's FILE.model, a
      model's FILE.gguf, NAME.tiktoken or FILE@PATTERN, GPT-2's encoder.json, or hf:ORG/REPO or
      tiktoken:NAME.  [default: the embedded one]
    - ``no_cache``: Neither use nor keep tables of an earlier run.
    - ``dialect``: kbnf, gbnf, w3c, lark, iso14977, abnf, antlr, ebnf, regex, regex-plain,
      regex-extended, json-schema, tools or structural-tag.  [default: by suffix; .ebnf, .kbnf and -
      are kbnf; .gbnf, .w3c, .lark, .regex; .isoebnf and .iso are iso14977; .abnf; .g4 is antlr;
      .bnf is ebnf, and so is .ebnf that is none of these; .schema.json is json-schema, .tools.json
      tools, .structural-tag.json structural-tag]
    - ``extended``: In a regex '&' is intersection, and '~x' what x is not.
    - ``start``: The start rule, in a schema a pointer such as '#/$defs/item'.  [default: 'start',
      else the first rule; in gbnf 'root']
    - ``define``: What a name stands for that the grammar uses and does not define, as
      'IDENT=[a-z]+'; also '? … ?' of ISO 14977 and '<…>' of ABNF; may be repeated.
    - ``include``: Where grammars of Lark and ANTLR find what they import, if it is not beside them;
      may be repeated.
    - ``tokenization``: canonical: the sequences that the tokenizer's merges give; any: all that
      spell a member.  [default: canonical where the grammar and the tokenizer allow it, else any]
    - ``method``: direct: a table of all token states; cartesian: masks made from two automata when
      they are asked for; auto: what fits. The masks are the same.  [default: auto]
    - ``engine``: dfa: for regular grammars; network: automata that call each other, with all masks
      precomputed; earley: any grammar, masks at run time; greedy: a network over lexemes, by
      maximal munch; auto: the first that the grammar, its meaning and the limits allow.  [default:
      auto]
    - ``max_depth``: Make the grammar regular: keep the members that nest at most so deep.
    - ``meaning``: exact: each way to cut a text into terminals counts; maximal-munch: a lexer cuts
      it, each lexeme as long as possible.  [default: maximal-munch for ANTLR's grammars, and Lark's
      with %ignore, %llguidance or lazy rules, else exact]
    - ``lexer``: contextual: as Lark's LALR parser has it, the lexer reads what the parser's state
      allows, so that a keyword may be read where none can follow; by maximal munch.  [default: it
      reads what the text so far allows]
    - ``unk``: For WordPiece: leave members out that have a word which becomes the unknown token, or
      allow it there.  [default: omit]
    - ``eos``: Name or id of a token that ends a text; may be repeated.  [default: the tokenizer's]
    - ``vocab_size``: Pad the masks to this many bits.  [default: highest id + 1]
    - ``strip``: Leave the grammar's text out of the artifact.
    - ``thin``: Write the tokenizer's tables to a file beside the artifact, which all artifacts of
      the tokenizer share.
    - ``max_artifact_bytes``: Leave mask rows to the run time beyond this size.
    """

    tokenizer: Annotated[str | None, panels.of_tokenizer("--tokenizer", "-t", metavar="FILE")] = (
        None
    )
    no_cache: Annotated[bool, panels.of_tokenizer("--no-cache")] = False
    dialect: Annotated[
        str | None,
        panels.of_grammar("--dialect", "-d", metavar="NAME", autocompletion=dialect_names),
    ] = None
    extended: Annotated[bool, panels.of_grammar("--extended/--no-extended", show_default=False)] = (
        False
    )
    start: Annotated[str | None, panels.of_grammar(metavar="RULE")] = None
    define: Annotated[list[str] | None, panels.of_grammar(metavar="NAME=REGEX")] = None
    include: Annotated[list[str] | None, panels.of_grammar(metavar="DIR")] = None
    tokenization: Annotated[Tokenization | None, panels.of_compilation()] = None
    method: Annotated[Method | None, panels.of_compilation()] = None
    engine: Annotated[Engine | None, panels.of_compilation()] = None
    max_depth: Annotated[int | None, panels.of_grammar(metavar="N", min=0, max=1_000)] = None
    meaning: Annotated[Meaning | None, panels.of_grammar()] = None
    lexer: Annotated[LexerOfLark | None, panels.of_grammar()] = None
    unk: Annotated[Unk | None, panels.of_tokenizer()] = None
    eos: Annotated[list[str] | None, panels.of_tokenizer(metavar="TOKEN")] = None
    vocab_size: Annotated[int | None, panels.of_tokenizer(metavar="N", min=1, max=10_000_000)] = (
        None
    )
    strip: Annotated[bool, panels.of_compilation("--strip/--no-strip", show_default=False)] = False
    thin: Annotated[bool, panels.of_compilation("--thin/--no-thin", show_default=False)] = False
    max_artifact_bytes: Annotated[int, panels.of_compilation(metavar="N", min=0)] = ARTIFACT_BYTES
    # No options: the clock of the command, the options that it takes, and those that were said.
    watch: Watch | None = field(default=None, compare=False, repr=False)
    takes: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    said: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def of(self, path: str | None) -> "Given":
        """With what the project file says of the grammar at ``path``, or of all grammars, where the
        command line says nothing. Raises ``ProjectError``."""
        found = project()
        if found is None:
            return self
        from .configuration.apply import values_for

        said = {name: getattr(self, name) for name in self.said}
        values = values_for(found, path, self.takes, said)
        if "tokenizer" in self.said:
            values["tokenizer"] = found.tokenizer(self.tokenizer)
        return replace(self, **values)

    def guesses(self, path: str) -> bool:
        """Whether the suffix of ``path`` alone tells the dialect, and others have it as well."""
        return self.dialect is None and path.endswith(GENERIC)

    def definitions(self) -> tuple[tuple[str, str], ...]:
        """The names that are defined here. Raises ``UsageError``."""
        from constrain.compiler.dialects.ebnf.definitions import read_definitions

        try:
            return read_definitions(self.define or ())
        except ValueError as error:
            raise UsageError(f"--define: {visible(str(error))}") from None

    def as_in(self, manifest: "Manifest") -> "Given":
        """For the text of an artifact's grammar, which is read as it was."""
        define = [f"{name}={regex}" for name, regex in manifest.define.items()]
        lexer = cast("LexerOfLark | None", manifest.lexer or None)
        return replace(
            self, dialect=manifest.dialect, start=manifest.start, define=define, lexer=lexer
        )

    def limits(self) -> "Limits":
        """The limits; the clock runs since the command began."""
        limits = self.bounds()
        return self.watch.over(limits) if self.watch else limits.started()

    def compile_options(self, path: str, limits: "Limits | None" = None) -> "CompileOptions":
        """The library's options for the grammar at ``path``, by whose suffix the dialect goes.

        ``limits``: those of the command line, where they run already. Raises ``UsageError`` for
        options that exclude each other.
        """
        from constrain.compiler.options import CompileOptions

        if self.lazy and self.prewarm:
            raise UsageError("--lazy precomputes nothing, and --prewarm says how much to")
        if self.precompute is not None and (self.lazy or self.prewarm is not None):
            older = "--lazy" if self.lazy else "--prewarm"
            raise UsageError(f"--precompute takes the place of {older}: say one of them")
        if self.max_depth is not None and self.engine not in (None, "auto", "dfa"):
            raise UsageError(f"--max-depth makes a DFA, and --engine says {self.engine}")
        if self.lexer and self.meaning == "exact":
            raise UsageError("--lexer contextual is for --meaning maximal-munch")
        if self.lexer and dialect_for(path, self.dialect, self.extended) != "lark":
            raise UsageError(f"--lexer contextual is Lark's, and {visible(path)} is not")
        named = {field.name for field in fields(CompileOptions)}
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        said |= {"prewarm": 0} if self.lazy else {}
        said |= {"precompute": amount(self.precompute)}
        said |= {"max_artifact_bytes": min(self.max_artifact_bytes, ALL_THERE_IS)}
        said |= {"dialect": dialect_for(path, self.dialect, self.extended)}
        said |= {"is_guessed": self.guesses(path), "define": self.definitions()}
        said |= {"include": tuple(self.include or ())}
        said |= {"schema": self.schema_options(said["dialect"], path)}
        said |= {"imports": beside(path)} if said["dialect"] in ("lark", "antlr") else {}
        chosen = {name: value for name, value in said.items() if name in named}
        return CompileOptions(
            limits=limits or self.limits(),
            keep_unknown=None if self.unk is None else self.unk == "allow",
            **{name: value for name, value in chosen.items() if value is not None},
        )


# The options of ``Given``: all, and those that go together.
_NO_OPTIONS = ("watch", "takes", "said")
ALL = tuple(field.name for field in fields(Given) if field.name not in _NO_OPTIONS)
SOURCE = ("dialect", "extended", "start", "define", "include", "lexer", *SCHEMA)
TOKENIZER = ("tokenizer", "no_cache")
# What an artifact has inside.
OF_A_GRAMMAR = tuple(
    name
    for name in ALL
    if (name not in TOKENIZER and not name.startswith("max_")) or name in ("max_depth", *SCHEMA)
)
LIMITS = tuple(field.name for field in fields(OfLimits))
# Which tokens may come next, besides the grammar's text; and what the masks of that are.
OF_TOKENS = ("tokenization", "meaning", "max_depth", "unk", "eos")
OF_MASKS = (*OF_TOKENS, "vocab_size")


def project() -> "Project | None":
    """The project file that holds for the command at work, None where there is none. Raises
    ``ProjectError``."""
    return choice.project(keys)


def keys() -> "Mapping[str, Key]":
    """What a file may say of a grammar, by the names that it has there."""
    from .configuration.keys import of_a_grammar

    return of_a_grammar(f for f in fields(Given) if f.name in ALL and f.name != "no_cache")


def store_url(said: str | None) -> str:
    """The store that the command line names, else the project file. Raises ``UsageError``."""
    found = None if said is not None else project()
    url = said if found is None or found.store is None else str(found.store.value)
    if not url:
        raise UsageError(
            "name a store, a folder or a URL: with --store, or as 'store' in the project file"
        )
    return url


# The parameters of commands that name their grammar or artifact.
_SUBJECTS = ("grammar", "subject")


def _is_said(context: typer.Context | None, name: str) -> bool:
    """Whether the command line has the option."""
    source = context.get_parameter_source(name) if context is not None else None
    return source is not None and source.name == "COMMANDLINE"


def compile_options(
    *names: str, of_each: bool = False
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Give a command the options of ``Given`` that have these names, after its own.

    The command receives them as ``given``, with what the project file says of its GRAMMAR or
    SUBJECT; a command of several grammars asks for each (``Given.of``). Options come in the order
    of the fields. Limits among them hold from here on, before anything is read, but where they are
    ``of_each`` job alone.
    """
    takes = frozenset(names)
    assert takes.issubset(ALL)
    is_limited = takes.issuperset(LIMITS) and not of_each

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @wraps(command)
        def run(context: typer.Context | None = None, **values: Any) -> R:
            said = frozenset(filter(partial(_is_said, context), names))
            given = Given(**{name: values.pop(name) for name in names}, said=said, takes=takes)
            with Watch() as watch, noting():
                given = replace(given, watch=watch)
                if not takes_several:
                    given = given.of(next((values[n] for n in _SUBJECTS if n in values), None))
                if is_limited:
                    own = given.of(None) if takes_several else given
                    own.limits().check_resources("the command")
                return command(given=given, **values)

        listed = signature(command).parameters.values()
        takes_several = not any(p.name in (*_SUBJECTS, "text") for p in listed)
        own = [p for p in listed if p.name != "given"]
        own.append(Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context))
        return with_parameters(run, [*own, *option_parameters(Given, names)])

    return decorate
