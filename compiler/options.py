"""All options of a compilation in one frozen object: from the command line to the last step.

CompileOptions(dialect="kbnf", tokenization="any")   what the caller wants, checked once
with_changes(options, {"strip": True})               the same but for some fields
request_of(tokenizer, options)                       the ids and sizes that options leave open
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Union

from constrain.artifacts.container.manifest import (
    CONTEXTUAL,
    EARLEY,
    EXACT,
    GREEDY,
    MAXIMAL_MUNCH,
    MEANINGS,
    NETWORK,
    Manifest,
)
from constrain.artifacts.errors import ArtifactError, visible

from . import thresholds
from .diagnostics import TokenizerError
from .limits import DEFAULT_WORK, MOST_WORK, Limits
from .schema.options import HOLD, IGNORE, REFUSE, SchemaOptions

if TYPE_CHECKING:
    from constrain.artifacts.tokens.trie import Trie
    from constrain.artifacts.tokens.vocabulary import Vocabulary

    from .tokenizers import Tokenizer
    from .tokenizers.vocabulary_tables import VocabularyTables
    from .wordpiece.tokenizer import WordPieceTokenizer

AUTO = "auto"
CANONICAL, ANY = "canonical", "any"
TOKENIZATIONS = (CANONICAL, ANY)
DFA = "dfa"
ENGINES = (AUTO, DFA, NETWORK, EARLEY, GREEDY)
DIRECT, CARTESIAN = "direct", "cartesian"
METHODS = (AUTO, DIRECT, CARTESIAN)

# Artifacts above this size leave their mask rows to the run time.
MAX_ARTIFACT_BYTES = 256_000_000

# Summaries that are precomputed, of networks and of networks over lexemes.
PREWARM, PREWARM_OVER_LEXEMES = 50_000, 150_000

# Bytes of the rows that are precomputed, where nothing else is asked for: most of the masks that
# texts meet are among the first.
ROWS_BYTES = 10_000_000

# What ``precompute`` says in words, and as many summaries, or as much work, as all.
ALL_MASKS, NO_MASKS = "all", "none"
_ALL = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """What the caller of a compilation wants; None is the default that a field names.

    Of the grammar:

    - ``dialect``: a name in ``dialects.DIALECTS``; needed where a text is read.
    - ``is_guessed``: a suffix alone told that the dialect is ``kbnf``, so that a text which is not
      of just one other is read as EBNF by its own conventions, with a note.
    - ``start``: the start rule; by default ``start``, else the first rule (in gbnf ``root``).
    - ``schema``: how a JSON Schema is read; None has the defaults of that class.
    - ``imports``: the folder from which a Lark grammar's relative imports go; None refuses them.
    - ``include``: folders of a Lark grammar's other imports.
    - ``define``: names that the grammar leaves open, each with the regex that it stands for.
    - ``meaning``: its match semantics. ``exact``: each way to cut a text into terminals counts;
      ``maximal-munch``: a lexer cuts it, each lexeme as long as possible. By default
      ``choose.semantics_of`` decides.
    - ``lexer``: ``contextual`` is Lark's, by maximal munch: it reads what the state of an LALR
      parser allows, after whatever stack. By default it reads what the text so far allows.

    Of what recognises its texts:

    - ``engine``: ``dfa`` (regular grammars), ``network`` (automata that call each other),
      ``earley`` (any grammar) or ``greedy`` (a network over lexemes, by maximal munch);
      ``auto``: the first that the grammar, its semantics and the limits allow.
    - ``parser``: what ``auto`` takes where there is no DFA: ``network``, ``earley`` or ``auto``.
    - ``max_depth``: unroll nesting so deep and leave deeper members out, which makes a DFA.

    Of the tokens:

    - ``tokenization``: ``canonical`` allows exactly the token sequences that the tokenizer gives
      for the members (by default, where there are such masks), ``any`` every sequence that
      spells a member.
    - ``method``: ``direct``, ``cartesian`` or ``auto``, how the canonical token sequences of a
      regular grammar are found; the masks are the same.
    - ``keep_unknown``, of WordPiece alone: keep members with a word that becomes the unknown token
      (by default not).
    - ``eos``: ids (numbers) or names (texts) of the tokens that end a text; by default the
      tokenizer's own.
    - ``vocab_size``: bits of a mask; by default the tokenizer's highest id + 1.

    Of the work and the file:

    - ``precompute``: ``all`` masks, ``none``, or what so many seconds of the processor are enough
      for, which differs between machines. By default a fixed amount of work is done
      (``limits.DEFAULT_WORK``) for rows of ``ROWS_BYTES``: the file depends on the input alone.
      What is missing is found while decoding. Beyond ``limits.seconds`` it is, too.
    - ``prewarm``: how many summaries of masks are precomputed at most, with
      ``limits.MOST_WORK``; 0 is ``precompute="none"``. By default ``PREWARM``, by maximal munch
      ``PREWARM_OVER_LEXEMES``. ``precompute`` in words sets it.
    - ``max_artifact_bytes``: beyond this size mask rows are left out and computed lazily; what
      cannot be left out must not be larger. 0 leaves out all rows, whatever the rest takes.
    - ``strip``: leave the grammar's text out of the artifact.
    - ``thin``: leave the tokenizer's own sections as they are for every grammar, so that artifacts
      can share them (``Artifact.save_thin``); else they are restricted to what the grammar needs.
    - ``limits``: bounds of every step, with the clock of the whole compilation.

    The constructor raises ``ValueError`` for a value that a field cannot have.
    """

    dialect: str | None = None
    is_guessed: bool = False
    start: str | None = None
    schema: SchemaOptions | None = None
    imports: str | None = None
    include: tuple[str, ...] = ()
    define: tuple[tuple[str, str], ...] = ()
    meaning: str | None = None
    lexer: str | None = None
    engine: str = AUTO
    parser: str = AUTO
    max_depth: int | None = None
    tokenization: str | None = None
    method: str = AUTO
    keep_unknown: bool | None = None
    eos: Sequence[int | str] = ()
    vocab_size: int | None = None
    precompute: str | float | None = None
    prewarm: int | None = None
    max_artifact_bytes: int = MAX_ARTIFACT_BYTES
    strip: bool = False
    thin: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.tokenization not in (None, *TOKENIZATIONS):
            raise ValueError(
                f"tokenization must be 'canonical' or 'any', not {self.tokenization!r}"
            )
        if self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {self.engine!r}")
        if self.parser not in (AUTO, NETWORK, EARLEY):
            raise ValueError(f"parser must be 'auto', 'network' or 'earley', not {self.parser!r}")
        if self.meaning not in (None, *MEANINGS):
            raise ValueError(f"meaning must be one of {', '.join(MEANINGS)}, not {self.meaning!r}")
        if self.lexer not in (None, CONTEXTUAL):
            raise ValueError(f"lexer must be '{CONTEXTUAL}', not {self.lexer!r}")
        if self.lexer is not None:
            if self.meaning == EXACT or self.dialect not in (None, "lark"):
                raise ValueError("the contextual lexer is Lark's, which reads by maximal munch")
            object.__setattr__(self, "meaning", MAXIMAL_MUNCH)
        if self.method not in METHODS:
            raise ValueError(f"method must be 'auto', 'direct' or 'cartesian', not {self.method!r}")
        for name in ("max_depth", "prewarm", "max_artifact_bytes"):
            number = getattr(self, name)
            if number is not None and number < 0:
                raise ValueError(f"{name} must be at least 0, not {number}")
        wanted = self.precompute
        if isinstance(wanted, str):
            if wanted not in (ALL_MASKS, NO_MASKS):
                raise ValueError(f"precompute must be 'all', 'none' or seconds, not {wanted!r}")
            object.__setattr__(self, "prewarm", _ALL if wanted == ALL_MASKS else 0)
            object.__setattr__(self, "precompute", None)
        elif wanted is not None:
            if not wanted >= 0:
                raise ValueError(f"precompute must be at least 0 seconds, not {wanted}")
            if self.prewarm is None:
                object.__setattr__(self, "prewarm", _ALL)

    @property
    def wants_masks_alone(self) -> bool:
        """Whether at first nothing is wanted but masks of any token sequences, each when it is
        needed, and files may be as large as they usually may."""
        is_any = self.tokenization == ANY
        return self.prewarm == 0 and is_any and self.max_artifact_bytes >= MAX_ARTIFACT_BYTES

    @property
    def wants_met_states(self) -> bool:
        """Whether masks of any tokens alone are wanted, and no engine: then states may be made when
        texts meet them."""
        is_open = self.engine == self.parser == AUTO and self.max_depth is None
        is_exact = self.meaning in (None, EXACT)
        return is_open and is_exact and self.tokenization == ANY and self.prewarm == 0

    @property
    def holding(self) -> "CompileOptions | None":
        """The same with items that must differ compared while decoding; None where other masks, or
        another engine, were asked for."""
        found = replace(self, tokenization=ANY, prewarm=0)
        is_open = self.tokenization in (None, ANY) and self.prewarm in (None, 0)
        is_schema = self.dialect == "json-schema"
        return found if is_open and is_schema and found.wants_met_states else None

    def rows_bytes(self, room: int) -> int:
        """Bytes that precomputed rows may take of ``room``, which the file has for them."""
        return min(room, ROWS_BYTES) if self.prewarm is None else room

    @property
    def rows_work(self) -> int:
        """The most work of precomputing rows, as ``limits.Effort`` counts it."""
        if self.wants_all_masks:
            return _ALL
        return DEFAULT_WORK if self.prewarm is None else MOST_WORK

    @property
    def wants_all_masks(self) -> bool:
        """Whether neither a number of summaries nor work bounds what is precomputed."""
        return self.prewarm == _ALL

    @property
    def rows_limits(self) -> Limits:
        """The limits of precomputing, by a clock that ends before the others'."""
        seconds = self.precompute
        return self.limits.for_precomputing(None if isinstance(seconds, str) else seconds)

    @property
    def most_built(self) -> int:
        """Of an intersection, a complement or an expression that grows (``lazy_dfa/growth.py``),
        and of all texts by maximal munch: from more states on those of its DFA are made while
        decoding."""
        is_soon = self.wants_masks_alone
        return thresholds.LARGE_STATES if is_soon else thresholds.BUILT_STATES

    @property
    def of_schemas(self) -> SchemaOptions:
        """How a JSON Schema is read: with counts of any size where they are surely counted while
        decoding, as they are by a network under any tokenization."""
        is_network = self.engine == NETWORK or (
            self.engine == AUTO and self.parser in (AUTO, NETWORK)
        )
        is_exact = self.meaning in (None, EXACT) and self.max_depth is None
        if not (is_network and is_exact and self.tokenization == ANY):
            return _asked(self.schema, holds=False)
        lazy_from = None
        if self.dialect == "json-schema" and self.engine == self.parser == AUTO:
            lazy_from = self.most_built
        holds = self.dialect == "json-schema" and self.wants_met_states
        return _counting(self.schema, lazy_from, holds=holds)

    def said_of_schemas(self, *, holds: bool) -> dict[str, str]:
        """How a JSON Schema was read, by option; ``holds``: items are compared while decoding."""
        return _asked(self.of_schemas, holds=holds).said


