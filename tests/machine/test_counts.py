"""Repetitions that are counted: the same masks as of their copies, and no more states for more."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from support import spelling_all_bytes
from support.grammars import random_counts
from support.matcher import check_equal_of_short_tokens

from constrain.artifacts import Artifact
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, Tokenizer, compile_grammar, thresholds
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.network import tree_layout

# Tokens that hold many items, and tokens that end within one.
LETTERS = 'abeinhst ,.!"\\[]()u0123'
MERGES = ["a a", "aa aa", "aaaa aaaa", "e e", "t h", "th e", "Ġ the", "a b", "ab ab", "i n"]
MERGES += [", Ġ", ",Ġ a", ",Ġa ,Ġa", "a ,Ġ", "in Ġ", "the Ġ", '" ,Ġ', "[ [", "] ]", "]] ]]"]
MERGES += ["a ]", "aaaa !", "\\ u", "\\u 0", "0 0", "\\u0 00", 'a "', "s .", "] ,", "e !"]

CHARACTER = r'[^\x00-\x1f"\\] | "\\" ( ["\\/bfnrt] | "u" [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] )'
WORD = "[a-z] [a-z]*"
LIST = '\nlist ::= "[" ( ( list | [a-z] ) ( "," ( list | [a-z] ) )* )? "]"'

# Grammars over "@", which stands for so many items of the kind before it, and the engine that
# copies them.
KINDS = {
    "class": ("[a-z]", '"\\"" @ "\\""', "dfa"),
    "what follows overlaps": ("[a-z]", '@ [abe]* "e"', "dfa"),
    "characters": (CHARACTER, '"\\"" @ "\\""', "dfa"),
    "words": (f'{WORD} " "', '"\\"" @ "\\""', "dfa"),
    "words with separators": (f'", " {WORD}', f'"\\"" {WORD} @ "\\""', "dfa"),
    "ends that cannot be told": ('"a" | "aa" | "e"', '@ "!"', "dfa"),
    "the same at the end": ('"a" | "aa" | "e"', "@", "dfa"),
    "item and separator overlap": (f"{WORD} [ t]?", "@", "dfa"),
    "empty items": ("[ae]*", '"\\"" @ "\\""', "dfa"),
    "lists": ("list", f"@{LIST}", "earley"),
    "counts in counts": ('[a-z]{1,3} " "', '@ "."', "dfa"),
    "counts in counts whose ends cannot be told": ("[a-z]{2,3}", '@ "."', "dfa"),
    "recursion": ("[a-z] | root", '"[" @ "]"', "earley"),
    "two counters": ("[a-z]", '( @ | [ab]{1,4} "e" )+ "."', "dfa"),
}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer small enough for many grammars."""
    return spelling_all_bytes(tmp_path_factory.mktemp("letters"), LETTERS, MERGES)


@pytest.fixture
def all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every repetition of more than one item is counted."""
    monkeypatch.setattr(thresholds, "COPIED_STATES", 0)
    monkeypatch.setattr(tree_layout, "_FEW_COPIES", 1)


def made(text: str, tokenizer: Tokenizer, engine: str, **options: object) -> Artifact:
    """The artifact of a GBNF grammar under ``any``."""
    return compile_grammar(
        text,
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine=engine,
        eos=["<eos>"],
        **options,  # type: ignore[arg-type]
    )


def made_when_met(text: str, tokenizer: Tokenizer) -> list[Artifact]:
    """The same by states that are made when they are met, and by those of its file."""
    found = made(text, tokenizer, "auto", prewarm=0)
    assert isinstance(found, GrowingArtifact)
    loaded = load_bytes(found.to_bytes())
    assert "positions.arcs" in loaded.arrays
    return [found, loaded]


def grammar(kind: str, least: int, most: int | None) -> str:
    """So many items of a kind."""
    item, whole, _ = KINDS[kind]
    return "root ::= " + whole.replace("@", f"( {item} ){{{least},{'' if most is None else most}}}")


@pytest.mark.parametrize("kind", KINDS)
def test_masks_of_counters_are_those_of_copies(
    kind: str, letters: Tokenizer, all_counted: None, full: bool
) -> None:
    """All 0 <= m <= n <= 40, and no most: bit by bit, with the end of the text, against a DFA or
    Earley's recogniser, which know no counters."""
    rng = random.Random(3)
    bounds: list[tuple[int, int | None]] = [(m, n) for n in range(1, 41) for m in range(n + 1)]
    bounds += [(m, None) for m in range(2, 41)]
    # Texts are short, and so more often at the ends of few items.
    few = [(m, n) for m, n in bounds if (n or m) < 13]
    compared = 0
    for least, most in bounds if full else (*rng.sample(few, 2), *rng.sample(bounds, 2)):
        text = grammar(kind, least, most)
        try:
            copied = made(text, letters, KINDS[kind][2], limits=Limits(states=5_000))
        except LimitError:  # Counts beside each other are powers.
            continue
        counted = load_bytes(made(text, letters, "network").to_bytes())
        if "repeats.fronts" in counted.arrays:
            for other in (counted, made_when_met(text, letters)[0]):
                compared += sum(
                    check_equal_of_short_tokens(copied, other, rng, 25 + least) for _ in range(3)
                )
    assert compared > (10_000 if full else 40)


