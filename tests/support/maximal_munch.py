"""Lark grammars read by maximal munch: examples, random ones, and their machines and oracles."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from constrain.artifacts import Artifact
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexemes import lexeme_grammar
from constrain.compiler.maximal_munch.lexer_tables import tables_over
from constrain.compiler.network.from_tree import numbered
from constrain.compiler.tokenizers.definition import AddedToken
from support import EXAMPLES
from support.oracles.maximal_munch import MaximalMunchOracle


def maximal_munch_tables(grammar: Grammar, limits: Limits | None = None) -> MaximalMunchTables:
    """The network over a checked grammar's lexemes, and its lexer."""
    limits = (limits or Limits()).started()
    found = lexeme_grammar(grammar, limits)
    return tables_over(found, numbered(found.grammar, limits), limits)


JSON, CODE = ((EXAMPLES / name).read_text(encoding="utf-8") for name in ("json.lark", "code.lark"))
# As llguidance reads it: a keyword may be a name, too.
BOTH = "%llguidance {}\n"
SAMPLES = {
    JSON: '{"a": [1, -2.5e3, {"b": null}], "c": "x\\u00e9 é",\n "d": {}, "e": [[[{}]]]}',
    CODE: "int f(int a, char *b) { // note\n  int x = a+1;\n  if (a <= b[x]) return f(a, b)"
    "->c;\n  else while (!x) { x = -a * (2.5 - x)++; iff(); }\n}\nint y;",
}

# Lexemes that swallow text outside ASCII, that count, and that leave something out.
SWALLOWING = r"""
start: (NAME | STRING | SHORT | NOTE | OTHER | "é" | "日")*
NAME: /[a-zé]+/
STRING: /"[^"\n]*"/
SHORT: /'[^'\n]{0,4}'/
NOTE: /#[^\n]*/
OTHER: /[^\x00-\x7f€]+/
%ignore /[ \n]+/
"""

_PATTERNS = ['"a"', '"b"', '"ab"', '"c"', '"abc"', "/a+/", "/[ab]+/", "/[a-c]+/", "/a*b/"]
_PATTERNS += ["/b?c/", "/(ab)+/", "/a*/", "/c+a?/"]


def random_lark(rng: random.Random) -> str:
    """One to three rules over overlapping terminals, priorities, keywords and ignored text; and
    terminals that end as soon as they may."""
    terminals = ["A", "B", "C", "D"][: rng.randint(2, 4)]
    lazy = ["h", "i"][: rng.choice([0, 0, 1, 2])]
    rules = ["start", "x", "y"][: rng.randint(1, 3)]

    def expr(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.35:
            return rng.choice([*terminals, *lazy, *terminals, *rules, *lazy, '"a"', '"b"', '"cc"'])
        if kind < 0.65:
            return " ".join(expr(depth - 1) for _ in range(rng.randint(2, 3)))
        if kind < 0.8:
            return "(" + " | ".join(expr(depth - 1) for _ in range(rng.randint(2, 3))) + ")"
        return f"({expr(depth - 1)}){rng.choice('?*+')}"

    lines = [f"{rule}: {expr(2)} | {expr(1)}" for rule in rules]
    if rng.random() < 0.4:
        lines.insert(0, BOTH.strip())
    for name in terminals:
        lines.append(f"{name}{rng.choice(['', '', '.1', '.2'])}: {rng.choice(_PATTERNS)}")
    for name in lazy:
        body = rng.choice([*_PATTERNS, f"{rng.choice(terminals)} {rng.choice(_PATTERNS)}"])
        lines.append(f"{name}[lazy]: {body}")
    for _ in range(rng.choice([0, 1, 1, 2])):
        lines.append("%ignore " + rng.choice(['" "', "/ +/", "/[ c]+/", "/#a*/", terminals[0]]))
    return "\n".join(lines) + "\n"


def members_of(tables: NetworkTables | None, texts: list[bytes]) -> set[bytes]:
    """Those of some texts that a network accepts."""
    if tables is None:
        return set()
    network, found = Network(tables), set[bytes]()
    for text in texts:
        reached = network.read(network.start, text)
        if reached != REFUSED and network.may_end(reached):
            found.add(text)
    return found


def random_larks(count: int, seed: int) -> Iterator[tuple[str, MaximalMunchOracle]]:
    """Random grammars that have a member, with their oracle."""
    rng = random.Random(seed)
    while count:
        text = random_lark(rng)
        try:
            plain = plain_of(text)
        except CheckError:
            continue
        count -= 1
        yield text, plain


def random_cases(count: int, seed: int) -> Iterator[tuple[str, list[bytes], random.Random]]:
    """Random grammars, tokens of up to eight bytes for each, and a generator for choices."""
    rng = random.Random(seed)
    for text, _ in random_larks(count, seed=seed):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 8))) for _ in range(60)}
        yield text, [b"a", b"b", b"c", b" ", b"#", *sorted(words)], rng


