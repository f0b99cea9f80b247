"""What rules have read of a text: by hand, by all derivations, and beside llguidance's captures."""

import random
from collections.abc import Iterator
from typing import Any, TypeAlias

import llguidance
import pytest

from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.coverage.captures import CaptureError, Captures, Spans, captures_of
from constrain.compiler.diagnostics import DialectError
from constrain.compiler.frontend import read_checked
from constrain.compiler.options import CompileOptions

LARK = CompileOptions(dialect="lark")

# A grammar, a text, and what is captured. Marked are those of which llguidance says the same, in
# the order in which rules end.
CASES = [
    ('start: (item ",")+\nitem[capture]: /[a-z]+/', "ab,cd,", {"item": ["ab", "cd"]}, True),
    (
        'start: (pair ",")*\npair[capture="p"]: /[a-z]+/ "=" n\nn[capture]: /[0-9]+/',
        "ab=1,c=22,",
        {"p": ["ab=1", "c=22"], "n": ["1", "22"]},
        True,
    ),
    ('start: a\na[capture]: "(" a ")" | "."', "((.))", {"a": ["((.))", "(.)", "."]}, True),
    ('start: a "!"\na[capture, suffix=";"]: /.*/', "abc;!", {"a": ["abc"]}, True),
    (
        'start: a "!"\na[capture, stop=";", stop_capture="s"]: /.*/',
        "a;!",
        {"a": ["a"], "s": [";"]},
        True,
    ),
    ('start: a "!"\na[capture, stop=/x?b/]: /.*/', "axb!", {"a": ["ax"]}, True),
    ('start: a "!"\na[capture, stop=E]: /.*/\nE: /xb|b/', "axb!", {"a": ["ax"]}, True),
    ('start: a "!"\na[capture, lazy]: /x.*;/', "x;!", {"a": ["x;"]}, True),
    ('start: a "!"\na[capture, stop=""]: /[^!]*/', "ab!", {"a": ["ab"]}, False),
    ('start: x | y\nx[capture="n"]: "a"\ny[capture="n"]: "b"', "b", {"n": ["b"]}, True),
    ('start: a? b\na[capture]: "a"\nb[capture]: "b"', "b", {"a": [], "b": ["b"]}, False),
    ('start: s "c"\ns: x s | x\nx[capture]: "a"|"b"\n', "abc", {"x": ["a", "b"]}, True),
    # A text that has two readings, and a beginning that is read otherwise in the end.
    ('start: a b\na[capture]: "x"*\nb: "x"*', "xx", {"a": ["", "x", "xx"]}, False),
    ('start: a "b"?\na[capture]: "a" | "a" "b"', "ab", {"a": ["a", "ab"]}, False),
    ('start: x "a"\nx[capture]: "a" | "a" "a"', "aa", {"x": ["a"]}, False),
    # What is ignored before a rule is none of it, but a lexeme takes what it can.
    (
        'start: "c" x+ e "b"\nx[capture]: A A\ne[capture]: A*\nA: /a/\n%ignore / /',
        "c  a a aa  b",
        {"x": ["a a", "aa"], "e": ["aa", ""]},
        False,
    ),
    (
        'start: t "!"\nt[capture, stop=";"]: /[a-z ]*/\n%ignore / /',
        " a b; !",
        {"t": [" a b"]},
        False,
    ),
]


def texts_of(found: Spans | None, text: bytes) -> dict[str, list[str]]:
    """The captured texts."""
    assert found is not None
    return {n: [text[a:b].decode() for a, b in spans] for n, spans in found.items()}


def theirs(grammar: str, text: str) -> list[tuple[str, bytes]]:
    """What llguidance captures, name and text, in the order in which it does."""
    tokenizer = llguidance.LLTokenizer("byte")
    matcher: Any = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    tokens = tokenizer.tokenize_str(text)
    assert matcher.try_consume_tokens(tokens) == len(tokens)
    found: list[tuple[str, bytes]] = matcher.get_captures()
    return found


