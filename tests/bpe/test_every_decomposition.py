"""Vocabularies as SentencePiece's BPE models are written, Gemma's among them.

Each split of a token into two others is a merge, at the place of the token in the vocabulary. What
a user put in front (runs of spaces and line breaks, tags, words) comes before the tokens that it is
made of.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support import ROOT, written
from support.corpus.encodings import check_masks, following

from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.bpe.derivations import derive, spelled
from constrain.compiler.bpe.forbidden_pairs import build_forbidden_pairs

TAGS = ["table", "h1", "code", "b", "br", "li", "span"]


def trained_words(rng: random.Random, size: int) -> list[str]:
    """Tokens of a BPE that is trained on some of the project's own words, in its order."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    trainer: Any = tokenizers.trainers.BpeTrainer(vocab_size=size, show_progress=False)
    trained = tokenizers.Tokenizer(tokenizers.models.BPE())
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="never")  # type: ignore[assignment]
    trained.train_from_iterator(rng.sample(lines, min(len(lines), size)), trainer)
    vocab = trained.get_vocab()
    return sorted(vocab, key=vocab.__getitem__)


def decomposed_model(rng: random.Random, size: int) -> dict[str, Any]:
    """A ``tokenizer.json`` of about ``size`` tokens."""
    words = trained_words(rng, size)
    letters = sorted({*"".join(words), *"▁\n\t<>/"})
    made = [word for word in words if len(word) > 1]
    runs = [char * count for char in "\n▁\t" for count in range(2, rng.randint(8, 31))]
    tags = [text for tag in rng.sample(TAGS, 4) for text in (f"<{tag}>", f"</{tag}>", f"{tag}>")]
    phrases = ["".join(rng.choices(made, k=2)) for _ in range(size // 20)]
    front = [*runs, *tags, *phrases]
    rng.shuffle(phrases if rng.random() < 0.5 else front)
    late = ["</", "<h", "table", "code", "span", "h1", "li", "br", "1>"]
    octets = [f"<0x{octet:02X}>" for octet in range(256)]
    texts = dict.fromkeys(["<eos>", *octets, *front, *made, *late, *letters])
    vocab = {text: number for number, text in enumerate(texts)}
    merges = []
    for token in texts:
        if token == "<eos>" or token in octets:
            continue
        splits = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
        known = [split for split in splits if split[0] in vocab and split[1] in vocab]
        merges += sorted(known, key=lambda split: (vocab[split[0]], vocab[split[1]]))
    model = {"type": "BPE", "vocab": vocab, "merges": merges, "byte_fallback": True}
    flags = dict.fromkeys(("special", "single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"id": 0, "content": "<eos>", **flags, "special": True}]
    # The text is split around them before anything else.
    added += [{"id": vocab[run], "content": run, **flags} for run in runs[:7] if "\n" in run]
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    behind = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious"}
    decoder = [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}]
    decoder += [{"type": "ByteFallback"}, {"type": "Fuse"}]
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": space,
        "pre_tokenizer": behind | {"invert": False},
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoder},
        "model": model,
    }


def pieces(path: Path, tokenizer: Tokenizer) -> tuple[tokenizers.Tokenizer, dict[int, str]]:
    """The library's tokenizer without other steps than merging, and the texts of its tokens."""
    read = json.loads(path.read_bytes())
    bare = {"pre_tokenizer": None, "normalizer": None, "added_tokens": []}
    library = tokenizers.Tokenizer.from_str(json.dumps(read | bare))
    names = {number: text for text, number in read["model"]["vocab"].items()}
    return library, {token: names[token] for token in spelled(tokenizer)}


@pytest.mark.parametrize("size", [300, 2500])
def test_pairs_are_the_librarys(tmp_path: Path, size: int, full: bool) -> None:
    """All pairs of runs, tags and phrases with each other, and others at random, half of which are
    forbidden; of small vocabularies all pairs."""
    late = 0
    for seed in range(25 if full else 1):
        rng = random.Random(seed)
        large = rng.choice((size, 8 * size)) if full and size > 1000 else size
        path = written(tmp_path, decomposed_model(rng, large))
        tokenizer = load_tokenizer(path)
        found = derive(spelled(tokenizer), tokenizer.merges)
        rows = build_forbidden_pairs(found, tokenizer.vocab_size).rows
        library, names = pieces(path, tokenizer)
        alone = library.encode_batch([names[token] for token in names])
        produced = {*found.letters, *found.merges[:, 2].tolist()}
        assert produced == {t for t, e in zip(names, alone, strict=True) if e.ids == [t]}
        late += int(
            (found.last.tau[found.merges[:, 2]] > found.last.merge[found.merges[:, 2]]).sum()
        )
        tokens = sorted(produced)
        pairs = [(a, b) for a in tokens[:120] for b in tokens[:120]]
        pairs += [(rng.choice(tokens), rng.choice(tokens)) for _ in range(4000 if full else 1000)]
        pairs += [(a, int(b)) for a in rng.sample(tokens, 200) for b in rows.ids(a)[:20]]
        if full and size < 1000:
            pairs = [(a, b) for a in tokens for b in tokens]
        encoded = library.encode_batch([names[a] + names[b] for a, b in pairs])
        for (a, b), encoding in zip(pairs, encoded, strict=True):
            assert rows.forbids(a, b) == (encoding.ids != [a, b]), (seed, names[a], names[b])
    assert late > 10


def test_masks_are_those_of_all_encodings(tmp_path: Path, full: bool) -> None:
    """Finite languages of what stands in front, and of what it is made of."""
    for seed in range(50 if full else 2):
        rng = random.Random(seed)
        path = written(tmp_path, decomposed_model(rng, 400))
        library = tokenizers.Tokenizer.from_file(str(path))
        tokenizer = load_tokenizer(path)
        texts = [octets.decode() for octets in tokenizer.tokens.values() if octets.isascii()]
        known = [text for text in texts if text.strip("\n\t").isprintable()]
        first = sorted({*rng.sample(known[:60], 8), "<", "</", " ", "\n", "  "})
        second = sorted({*rng.sample(known, 12), "", " ", "   ", "\n\n\n", ">", "able>"})
        choices = [" | ".join(map(json.dumps, chosen)) for chosen in (first, second)]
        grammar = f"root ::= a b b\na ::= {choices[0]}\nb ::= {choices[1]}"
        members = {a + b + c for a in first for b in second for c in second}
        artifact = compile_grammar(grammar, dialect="gbnf", tokenizer=tokenizer)
        assert artifact.is_canonical
        encodings = [library.encode(text).ids for text in sorted(members)]
        assert check_masks(artifact.matcher(), following(encodings, [0])) > 100
