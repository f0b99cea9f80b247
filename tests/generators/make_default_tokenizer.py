"""Train the default vocabulary, a byte-level BPE of 8192 tokens, and write its tokenizer.json.

    python -m tests.generators.make_default_tokenizer \\
        -o compiler/tokenizers/default/tokenizer.json --english FILE...

FILE is public-domain English: plain text, gzipped text or HTML. ``README.md`` names the files that
the committed vocabulary was trained on. The rest of the training text is made up by ``corpus``. The
same files give the same tokenizer.json, byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from .corpus import Generator

# The library's worker threads must be held back before it is imported.
os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY_SIZE = 8192
END_OF_TEXT = "<|endoftext|>"
MAX_TOKEN_LENGTH = 24
SEED = 20240229
GENERATED_CHARACTERS = 4_000_000
FILE_CHARACTERS = 800_000  # at most so much is taken from any one file of English


class PlainText(HTMLParser):
    """Collector of the text of an HTML page."""

    SKIPPED = frozenset(["script", "style", "svg", "head"])
    INLINE = frozenset(["a", "b", "i", "em", "strong", "tt", "code", "span", "u", "sup", "sub"])

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipping += tag in self.SKIPPED
        if tag not in self.INLINE:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        self.skipping -= tag in self.SKIPPED

    def handle_data(self, data: str) -> None:
        if self.skipping <= 0:
            self.parts.append(data)


def read_english(path: Path) -> list[str]:
    """Return the paragraphs of `path`, evenly thinned out where there is too much text."""
    data = path.read_bytes()
    if path.suffix in (".gz", ".dz"):
        data = gzip.decompress(data)
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if path.suffix == ".html":
        page = PlainText()
        page.feed(text)
        text = "".join(page.parts)
    paragraphs = re.split(r"\n\s*\n", text)
    paragraphs = [" ".join(tidy(paragraph)) + "\n" for paragraph in paragraphs]
    paragraphs = [paragraph for paragraph in paragraphs if len(paragraph) > 20]
    share = min(1.0, FILE_CHARACTERS / max(1, sum(map(len, paragraphs))))
    return [
        paragraph
        for number, paragraph in enumerate(paragraphs)
        if int((number + 1) * share) > int(number * share)
    ]


def tidy(paragraph: str) -> Iterator[str]:
    """Yield the words of `paragraph` save addresses, rulers and undecodable ones."""
    for word in paragraph.split():
        if not re.search(r"@|://|\ufffd|([^\w\s])\1{3}", word):
            yield word


def train(documents: list[str]) -> dict[str, Any]:
    """Train on `documents`; return the tokenizer as the JSON value of its file."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        min_frequency=2,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        max_token_length=MAX_TOKEN_LENGTH,
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    value: dict[str, Any] = json.loads(tokenizer.to_str())
    return value


def keep_proper_merges(model: dict[str, Any]) -> int:
    """Drop each merge whose result an earlier one has already made; return how many went.

    The trainer may find a token by a second way of putting it together.  The vocabulary is the
    same without that merge, and every merge left is then the only one to make its token.
    """
    first: dict[str, list[str]] = {}
    for left, right in model["merges"]:
        first.setdefault(left + right, [left, right])
    dropped = len(model["merges"]) - len(first)
    model["merges"] = list(first.values())
    return dropped


def check(value: dict[str, Any]) -> None:
    """Assert what the README promises of the tokenizer `value`."""
    vocabulary: dict[str, int] = value["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(VOCABULARY_SIZE)), "ids have holes"
    assert vocabulary[END_OF_TEXT] == 0
    alphabet = set(pre_tokenizers.ByteLevel.alphabet())
    assert len(alphabet) == 256 and alphabet <= vocabulary.keys()
    made = set(alphabet)
    for left, right in value["model"]["merges"]:
        assert left in made and right in made, f"{left} {right}: a part is not made yet"
        assert left + right not in made, f"{left} {right}: made twice"
        made.add(left + right)
    assert made | {END_OF_TEXT} == vocabulary.keys()

    tokenizer = Tokenizer.from_str(json.dumps(value))
    for token, number in vocabulary.items():
        text = tokenizer.decode([number])
        if token != END_OF_TEXT and "\ufffd" not in text:
            pieces = tokenizer.pre_tokenizer.pre_tokenize_str(text)
            assert len(pieces) == 1, f"{token!r} crosses a pre-token boundary"
            assert tokenizer.encode(text).ids == [number], f"{token!r} is never produced"


def layout(value: dict[str, Any]) -> str:
    """Return `value` as JSON with one token, and one merge, to a line."""

    def compact(part: object) -> str:
        return json.dumps(part, ensure_ascii=False, separators=(",", ":"))

    model = dict(value["model"])
    ordered = sorted(model.pop("vocab").items(), key=lambda item: item[1])
    vocabulary = ",\n".join(f"{compact(token)}:{number}" for token, number in ordered)
    merges = ",\n".join(map(compact, model.pop("merges")))
    lines = [f"{compact(key)}:{compact(part)}" for key, part in model.items()]
    lines += [f'"vocab":{{\n{vocabulary}\n}}', f'"merges":[\n{merges}\n]']
    outer = [f"{compact(key)}:{compact(part)}" for key, part in value.items() if key != "model"]
    outer.append('"model":{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(outer) + "\n}\n"


def report(line: str) -> None:
    """Tell how the training goes."""
    sys.stderr.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the default vocabulary.")
    parser.add_argument("--english", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()

    documents: list[str] = []
    for path in options.english:
        paragraphs = read_english(path)
        report(f"{sum(map(len, paragraphs)):9} characters of {path}")
        documents += paragraphs
    generated = list(Generator(SEED).documents(GENERATED_CHARACTERS))
    report(f"{sum(map(len, generated)):9} characters generated")
    value = train(documents + generated)
    report(f"{keep_proper_merges(value['model']):9} repeated merges dropped")
    check(value)
    text = layout(value)
    assert json.loads(text) == value
    options.output.write_text(text, encoding="utf-8", newline="\n")
    data = options.output.read_bytes()
    report(f"{len(data):9} bytes written, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
