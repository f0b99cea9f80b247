"""Limits of everything that is done before a tokenizer is known."""

from pathlib import Path

import pytest
from support.limits import measured

from constrain.compiler.diagnostics import LimitError
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("dialect", "text", "part"),
    [
        ("gbnf", 'root ::= "b" "a"{0,1000000000}', '"a"{0,1000000000}'),
        ("gbnf", 'root ::= "b" r{9999999999}\nr ::= "a" r "b" | "c"', "r{9999999999}"),
        ("gbnf", "root ::= [a-z]{1,100000}", "[a-z]{1,100000}"),
        ("lark", 'root: "b" "a"~0..1000000000', '"a"~0..1000000000'),
        ("lark", f'root: "a"~{"9" * 5000}', '"a"~9999'),
        ("lark", "root: /a{0,1000000000}/", "a{0,1000000000}"),
        ("kbnf", r'root ::= #"a{0,1000000000}";', "a{0,1000000000}"),
        ("iso14977", 'root = 1000000000 * "a";', '1000000000 * "a"'),
        ("regex", "(a{0,1000000000}){7}", "(a{0,1000000000}){7}"),
        ("regex-extended", "a{12345678901,}&~(b)", "a{12345678901,}"),
    ],
)
def test_a_count_of_any_size_is_a_limit_in_every_dialect(
    dialect: str, text: str, part: str
) -> None:
    """It names the rule and the part. (W3C's EBNF has no counts.)"""
    start = None if dialect.startswith("regex") else "root"

    with pytest.raises(LimitError, match="more than 200,000 states") as found:
        build_engine(text, CompileOptions(dialect=dialect, start=start))

    assert found.value.rules == (start or "start",)
    assert found.value.part.startswith(part)


def test_a_long_literal_takes_what_its_text_takes(tmp_path: Path) -> None:
    """Its states are counted before they are built."""
    path = tmp_path / "long.gbnf"
    path.write_text(f'root ::= "{"a" * 15_000_000}"\n', encoding="utf-8")

    found = measured("sample", path)

    assert (found.code, "in rule 'root'" in found.stderr) == (3, True)
    assert found.peak < 150 * MEGABYTE
    found.check(seconds=5)