@pytest.mark.parametrize(("grammar", "text", "expected", "is_theirs"), CASES)
def test_captures_by_hand(
    grammar: str, text: str, expected: dict[str, list[str]], is_theirs: bool
) -> None:
    """Of an artifact, by its text and by the tokens that a matcher has taken."""
    tokenizer = load_tokenizer()
    artifact = compile_grammar(
        grammar, dialect="lark", tokenizer=tokenizer, tokenization="any", prewarm=0
    )
    found = captures_of(artifact, text.encode())
    assert expected == texts_of(found, text.encode())
    matcher = artifact.matcher()
    for token in tokenizer.encode(text):
        matcher.advance(token)
    assert found == captures_of(artifact, matcher.taken)
    if is_theirs:
        assert found is not None
        ended = sorted((b, b - a, name) for name, spans in found.items() for a, b in spans)
        said = theirs(grammar, text)
        assert sorted((n, text[b - w : b].encode()) for b, w, n in ended) == sorted(said)


def test_exact_readings_leave_out_what_is_ignored() -> None:
    """Before a rule; inside of it, it stands."""
    grammar = 'start: "c" x+ "b"\nx[capture]: "a" "a"\n%ignore / /'
    exact = read_checked(grammar, CompileOptions(dialect="lark", meaning="exact"), "g")
    text = b" c  a a aa  b "

    assert texts_of(Captures(exact).of(text), text) == {"x": ["a a", "aa"]}


# ("text", t), ("rule", name), ("in a row", …), ("or", …), ("?", x), ("*", x)
Tree: TypeAlias = tuple[Any, ...]


def random_tree(rng: random.Random, depth: int, below: int) -> Tree:
    """An expression that uses the rules from number ``below`` on."""
    kind = rng.choice(
        ["text", "rule", "in a row", "in a row", "or", "?", "*"] if depth else ["text"]
    )
    if kind == "rule" and below < len(RULES):
        return kind, rng.choice(RULES[below:])
    if kind in ("in a row", "or"):
        return kind, *(random_tree(rng, depth - 1, below) for _ in range(2))
    if kind in ("?", "*"):
        return kind, random_tree(rng, depth - 1, below)
    return "text", rng.choice("ab")


RULES = ["start", "p", "q", "r"]


def written(tree: Tree) -> str:
    """In Lark's syntax."""
    kind, *parts = tree
    match kind:
        case "text":
            return f'"{parts[0]}"'
        case "rule":
            return str(parts[0])
        case "in a row" | "or":
            return f"({(' ' if kind == 'in a row' else '|').join(map(written, parts))})"
        case _:
            return f"({written(parts[0])}){kind}"


Read: TypeAlias = tuple[int, frozenset[tuple[str, int, int]]]


def derived(tree: Tree, rules: dict[str, Tree], text: str, at: int) -> Iterator[Read]:
    """All derivations from a place on: where each ends, and the spans of its rules. What is
    repeated, or may be missing, reads something."""
    kind, *parts = tree
    match kind:
        case "text":
            if text.startswith(parts[0], at):
                yield at + len(parts[0]), frozenset()
        case "rule":
            for end, spans in derived(rules[parts[0]], rules, text, at):
                yield end, spans | {(parts[0], at, end)}
        case "or":
            for part in parts:
                yield from derived(part, rules, text, at)
        case "in a row":
            for middle, spans in derived(parts[0], rules, text, at):
                for end, more in derived(parts[1], rules, text, middle):
                    yield end, spans | more
        case _:
            yield at, frozenset()
            for middle, spans in derived(parts[0], rules, text, at):
                if middle > at:
                    again = derived(tree, rules, text, middle) if kind == "*" else [(middle, spans)]
                    for end, more in again:
                        yield end, spans | more


