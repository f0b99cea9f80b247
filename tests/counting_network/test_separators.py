"""What stands between the parts of a set is called by no call of the tables."""

import pytest

from constrain.artifacts.network import summary_walk
from constrain.compiler import Tokenizer, compile_grammar, thresholds

VALUE = '#"[0-9]+| *\\"[a-z]*\\""'
KEYS = [f'"\\"{key}\\":" {VALUE}' for key in ("foo", "bar")]
PERMUTED = f'start ::= "{{" permute_by!(("," #"[ \\n]*"), ({KEYS[0]})?, ({KEYS[1]})?) "}}";'
IN_ALL_ORDERS = f"""
start ::= "{{" (a | b | a s b | b s a)? "}}";
s ::= "," #"[ \\n]*";
a ::= {KEYS[0]};
b ::= {KEYS[1]};
"""


@pytest.mark.parametrize("document", ['{"foo":1, "bar": "baz"}', '{"bar":"x",\n"foo":12}'])
def test_separators_end_where_subtrees_are_read_through(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, document: str
) -> None:
    """From the first walk on, masks are those of all orders written out."""
    monkeypatch.setattr(thresholds, "COPIED_STATES", 0)
    monkeypatch.setattr(summary_walk, "_MANY", 0)
    monkeypatch.setattr(summary_walk, "_FOR_EACH_STATE", 0)
    here = {"dialect": "kbnf", "tokenizer": default_tokenizer, "tokenization": "any"}
    held = compile_grammar(PERMUTED, **here, engine="network")
    assert "set.parts" in held.arrays
    left, right = held.matcher(), compile_grammar(IN_ALL_ORDERS, **here, engine="dfa").matcher()
    for token in default_tokenizer.encode(document):
        assert left.mask().tolist() == right.mask().tolist()
        left.advance(token)
        right.advance(token)
    assert left.is_accepting
