"""Terminals that look at what stands after them, read by maximal munch."""

import random
import re
from itertools import product
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import LarkError
from support.maximal_munch import masks_of, maximal_munch_tables, members_of, random_lark
from support.oracles.maximal_munch import MaximalMunchOracle
from support.regexes import node_of

from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.look_around import MARKS, Followed
from constrain.compiler.coverage.coverage import Coverage
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.frontend import read_checked
from constrain.compiler.grammar import open_looks as open_looks_module
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.open_looks import check_looks, followed
from constrain.compiler.grammar.preferred_matches import preferred_matches
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.exact_network import exact_network
from constrain.compiler.maximal_munch.one_reading import SeveralReadingsError
from constrain.compiler.options import CompileOptions

# As in Lark's grammar of Python.
STRINGS = r'''
start: "(" start ")" | (STRING | LONG | NUMBER | "=")+
STRING: /"(?!"").*?(?<!\\)(\\\\)*?"/
LONG: /""".*?(?<!\\)(\\\\)*?"""/s
NUMBER: "1".."9" ("0".."9")* | "0" ("0")* /(?![1-9])/
%ignore " "
'''

LARK = CompileOptions(dialect="lark")

# What stands for a terminal of a random grammar.
LOOKING = ["/a(?!b)/", "/[ab]+(?!c)/", "/a+(?=[ab #])/", "/c(?![ab])c*/", "/(a|bb?)(?!a)/"]
LOOKING += [
    "/[a-c]+?b(?!b)/",
    "/a*?b(?!a|c)/",
    "/b+(?! )/",
    r"/ab?\b/",
    r"/[a#]\B/",
    "/[#ab]*?(?m:$)/",
]


def ends(whole: Dfa, text: str, place: int) -> bool:
    """Whether a match ends at a place of a text."""
    return whole.accepts(text[:place].encode() + MARKS[1] + text[place : place + 1].encode())


# Words that a letter after them makes others, as Lark's lexer reads them.
WORDS = r"""
start: (IF NAME ":" | NAME ["=" NUMBER])+
IF.2: /if\b/
NAME: /[fi]+/
NUMBER: /[0-9]+\b/
%ignore " "
"""


def test_word_boundaries_are_those_of_larks_lexer(full: bool) -> None:
    """After a terminal; one that is refused there is read as another, or not at all."""
    theirs = Lark(WORDS, parser="lalr")
    oracle = MaximalMunchOracle(read_grammar(WORDS, "lark"))
    rng, members = random.Random(4), 0
    for _ in range(20_000 if full else 1_000):
        text = "".join(rng.choices(["if", "i", "f", " ", ":", "=", "1"], k=rng.randint(1, 7)))
        try:
            theirs.parse(text)
            expected = True
        except LarkError:
            expected = False
        assert expected == oracle.accepts(text.encode()), text
        members += expected
    assert members > 50


def test_explain_expects_no_byte_that_is_refused() -> None:
    """No lexeme goes on with it, and none may begin."""
    found = explainer_of_grammar("start: IF A\nIF: /if\\b/\nA: /[a-z]/\n%ignore / /", LARK, "g")
    verdict = found.verdict(b"ifa")

    assert (verdict.offset, verdict.begun, verdict.terminals) == (2, (), ("/ /",))


