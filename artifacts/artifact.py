"""A compiled grammar in memory: the manifest, the sections, and what runs them.

Artifact(manifest, arrays)      the sections are checked by the artifact's kind
artifact.runtime                its kind's: what the machine is made of
artifact.matcher(after=ids)     -> Matcher -> mask, advance, rollback
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from .container.manifest import WORD_DFA, Manifest, Origin
from .kinds.contents import Contents, Later
from .kinds.table import Kind, Runtime, kind_of
from .matcher import Machine, Matcher
from .tokens.memo import DEFAULT_CACHE_BYTES, CacheBudget
from .tokens.trie import Trie
from .tokens.vocabulary import Vocabulary

if TYPE_CHECKING:
    from .dfa.byte_dfa import ByteDfa


@dataclass(frozen=True, eq=False)
class Artifact:
    """A compiled grammar, bound to the tokenizer it was compiled for.

    ``arrays`` are the file's sections by name (``README.md`` beside this file lists them).
    ``cache_bytes``: what the caches of a machine of this artifact may hold together; the
    ``README.md`` says what is counted. The constructor checks that the sections fit together and
    raises ``ArtifactError``, and ``ValueError`` for negative ``cache_bytes``. ``shared_trie``: the
    trie of the vocabulary, where it was made already. ``later``: makes the sections that masks do
    not need, where they are not there yet; ``completed`` has them. ``reload``: opens the
    file again that the sections are mapped from.
    """

    manifest: Manifest
    arrays: Mapping[str, NDArray[Any]]
    cache_bytes: int = DEFAULT_CACHE_BYTES
    shared_trie: Trie | None = field(default=None, repr=False)
    later: Later | None = field(default=None, repr=False)
    reload: Callable[[], "Artifact"] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        m = self.manifest
        size = sum(array.nbytes for array in self.arrays.values())
        what = f"{m.kind}, {m.tokenization}, {m.dialect}"
        return f"<Artifact: {what}, {m.vocab_size:,} tokens, {size:,} bytes>"

    def _repr_html_(self) -> str:
        from .tokens.as_html import table

        m, size = self.manifest, sum(array.nbytes for array in self.arrays.values())
        rows = [
            ("grammar", f"{m.dialect}, from {m.start}"),
            ("masks", f"{m.kind}, {m.tokenization}"),
        ]
        rows += [("tokens", f"{m.vocab_size:,}"), ("bytes", f"{size:,}")]
        return table("Artifact", [*rows, *(("note", note) for note in self.notes)])

    def __post_init__(self) -> None:
        # Now, by one thread: all that threads share is found under its lock.
        assert self._contents.lock
        if self.later is None:
            self._kind.check(self.manifest, self.arrays)
        for array in self.arrays.values():
            array.flags.writeable = False

    @cached_property
    def _kind(self) -> Kind:
        return kind_of(self.manifest)

    @cached_property
    def _contents(self) -> Contents:
        caches = CacheBudget(self.cache_bytes)
        trie, later = self.shared_trie, self.later
        return Contents(self.manifest, self.arrays, caches, shared_trie=trie, later=later)

    @cached_property
    def completed(self) -> "Artifact":
        """The same artifact with all sections of its file. What explains texts that do not fit is
        made here, where it was left for later."""
        if self.later is None:
            return self
        with self._contents.lock:
            found = self._contents.completed
        return replace(self, manifest=found.manifest, arrays=found.arrays, later=None)

    @property
    def runtime(self) -> Runtime:
        """What runs this artifact: of the class that its kind's module in ``kinds`` has."""
        with self._contents.lock:
            return self._runtime

    @property
    def _matching(self) -> Runtime:
        """What matchers are of."""
        return self.runtime

    @cached_property
    def _runtime(self) -> Runtime:
        return self._kind.runtime(self._contents)

    @property
    def held_bytes(self) -> int:
        """About what was found while decoding and is held now: rows, steps and states. The tables
        of the tokenizer, which artifacts may share, are no part of it."""
        return self._contents.caches.held_bytes

    @property
    def notes(self) -> tuple[str, ...]:
        """What the compiler said of the grammar, its tokenizer and its options, for people."""
        return self.manifest.notes

    def noted(self, notes: Sequence[str]) -> "Artifact":
        """The same artifact with other notes."""
        return self._with(manifest=replace(self.manifest, notes=tuple(notes)))

    def keyed(self, key: str) -> "Artifact":
        """The same artifact, which says that a store has it by this key."""
        return self._with(manifest=replace(self.manifest, key=key))

    def sharing(self, trie: Trie | None) -> "Artifact":
        """The same artifact, which does not make the trie of its vocabulary again."""
        return self._with(shared_trie=trie)

    def _with(self, **changes: object) -> "Artifact":
        """The same sections, which are not checked again."""
        other = object.__new__(Artifact)
        for each in fields(self):
            value = changes[each.name] if each.name in changes else getattr(self, each.name)
            object.__setattr__(other, each.name, value)
        assert other._contents.lock
        return other

    @property
    def vocab_size(self) -> int:
        """Number of bits in a mask: highest token id + 1, padding included."""
        return self.manifest.vocab_size

    @property
    def eos(self) -> Sequence[int]:
        """The ids that end a text."""
        return self.manifest.eos

    @property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token."""
        return self._contents.vocabulary

    @property
    def trie(self) -> Trie:
        """The token trie, built on first use where the file has none."""
        return self._contents.trie

    @property
    def is_canonical(self) -> bool:
        """Whether a text has the tokenizer's own tokens alone."""
        return self.manifest.tokenization == "canonical"

    @property
    def spells_bytes(self) -> bool:
        """Whether tokens spell their own bytes, as all do but WordPiece's."""
        return self.manifest.kind != WORD_DFA

    @property
    def is_regular(self) -> bool:
        """Whether the file holds the grammar's byte DFA."""
        return self.manifest.is_regular

    @property
    def byte_dfa(self) -> "ByteDfa":
        """The grammar's own automaton, minimal, of an artifact that ``is_regular``."""
        return self.completed._contents.byte_dfa

    def machine(self) -> Machine:
        """What the next matcher steps; it stays as it is for whoever holds it."""
        return self._matching.machine()

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self._matching.viable_bytes(text)

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        return self._matching.names_tokens

    @property
    def text_prefix(self) -> bytes:
        """What the tokenizer puts before a text, which its first token spells."""
        found = (self.arrays.get(name) for name in ("sentinel.prefix", "cuts.prefix"))
        return b"".join(array.tobytes() for array in found if array is not None)

    def put_before(self, text: bytes) -> bytes:
        """What the tokenizer puts before a text that begins with ``text``."""
        prefix = self.text_prefix
        begun = "cuts.unless_begun" in self.arrays and text.startswith(prefix)
        return b"" if begun else prefix

    def origins_of(self, byte_state: int) -> tuple[Origin, ...]:
        """The rules that say what may follow a state of the byte DFA."""
        whole = self.completed
        offsets, ids = whole.arrays["origins.offsets"], whole.arrays["origins.ids"]
        span = ids[int(offsets[byte_state]) : int(offsets[byte_state + 1])]
        return tuple(whole.manifest.origins[int(i)] for i in span)

    def matcher(
        self, after: Sequence[int] | None = None, stop_ids: Sequence[int] | None = None
    ) -> Matcher:
        """A matcher at the start of the grammar. Any number of threads may share an artifact, each
        with matchers of its own; one matcher is used by one thread at a time. Matchers share what
        the artifact caches, at most ``cache_bytes`` however many they are, and each holds two
        numbers for each token taken.

        ``after=None``: the text starts here. ``after=ids``: it continues those ids; under
        ``canonical`` the masks then hold the tokens that the tokenizer gives for the prompt and
        a member after it, wherever the tokenizer keeps the prompt's last boundary. Raises
        ``ArtifactError`` if that leaves nothing, and ``ValueError`` for an id outside the
        vocabulary.

        ``stop_ids`` end this text in the place of the artifact's EOS: masks hold them where it may
        end and nowhere else, even if they are text.
        """
        prompt = tuple(after or ())
        for token_id in prompt:
            if not 0 <= token_id < self.vocab_size:
                raise ValueError(f"token {token_id} is outside the vocabulary")
        begin = partial(self._matching.begun, prompt)
        return Matcher(begin, self.eos, self.vocab_size, stop_ids, self, prompt)

    def __reduce__(self) -> tuple[Any, ...]:
        # For pools of processes: of a file its path.
        if self.reload is not None:
            return self.reload, ()
        whole = self.completed
        arrays = {name: array.copy() for name, array in whole.arrays.items()}
        return Artifact, (whole.manifest, arrays, self.cache_bytes)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file: to a temporary name beside ``path``, then renamed."""
        from .container.sections import encode
        from .container.write import write_atomically

        whole = self.completed
        write_atomically(path, encode(whole.manifest.to_json(), whole.arrays))

    def save_thin(
        self, path: str | PathLike[str], folder: str | PathLike[str] | None = None
    ) -> str:
        """Write the file without the tokenizer's own sections, and these to a file in ``folder``
        (by default the one of ``path``), unless it is there; that file's name.

        Of a ``CompileOptions.thin`` compilation all artifacts of a tokenizer that need the same
        tables share one.
        """
        from .container.thin import encode_thin
        from .container.write import write_atomically

        whole = self.completed
        thin = encode_thin(whole.manifest.to_json(), whole.arrays)
        target = Path(Path(path).parent if folder is None else folder, thin.name)
        # The name is a digest of the content; a file of another size is not whole.
        if not target.is_file() or target.stat().st_size != sum(map(len, thin.tables)):
            write_atomically(target, thin.tables)
        write_atomically(path, thin.chunks)
        return thin.name

    def to_bytes(self) -> bytes:
        """The file's bytes; the same artifact gives the same bytes."""
        from .container.sections import encode

        whole = self.completed
        return b"".join(encode(whole.manifest.to_json(), whole.arrays))
