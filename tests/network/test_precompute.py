"""What is precomputed of a network: which frames lie below which states, and all summaries."""

import random

import pytest
from support.grammars import ARITHMETIC, JSON, MARKUP, SAMPLES, STATEMENTS
from support.matcher import check_random_texts, whole_of
from support.network import minimal_tables

from constrain.artifacts.errors import WalkLimitError
from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.closure import frames_below
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk.node_sets import NOTHING, ROOT
from constrain.artifacts.walk.rows_by_frames import RowsByFrames
from constrain.artifacts.walk.summaries import Summaries
from constrain.artifacts.walk.summary_rows import RowTable
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.network.precompute import precompute_summaries


def test_frames_below_are_those_of_the_stacks() -> None:
    """Whatever is read, the frame right below a thread is one that the relation has."""
    rng = random.Random(8)
    for text in (JSON, MARKUP, STATEMENTS):
        tables = minimal_tables(text)
        below = frames_below(tables)
        found = Network(tables)
        sample = SAMPLES[text]
        for _ in range(30):
            state = found.read(found.start, sample[: rng.randrange(len(sample))])
            for thread, node in found.threads[state]:
                for frame, _ in found.stacks.entries[node]:
                    assert frame == 0 or frame in below[thread]


def test_the_relation_is_smaller_than_all_frames() -> None:
    """Under a bracket of one kind lies no frame that another kind of rule pushes."""
    tables = minimal_tables("s ::= a | b; a ::= '(' a ')' | 'x'; b ::= '<' b '>' | 'y';")
    below = frames_below(tables)
    frames = set(tables.call_returns.tolist())
    assert any(set(found) < frames for found in below if found)


def test_precomputed_summaries_are_closed(default_tokenizer: Tokenizer) -> None:
    """What a summary leaves suspended has a summary at every frame below."""
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    tables = minimal_tables(JSON)
    summaries = Summaries(TableStates(tables), lambda: trie, default_tokenizer.vocab_size)
    assert precompute_summaries(tables, summaries, 10_000, 1 << 30, Effort(Limits().started(), ()))
    below = frames_below(tables)
    roots = [(ROOT, state) for state in range(1, tables.states)]
    seen = set(roots)
    for nodes, state in roots:
        _, suspended = summaries.summary(nodes, state)
        for frame in below[state] if suspended != NOTHING else ():
            if (suspended, frame) not in seen:
                seen.add((suspended, frame))
                roots.append((suspended, frame))
    assert seen == set(summaries.found)


def test_a_walk_of_too_many_threads_ends_precomputing(default_tokenizer: Tokenizer) -> None:
    """What was found stays; the rest is left to the decoding, where stacks may need less."""

    class Stopping(Summaries):
        def summary(self, nodes: int, state: int) -> tuple[int, int]:
            if len(self.found) == 5:
                raise WalkLimitError(1 << 22)
            return super().summary(nodes, state)

    trie = Trie.from_vocabulary(default_tokenizer.vocabulary(default_tokenizer.vocab_size))
    tables = minimal_tables(JSON)
    summaries = Stopping(TableStates(tables), lambda: trie, default_tokenizer.vocab_size)
    effort = Effort(Limits().started(), ())
    assert not precompute_summaries(tables, summaries, 10_000, 1 << 30, effort)
    assert len(summaries.found) == 5


@pytest.mark.parametrize("text", [JSON, MARKUP, ARITHMETIC])
def test_masks_of_one_stack_are_in_the_file(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along random texts no row is made or united, also where the text may end; all are those of
    the definition."""
    whole = compile_grammar(
        text, dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", engine="network"
    )
    found = load_bytes(whole.to_bytes())
    monkeypatch.delattr(RowTable, "add")
    monkeypatch.delattr(RowsByFrames, "row")
    check_random_texts([found, whole_of(default_tokenizer, text)], 8, 10, seed=12, short=0.7)


@pytest.mark.parametrize(
    "text", ['s ::= ["(" s ")"];', 's ::= "(" s ")" | "x";', 's ::= {"(" s ")"} ["end"];']
)
def test_the_first_mask_needs_no_trie(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was precomputed, also where the empty text is a member."""
    artifact = compile_grammar(
        text, dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", engine="network"
    )
    found = load_bytes(artifact.to_bytes())
    monkeypatch.delattr(Trie, "from_vocabulary")

    assert found.matcher().mask().tolist() == artifact.matcher().mask().tolist()