@pytest.mark.parametrize("is_lazy", [False, True])
def test_what_matches_before_a_byte_is_what_re_matches_there(is_lazy: bool, full: bool) -> None:
    """All that matches; with a lazy quantifier what is taken of a text."""
    rng = random.Random(36)
    parts = ["a", "b", "[ab]", "(?:a|ab)", "[^b]", "(?!b)", "(?=a)", "a*", "(?:ab)*", "b+"]
    # A search prefers what two bytes after may rule out, which is asked for by the byte alone.
    parts += ["a*?", "[ab]*?", "b??"] if is_lazy else ["(?!ab)"]
    opened = 0
    for _ in range(3_000 if full else 40):
        pattern = "".join(rng.choices(parts, k=rng.randint(1, 4))) + rng.choice(
            ["(?!a)", "(?!b)", "(?=a)", "(?=[ab])", "(?![ab])", r"\b", r"\B", "(?m:$)"]
        )
        node, limits = node_of(pattern), Limits().started()
        found: Dfa | Followed = (
            preferred_matches(node, limits) if is_lazy else followed(node, limits)
        )
        if isinstance(found, Dfa):
            continue
        opened += 1
        for _ in range(10):
            text = "".join(rng.choices("abc#\n", k=rng.randint(1, 5)))
            for place in range(0 if is_lazy else len(text) + 1):
                at = text[: place + 1]
                rest = re.escape(at[place:])
                expected = re.match(f"(?:{pattern})(?={rest}\\Z)", at) is not None
                assert expected == ends(found.whole, text, place), (pattern, text, place)
            if is_lazy:
                match = re.match(pattern, text)
                places = [i for i in range(len(text) + 1) if ends(found.whole, text, i)]
                taken = max(places, default=-1)
                assert (-1 if match is None else match.end()) == taken, (pattern, text)
    assert opened > (50 if full else 25)


def looking_grammar(rng: random.Random) -> str:
    """A random grammar of which one terminal or two look at what follows."""
    lines = random_lark(rng).splitlines()
    plain = [i for i, line in enumerate(lines) if re.match(r"[A-D](\.\d)?: ", line)]
    for i in rng.sample(plain, min(len(plain), rng.randint(1, 2))):
        lines[i] = f"{lines[i].split(':')[0]}: {rng.choice(LOOKING)}"
    return "\n".join(lines) + "\n"


