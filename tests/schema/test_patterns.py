"""Automata of patterns, against the test suite of JSON Schema, a JavaScript engine and by hand."""

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.oracles.automata import minimize_via_moore

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.schema import patterns

DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")


def holds(dfa: Dfa, text: str) -> bool:
    """Whether a text is a member; none with a lone surrogate is."""
    return dfa.accepts(text.encode("utf-8", "surrogatepass"))


# A pattern, texts in which it is found, texts in which it is not.
BY_HAND = [
    ("abc", ["abc", "xabcx"], ["", "ab", "acb"]),
    ("", ["", "x"], []),
    ("^a|b$", ["ax", "xb", "a", "b"], ["xa", "bx", ""]),
    ("^$", [""], ["x", "\n"]),
    ("^abc$", ["abc"], ["abc\n", "\nabc", "abcd"]),
    (".", ["é", "🐉", "\x85"], ["\n", "\r", "\u2028", "\u2029", ""]),
    ("^.$", ["🐉", "\uffff"], ["\n", "ab"]),
    ("^[^]$", ["\n", "🐉"], ["", "ab"]),
    ("[]", [], ["", "a"]),
    (r"^[\w-.]$", ["a", "-", ".", "_"], ["é", "/"]),
    (r"^[a-c\d-]$", ["b", "7", "-"], ["d", ""]),
    (r"^[-a]$", ["-", "a"], ["b"]),
    (r"^[\b]$", ["\b"], ["b"]),
    (r"^[[a]$", ["[", "a"], ["]"]),
    (r"^\-\_\@\/\"\é$", ['-_@/"é'], [""]),
    (r"^{a}]$", ["{a}]"], ["a"]),
    (r"^a{,2}$", ["a{,2}"], ["", "a", "aa"]),
    (r"^a{2}b{1,}c{0,1}?d+?e??$", ["aabd", "aabbcde"], ["abd", "aad", "aabcc"]),
    (r"^\x41\u0042\u{43}\cJ\0$", ["ABC\n\0"], ["ABC\n0"]),
    (r"^\ud83d\udc09[\ud83d\udc09]$", ["🐉🐉"], ["🐉"]),
    (r"^\ud83d$", [], ["🐉", ""]),
    ("^🐉{2}$", ["🐉🐉"], ["🐉", "🐉🐉🐉"]),
    (r"^\p{Lu}\P{Lu}[\p{Script=Greek}\p{Nd}]$", ["Aaλ", "Éé٣"], ["aaλ", "AAλ", "AaA"]),
    (r"\bfoo\b", ["foo", "a foo.", "éfooé"], ["foos", "1foo", "_foo"]),
    (r"^\Boo", [], ["oo"]),
    ("(?<name>a)(?:b|c)", ["ab", "xacx"], ["a", "bc"]),
    ("(^|,)a(,|$)", ["a", "b,a", "a,b", "b,a,c"], ["ba", "ab", ""]),
    ("(^a|b$)", ["ax", "xb"], ["xa", "bx"]),
    ("^(?!foo)[a-z]+$", ["fo", "bar", "xfoo"], ["foo", "foox", ""]),
    (r"^(?=.*\d)(?=.*[a-z]).{3,}$", ["a1_", "1xyz"], ["abc", "123", "a1"]),
    ("^(?!.*(foo|bar)).*$", ["fo", "ba r"], ["foo", "xbar"]),
    ("(?!foo)^f", ["f", "fo"], ["foo", "xf"]),
    ("foo(?!bar)", ["foo", "foobar foo"], ["foobar", "fo"]),
    ("foo(?=bar|$)", ["foobar", "xfoo"], ["foox"]),
    ("^.*(?<!foo)$", ["fo", "foox"], ["foo", "xfoo"]),
    ("(?<=^|a)b", ["b", "xab"], ["xb", "a"]),
    ("(?<!a)b(?!c)", ["b", "abb"], ["ab", "bc", "abc"]),
    ("^(?!(?!a)b)", ["a", "ab", ""], ["b"]),
    ("^(?:(?=a)[ab])?c$", ["c", "ac"], ["bc"]),
    ("^(?:(?!foo).)*$", ["", "fo", "fofo o"], ["foo", "xfoox", "foofoo", "\n"]),
    ("^((?!foo|bar)[a-z])+$", ["fo", "oof"], ["", "foo", "xbary", "1"]),
    ("^(?:[ab](?!b))*$", ["", "aa", "ba", "a", "b"], ["ab", "bb", "bab", "c"]),
    ("^(?:(?=b|a$).)*$", ["", "bba", "b"], ["ab", "aa"]),
    ("^(?:(?!$).)*$", ["", "ab"], ["\n"]),
    ("^(?:(?!a).)*b", ["b", "xba", "bb"], ["", "ab", "xab"]),
    (
        "^(?:(?!-)[a-c-]{1,3}(?<!-)[.])+d$",
        ["a.d", "a-b.c.d"],
        ["-a.d", "a-.d", "abca.d", ".d", "d"],
    ),
    ("^(a(?=b)|b(?=a|$))*$", ["", "ab", "abab", "b", "bab"], ["a", "ba", "bb", "aab"]),
    (r"^(?:\w+\b(?! )[ ,]*)*$", ["", "a,b", "a, b"], ["a b", ",a"]),
    ("^(?:(?<=^|,)a|,)*$", ["a,a", ",,a", ""], ["aa", "a,aa"]),
    ("(?=a)b(?<=c)", [], ["b", "abc"]),
    ("(?=.c)b(?<!ab)", ["bc", "cbc"], ["abc", "b"]),
    ("x(?=(?<=x)b)", ["xb", "axb"], ["xc", "b"]),
    ("x(?<!a(?=xb)x)b", ["xb", "ax xb"], ["axb"]),
    ("^(?:(?=(?:(?!a)b)*c)[bc])*$", ["", "bc", "bbc"], ["b", "cb"]),
    ("^(a$|b){1,}$", ["a", "ba", "bb"], ["ab", ""]),
    ("^(^a|b)*$", ["", "abb", "b"], ["ba"]),
]