def plain_of(text: str) -> MaximalMunchOracle:
    """The oracle of a Lark grammar."""
    return MaximalMunchOracle(read_grammar(text, "lark"))


def vocabulary_of(tokens: list[bytes]) -> Vocabulary:
    """These tokens and one that ends the text."""
    lengths = np.cumsum([0, *map(len, tokens), 0], dtype=np.int64)
    kinds = np.array([0] * len(tokens) + [1], dtype=np.uint8)
    return Vocabulary(np.frombuffer(b"".join(tokens), dtype=np.uint8), lengths, kinds)


def masks_of(
    text: str, tokens: list[bytes], stored: HeadSummaryTables | None = None
) -> MaximalMunchMasks:
    """The masks of a Lark grammar over these tokens and one that ends the text."""
    vocabulary = vocabulary_of(tokens)
    tables = maximal_munch_tables(read_grammar(text, "lark"))
    trie = Trie.from_vocabulary(vocabulary)
    rest = vocabulary, [len(tokens)], len(tokens) + 1
    return MaximalMunchMasks(tables, lambda: trie, *rest, stored=stored)


def masks_with(
    tokenizer: Tokenizer, grammar: str, *, stored: HeadSummaryTables | None = None
) -> MaximalMunchMasks:
    """The masks of a Lark grammar over a tokenizer."""
    size = tokenizer.vocab_size
    vocabulary = tokenizer.vocabulary(size)
    trie = Trie.from_vocabulary(vocabulary)
    # States of the lexer are made as long as the masks are used.
    tables = maximal_munch_tables(read_grammar(grammar, "lark"), Limits(seconds=3_600))
    return MaximalMunchMasks(tables, lambda: trie, vocabulary, tokenizer.eos, size, stored)


def row_by_steps(masks: MaximalMunchMasks, configuration: int, eos: Sequence[int]) -> Words:
    """A mask by reading the text of each token: the definition, without a walk of the trie."""
    vocabulary, parts = masks._vocabulary, masks.configurations
    ids = vocabulary.text_ids().tolist()
    read = [i for i in ids if parts.read(configuration, vocabulary.token(i)) is not None]
    ends = eos if masks.is_accepting(configuration) else ()
    return tokenset.from_ids([*read, *ends], masks.vocab_size)


def read(masks: MaximalMunchMasks, text: bytes) -> int:
    """The configuration after ``text``, which can be read."""
    configuration = masks.configurations.read(masks.start, text)
    assert configuration is not None
    return configuration


def tokenizer_over(tokens: list[bytes]) -> Tokenizer:
    """A tokenizer of these tokens, the first ones single bytes, and one that ends the text."""
    end = len(tokens)
    return Tokenizer(
        name="words",
        sha256="0" * 64,
        tokens=dict(enumerate(tokens)),
        added_tokens=(AddedToken(end, "<end>", special=True),),
        merges=np.zeros((0, 3), dtype=np.int32),
        base=range(sum(len(token) == 1 for token in tokens)),
        eos=(end,),
        vocab_size=end + 1,
    )


def compiled_lark(text: str, tokenizer: Tokenizer, **options: Any) -> Artifact:
    """The artifact of a Lark grammar read by maximal munch."""
    return compile_grammar(
        text,
        **{
            "dialect": "lark",
            "meaning": "maximal-munch",
            "tokenization": "any",
            "engine": "greedy",
            **options,
        },
        tokenizer=tokenizer,
    )
