"""Grammars that nest, with tokenizers that normalize: what is followed, prompts, damaged files.

Walks by their masks are tested in ``tests/corpus``.
"""

import numpy as np
import pytest
from support import encoded
from support.corpus.engines import ENGINES
from support.corpus.languages import MARKED
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import Case

from constrain.artifacts import ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokenizer_steps.pretokenizer import begins_character
from constrain.artifacts.tokens import tokenset
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.canonical_network.sections import normal_form_sections
from constrain.compiler.pipeline import build_artifact, build_engine


@pytest.mark.parametrize("name", MARKED)
def test_where_tokens_stay_undecided(name: str, normalizing: Case) -> None:
    """In the grammar that asks for marks alone; all rows are precomputed."""
    arrays = ENGINES["canonical network"].stored(MARKED[name], normalizing).arrays
    assert arrays["closed.all"][1]
    assert bool(len(arrays["closed.doubtful"])) == (name == "marks")


@pytest.mark.parametrize(
    ("letters", "noted", "beside"),
    [
        ("'a'", False, False),
        ("'é'", False, False),
        ("'漢'", False, False),
        ("'\u212b'", True, False),
        ("'\u0301'", True, True),
    ],
)
def test_what_grammars_read_decides_what_is_followed(
    letters: str, noted: bool, beside: bool, normalizing: Case
) -> None:
    """Inert characters need nothing, those in no normal form the pre-tokenizer DFA, others a
    normal-form DFA. Where members may be left out it is noted."""
    grammar = f"start ::= '(' start ')' | 'x' | {letters};"
    engine = build_engine(grammar, dialect="kbnf")
    found = build_artifact(engine, normalizing.tokenizer, tables=normalizing.tables)
    assert noted == ("members that the tokenizer's normalizers change are left out" in found.notes)
    assert beside == ("stable.table" in found.artifact.arrays)


def test_behind_a_prompt(normalizing: Case) -> None:
    """What a member begins with does not compose with what the prompt ends in."""
    language = Language("marks", "start ::= '(' start ')' | '\u0301' | 'x' | '\u0323';")
    artifact = ENGINES["canonical network"].artifact(language, normalizing)
    for prompt, allowed in (("e", "x("), ("x", "\u0301\u0323x("), ("x\u0301", "\u0301x(")):
        matcher = artifact.matcher(after=normalizing.encode(prompt))
        vocabulary = artifact.vocabulary
        first = {vocabulary.token(i)[:2] for i in tokenset.to_ids(matcher.mask()).tolist()}
        marks = {found for found in first if found[0] >= 0xC0}
        assert {found[:1] for found in first - marks} == {b"x", b"("}
        whole = {found for found in marks if len(found) == 2}
        assert whole <= {c.encode() for c in allowed}
        # A lead byte alone is a token where some end of the character is left.
        assert bool(marks) == (prompt != "e")


def test_the_inert_pretokenizer_agrees_inside_characters(normalizing: Case) -> None:
    """The patch replaces rows of states between characters, and adds states inside them."""
    tables = TokenizerTables(normalizing.tokenizer)
    assert tables.normal_form is not None
    sections = normal_form_sections(tables.pretokenizer, tables.normal_form)
    table, states = sections["cuts.table"], sections["inert.states"]
    old = states[states < len(table)]
    assert begins_character(table, sections["cuts.classes"])[old].all()
    assert len(states) > len(old) > 0


def test_sections_that_do_not_fit_are_refused(normalizing: Case) -> None:
    """A state or a token outside its array names the section."""
    artifact = ENGINES["canonical network"].stored(MARKED["marks"], normalizing)
    for name in ("inert.states", "inert.rows", "stable.table", "closed.doubtful"):
        damaged = artifact.arrays[name].copy()
        damaged.flat[-1] = np.iinfo(damaged.dtype).max
        with pytest.raises(ArtifactError, match=name):
            load_bytes(encoded(artifact, {name: damaged}))
