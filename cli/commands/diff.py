"""``constrain diff``: how the languages of two grammars differ."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..compiling import language_of, subject_of
from ..configuration.apply import applies_to
from ..console import UsageError, note, write_json, write_text
from ..inputs import STDIN, dialect_for
from ..quoting import quoted, text_of
from ..schema_options import SCHEMA as OF_SCHEMAS

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.explain.schema_changes import Change
    from constrain.compiler.limits import Limits

    from ..compiling import Language

SCHEMA = 1

# Without --max-bytes, counts begin at the shortest member and go on for so many lengths.
_LENGTHS = 8

# Schemas that nest deeper are compared by their texts alone.
_SCHEMA_LEVELS = 100


@options.compile_options(
    "extended", "define", "include", *OF_SCHEMAS, "max_depth", "meaning", "lexer", *options.LIMITS
)
def diff(
    given: options.Given,
    left: Annotated[str, typer.Argument(metavar="A")],
    right: Annotated[str, typer.Argument(metavar="B")],
    format_: Annotated[options.TextOrJson, typer.Option("--format", "-f")] = "text",
    max_bytes: Annotated[int | None, typer.Option(min=0, metavar="B")] = None,
    dialect: Annotated[list[str] | None, typer.Option("--dialect", "-d", metavar="NAME")] = None,
    start: Annotated[list[str] | None, typer.Option(metavar="RULE")] = None,
) -> int:
    """Say whether two grammars have the same members, and how they differ.

    Grammars of any two dialects, and artifacts. For each side: the shortest member that the
    other has not (between automata the first by bytes), and how many such members there are
    of each length. Of JSON Schemas first what they say differently, key by key. Grammars
    that nest are compared as deep as there is room, and the depth is said; --max-depth
    compares and counts the members that nest so deep. Exit code 0 if no difference was found,
    1 if there is one.

    \b
    Examples:
      constrain diff date.ebnf date.regex
      constrain diff old.cst new.ebnf --format json

    - ``left``: A grammar or a compiled artifact; - for stdin.
    - ``right``: A grammar or a compiled artifact; - for stdin.
    - ``format_``: text or json.
    - ``max_bytes``: Count the members of either difference up to B bytes.  [default: for eight
      lengths from the shortest on]
    - ``dialect``: The dialect of both; given twice, of A and of B.  [default: by suffix]
    - ``start``: The start rule of both; given twice, of A and of B.
    """
    if left == right == STDIN:
        raise UsageError("A and B cannot both come from standard input")
    limits = given.of(None).limits()
    dialects, starts = _pair("--dialect", dialect), _pair("--start", start)
    options_of = list(map(partial(_of_side, given), (left, right), (right, left), dialects, starts))
    subjects = list(map(subject_of, (left, right), options_of))
    _note_of_tokens(subjects)
    keys = _keys(subjects, (left, right), options_of, limits)

    def languages(options_of: Sequence[options.Given]) -> list["Language"]:
        return [
            language_of(*each, limits)
            for each in zip(subjects, (left, right), options_of, strict=True)
        ]

    found = _compared(languages(options_of), max_bytes, limits)
    if given.max_depth is not None and not found.is_equal:
        whole = languages([replace(each, max_depth=None) for each in options_of])
        if any(map(_has, reversed(whole), found.sides)):
            note(
                f"--max-depth {given.max_depth} leaves out members of one grammar that the other "
                "nests less deep: all are compared, and not counted [cut-off]"
            )
            found = _compared(whole, max_bytes, limits)
    if format_ == "json":
        value: dict[str, Any] = {
            "equal": found.is_equal,
            "only_left": found.sides[0],
            "only_right": found.sides[1],
        }
        value |= {"looked_at": found.looked_at} if found.looked_at else {}
        value |= {"keys": [asdict(change) for change in keys]} if keys is not None else {}
        write_json(SCHEMA, value)
        return 0 if found.is_equal else 1
    write_text("".join(f"{change.pointer}: {change.message}\n" for change in keys or ()))
    if found.is_equal:
        write_text(f"equal{_as_far(found.looked_at)}\n")
    else:
        for path, side in zip((left, right), found.sides, strict=True):
            write_text(_said(path, side, found.looked_at, is_json=keys is not None))
        if not any("counts" in side for side in found.sides if side):
            more = "; --max-depth N may help" * (given.max_depth is None)
            note(f"members are not counted where no automaton has them all{more}")
    return 0 if found.is_equal else 1


_Looked: TypeAlias = dict[str, int | None] | None


@dataclass(frozen=True, slots=True)
class _Found:
    """``sides``: of each the shortest member that it alone has, with counts where it was an
    automaton, None if there is none. ``looked_at``: None if all texts were compared, else the
    ``depth`` and the ``bytes`` up to which they were (either None: of any)."""

    sides: tuple[dict[str, Any] | None, ...]
    looked_at: _Looked = None

    @property
    def is_equal(self) -> bool:
        return self.sides == (None, None)


def _note_of_tokens(subjects: "Sequence[Artifact | str]") -> None:
    """What two artifacts with the same members may differ in."""
    one, other = (None if isinstance(each, str) else each.manifest for each in subjects)
    if one is None or other is None:
        return
    if one.tokenizer_sha256 != other.tokenizer_sha256:
        note("the artifacts are of two tokenizers: their members are compared, not their masks")
    elif one.tokenization != other.tokenization:
        said = f"{one.tokenization} and {other.tokenization}"
        note(f"the tokenizations are {said}: members are compared, not which tokens spell them")


def _has(language: "Language", side: dict[str, Any] | None) -> bool:
    """Whether the shortest member that another grammar alone has is one of this one, too."""
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.explain.machines import DfaMachine

    if side is None:
        return False
    text = side["shortest"].encode("utf-8", "surrogateescape")
    machine = DfaMachine(language.tables()) if isinstance(language, Dfa) else language
    return machine.accepts(text)


def _compared(languages: "Sequence[Language]", max_bytes: int | None, limits: "Limits") -> _Found:
    """Two languages, by products of their automata, or by reading in both at once."""
    from constrain.compiler.automata.compare import compare
    from constrain.compiler.automata.dfa import Dfa
    from constrain.compiler.explain.lockstep import lockstep
    from constrain.compiler.explain.machines import DfaMachine
    from constrain.compiler.progress import Step

    one, other = languages
    if isinstance(one, Dfa) and isinstance(other, Dfa):
        found = compare(one, other, limits)
        with Step("count"):
            alone = (found.only_left, found.only_right)
            return _Found(tuple(_side(dfa, max_bytes, limits) for dfa in alone))
    left, right = (DfaMachine(x.tables()) if isinstance(x, Dfa) else x for x in languages)
    with Step("compare"):
        nested = lockstep(left, right, limits)
    is_all = nested.depth is nested.length is None
    if not (is_all or nested.has_members):
        raise UsageError(
            "the grammars nest, or are too large for automata, and their members are too long to "
            f"be compared: none has at most {nested.length or 0} bytes, and longer texts are too "
            "many"
        )
    looked_at = None if is_all else {"depth": nested.depth, "bytes": nested.length}
    texts = (nested.only_left, nested.only_right)
    return _Found(tuple(None if text is None else _shortest(text) for text in texts), looked_at)


def _keys(
    subjects: "Sequence[Artifact | str]",
    paths: Sequence[str],
    options: Sequence[options.Given],
    limits: "Limits",
) -> "list[Change] | None":
    """What two JSON Schemas say differently; None of other grammars."""
    from constrain.compiler.dialects.table import JSON_SCHEMA
    from constrain.compiler.explain.schema_changes import changes
    from constrain.compiler.schema.read import value_of

    values, limits = [], replace(limits, nesting=_SCHEMA_LEVELS)
    for subject, path, given in zip(subjects, paths, options, strict=True):
        if isinstance(subject, str):
            dialect, text = dialect_for(path, given.dialect, given.extended), subject
        else:
            dialect, text = subject.manifest.dialect, subject.manifest.source or ""
        if dialect != JSON_SCHEMA or (value := value_of(text, limits)) is None:
            return None
        values.append(value)
    return changes(*values)


def _of_side(
    given: options.Given, path: str, other: str, dialect: str | None, start: str | None
) -> options.Given:
    """The options of one of the two grammars. Where the project file lists the other alone, and
    both are called the same, this is a copy of it: what is said of that one holds for both."""
    project = options.project()
    if project is not None and applies_to(path) and Path(path).name == Path(other).name:
        path = path if project.entries_of(path) else other
    named = {name for name, value in (("dialect", dialect), ("start", start)) if value is not None}
    takes, said = given.takes | {"dialect", "start"}, given.said | named
    return replace(given, dialect=dialect, start=start, takes=takes, said=said).of(path)


def _pair(option: str, given: list[str] | None) -> list[str | None]:
    """What an option says about A and about B."""
    if not given:
        return [None, None]
    if len(given) > 2:
        raise UsageError(f"{option} is given once for both grammars, or twice, for A and for B")
    return [given[0], given[-1]]


def _side(dfa: "Dfa", max_bytes: int | None, limits: "Limits") -> dict[str, Any] | None:
    """A difference: shortest and longest member, counts by length; None if it is empty."""
    from constrain.compiler.automata.members import Members, longest_length, shortest

    word, longest = shortest(dfa), longest_length(dfa)
    if word is None:
        return None
    last = len(word) + _LENGTHS - 1 if max_bytes is None else max_bytes
    if longest is not None:
        last = min(last, longest)
    members = Members(dfa, limits)
    counts = {length: members.count(length) for length in range(len(word), last + 1)}
    return {
        **_shortest(word),
        "longest_bytes": longest,
        "counts": {str(length): count for length, count in counts.items() if count},
    }


def _shortest(word: bytes) -> dict[str, Any]:
    return {"shortest": text_of(word), "shortest_bytes": len(word)}


def _as_far(looked_at: _Looked) -> str:
    """What was compared, where it was not all."""
    if looked_at is None:
        return ""
    parts = []
    if looked_at["depth"] is not None:
        parts.append(f"calls nest at most {looked_at['depth']} deep")
    if looked_at["bytes"] is not None:
        parts.append(f"they have at most {looked_at['bytes']} bytes")
    return f" among texts where {' and '.join(parts)}"


def _said(path: str, side: dict[str, Any] | None, looked_at: _Looked, *, is_json: bool) -> str:
    """A difference for people: its shortest member and a table of counts."""
    if side is None:
        return f"only in {visible(path)}: nothing{_as_far(looked_at)}\n"
    octets = side["shortest"].encode("utf-8", "surrogateescape")
    lines = [f"only in {visible(path)}: shortest {quoted(octets)}"]
    if "counts" in side:
        lines.append(f"  bytes  members{' (white space counts)' * is_json}")
        lines += [f"  {int(length):5}  {count:,}" for length, count in side["counts"].items()]
        last = max(map(int, side["counts"]), default=-1)
        if side["longest_bytes"] is None:
            lines.append("      …  longer ones, without a bound")
        elif last < side["longest_bytes"]:
            lines.append(f"      …  up to {side['longest_bytes']:,} bytes")
    return "\n".join(lines) + "\n"