def test_random_grammars_with_counts_anywhere(
    letters: Tokenizer, all_counted: None, full: bool
) -> None:
    """Counts in counts, of items that may be empty, beside each other, with recursion."""
    rng = random.Random(7)
    compared = 0
    for _ in range(1500 if full else 10):
        text = "root ::= " + random_counts(rng, 4) + rng.choice([' "."', ' "e"', ""])
        try:
            copied = made(text, letters, "earley" if " root " in text else "dfa")
        except CheckError:  # There is no member.
            continue
        counted = made(text, letters, "network")
        if "repeats.fronts" in counted.arrays:
            for other in (counted, made_when_met(text, letters)[0]):
                compared += sum(
                    check_equal_of_short_tokens(copied, other, rng, 12) for _ in range(3)
                )
    assert compared > (10_000 if full else 150)


@pytest.mark.parametrize(
    "text",
    ['( [st]{3,} ){1,} "e"', '( "a" ( "s"{3,} ){1,} | [san]* ) "e"', 's "e"\ns ::= [st]{3,} s?'],
    ids=["in a loop", "in a choice", "by recursion"],
)
def test_repetitions_may_follow_themselves(
    text: str, letters: Tokenizer, all_counted: None
) -> None:
    """After as many items as there must be the same repetition begins again."""
    copied, rng = made(f"root ::= {text}", letters, "dfa"), random.Random(5)
    for other in made_when_met(f"root ::= {text}", letters):
        assert check_equal_of_short_tokens(copied, other, rng, 12)


def strings(most: int) -> str:
    """JSON strings of at most so many characters."""
    return f'root ::= "\\"" ( {CHARACTER} ){{0,{most}}} "\\""'


@pytest.mark.parametrize("text", [strings, lambda n: f'root ::= "[" ( "ab, " ){{0,{n}}} "]"'])
@pytest.mark.parametrize("prewarm", [0, None])
def test_a_million_takes_no_more_than_a_thousand(
    text: Callable[[int], str], prewarm: int | None, default_tokenizer: Tokenizer
) -> None:
    """The same positions and the same bytes but for the bounds, whatever is to be precomputed:
    under ``auto`` a network is chosen."""
    few, many = (
        compile_grammar(
            text(n),
            dialect="gbnf",
            tokenizer=default_tokenizer,
            tokenization="any",
            prewarm=prewarm,
        )
        for n in (1_000, 1_000_000)
    )
    assert "network" == few.manifest.kind == many.manifest.kind
    counts = many.manifest.counts
    assert 1 == counts["repetitions"]
    assert counts["positions"] < 40
    different = [
        name for name in few.arrays if not np.array_equal(few.arrays[name], many.arrays[name])
    ]
    assert ["repeats.bounds"] == different
    assert 1_000_000 == int(many.arrays[different[0]].max())


@pytest.mark.parametrize("kind", ["class", "words", "counts in counts"])
def test_bounds_that_no_text_comes_to_are_none(kind: str, letters: Tokenizer) -> None:
    """Six thousand million items, which no array of four bytes holds, are any number."""
    few, rng = made(grammar(kind, 3, None), letters, KINDS[kind][2]), random.Random(2)
    counted = made(grammar(kind, 3, 6_000_000_000), letters, "network")
    assert int(counted.arrays["repeats.bounds"].max()) == 6_000_000_000
    for other in (counted, *made_when_met(grammar(kind, 3, 6_000_000_000), letters)):
        assert sum(check_equal_of_short_tokens(few, other, rng, 25) for _ in range(3)) > 10


def test_a_step_within_a_count_keeps_little(default_tokenizer: Tokenizer, full: bool) -> None:
    """A set of positions that many characters share, and a number."""
    text = f'root ::= ( str "," ){{0,100000}}\nstr ::= {strings(10**6)[9:]}'
    options = {"dialect": "gbnf", "tokenization": "any", "prewarm": 0}
    characters = "the quick brown fox " * (500 if full else 200)
    ids = default_tokenizer.encode('"' + characters)
    matcher = Compiler(default_tokenizer).compile(text, **options).matcher()
    for token in ids[:200]:
        matcher.advance(token)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for token in ids[200:]:
        matcher.advance(token)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken < 2_000 * len(characters)


def test_a_small_cache_gives_the_same_masks(letters: Tokenizer) -> None:
    """What is found for a mask is forgotten when it is full, and found again."""
    whole = made('root ::= "b" ( "a" | "ab" ){2,900} "b" | "(" root ")"', letters, "network")
    tight = load_bytes(whole.to_bytes(), cache_bytes=1)
    assert check_equal_of_short_tokens(whole, tight, random.Random(1), 60) > 10


def test_files_say_what_is_counted(letters: Tokenizer) -> None:
    """Rows are all that is precomputed, and few are needed however many items there are."""
    text = 'root ::= "(" [a-z]{2,9000} ")" | "[" root "]"'
    soon, some, whole = (made(text, letters, "network", prewarm=n) for n in (0, 5, 5_000))
    assert soon.arrays.keys() == {
        name for name in whole.arrays if not name.startswith(("named.", "memo."))
    }
    assert 3 < some.manifest.counts["rows"] < whole.manifest.counts["rows"] < 20
    assert any("others when met" in note for note in whole.notes)
    assert not any("changes nothing" in note for note in whole.notes)
