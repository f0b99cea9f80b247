"""Repetitions that are counted while decoding: what ten, a thousand and a million items cost.

CPU time in one process, the tokenizer and its trie being ready. *Lazy* is with nothing
precomputed: compile, the first mask, and the largest of the first twenty. *Own kB* are the
artifact's without the vocabulary and the trie; what follows is of that file, loaded: the largest of
the same masks, those of the last 150 tokens of a thousand items, each met for the first time, and a
step by a token that the same place has not met, and by one that it has.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

from constrain.artifacts import Artifact
from constrain.artifacts.errors import TokenRefusedError
from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer

CHARACTER = r'( [^\x00-\x1f"\\] | "\\" ( ["\\/bfnrt] | "u" [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] ) )'
NUMBER = '"-"? [0-9]+'

# Grammars of at most N items, texts of theirs, and a beginning with what may follow it again and
# again.
GRAMMARS = {
    "string": (
        f'"\\"" {CHARACTER}{{0,N}} "\\""',
        '"The quick brown fox, \\u00e9 and 東京: ',
        ('"', "The quick "),
    ),
    "array": (
        f'"[" ( {NUMBER} ( ", " {NUMBER} ){{0,N}} )? "]"',
        "[12, 345, 6, -78, 9, 1024, ",
        ("[12", ", 345"),
    ),
    "words": (
        '( [a-z]+ " " ){0,N} "."',
        "the quick brown fox jumps over the lazy dog ",
        ("", "the quick "),
    ),
    "strings in an array": (
        f'"[" ( s ( ", " s ){{0,N}} )? "]"\ns ::= "\\"" {CHARACTER}{{0,N}} "\\""',
        '["The quick", "brown fox", "',
        ('["', "The quick "),
    ),
}


def milliseconds(work: Callable[[], object]) -> float:
    """CPU time of one run."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e3


def along(artifact: Artifact, ids: list[int]) -> list[float]:
    """Milliseconds of each mask of a text."""
    matcher, taken = artifact.matcher(), []
    for token in ids:
        taken.append(milliseconds(matcher.mask))
        matcher.advance(token)
    return taken


def accepted(artifact: Artifact, ids: list[int]) -> list[int]:
    """Tokens up to the first that is refused."""
    matcher, found = artifact.matcher(), list[int]()
    for token in ids:
        try:
            matcher.advance(token)
        except TokenRefusedError:
            break
        found.append(token)
    return found


def near_the_end(artifact: Artifact, ids: list[int]) -> list[float]:
    """Microseconds of the masks of the last tokens."""
    matcher, taken = artifact.matcher(), accepted(artifact, ids)
    for token in taken:
        matcher.advance(token)
    found = []
    for _ in taken[-150:]:
        matcher.rollback(1)
        found.append(1e3 * milliseconds(matcher.mask))
    return found


def steps(artifact: Artifact, ids: list[int]) -> tuple[float, float]:
    """Microseconds of a step, met first and again."""
    first, again = artifact.matcher(), artifact.matcher()
    taken = [milliseconds(lambda m=m: [m.advance(i) for i in ids]) for m in (first, again)]  # type: ignore
    return taken[0] * 1e3 / len(ids), taken[1] * 1e3 / len(ids)


def own_bytes(artifact: Artifact) -> int:
    """The bytes of all sections but the vocabulary and the trie."""
    shared = ("vocab.", "trie.")
    return sum(a.nbytes for name, a in artifact.arrays.items() if not name.startswith(shared))


def measure(tokenizer: Tokenizer, kind: str, most: int, runs: int) -> None:
    """A line of the table."""
    text, begin, (first, again) = GRAMMARS[kind]
    compiler, grammar = Compiler(tokenizer), "root ::= " + text.replace("N", str(most))
    options = {"dialect": "gbnf", "tokenization": "any"}

    def compiled() -> Artifact:
        return compiler.compile(grammar, **options, prewarm=0)

    lazily = [milliseconds(compiled) for _ in range(runs)]
    lazy = compiled()
    ids = accepted(lazy, tokenizer.encode(begin))
    lazy = compiled()
    masks = along(lazy, ids[:20])
    ahead = [milliseconds(lambda: compiler.compile(grammar, **options)) for _ in range(runs)]
    artifact = compiler.compile(grammar, **options)
    loaded = load_bytes(artifact.to_bytes())
    from_file = along(loaded, ids[:20])
    ends = near_the_end(loaded, tokenizer.encode(first + again * most)) if most == 1_000 else []
    new, known = steps(lazy, ids)
    counts = artifact.manifest.counts
    states = counts.get("positions") or counts.get("dfa_states")
    cells = [
        f"{kind:20}{most:>9,}{states:>8,}",
        f"{median(lazily):8.1f}{masks[0]:8.2f}{max(masks):8.2f}",
        f"{median(ahead):8.1f}{own_bytes(artifact) / 1000:9,.0f}",
        f"{max(from_file):8.2f}",
        f"{median(ends):8.0f}{max(ends):8.0f}" if ends else f"{'-':>8}{'-':>8}",
        f"{new:8.2f}{known:8.2f}",
    ]
    sys.stdout.write("".join(cells) + "\n")
    sys.stdout.flush()


def report(tokenizer: Tokenizer, runs: int = 5) -> None:
    """The table."""
    # What all grammars of a tokenizer share.
    warm = Compiler(tokenizer).compile(
        'root ::= "x" [a-z]{0,5000} "."', dialect="gbnf", tokenization="any"
    )
    along(warm, tokenizer.encode("xabc"))
    heads = ["compile", "first", "largest", "compile", "own kB", "largest", "end p50", "max"]
    heads = [f"{head:>{9 if head == 'own kB' else 8}}" for head in (*heads, "step", "again")]
    sys.stdout.write(f"{'':20}{'items':>9}{'states':>8}" + "".join(heads) + "\n")
    for kind in GRAMMARS:
        for most in (10, 1_000, 1_000_000):
            measure(tokenizer, kind, most, runs)
