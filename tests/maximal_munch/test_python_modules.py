"""Lark's own grammar of Python reads modules of the standard library, with their indentation."""

import random
import re
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import DedentError, PythonIndenter

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.tokens.tokenset import contains
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.dialects.lark_library import library_folder

# Of modules of narrow blocks, for which there are fewer copies of the rules.
WIDEST = 16


def modules(theirs: Lark, widest: int) -> Iterator[str]:
    """Those that are in the subset which Lark's grammar has, in a random order."""
    files = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    random.Random(36).shuffle(files)
    for file in files:
        others = {"site-packages", "test", "tests"}.intersection(file.parts)
        if others or not 500 < file.stat().st_size < 30_000:
            continue
        text = file.read_text(encoding="utf-8")
        if re.search(rf"^ {{{widest + 1}}}", text, re.MULTILINE):
            continue
        try:
            theirs.parse(text)
        except (UnexpectedInput, DedentError):
            continue
        yield text


def alike(text: str) -> list[tuple[int, str]]:
    """Lines that begin as far in as the line before them: the place of each in the text, and its
    blanks."""
    lines = text.splitlines(keepends=True)
    tokens = tokenize.generate_tokens(iter(lines).__next__)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found, before = [], tokenize.ENCODING
    for token in tokens:
        if token.type in (tokenize.NL, tokenize.COMMENT):
            continue  # Lines that do not count.
        if before == tokenize.NEWLINE and token.type in (tokenize.NAME, tokenize.STRING):
            line = token.start[0] - 1
            found.append((starts[line], lines[line][: token.start[1]]))
        before = token.type
    return found


def read(made: Artifact, tokenizer: Tokenizer, text: str, place: int) -> int:
    """How many characters can be read; from ``place`` on one by one."""
    matcher = made.matcher()
    begin = tokenizer.encode(text[:place])
    assert matcher.accept(begin) == len(begin)
    for number, letter in enumerate(text[place:]):
        ids = tokenizer.encode(letter)
        if matcher.accept(ids) < len(ids):
            return place + number
    return len(text)


def made_with(tokenizer: Tokenizer, **more: Any) -> Artifact:
    """The grammar, nothing precomputed."""
    text = (library_folder() / "python.lark").read_text(encoding="utf-8")
    options = {"dialect": "lark", "start": "file_input", "tokenization": "any", "prewarm": 0}
    return compile_grammar(text, tokenizer=tokenizer, **options, **more)


def test_modules_are_read_and_one_wrong_line_is_not(gpt2: Tokenizer, full: bool) -> None:
    """A line that begins one blank further in or out than the one before it, in the same block, is
    where no more is read; masks allow each token of modules as they are."""
    widest = 64 if full else WIDEST
    made = made_with(gpt2, define=(("widest_indent", str(widest)),))
    options: dict[str, Any] = {"parser": "lalr", "postlex": PythonIndenter(), "start": "file_input"}
    theirs = Lark.open_from_package("lark", "python.lark", ["grammars"], **options)
    rng = random.Random(5)
    texts = modules(theirs, widest)
    for number in range(300 if full else 2):
        text = next(texts)
        matcher = made.matcher()
        for token in (ids := gpt2.encode(text)) if number < (50 if full else 1) else ():
            assert contains(matcher.mask(), token), gpt2.decode([token])
            matcher.advance(token)
        matcher = made.matcher()
        assert matcher.accept(ids := gpt2.encode(text)) == len(ids), number
        assert matcher.is_accepting, number

        if lines := alike(text):
            place, blanks = rng.choice(lines)
            other = rng.choice([blanks + " ", blanks[:-1] or " "])
            changed = text[:place] + other + text[place + len(blanks) :]
            reached = read(made, gpt2, changed, place)
            assert place <= reached <= place + len(other), changed[place:][:80]
            with pytest.raises((UnexpectedInput, DedentError)):
                theirs.parse(changed)
