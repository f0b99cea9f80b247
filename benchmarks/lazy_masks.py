"""Masks by maximal munch that are not precomputed: the first one, and what slices save.

python benchmarks/lazy_masks.py TOKENIZER.json [--tokens 120]

*First*: CPU milliseconds from the text of a grammar to its first mask, with slices, the tables of
the tokenizer being loaded and the dialect in use; a process that has not read its dialect before
also builds that dialect's parser, once. Then each mask of a document is computed by a machine with
empty caches: CPU time and visited trie nodes with slices (and subtrees, which come with them), as a
part of those without, and the share of the visits without slices at which a lexeme ends, so that
the parser has to say what may follow.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from samples import code_document, json_document

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.slices import Slices
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.trie import Trie
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
        self.slices, self.leaves = Slices(self.trie, self.size), Subtrees.leaves(self.trie)
        self.slices.subtrees(make=True)

    def machine(self, tables: MaximalMunchTables, *, sliced: bool) -> MaximalMunchMasks:
        """A machine whose caches are empty."""
        trie, leaves = self.trie, self.leaves
        masks = MaximalMunchMasks(tables, lambda: trie, self.vocabulary, self.eos, self.size)
        if sliced:
            vars(masks.walks).update(slices=lambda: self.slices)
        else:
            vars(masks.walks).update(tokens=lambda reading=None: leaves, skipped=lambda *_: None)
        return masks

    def first(self, text: str) -> float:
        """Seconds to the first mask of a grammar."""
        before = time.process_time()
        machine = self.machine(maximal_munch_tables(read_grammar(text, "lark")), sliced=True)
        machine.row(machine.start)
        return time.process_time() - before

    def uncached(
        self, tables: MaximalMunchTables, ids: Sequence[int], *, sliced: bool
    ) -> tuple[float, int, int]:
        """Seconds, visited nodes, and those at which a lexeme ended, over all masks of a text."""
        seconds, visited, parsed, text = 0.0, 0, 0, b""
        for token in ids:
            machine = self.machine(tables, sliced=sliced)
            state = machine.configurations.read(machine.start, text)
            assert state is not None
            before = time.process_time()
            machine.row(state)
            seconds += time.process_time() - before
            visited += machine.walks.visited
            parsed += machine.walks.parsed
            text += self.vocabulary.token(token)
        return seconds, visited, parsed


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
    sys.stdout.write(f"{'':8}{'first, ms':>10}{'time':>8}{'visits':>8}{'parser, %':>11}\n")
    for name, document in (("json", json_document), ("code", code_document)):
        text = (EXAMPLES / f"{name}.lark").read_text(encoding="utf-8")
        first = min(masks.first(text) for _ in range(7))
        tables = maximal_munch_tables(read_grammar(text, "lark"))
        ids = tokenizer.encode(document(1))[: wanted.tokens]
        plain, sliced = (masks.uncached(tables, ids, sliced=s) for s in (False, True))
        sys.stdout.write(
            f"{name:8}{first * 1e3:10.1f}{sliced[0] / plain[0]:8.2f}{sliced[1] / plain[1]:8.3f}"
            f"{100 * plain[2] / plain[1]:11.2f}\n"
        )


if __name__ == "__main__":
    main()
