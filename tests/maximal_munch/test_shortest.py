"""Lexemes that end as soon as they may, and all that was begun beside them: as llguidance reads
them, and by the definition."""

import random
from collections.abc import Callable

import pytest
from support.maximal_munch import BOTH, masks_of, maximal_munch_tables, plain_of

from constrain.artifacts.read import load_bytes
from constrain.compiler import Compiler, load_tokenizer
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.to_dfa import text_machine

LETTERS = "ab<"
# Calls of functions in free text, as models are told to write them.
CALLS = """
start: call* tail
call: head "=foo>" %json {"type": "object"} "</f>"
head[lazy]: TEXT "<f"
tail: TEXT
TEXT: /(.|\\n)*/
"""
# By a text whether it is a member, True, or begins one, False; all others are neither.
Read = dict[str, bool]


def random_expression(rng: random.Random, depth: int) -> str:
    """A regex over the letters."""
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return rng.choice(["a", "b", "<", "[ab]", "[ab<]", "[ab<]"])
    if kind < 0.7:
        return random_expression(rng, depth - 1) + random_expression(rng, depth - 1)
    if kind < 0.8:
        options = (random_expression(rng, depth - 1) for _ in range(2))
        return f"(?:{'|'.join(options)})"
    return f"(?:{random_expression(rng, depth - 1)}){rng.choice('*+?')}"


def random_triggers(rng: random.Random) -> str:
    """One to three rules that are lazy, or end with what ends them, beside free text.

    All have two letters at least: after another lexeme llguidance reads on where one may end that
    has just begun.
    """
    ends = ["a", "b", "<", "[ab]", "[ab<]"]
    rules, calls = [], []
    for i in range(rng.randint(1, 3)):
        trigger = "".join(rng.choice(LETTERS) for _ in range(rng.randint(2, 3)))
        regex = rng.choice(ends) + rng.choice(ends) + random_expression(rng, rng.randint(0, 2))
        rules += rng.choice(
            [
                [f'h{i}[lazy]: TEXT "{trigger}"'],
                [f'h{i}[suffix="{trigger}"]: TEXT'],
                [f"h{i}[suffix=/{regex}/]: TEXT"],
                [f"h{i}[lazy]: /{regex}/"],
                [f"h{i}: /{regex}/"],
            ]
        )
        behind = rng.choice(["", "A", "B", "x", '"a"', '"<"'])
        calls.append(f"h{i} {behind}")
    start = rng.choice(["({})* tail", "({}) tail?", "({})+", "({} | tail)", "tail? ({})"])
    text = rng.choice([r"[ab<]*", r"[ab]*", r"(.|\n)*", r"[ab<]+", r"[b<]*"])
    of_one = [random_expression(rng, 1) for _ in range(2)]
    named = ["tail: TEXT", 'x: "<" A "b" | B', f"TEXT: /{text}/"]
    named += [f"{name}: /{regex}/" for name, regex in zip("AB", of_one, strict=True)]
    return "\n".join([f"start: {start.format(' | '.join(calls))}", *rules, *named]) + "\n"


def followed(reads: Callable[[str], bool | None], longest: int) -> Read:
    """All texts over the letters up to a length that begin a member; ``reads`` says None of those
    that do not."""
    found: Read = {}
    pending = [""]
    for text in pending:
        may_end = reads(text)
        if may_end is not None:
            found[text] = may_end
            pending += [text + letter for letter in LETTERS if len(text) < longest]
    return found


def by_machine(grammar: str, longest: int) -> Read:
    """As artifacts read them."""
    machine = text_machine(maximal_munch_tables(read_grammar(grammar, "lark")))

    def reads(text: str) -> bool | None:
        configuration = machine.read(machine.start, text.encode())
        return None if configuration is None else machine.is_accepting(configuration)

    return followed(reads, longest)


def by_definition(grammar: str, longest: int) -> Read:
    """As the oracle of the room reads them."""
    plain = plain_of(grammar)

    def reads(text: str) -> bool | None:
        reading = plain.read(plain.begin(), text.encode())
        return None if reading.length < len(text) else plain.may_end(reading)

    return followed(reads, longest)


def by_llguidance(grammar: str, longest: int) -> Read:
    """As llguidance reads them, token by token of one byte."""
    import llguidance

    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar, log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    found: Read = {}
    pending = [("", matcher)]
    for text, behind in pending:
        found[text] = behind.is_accepting()
        for letter in LETTERS if len(text) < longest and not behind.is_stopped() else "":
            further = behind.deep_copy()
            if further.consume_token(ord(letter)):
                pending.append((text + letter, further))
    return found


@pytest.mark.quick
def test_free_text_beside_a_trigger_does_not_read_it() -> None:
    """What llguidance answers of its own idiom; read so without ``%llguidance``, too."""
    artifacts = []
    for text in (CALLS, BOTH + CALLS):
        compiler = Compiler(load_tokenizer(), cache=None)
        artifacts.append(compiler.compile(text, dialect="lark", tokenization="any", prewarm=0))
    expected = {
        "hello": True,
        "<f=foo>{}</f>": True,
        "a<f=foo>{}</f>b<": True,
        "<f= foo>{}</f>": False,
        "<f=foo>1</f>": False,
        "<f=foo>{}</f": False,
        "a<f": False,
    }

    for artifact in artifacts:
        loaded = load_bytes(artifact.to_bytes())
        for each in (artifact, loaded):
            found = {}
            for text in expected:
                matcher = each.matcher()
                ids = compiler.tokenizer.encode(text)
                found[text] = matcher.accept(ids) == len(ids) and matcher.is_accepting
            assert expected == found


def test_as_llguidance_and_by_definition(
    full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Random grammars, all texts up to a length: members, and what begins them."""
    pytest.importorskip("llguidance", reason="llguidance, which they are compared with, is missing")
    rng, read, longest = random.Random(23), 0, 6 if full else 4
    for _ in range(400 if full else 12):
        text = BOTH + random_triggers(rng)
        try:
            found = by_machine(text, longest)
        except CheckError as error:
            assert "empty language" in str(error)
            continue
        assert by_llguidance(text, longest) == found, text
        assert by_definition(text, min(longest, 4)) == {
            t: e for t, e in found.items() if len(t) <= 4
        }
        read += len(found)

    assert read > (1_000 if full else 400)
    record_property("texts", read)


@pytest.mark.parametrize(
    ("grammar", "members", "others"),
    [
        # What has a higher priority, and what is ignored.
        (
            'start: (h "c" | B)+\nh[lazy]: /ab/\nB.5: /[ab]+/\n',
            ["abc", "aa", "bab"],
            ["ab", "abb"],
        ),
        ('start: h "c"\nh[lazy]: /ab/\n%ignore /a[bc]*d?/\n', ["abc", "aabc"], ["abcd", "abd"]),
        # Of several that end together all are followed.
        ('start: h "c" | i "d"\nh[lazy]: /a?b/\ni[lazy]: /a+b/\n', ["abc", "abd", "bc"], ["bd"]),
        # One that may be empty may be missing, and else ends after a letter.
        ('start: h "c"\nh[lazy]: /[ab]*/\n', ["c", "ac", "bc"], ["abc"]),
    ],
)
def test_all_ends_with_it(grammar: str, members: list[str], others: list[str]) -> None:
    """Whatever could go on."""
    plain, masks = plain_of(grammar), masks_of(grammar, [bytes([octet]) for octet in range(256)])
    for word in (*members, *others):
        reached = masks.configurations.read(masks.start, word.encode())
        assert plain.accepts(word.encode()) == (word in members), word
        assert (word in members) == (reached is not None and masks.is_accepting(reached)), word