@lru_cache(16)
def _counting(schema: SchemaOptions | None, lazy_from: int | None, *, holds: bool) -> SchemaOptions:
    found = _asked(schema, holds=holds)
    return replace(found, keeps_counts=True, lazy_from=lazy_from)


def _asked(schema: SchemaOptions | None, *, holds: bool) -> SchemaOptions:
    """The options, where items that must differ are compared while decoding, or are not."""
    found = schema or SchemaOptions()
    if found.unique == IGNORE:
        return found
    wanted = HOLD if holds else REFUSE
    return found if found.unique == wanted else replace(found, unique=wanted)


def with_changes(options: CompileOptions | None, changes: Mapping[str, Any]) -> CompileOptions:
    """``options`` (by default those of the class) but for ``changes``, with the clock running.

    ``limits=None`` changes nothing. Raises ``TypeError`` for a name that is no option and
    ``ValueError`` for a bad value.
    """
    options = options or CompileOptions()
    limits = changes.get("limits") or options.limits
    return replace(options, **{**changes, "limits": limits.started()})


def options_of(manifest: Manifest) -> CompileOptions:
    """How an artifact's grammar was read, as far as its manifest says. Raises ``ArtifactError`` for
    a manifest whose options nobody can have had."""
    said = manifest.schema
    # Who reads the grammar again asks the machine which items are equal.
    said = said | {"unique": IGNORE} if said.get("unique") == HOLD else said
    try:
        return CompileOptions(
            dialect=manifest.dialect,
            start=manifest.start,
            define=tuple(manifest.define.items()),
            schema=SchemaOptions.from_said(said) if said else None,
            meaning=manifest.meaning,
            lexer=manifest.lexer or None,
            tokenization=manifest.tokenization,
        )
    except ValueError as error:
        raise ArtifactError(f"the manifest is damaged: {visible(error)}") from None