def test_captures_are_those_of_all_derivations(full: bool) -> None:
    """Random grammars and texts; llguidance captures these, and what it reads in vain."""
    rng = random.Random(36)
    seen = spanned = 0
    for _ in range(5_000 if full else 40):
        rules = {name: random_tree(rng, 4, i + 1) for i, name in enumerate(RULES)}
        grammar = "\n".join(
            f"{name}{'' if name == 'start' else '[capture]'}: {written(tree)}"
            for name, tree in rules.items()
        )
        captures = Captures(read_checked(grammar, LARK, "g.lark"))
        for _ in range(8):
            text = "".join(rng.choice("ab") for _ in range(rng.randrange(6)))
            readings = [s for end, s in derived(rules["start"], rules, text, 0) if end == len(text)]
            found = captures.of(text.encode())
            if not readings:
                assert found is None, (grammar, text)
                continue
            expected = frozenset[tuple[str, int, int]]().union(*readings)
            assert found is not None, (grammar, text)
            spans = {(name, a, b) for name, some in found.items() for a, b in some}
            assert expected == spans, (grammar, text)
            seen += 1
            spanned += len(spans)
            others = {(name, text[a:b].encode()) for name, a, b in spans if a < b}
            assert others <= set(theirs(grammar, text)), (grammar, text)
    assert seen > (100 if full else 50)
    assert spanned > (100 if full else 50)


def test_names_move_with_what_is_imported(tmp_path: Any) -> None:
    """The end of a text is a terminal of the other file."""
    (tmp_path / "base.lark").write_text("gen[capture, stop=END]: /.*/\nEND: /;|!/\n")
    options = CompileOptions(dialect="lark", imports=str(tmp_path))
    found = read_checked("%import .base.gen\nstart: gen+", options, "g.lark")

    captured = Captures(found, over_lexemes=True).of(b"ab;c!")
    assert texts_of(captured, b"ab;c!") == {"gen": ["ab", "c"]}


def test_what_cannot_be_found_is_an_error() -> None:
    """Tokens that no text tells, grammars that were left out, and names that are none."""
    tokens = read_checked("start: a\na[capture]: <x> | <[5]>", LARK, "g.lark")
    with pytest.raises(CaptureError, match="does not tell its tokens"):
        Captures(tokens)
    stripped = compile_grammar(
        "start: a\na[capture]: /a/",
        dialect="lark",
        tokenizer=load_tokenizer(),
        tokenization="any",
        strip=True,
    )
    with pytest.raises(CaptureError, match="was left out"):
        captures_of(stripped, b"a")
    for wrong in ("capture=5", 'capture=""', "stop_capture"):
        with pytest.raises(DialectError, match="takes a name in quotes"):
            read_checked(f"start: a\na[{wrong}]: /a/", LARK, "g.lark")


def test_attributes_of_xgrammars_rules() -> None:
    """A lazy rule is the members that no shorter one begins, the empty one among them."""
    options = CompileOptions(dialect="gbnf")
    text = 'root ::= "<" r s ">"\nr[lazy, capture="x"] ::= [a-z]+\ns[capture] ::= "" | "b" s\n'
    captures = Captures(read_checked(text, options, "g.gbnf"))

    assert captures.of(b"<abb>") == {"x": [(1, 2)], "s": [(2, 4), (3, 4), (4, 4)]}
    assert captures.of(b"<ac>") is None
    empty = Captures(read_checked('root ::= r "a"\nr[capture, lazy] ::= "a"*\n', options, "g"))
    assert empty.of(b"a") == {"r": [(0, 0)]}
    assert empty.of(b"aa") is None
    for wrong in ("max_tokens=3", "max_chars=many", "lazy=1", 'capture=""', "capture=1"):
        with pytest.raises(DialectError, match=f"the attribute {wrong} is not supported"):
            read_checked(f'root[capture, {wrong}] ::= "a"', options, "g.gbnf")


def test_ends_of_captures_that_xgrammar_prints() -> None:
    """What is hidden of a capture is a number of bytes, or what a rule by its number reads."""
    options = CompileOptions(dialect="gbnf")
    body = (
        'root ::= a "z"\na[capture="x", {}, stop_capture="m", lazy] ::= [a-z]* mark\nmark ::= "é"'
    )
    hidden = "capture_hidden_{}"
    for said in ("stop_bytes=2", "suffix_bytes=1, capture_hidden_marker_rule_id=2"):
        text = body.format(hidden.format(said))
        found = Captures(read_checked(text, options, "g")).of("abéz".encode())
        assert found == {"x": [(0, 2)], "m": [(2, 4)]}, said
