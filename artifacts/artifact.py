"""A compiled grammar in memory: the manifest, the tables, and what they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .bpe.merge_table import MergeTable
from .container.manifest import EARLEY, GREEDY, NETWORK, Manifest, Origin
from .dfa.byte_dfa import ByteDfa, ByteMachine
from .dfa.mask_rows import FamilyRows, Rows, StoredRows, WalkedRows
from .dfa.token_dfa import TokenDfa
from .errors import ArtifactError
from .kinds.check import check_structure
from .matcher import Machine, Matcher
from .tokens import tokenset
from .tokens.tokenset import Words
from .tokens.trie import Trie
from .tokens.vocabulary import TokenClasses, Vocabulary

# What runs an artifact is imported where an artifact of its kind is met.
if TYPE_CHECKING:
    from .bpe.forbidden_pairs import ForbiddenPairs
    from .cartesian.from_sections import AnyProduct
    from .kinds.maximal_munch import MaximalMunchParser
    from .kinds.parser import Parsers
    from .wordpiece.machine import WordMachine


@dataclass(frozen=True, eq=False)
class Artifact:
    """A compiled grammar, bound to the tokenizer it was compiled for.

    ``arrays`` are the file's sections by name (``README.md`` beside this file lists them).
    The constructor checks that they fit together and raises ``ArtifactError``.
    """

    manifest: Manifest
    arrays: Mapping[str, NDArray[Any]]

    def __post_init__(self) -> None:
        check_structure(self.manifest, self.arrays)
        for array in self.arrays.values():
            array.flags.writeable = False

    @property
    def vocab_size(self) -> int:
        """Number of bits in a mask: highest token id + 1, padding included."""
        return self.manifest.vocab_size

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token."""
        a = self.arrays
        return Vocabulary(a["vocab.data"], a["vocab.offsets"], a["vocab.kinds"])

    @cached_property
    def byte_dfa(self) -> ByteDfa:
        """The grammar's own automaton, minimal."""
        a = self.arrays
        return ByteDfa(
            a["dfa.table"],
            a["dfa.classes"],
            self._terminals(),
            a["dfa.accepting"],
            self.manifest.byte_start,
        )

    def _terminals(self) -> TokenClasses:
        if "dfa.token_ids" not in self.arrays:
            return TokenClasses.of()
        return TokenClasses(self.arrays["dfa.token_ids"], self.arrays["dfa.token_offsets"])

    @cached_property
    def token_dfa(self) -> TokenDfa | None:
        """The automaton over canonical token sequences as a table; None in other artifacts."""
        if self.manifest.kind != "token-dfa":
            return None
        a = self.arrays
        return TokenDfa(
            a["tokens.family"],
            a["tokens.accepting"],
            a["tokens.edge_offsets"],
            a["tokens.edge_tokens"],
            a["tokens.edge_targets"],
            self.manifest.token_start,
        )

    @cached_property
    def parsers(self) -> "Parsers | MaximalMunchParser | None":
        """What runs an artifact of a parser; None where there is a byte DFA."""
        if self.manifest.kind == GREEDY:
            from .kinds.maximal_munch import MaximalMunchParser

            return MaximalMunchParser(
                self.manifest, self.arrays, self.vocabulary, lambda: self.trie
            )
        if self.manifest.kind not in (NETWORK, EARLEY):
            return None
        from .kinds.parser import Parsers

        return Parsers(self.manifest, self.arrays, self.vocabulary, lambda: self.trie)

    def machine_and_rows(self) -> tuple[Machine, Rows]:
        """What one matcher steps, and where its rows come from."""
        if self.parsers is not None:
            machine = self.parsers.machine()
            return machine, machine
        return self.machine, self.rows

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        if self.parsers is not None:
            return self.parsers.viable_bytes(text)
        return self.byte_dfa.viable_bytes(text)

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        if self.parsers is not None:
            return bool(self.parsers.named)
        return bool(len(self.byte_dfa.terminals))

    @cached_property
    def machine(self) -> Machine:
        """What a matcher of an automaton steps."""
        lazy = self.word_machine or self.product
        return lazy or self.token_dfa or ByteMachine(self.byte_dfa, self.vocabulary)

    @cached_property
    def product(self) -> "AnyProduct | None":
        """The automaton of CartesianMerge, made as it is walked; None in other artifacts."""
        if self.manifest.kind != "product":
            return None
        from .cartesian.from_sections import product_machine

        return product_machine(self.manifest, self.arrays, self.vocabulary)

    @property
    def text_prefix(self) -> bytes:
        """What the tokenizer puts before a text, which its first token spells."""
        found = self.arrays.get("cuts.prefix")
        return b"" if found is None else found.tobytes()

    def put_before(self, text: bytes) -> bytes:
        """What the tokenizer puts before a text that begins with ``text``."""
        prefix = self.text_prefix
        begun = "cuts.unless_begun" in self.arrays and text.startswith(prefix)
        return b"" if begun else prefix

    @cached_property
    def word_machine(self) -> "WordMachine | None":
        """The automaton over WordPiece's token sequences; None for other tokenizers."""
        if self.manifest.kind != "word-dfa":
            return None
        from .wordpiece.machine import word_machine

        return word_machine(self.manifest, self.arrays, self.vocabulary)

    @cached_property
    def rows(self) -> Rows:
        """Where mask rows come from: the file, or computed on demand where it left them out."""
        if self.word_machine is not None:
            return self.word_machine
        a, m = self.arrays, self.manifest
        if self.product is not None:
            return self.product
        if "rows" in a:
            return StoredRows(a["rows"], a["row_of"])
        if self.token_dfa is not None:
            bits, offsets = a["tokens.allowed"], a["tokens.allowed_offsets"]
            return FamilyRows(self.token_dfa, bits, offsets, m.eos, m.vocab_size)
        live = a["dfa.live"].view(np.bool_)
        return WalkedRows(self.byte_dfa, self.trie, live, m.eos, m.vocab_size)

    @cached_property
    def trie(self) -> Trie:
        """The token trie, built on first use."""
        return Trie.from_vocabulary(self.vocabulary)

    @cached_property
    def merge_table(self) -> "MergeTable | ForbiddenPairs":
        """Which tokens may not follow which inside a piece (canonical artifacts only)."""
        if self.product is not None:
            from .cartesian.from_sections import forbidden_pairs

            return forbidden_pairs(self.product)
        return MergeTable(self.arrays["merges"])

    def byte_state_of(self, state: int) -> int:
        """The byte-DFA state that a state of the machine stands for (of several, one)."""
        arrays = self.arrays
        if self.product is not None:
            from .cartesian.from_sections import members

            return int(arrays["product.byte_state"][members(self.product, state)[0]])
        if self.token_dfa is None:
            return state
        family = int(arrays["tokens.family"][state])
        states = arrays.get("tokens.family_states")
        return family if states is None else int(states[family])

    def origins_of(self, byte_state: int) -> tuple[Origin, ...]:
        """The rules that say what may follow a byte-DFA state."""
        offsets, ids = self.arrays["origins.offsets"], self.arrays["origins.ids"]
        span = ids[int(offsets[byte_state]) : int(offsets[byte_state + 1])]
        return tuple(self.manifest.origins[int(i)] for i in span)

    def matcher(self, after: Sequence[int] | None = None) -> Matcher:
        """A matcher at the start of the grammar. Matchers of one artifact share what they have
        worked out: those of one artifact belong to one thread, and another thread loads the
        file again, which maps the same memory.

        ``after=None``: the text starts here. ``after=ids``: it continues those ids; under
        ``canonical`` the masks then hold the tokens that the tokenizer gives for the prompt and
        a member behind it, wherever it keeps the prompt's last boundary. Raises
        ``ArtifactError`` if that leaves nothing, and ``ValueError`` for an id outside the
        vocabulary.
        """
        m = self.manifest
        for token_id in after or ():
            if not 0 <= token_id < self.vocab_size:
                raise ValueError(f"token {token_id} is outside the vocabulary")
        if self.product is not None:
            start = self.product.state_after(after or ())
            return Matcher(self.product, self.product, m.eos, m.vocab_size, start=start)
        if after and self.parsers is not None and (canonical := self.parsers.canonical()):
            start = canonical.state_after(after)
            return Matcher(canonical, canonical, m.eos, m.vocab_size, start=start)
        first_row = self._row_after(after) if after else None
        return Matcher(*self.machine_and_rows(), m.eos, m.vocab_size, first_row)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file: to a temporary name beside ``path``, then renamed."""
        from .container.sections import encode
        from .container.write import write_atomically

        write_atomically(path, encode(self.manifest.to_json(), self.arrays))

    def to_bytes(self) -> bytes:
        """The file's bytes; the same artifact gives the same bytes."""
        from .container.sections import encode

        return b"".join(encode(self.manifest.to_json(), self.arrays))

    def _row_after(self, after: Sequence[int]) -> Words | None:
        last = after[-1]
        if self.token_dfa is None or not self.vocabulary.is_text(last):
            return None
        row = self.rows.row(self.token_dfa.start)
        ids = [int(i) for i in tokenset.to_ids(row)]
        joined = self.merge_table.forbidden([last], ids)[0]
        # What is read as a token is no text that could be joined to the prompt.
        live = self.byte_dfa.token_targets(self.byte_dfa.start)
        apart = {*self.manifest.eos, *self.byte_dfa.terminals.select(live)[0].tolist()}
        kept = [i for i, bad in zip(ids, joined, strict=True) if not bad or i in apart]
        if not kept:
            raise ArtifactError(
                f"no member of the grammar continues token {last}: the tokenizer would join "
                f"each first token to it"
            )
        first_row = tokenset.from_ids(kept, self.vocab_size)
        first_row.flags.writeable = False
        return first_row