# --- a tokenizer, and what options say about its ids

# What a grammar can be compiled for.
AnyTokenizer: TypeAlias = Union["Tokenizer", "WordPieceTokenizer"]

T = TypeVar("T", bound=AnyTokenizer)
T_co = TypeVar("T_co", bound=AnyTokenizer, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class ArtifactRequest(Generic[T_co]):
    """What an artifact is made for.

    ``eos``: ids of the tokens that end a text, ascending. ``vocab_size``: bits of a mask.
    ``tokens``: tables of the tokenizer's tokens.
    """

    tokenizer: T_co
    eos: tuple[int, ...]
    vocab_size: int
    options: CompileOptions
    tokens: "VocabularyTables"

    @property
    def vocabulary(self) -> "Vocabulary":
        """The bytes of every token, padded to ``vocab_size``."""
        return self.tokens.vocabulary(self.vocab_size)

    @property
    def trie(self) -> "Trie":
        """The trie of all text tokens."""
        return self.tokens.trie

    @property
    def limits(self) -> Limits:
        """The bounds of the compilation."""
        return self.options.limits


def request_of(
    tokenizer: T, options: CompileOptions, tokens: "VocabularyTables | None" = None
) -> ArtifactRequest[T]:
    """The ids and sizes that ``options`` say, else those of the tokenizer; ``tokens``: its tables,
    where they are made already.

    Raises ``TokenizerError`` for tokens that it has not.
    """
    size = padded_size(tokenizer, options.vocab_size)
    if tokens is None:
        from .tokenizers.vocabulary_tables import VocabularyTables

        tokens = VocabularyTables(tokenizer)
    return ArtifactRequest(tokenizer, eos_ids(tokenizer, options.eos), size, options, tokens)


def eos_ids(tokenizer: AnyTokenizer, given: Sequence[int | str]) -> tuple[int, ...]:
    """Ids of the tokens that end a text: those given, else the tokenizer's own. A text is the name
    of an added token, else a number, else the text of another token.

    Raises ``TokenizerError``.
    """
    if not given:
        if not tokenizer.eos:
            raise TokenizerError(
                f"{visible(tokenizer.name)}: no end-of-text token is known; name it with --eos"
            )
        return tokenizer.eos
    by_name = {name: i for i, name in tokenizer.added.items()}
    ids = []
    for wanted in given:
        token_id = by_name.get(wanted) if isinstance(wanted, str) else int(wanted)
        if isinstance(wanted, str) and token_id is None:
            if wanted.isdecimal() and len(wanted) < 10:
                token_id = int(wanted)
            else:
                named = wanted.encode("utf-8", "surrogatepass")  # What is no UTF-8 is no token.
                found = [i for i, octets in tokenizer.tokens.items() if octets == named]
                token_id = found[0] if found else None
        if token_id is None or not 0 <= token_id < tokenizer.vocab_size:
            raise TokenizerError(
                f"{visible(tokenizer.name)}: there is no token {wanted!r} to end a text"
            )
        ids.append(token_id)
    return tuple(sorted(set(ids)))


def padded_size(tokenizer: AnyTokenizer, wanted: int | None) -> int:
    """The size asked for, else the tokenizer's. Raises ``TokenizerError`` if it is too small."""
    if wanted is not None and wanted < tokenizer.vocab_size:
        raise TokenizerError(
            f"{visible(tokenizer.name)}: a vocabulary of {wanted} is too small for token "
            f"{tokenizer.vocab_size - 1}"
        )
    return wanted or tokenizer.vocab_size