@pytest.mark.parametrize(("pattern", "found", "missing"), BY_HAND)
def test_patterns_are_found_where_ecma_262_says(
    pattern: str, found: list[str], missing: list[str]
) -> None:
    """Minimal automata of the texts, not of the matches."""
    dfa = patterns.search(pattern)
    assert not [text for text in found if not holds(dfa, text)]
    assert not [text for text in missing if holds(dfa, text)]
    assert minimize_via_moore(dfa).states == dfa.states or dfa.is_empty


@pytest.mark.quick
def test_a_whole_match_needs_no_edges() -> None:
    """Of an alternation, each option is the whole."""
    dfa = patterns.search("^(?:a|b+)$")
    assert holds(dfa, "a")
    assert holds(dfa, "bb")
    assert not holds(dfa, "ab")
    assert not holds(dfa, "")
    dfa = patterns.search("^(?:(?!a).)*b$")
    assert holds(dfa, "xb")
    assert not holds(dfa, "ab")
    assert not holds(dfa, "xbx")


@pytest.mark.parametrize(
    ("pattern", "index", "message"),
    [
        ("a(b", 1, "not closed"),
        ("a)", 1, "no group"),
        ("x[ab", 1, "not closed"),
        ("a**", 2, "nothing that"),
        ("^*", 1, "nothing that"),
        ("(?=a)*", 5, "nothing that"),
        ("+", 0, "nothing that"),
        ("xa{2,1}", 2, "backwards"),
        ("x[z-a]", 2, "backwards"),
        ("x\\", 1, "backslash"),
        (r"(a)\1", 3, "back-reference"),
        (r"(?<a>b)\k<a>", 7, "back-reference"),
        (r"abc\Z", 3, "ECMA-262 has no"),
        (r"a\h", 1, "unknown escape"),
        (r"\xg", 0, "unknown escape"),
        (r"\u{110000}", 0, "no code point"),
        (r"[\pL]", 1, "written"),
        (r"\p{Leter}", 0, "no property"),
        ("a(?i)b", 1, "flags"),
        ("(?P<a>b)", 0, "named group"),
        ("a(?>b)", 1, "unknown kind"),
        ("(?=" * 101 + ")" * 101, 0, "more than 100"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(pattern: str, index: int, message: str) -> None:
    """The index is that of the character at fault."""
    with pytest.raises(patterns.PatternError) as caught:
        patterns.search(pattern)
    assert index == caught.value.index
    assert message in caught.value.message


@pytest.mark.quick
def test_hints_say_how_to_mend_a_pattern() -> None:
    """Where there is one way."""
    for pattern, hint in ((r"\Z", "$"), (r"\p{Leter}", "letter"), ("(?P<a>b)", "P")):
        with pytest.raises(patterns.PatternError) as caught:
            patterns.search(pattern)
        assert hint in caught.value.hint


def test_large_patterns_end_at_a_limit_that_names_the_part() -> None:
    """Counts beyond reason, and sets of states that double."""
    for pattern in ("^a{99999999999999999999999}$", "^(x|a{1,1000000})$"):
        with pytest.raises(LimitError, match=r"a\{"):
            patterns.search(pattern)
    with pytest.raises(LimitError):
        patterns.search("^(a|b)*a(a|b){20}$", Limits(states=5000))


@pytest.mark.parametrize("kind", ["(", "(?:", "(?=", "(?<=", "(?:^(?:", "(?:x|", "(?!"])
def test_groups_may_stand_a_hundred_deep(kind: str) -> None:
    """No recursion overflows."""
    depth = 96 // kind.count("(")
    patterns.search(kind * depth + "a" + ")" * (depth * kind.count("(")))


def suite_cases(folder: Path) -> Iterator[tuple[str, dict[str, Any], Any, bool]]:
    """Name, schema, instance and verdict of the cases on patterns in all drafts."""
    for draft in DRAFTS:
        for name in ("ecmascript-regex.json", "non-bmp-regex.json"):
            path = folder / draft / "optional" / name
            for group in json.loads(path.read_text(encoding="utf-8")):
                for test in group["tests"]:
                    place = f"{draft} {group['description']}: {test['description']}"
                    yield place, group["schema"], test["data"], test["valid"]


def test_the_suites_patterns_have_their_verdicts(data: Callable[[str], Path]) -> None:
    """Every case of a pattern and of a pattern of names."""
    count = 0
    for place, schema, instance, valid in suite_cases(data("suites/json-schema-test-suite/tests")):
        if "pattern" in schema:
            found = not isinstance(instance, str) or holds(
                patterns.search(schema["pattern"]), instance
            )
        elif schema.get("additionalProperties") is False:
            (pattern,) = schema["patternProperties"]
            found = all(holds(patterns.search(pattern), name) for name in instance)
        elif "patternProperties" in schema:
            (pattern,) = schema["patternProperties"]
            found = not any(
                holds(patterns.search(pattern), name) and not isinstance(value, int)
                for name, value in instance.items()
            )
        else:
            continue
        assert valid == found, place
        count += 1
    assert count > 300


ATOMS = [*"abc.é🐉-", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "[ab]", "[^a]", "[a-c1]", "[é-ü🐉]"]
ATOMS += [
    r"\u0061",
    r"\x62",
    r"\u{1f409}",
    "[^🐉]",
    r"\cJ",
    r"\n",
    r"\p{Lu}",
    r"\P{L}",
    r"[\p{L}1]",
]
ATOMS += ["[]", "[^]", r"\0", r"[\b]", r"\/", r"\.", "[.-]"]
LETTERS = "abc1-_ \n\té🐉A/.\0\u2028"


def random_pattern(rng: random.Random, depth: int) -> str:
    """A pattern with groups, edges and looks in both directions."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(ATOMS)
    inner = random_pattern(rng, depth - 1)
    if kind < 0.5:
        return inner + random_pattern(rng, depth - 1)
    if kind < 0.62:
        bracket = rng.choice(["(", "(?:", f"(?<n{rng.randrange(10**9)}>"])
        return f"{bracket}{inner}|{random_pattern(rng, depth - 1)})"
    if kind < 0.75:
        return f"(?:{inner}){rng.choice(['*', '+', '?', '{2}', '{1,2}', '{0,}', '*?', '??'])}"
    if kind < 0.85:
        return rng.choice([f"^{inner}", f"{inner}$"])
    if kind < 0.88:
        return rng.choice([r"\b", r"\B"]) + inner
    look = rng.choice(["(?=", "(?!", "(?<=", "(?<!"])
    return f"{look}{inner}){random_pattern(rng, depth - 1)}"


ENGINE = """
const cases = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(cases.map(([pattern, texts]) => {
  const regex = new RegExp(pattern, 'u');
  return texts.map(text => regex.test(text));
})));
"""


def test_random_patterns_are_found_where_a_javascript_engine_finds_them(full: bool) -> None:
    """What is refused looks in one direction from inside a look in the other."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: no JavaScript engine to compare with")
    rng = random.Random(7)
    cases = []
    for _ in range(1500 if full else 25):
        pattern = random_pattern(rng, rng.randint(1, 4 if full else 3))
        texts = ["".join(rng.choices(LETTERS, k=rng.randint(0, 6))) for _ in range(25)]
        cases.append((f"^{pattern}$" if rng.random() < 0.3 else pattern, texts))
    answer = subprocess.run(
        [node, "-e", ENGINE], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    refused = 0
    for (pattern, texts), found in zip(cases, json.loads(answer.stdout), strict=True):
        try:
            dfa = patterns.search(pattern, Limits(states=5000))
        except (patterns.PatternError, LimitError) as error:
            assert isinstance(error, LimitError) or "look-" in error.message
            refused += 1
            continue
        assert found == [holds(dfa, text) for text in texts], pattern
    assert refused < len(cases) / 10