def test_what_the_next_byte_settles_is_what_texts_around_do(
    full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which regexes are open is the same whether it is asked of the byte after them alone, where
    that is all they look at, or of all texts around."""
    rng = random.Random(11 if full else 20)
    seeing = [r"/(?<!a)b/", "/a(?!bc)/", r"/(?<=[ab])c|b/", "/a(?!é)/", r"/\ba+/", "/a(?=.)/"]
    seeing += [r"/ab(?<!b)|c/", "/b(?!(?<=a)b)c?/", r"/a$|b/"]
    found: list[list[str]] = [[], []]
    for _ in range(800 if full else 12):
        text = looking_grammar(rng)
        if rng.random() < 0.5:
            text = re.sub(r"(?m)^A(\.\d)?: .*", lambda _: f"A: {rng.choice(seeing)}", text)
        for verdicts in found:
            with monkeypatch.context() as patched:
                if verdicts is found[1]:
                    patched.setattr(open_looks_module, "_by_next", lambda *_: None)
                grammar = read_grammar(text, "lark")
                for is_lexed in (False, True):
                    try:
                        check_looks(grammar, is_lexed=is_lexed)
                        verdicts.append("")
                    except CheckError as error:
                        verdicts.append(str(error))
        assert found[0] == found[1], text
    assert len(set(found[0])) > 3


def test_masks_are_those_of_the_definition(full: bool) -> None:
    """Whole masks on random grammars, and which texts are members."""
    rng = random.Random(5)
    grammars = bits = refused = ended = 0
    while grammars < (1_000 if full else 3):
        text = looking_grammar(rng)
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 6))) for _ in range(30)}
        tokens = [b"a", b"b", b"c", b" ", b"#", *sorted(words)]
        try:
            grammar = read_grammar(text, "lark")
            check(grammar)
            plain, masks = MaximalMunchOracle(grammar), masks_of(text, tokens)
        except CheckError as error:
            refused += "is open" in str(error)
            continue
        if not any(lexeme.followed for lexeme in plain.lexemes):
            continue
        grammars += 1
        for _ in range(3):
            state, reading = masks.start, plain.begin()
            for _ in range(7):
                behind = [plain.read(reading, token) for token in tokens]
                expected = [
                    i for i, t in enumerate(tokens) if behind[i].length == reading.length + len(t)
                ] + [len(tokens)] * plain.may_end(reading)
                assert expected == tokenset.to_ids(masks.row(state)).tolist(), text
                bits += len(tokens) + 1
                ended += plain.may_end(reading)
                choices = [i for i in expected if i < len(tokens)]
                if not choices:
                    break
                token = rng.choice(choices)
                state, reading = masks.step(state, token), behind[token]
    assert bits > 1_000
    assert refused
    assert ended


MEMBERS = ['""', '"" ""', '"a""b"', '"""a"b"""', '("" 00 = 10)', "(00)", '("")', '0""']
OTHERS = ['"""', '""""', '"""" "', "001", '("""', "(00", '"a" """']


@pytest.mark.parametrize("prewarm", [0, None])
def test_strings_and_numbers_of_python(prewarm: int | None) -> None:
    """Out of a file: each byte is in the mask that is allowed, also in one that was precomputed."""
    tokenizer = load_tokenizer()
    options: Any = {"dialect": "lark", "tokenization": "any"} | (
        {} if prewarm is None else {"prewarm": prewarm}
    )
    made = load_bytes(compile_grammar(STRINGS, tokenizer=tokenizer, **options).to_bytes())
    oracle = MaximalMunchOracle(read_grammar(STRINGS, "lark"))
    for text in MEMBERS + OTHERS:
        assert (text in MEMBERS) == oracle.accepts(text.encode()), text
        matcher = made.matcher()
        for token in tokenizer.encode(text):
            allowed = tokenset.contains(matcher.mask(), token)
            assert allowed == (matcher.accept([token]) == 1), text
            if not allowed:
                break
        else:
            assert (text in MEMBERS) == matcher.is_accepting, text


def test_other_readings_agree(full: bool) -> None:
    """The network over bytes, where each text has one reading, and the lexer of coverage, on all
    texts of up to four bytes."""
    texts = [bytes(text) for n in range(5) for text in product(b"abc #", repeat=n)]
    rng, decided, members = random.Random(7 if full else 27), 0, 0
    while decided < (500 if full else 3):
        text = looking_grammar(rng)
        try:
            plain = MaximalMunchOracle(checked := read_checked(text, LARK, "g.lark"))
            if not any(lexeme.followed for lexeme in plain.lexemes):
                continue
            found = exact_network(maximal_munch_tables(checked), Limits().started())
        except (CheckError, SeveralReadingsError):
            continue
        expected = {each for each in texts if plain.accepts(each)}
        assert expected == members_of(found, texts), text
        decided += 1
        members += len(expected)
        some = [*rng.sample(sorted(expected), min(3, len(expected))), *rng.sample(texts, 3)]
        for each in some:
            covered = Coverage(checked, Limits().started(), over_lexemes=True).add(each)
            assert (each in expected) == covered, (text, each)
    assert members > (50 if full else 2)


def test_coverage_reads_no_byte_that_is_refused() -> None:
    """After a lexeme that may not stand before it."""
    checked = read_checked('start: B* "a"?\nB: /b(?!a|c)/', LARK, "g.lark")
    coverage = Coverage(checked, Limits().started(), over_lexemes=True)

    assert [coverage.add(text) for text in (b"bb", b"bba", b"bab")] == [True, False, False]


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ('start: A* B*\nA: /a(?!b)/\nB: /[ac]/\n%ignore "b"\n', "ends before 'b' is open"),
        ("start: A* B*\nA: /a(?!bb)/\nB: /b/\n%ignore / /\n", "not the same before 'bb'"),
        ("start: A? B*\nA: /(a(?!b))?/\nB: /b/\n%ignore / /\n", "may be empty"),
        ("start: A B*\nA: /a(?!b)/\nB: /b/\n", "by --meaning maximal-munch"),
    ],
)
def test_what_one_byte_does_not_decide_is_refused(grammar: str, message: str) -> None:
    """By the names of the terminals, with what stands after."""
    with pytest.raises(CheckError, match=re.escape(message)):
        compile_grammar(grammar, tokenizer=load_tokenizer(), dialect="lark", tokenization="any")
