"""The manifest: what an artifact says about itself, as a frozen dataclass and as JSON."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar, get_args, get_origin

from ..errors import ArtifactError

T = TypeVar("T")

# How a grammar reads a text: any way of splitting it into terminals counts, or maximal munch alone.
EXACT, MAXIMAL_MUNCH = "exact", "maximal-munch"
MEANINGS = (EXACT, MAXIMAL_MUNCH)

# What a lexer reads: by itself what the text so far allows, or what the state of Lark's LALR parser
# does.
CONTEXTUAL = "contextual"

# Kinds of artifacts that callers distinguish: of regular grammars, and of those that may nest, read
# over bytes or over lexemes. ``kinds.table`` has all.
TOKEN_DFA, WORD_DFA = "token-dfa", "word-dfa"
NETWORK, EARLEY, GREEDY = "network", "earley", "greedy"


@dataclass(frozen=True, slots=True)
class Origin:
    """A rule of the author's grammar and the places in its text that something came from.

    ``spans``: (start, end) character offsets into the source text.
    """

    rule: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ParserNames:
    """What the tables of a ``network``, ``earley`` or ``greedy`` artifact are about.

    ``start``: the start's nonterminal. ``nullable_start``: the empty text is a member.
    ``rules``: the author's, which paths are made of. ``texts``: each terminal as its author
    wrote it, empty if stripped. ``called``: the rules that a network calls, the start's first.
    """

    start: int
    nullable_start: bool
    rules: tuple[str, ...]
    texts: tuple[str, ...]
    called: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The facts that a reader needs before it touches an array.

    ``kind`` is one of those that ``README.md`` of ``artifacts`` lists; ``tokenization`` is
    ``canonical`` (exactly the sequences that the merges give) or ``any``. ``source`` is the
    grammar's text unless it was stripped. ``splits`` says that a pre-tokenizer splits text before
    merging, ``splits_applied`` whether the masks follow its boundaries. ``token_start`` and
    ``byte_start`` are start states. ``counts`` are for people: states, transitions, distinct rows.
    ``parser``: only in ``network`` (unless it is a byte DFA), ``earley`` and ``greedy``.
    ``meaning``: how the grammar reads a text, ``exact`` or ``maximal-munch``. ``notes``: what the
    compiler said of the grammar, its tokenizer and its options, for people. ``schema``: the options
    that a JSON Schema was read with, as the command line has them; empty where there is none.
    ``define``: names that the grammar left open, and the regexes that stood for them. ``lexer``:
    ``contextual`` where it reads what the states of Lark's parser allow; else empty. ``key``: what
    a store calls it, a digest of all that its bytes depend on; empty elsewhere.
    """

    kind: str
    tokenization: str
    dialect: str
    start: str
    source: str | None
    grammar_sha256: str
    tokenizer_sha256: str
    vocab_size: int
    eos: tuple[int, ...]
    splits: bool
    splits_applied: bool
    byte_start: int
    token_start: int
    counts: dict[str, int]
    origins: tuple[Origin, ...]
    parser: ParserNames | None = None
    meaning: str = EXACT
    notes: tuple[str, ...] = ()
    schema: dict[str, str] = field(default_factory=dict)
    define: dict[str, str] = field(default_factory=dict)
    lexer: str = ""
    key: str = ""

    @property
    def is_regular(self) -> bool:
        """Whether the file has the grammar's byte DFA."""
        is_dfa = self.kind == NETWORK and self.parser is None
        return is_dfa or self.kind in (TOKEN_DFA, WORD_DFA)

    def to_json(self) -> dict[str, Any]:
        """A JSON-serialisable object; ``from_json`` is its inverse."""
        # Field by field: ``asdict`` copies each of thousands of spans by itself.
        value = {item.name: getattr(self, item.name) for item in fields(self)}
        value["origins"] = [{"rule": each.rule, "spans": each.spans} for each in self.origins]
        if self.parser is not None:
            value["parser"] = asdict(self.parser)
        for name in ("parser", "notes", "schema", "define", "lexer", "key"):
            if not value[name]:
                del value[name]
        return value

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Manifest":
        """Check the types of all fields. Raises ``ArtifactError`` naming the first bad one."""
        read: dict[str, Any] = {}
        for item in fields(cls):
            if item.name == "parser":
                read["parser"] = _parser(value.get("parser"))
                continue
            if item.name in _OPTIONAL and item.name not in value:
                continue
            if item.name not in value:
                raise ArtifactError(f"the manifest is damaged: it has no {item.name!r}")
            read[item.name] = value[item.name]
        try:
            read["eos"] = tuple(read["eos"])
            read["notes"] = tuple(read.get("notes", ()))
            read["origins"] = tuple(
                Origin(_typed(o["rule"], str), tuple(_span(*span) for span in o["spans"]))
                for o in read["origins"]
            )
        except (KeyError, TypeError):
            raise ArtifactError(
                "the manifest is damaged: bad 'eos', 'notes' or 'origins'"
            ) from None
        for item in fields(cls):
            if item.name in read and not _fits(read[item.name], item.type):
                raise ArtifactError(f"the manifest is damaged: bad {item.name!r}")
        if read.get("meaning", EXACT) not in MEANINGS:
            raise ArtifactError("the manifest is damaged: bad 'meaning'")
        return cls(**read)


# Fields with a default: the exact meaning, no notes, no schema, no definitions, no lexer, no key.
_OPTIONAL = frozenset({"meaning", "notes", "schema", "define", "lexer", "key"})


def _parser(value: object) -> ParserNames | None:
    if value is None:
        return None
    if isinstance(value, dict) and {*value} >= {item.name for item in fields(ParserNames)}:
        read: dict[str, Any] = {}
        for item in fields(ParserNames):
            given = value[item.name]
            read[item.name] = tuple(given) if isinstance(given, list | tuple) else given
        if all(_fits(read[item.name], item.type) for item in fields(ParserNames)):
            return ParserNames(**read)
    raise ArtifactError("the manifest is damaged: bad 'parser'")


def _span(start: object, end: object) -> tuple[int, int]:
    return _typed(start, int), _typed(end, int)


def _typed(value: object, kind: type[T]) -> T:
    if type(value) is not kind:
        raise TypeError(value)
    return value


def _fits(value: object, kind: Any) -> bool:
    """Whether a value has a field's type; containers are checked one level down."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return isinstance(value, tuple) and all(type(v) is arguments[0] for v in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            type(k) is arguments[0] and type(v) is arguments[1] for k, v in value.items()
        )
    if arguments:
        return type(value) in arguments
    return type(value) is kind
