"""Canonical masks of repetitions that are counted: those of their copies, for any count."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from support import encoded, tokenizer_json, tokenizer_of, written
from support.cli import Cli, content
from support.matcher import about_so_many, check_equal_of_short_tokens

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.trie_walk import WalkKey
from constrain.artifacts.canonical_network.usual_counts import RowsByDepth
from constrain.artifacts.kinds.canonical_network import CanonicalRuntime
from constrain.artifacts.network.counts import UNBOUNDED, Levels
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokenizer_steps.normalizer import WithNormalForm
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.compiler import (
    CompileOptions,
    Compiler,
    Tokenizer,
    compile_grammar,
    load_tokenizer,
    thresholds,
)
from constrain.compiler.canonical_network import settled_counts
from constrain.compiler.compiler import WeakerMasksWarning
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

# Tokens that hold many items, that end within one, and that begin with a blank.
LETTERS = 'abeinhst ,.!"\\[]()u0123'
MERGES = ["a a", "aa aa", "aaaa aaaa", "e e", "t h", "th e", "Ġ the", "a b", "ab ab", "i n"]
MERGES += ["0 0", "00 00", "0 1", "Ġ a", "Ġa a", "in e", "s Ġ", ", Ġ", "b aa", "1 0", "] ,"]

WORD = "[a-z] [a-z]*"
LIST = '\nlist ::= "[" ( ( list | [a-z] ) ( "," ( list | [a-z] ) )* )? "]"'

CHARACTER = '[^"\\\\] | "\\\\" ["u]'

# What strings hold.
TEXTS = ["the ", "wörld", "    ", "\\\\n", "日本", "🙂", "------", "a", "12 ", "e\u0301", '"', '"']

# Grammars over "@", which stands for so many items of the kind before it, and the engine that
# copies them; what a text of one begins with, and some items.
KINDS = {
    "letters": ("[a-z]", '"\\"" @ "\\""', "dfa", '"', ["a", "b", "e", "t", "h"]),
    "digits, which make one piece": ("[0-9]", "@", "dfa", "", ["0", "1", "2"]),
    "one token again and again": ('"a"', '@ "!"?', "dfa", "", ["a"]),
    "what follows overlaps": ("[a-z]", '@ [abe]* "e"', "dfa", "", ["a", "b", "e", "t"]),
    "letters and blanks": ("[a-t ]", "@", "dfa", "", ["a", "t", "h", "e", " "]),
    "characters": (CHARACTER, '"\\"" @ "\\""', "dfa", '"', ["a", " ", '\\"', "\\u", "["]),
    "words": (f'{WORD} " "', '"\\"" @ "\\""', "dfa", '"', ["the ", "a ", "in "]),
    "words with separators": (f'", " {WORD}', f"{WORD} @", "dfa", "the", [", a", ", the"]),
    "ends that cannot be told": ('"a" | "aa" | "e"', '@ "!"', "dfa", "", ["a", "aa", "e"]),
    "item and separator overlap": (f"{WORD} [ t]?", "@", "dfa", "", ["the ", "a ", "int"]),
    "empty items": ("[ae]*", '"\\"" @ "\\""', "dfa", '"', ["a", "e", "aea"]),
    "counts in counts": ('[a-z]{1,3} " "', '@ "."', "dfa", "", ["the ", "a "]),
    "counts in counts whose ends cannot be told": ("[a-z]{2,3}", '@ "."', "dfa", "", ["ab", "the"]),
    "two counters": ("[a-z]", '( @ | [ab]{1,4} "e" )+ "."', "dfa", "", ["a", "b", "e"]),
    "lists": ("list", f"@{LIST}", "network", "", ["[]", "[a,b]", "[[a],e]"]),
    "recursion": ("[a-z] | root", '"[" @ "]"', "network", "[", ["a", "b", "e"]),
}

# Copies of these are powers or networks of minutes beyond so many items.
LARGEST = {"two counters": 12, "recursion": 8}


@pytest.fixture(scope="module", params=[True, False], ids=["pieces", "no pieces"])
def letters(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer small enough for many grammars, with a pre-tokenizer and without."""
    added = [(len(LETTERS) + len(MERGES), "<eos>", True)]
    folder = tmp_path_factory.mktemp("letters")
    return tokenizer_of(folder, LETTERS, MERGES, added=added, splits=request.param)


