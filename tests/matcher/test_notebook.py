"""What notebooks show of artifacts, of masks and of drawings."""

import shutil
import xml.etree.ElementTree as ET

import pytest
from support.tokens import built

from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.drawing import View, draw_tokens


def cells(html: str) -> list[tuple[str, str]]:
    """The rows of a table, which is well formed."""
    rows = ET.fromstring(html).iter("tr")
    return [(str(row[0].text), str(row[1].text)) for row in rows]


def test_a_mask_is_a_table_of_its_tokens() -> None:
    """Ids and texts, foreign text quoted; after an end nothing but that."""
    matcher = built('root ::= "a" [abc]? <t>', "any").matcher()
    matcher.advance(0)
    html = matcher._repr_html_()
    assert cells(html) == [("0", "'a'"), ("1", "'b'"), ("2", "'c'"), ("10", "'<t>'")]
    assert "4 tokens may follow 'a'" in html.replace("&#x27;", "'")
    matcher.advance(10)
    assert cells(matcher._repr_html_()) == [("9", "'<end>'")]


def test_of_many_tokens_the_first(default_tokenizer: Tokenizer) -> None:
    """A large mask says how many more there are."""
    matcher = Compiler(default_tokenizer).compile(".*", dialect="regex").matcher()
    rows = cells(matcher._repr_html_())
    assert len(rows) == 25
    assert rows[-1] == ("…", f"{len(tokenset.to_ids(matcher.mask())) - 24:,} more")


def test_an_artifact_is_a_table() -> None:
    """What it is, and its notes."""
    rows = cells(built('root ::= "a" | "x"', "canonical")._repr_html_())
    assert rows[:3] == [
        ("grammar", "gbnf, from root"),
        ("masks", "token-dfa, canonical"),
        ("tokens", "12"),
    ]
    assert [name for name, _ in rows[4:]] == ["note"]


def test_a_drawing_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As SVG where there is Graphviz; else its line of text stays."""
    drawing = draw_tokens(built('root ::= "a"', "any"), View("g"))
    assert "digraph" not in repr(drawing)
    if shutil.which("dot"):
        svg = drawing._repr_svg_()
        assert svg is not None
        assert ET.fromstring(svg).tag.endswith("svg")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert drawing._repr_svg_() is None
