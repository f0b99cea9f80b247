"""Stages that may take long say how far they are: networks, canonical networks, maximal munch."""

import pytest
from support.grammars import DYCK

from constrain.compiler import Tokenizer, compile_grammar


@pytest.mark.parametrize(
    ("text", "dialect", "tokenization", "stage"),
    [
        (DYCK, "kbnf", "any", "the masks of the network"),
        (DYCK, "kbnf", "canonical", "the canonical masks of the network"),
        ('start: "(" start ")" | "x"\n%ignore " "\n', "lark", "any", "the masks of the lexemes"),
    ],
)
def test_masks_of_nesting_grammars_report_their_progress(
    text: str, dialect: str, tokenization: str, stage: str, default_tokenizer: Tokenizer
) -> None:
    """Each report is of at most the total."""
    seen: list[tuple[str, int, int]] = []
    compile_grammar(
        text,
        dialect=dialect,
        tokenization=tokenization,
        tokenizer=default_tokenizer,
        prewarm=100,
        progress=lambda *report: seen.append(report),
    )
    assert stage in {name for name, _, _ in seen}
    assert all(0 <= done <= total for _, done, total in seen)