def both(
    text: str, tokenizer: Tokenizer, engine: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Artifact, Artifact]:
    """The artifacts of a GBNF grammar whose repetitions are copied, by ``engine``, and counted."""
    found = []
    for most, by in ((1 << 40, engine), (0, "network")):
        monkeypatch.setattr(thresholds, "LARGE_STATES", most)
        found.append(
            compile_grammar(
                text,
                dialect="gbnf",
                tokenizer=tokenizer,
                tokenization="canonical",
                engine=by,
                eos=["<eos>"] if "<eos>" in tokenizer.added.values() else None,
                limits=Limits(seconds=600),
            )
        )
    return found[0], found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_canonical_masks_of_counters_are_those_of_copies(
    kind: str,
    letters: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """All 0 <= m <= n <= 40, and no most: bit by bit, with the end of the text, against products
    and networks of copies, where texts begin, and where few items must or may follow."""
    rng = random.Random(f"{kind} {letters.splits}")
    item, whole, engine, begin, items = KINDS[kind]
    largest = LARGEST.get(kind, 40)
    if not full:
        # Copies of what nests take seconds.
        largest = 3 if engine == "network" else 12
    bounds: list[tuple[int, int | None]] = [
        (m, n) for n in range(1, largest + 1) for m in range(n + 1)
    ]
    bounds += [(m, None) for m in range(2, largest + 1)]
    # Of more items each is tried with one of the two tokenizers.
    which = random.Random(kind)
    bounds = [
        (m, n) for m, n in bounds if (which.random() < 0.5) == letters.splits or (n or m) < 13
    ]
    compared = 0
    for least, most in bounds if full else rng.sample(bounds, 1):
        times = f"( {item} ){{{least},{'' if most is None else most}}}"
        copied, counted = both(
            "root ::= " + whole.replace("@", times), letters, engine, monkeypatch
        )
        if "count.items" not in counted.arrays:
            continue
        counted = load_bytes(counted.to_bytes())
        compared += check_equal_of_short_tokens(copied, counted, rng, 12)
        for _ in range(3):
            text = begin + about_so_many(items, least, most or least, rng)
            behind = letters.encode(text)[: -rng.randrange(1, 4)]
            compared += check_equal_of_short_tokens(copied, counted, rng, 10, behind)
    record_property("masks", compared)
    assert not full or compared > 1000


@pytest.mark.parametrize(
    ("name", "item"),
    [("gpt2", "[a-z ]"), ("gpt2", "[0-9]"), ("qwen2_5", "[a-z ]"), ("qwen2_5", "[0-9]")],
)
def test_masks_at_both_ends_of_a_thousand_are_those_of_copies(
    name: str,
    item: str,
    real: Callable[[str], Tokenizer],
    default_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """At the beginning, and where few items may or must follow, with the tokens of real
    tokenizers."""
    if not full and (name, item) != ("gpt2", "[0-9]"):
        pytest.skip("a sample without --full")
    rng = random.Random(5)
    tokenizer = real(name) if full else default_tokenizer
    for times in ("1,1000", "990,1000", "1000") if full else ("1,1000",):
        copied, counted = both(f'root ::= "(" {item}{{{times}}} ")"', tokenizer, "dfa", monkeypatch)
        assert "count.items" in counted.arrays
        assert check_equal_of_short_tokens(copied, counted, rng, 8)
        for left in (1, 2, 5, 17, 60):
            one, other = copied.matcher(), counted.matcher()
            letter = "1" if "0" in item else "a "
            text = "(" + (letter * 1000)[: 1000 - left]
            for token in tokenizer.encode(text)[:-1]:
                one.advance(token)
                other.advance(token)
            for _ in range(6):
                mask = one.mask()
                assert mask.tolist() == other.mask().tolist()
                ids = tokenset.to_ids(mask).tolist()
                if not ids or one.is_finished:
                    break
                token = rng.choice(ids)
                one.advance(token)
                other.advance(token)


@pytest.mark.parametrize(
    "kind", ["letters and blanks", "characters", "words", "digits, which make one piece"]
)
def test_canonical_masks_far_below_the_least_are_those_of_copies(
    kind: str, letters: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where so many items must follow that all counts may have one row, and where that ends."""
    rng = random.Random(kind)
    item, whole, engine, begin, items = KINDS[kind]
    times = f"( {item} ){{60,70}}"
    copied, counted = both("root ::= " + whole.replace("@", times), letters, engine, monkeypatch)
    for count in (0, 20, 40, 45, 48, 52):
        behind = letters.encode(begin + "".join(rng.choices(items, k=count)))[:-1]
        assert check_equal_of_short_tokens(copied, counted, rng, 8, behind) > 2


@pytest.mark.quick
def test_levels_of_many_items_are_found_by_those_of_few() -> None:
    """They stand still where more items may only add, and else repeat: here with period 3."""
    asked = list[int]()

    def before(level: int) -> int:
        asked.append(level)
        return 1 + level % 3

    exact = Levels(10**12, 10**12, 1, before, max)
    assert [1, 2, 3, 1] == [exact.of(10**12 - back) for back in range(4)]
    assert 1 + (10**12 - 1) % 3 == exact.of(1)
    any_number = Levels(1, UNBOUNDED, 1, lambda level: min(level + 1, 5), max)
    assert 5 == any_number.of(1)
    assert len(asked) < 10


def test_states_and_files_do_not_grow_with_counts(default_tokenizer: Tokenizer) -> None:
    """A million costs what a thousand does."""
    sizes = []
    for most in (10_000, 1_000_000):
        made = compile_grammar(
            f'root ::= "<" [0-9]{{0,{most}}} ">"', dialect="gbnf", tokenizer=default_tokenizer
        )
        assert "canonical" == made.manifest.tokenization
        sizes.append((made.manifest.counts, len(made.to_bytes()) // 1000))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("least", [0, 90_000])
def test_masks_in_the_middle_of_a_count_are_found_once(
    least: int, default_tokenizer: Tokenizer
) -> None:
    """Walks of the token trie are made for a few of all counts, and where many items must follow,
    too."""
    made = compile_grammar(
        f"root ::= [a-z ]{{{least},100000}}", dialect="gbnf", tokenizer=default_tokenizer
    )
    machine, matcher = made.machine(), made.matcher()
    assert isinstance(machine, CanonicalMasks)
    text = " the cat sat on a mat" * 40
    tokens = default_tokenizer.encode(text)
    for token in tokens[:40]:
        matcher.mask()
        matcher.advance(token)
    found = machine.lazy_rows.nbytes
    for token in tokens[40:]:
        matcher.mask()
        matcher.advance(token)
    assert found == machine.lazy_rows.nbytes


def test_rows_by_depth_are_those_of_walks(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside of strings of bounded lengths, in objects and in lists, up to their ends."""
    text = {"type": "string", "minLength": 2, "maxLength": 40}
    schemas = [
        {"type": "object", "properties": {"a": text, "b": text}, "required": ["a", "b"]},
        {"type": "array", "items": text, "maxItems": 50},
        text,
    ]
    rng, found = random.Random(7), list[int]()
    by_depth = RowsByDepth.live

    def counted(rows: RowsByDepth, walk: WalkKey, node: int) -> Words | None:
        live = by_depth(rows, walk, node)
        found.append(live is not None)
        return live

    compiler = Compiler(default_tokenizer)
    for schema in schemas:
        one, other = (
            compiler.compile(
                json.dumps(schema), dialect="json-schema", tokenization="canonical", prewarm=0
            ).matcher()
            for _ in range(2)
        )
        while not one.is_finished:
            monkeypatch.setattr(RowsByDepth, "live", counted)
            mask = one.mask()
            monkeypatch.setattr(RowsByDepth, "live", lambda *_: None)
            assert mask.tolist() == other.mask().tolist()
            ids = tokenset.to_ids(mask).tolist()
            likely = [id_ for id_ in default_tokenizer.encode(rng.choice(TEXTS)) if id_ in ids]
            token = rng.choice(likely or ids)
            one.advance(token)
            other.advance(token)
    assert sum(found) > 50


@pytest.mark.parametrize("tokenization", ["canonical", None])
def test_long_counts_of_one_piece_are_weakened_or_refused(
    tokenization: str | None, default_tokenizer: Tokenizer
) -> None:
    """Where no piece ends inside the count each mask would be searched to its end: any sequences
    are allowed instead, with a warning, unless canonical ones are asked for."""
    options = {"dialect": "gbnf", "tokenizer": default_tokenizer, "tokenization": tokenization}
    if tokenization is not None:
        with pytest.raises(LimitError, match="no piece of the tokenizer ends"):
            compile_grammar("root ::= [a-z]{900000}", **options)  # type: ignore[arg-type]
        return
    with pytest.warns(WeakerMasksWarning, match="no piece of the tokenizer ends"):
        made = compile_grammar("root ::= [a-z]{900000}", **options)  # type: ignore[arg-type]
    assert "any" == made.manifest.tokenization
    assert "repeats.items" in made.arrays


def test_few_items_that_are_long_are_searched_to_the_end_of_the_last(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two is near the end of the piece; after the second of three there is one."""
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    monkeypatch.setattr(settled_counts, "MOST_UNSETTLED", 100)
    compiler = Compiler(default_tokenizer, options=CompileOptions(dialect="gbnf", engine="network"))
    two, three = (f'root ::= ([a-z]{{60}}){{{count}}} " a"' for count in (2, 3))
    assert "count.items" in compiler.compile(two, tokenization="canonical").arrays
    with pytest.raises(LimitError, match="no piece of the tokenizer ends"):
        compiler.compile(three, tokenization="canonical")


def test_counts_where_pieces_end_stay_counts(default_tokenizer: Tokenizer) -> None:
    """Also where so many items must follow."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = compile_grammar(
            'root ::= ( [a-z]{1,9} " " ){900000} "."',
            dialect="gbnf",
            tokenizer=default_tokenizer,
            tokenization="canonical",
        )
    assert "count.items" in made.arrays
    matcher = made.matcher()
    for token in default_tokenizer.encode("the cat sat on a mat and"):
        assert token in tokenset.to_ids(matcher.mask()).tolist()
        matcher.advance(token)


def test_counts_where_pieces_end_stay_counts_whatever_stands_before_an_item(tmp_path: Path) -> None:
    """After blanks in front of a line's end no item may begin where no line ends: that is no
    reason to search all counts to their ends."""
    value = tokenizer_json("ab \n", ["a b"], added=[(5, "<eos>", True)])
    pattern = {"Regex": r"\s*\n+|\s+(?!\S)|\s+|\S+"}
    split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    steps = [split, value["pre_tokenizer"]]
    value["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    made = compile_grammar(
        'root ::= [ab ]{20000} "a"',
        dialect="gbnf",
        tokenizer=load_tokenizer(written(tmp_path, value)),
        tokenization="canonical",
        eos=["<eos>"],
    )
    assert "count.items" in made.arrays


def test_a_prefix_leaves_counters_as_they_are(real: Callable[[str], Tokenizer], full: bool) -> None:
    """Tokenizers that put a blank before a text have more states, and frames after them."""
    if not full:
        pytest.skip("loading the tokenizer takes seconds: --full")
    tokenizer = real("mistral-v3")
    made = compile_grammar(
        "root ::= [a-z ]{1,100000}", dialect="gbnf", tokenizer=tokenizer, tokenization="canonical"
    )
    assert "count.items" in made.arrays
    matcher = made.matcher()
    for token in tokenizer.encode("the cat sat on the mat"):
        assert token in tokenset.to_ids(matcher.mask()).tolist()
        matcher.advance(token)
    assert matcher.is_accepting


def test_tools_read_canonical_artifacts_with_counters(cli: Cli, tmp_path: Path) -> None:
    """``explain``, ``mask``, ``show`` and ``sample``, of many copies and of few."""
    for most in (1_000_000, 8_000):
        path = content(tmp_path / "a.gbnf", f'root ::= "<" [0-9]{{1,{most}}} ">"')
        out = str(tmp_path / "a.cst")
        assert 0 == cli("compile", path, "-o", out).code
        assert b"counters: 1" in cli("show", out).out
        said = cli("explain", out, content(tmp_path / "x.txt", "<12a"))
        assert (1, True) == (said.code, b'rejected at "a"' in said.out)
        assert 0 == cli("explain", out, content(tmp_path / "x.txt", "<12>")).code
        assert 0 == cli("mask", out, "--prefix", "<1").code
        assert b">" in cli("sample", out, "--max-bytes", "9").out


@pytest.mark.parametrize(
    ("name", "value"), [("count.items", 0), ("count.backs", 99), ("count.most", 1)]
)
def test_damaged_counters_are_refused(name: str, value: int, default_tokenizer: Tokenizer) -> None:
    """As under any tokenization."""
    made = compile_grammar("root ::= [a-z ]{0,100000}", dialect="gbnf", tokenizer=default_tokenizer)
    assert isinstance(made.runtime, CanonicalRuntime)
    assert not isinstance(made.machine(), WithNormalForm)
    array = made.arrays[name].copy()
    array[-1] = value
    with pytest.raises(ArtifactError, match="section"):
        load_bytes(encoded(made, {name: array}))
