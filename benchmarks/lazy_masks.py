"""Masks by maximal munch that are not precomputed: the first one, and those of an empty machine.

python benchmarks/lazy_masks.py TOKENIZER.json [--tokens 120]

*First*: CPU milliseconds from the text of a grammar to its first mask, with the tables of the
tokenizer loaded and the dialect in use; a process that has not read its dialect before also builds
that dialect's parser, once. Then each mask of a document is computed by a machine with empty
caches: CPU milliseconds, and the visited nodes as a part of the token trie.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from samples import code_document, json_document

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk.layout import layout_of
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.lexer_tables import maximal_munch_tables

EXAMPLES = Path(__file__).parent.parent / "examples"


class Masks:
    """Machines over one tokenizer, whose tables are loaded."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.size, self.eos = tokenizer.vocab_size, tokenizer.eos
        self.vocabulary = tokenizer.vocabulary(self.size)
        self.trie = Trie.from_vocabulary(self.vocabulary)
        layout_of(self.trie, self.size)

    def machine(self, tables: MaximalMunchTables) -> MaximalMunchMasks:
        """A machine whose caches are empty."""
        return MaximalMunchMasks(tables, lambda: self.trie, self.vocabulary, self.eos, self.size)

    def first(self, text: str) -> float:
        """Seconds to the first mask of a grammar."""
        before = time.process_time()
        machine = self.machine(maximal_munch_tables(read_grammar(text, "lark")))
        machine.row(machine.start)
        return time.process_time() - before

    def uncached(self, tables: MaximalMunchTables, ids: Sequence[int]) -> tuple[float, float]:
        """Seconds of a mask, and its part of the trie's nodes, in the mean over those of a text."""
        seconds, visited, text = 0.0, 0, b""
        for token in ids:
            machine = self.machine(tables)
            state = machine.configurations.read(machine.start, text)
            assert state is not None
            before = time.process_time()
            machine.row(state)
            seconds += time.process_time() - before
            visited += machine.walks.visited
            text += self.vocabulary.token(token)
        return seconds / len(ids), visited / len(ids) / len(self.trie.octets)


def main() -> None:
    """A line for each grammar."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--tokens", type=int, default=120)
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    masks = Masks(tokenizer)
    before = time.process_time()
    read_grammar('start: "a"\n', "lark")
    building = time.process_time() - before
    sys.stdout.write(f"building the dialect's parser, once: {building * 1e3:.1f} ms\n")
    sys.stdout.write(f"{'':8}{'first, ms':>10}{'mask, ms':>10}{'visited':>9}\n")
    for name, document in (("json", json_document), ("code", code_document)):
        text = (EXAMPLES / f"{name}.lark").read_text(encoding="utf-8")
        first = min(masks.first(text) for _ in range(7))
        tables = maximal_munch_tables(read_grammar(text, "lark"))
        ids = tokenizer.encode(document(1))[: wanted.tokens]
        seconds, visited = masks.uncached(tables, ids)
        sys.stdout.write(f"{name:8}{first * 1e3:10.1f}{seconds * 1e3:10.2f}{visited:9.4f}\n")


if __name__ == "__main__":
    main()
