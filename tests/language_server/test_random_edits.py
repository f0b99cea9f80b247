"""Random edits to many grammars: no session is lost, and in the end the findings are those of
`check` on the text."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
import sys
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES

from .client import Editor
from .conftest import checked

# Grammars of all dialects, schemas and tools among them.
NAMES = (
    *("date.ebnf", "json.ebnf", "json.lark", "code.lark", "words.ebnf", "person.ebnf"),
    *("ipv4.regex", "tool_call.schema.json", "agents/issue_tracker.tools.json"),
)
TEXTS = [(Path(name).name, (EXAMPLES / name).read_text(encoding="utf-8")) for name in NAMES] + [
    ("a.gbnf", 'root ::= item ("," item)*\nitem ::= [a-z]+ | "(" root ")"\n# end\n'),
    ("b.w3c", "start ::= a | b*\na ::= [a-z] - 'x'\nb ::= 'y'? a\n@terminals\nc ::= #x41\n"),
    ("c.iso", "start = 3 * word, [ tail ]; word = 'a' | 'b'; tail = { word }; (* end *)"),
    ("d.abnf", 'start = 1*4item [tail]\nitem = ALPHA / %x30-39\ntail = ";" item\n'),
    ("e.g4", "grammar E;\ne : e '+' e | N ;\nN : [0-9]+ ;\nWS : ' ' -> skip ;\n"),
    ("f.bnf", '<start> ::= <digit> { "+" <digit> }\n<digit> ::= "0".."9"\n'),
    ("g.bnf", "start = 'a', word ;\nword = 'b' | word, 'c' ;\n"),
    (
        "h.lark",
        'start: _list{A, ","}\n_list{x, y}: x (y x)*\nA: /a+/\n%import common.WS\n%ignore WS\n',
    ),
    ("i.kbnf", "start ::= permute!(a, b?) any!; a ::= except!('x', 3); b ::= #e\"[a-z]*b\";\n"),
    ("j.gbnf", 'root ::= "é\\x41" tail | <think>\ntail ::= [^"\\n]{2,4} root?\n'),
    ("k.regex", "(a|b)*[^c-e]{2,5}(?=x)\\d+"),
]
PIECES = [
    " ",
    "\n",
    ";",
    "|",
    '"',
    "'",
    "(",
    ")",
    "[a-z]",
    "word",
    "start",
    "::=",
    ": ",
    '"x"',
    "é",
]
PIECES += ["*", "?", "(* ", "// ", "{", "}", ",", "0", "\\", "#", "%ignore A\n", '"type"', "null"]

# Of a process, in pages.
_RESIDENT = 1


def place_of(text: str, offset: int) -> dict[str, int]:
    """A place as the protocol has it, of a text whose lines end with a line feed."""
    line = text.count("\n", 0, offset)
    return {"line": line, "character": offset - (text.rfind("\n", 0, offset) + 1)}


def random_edit(text: str, chance: random.Random) -> tuple[dict[str, Any], str]:
    """A change of a part of a text, and the text after it: most restore what was there before."""
    begin = chance.randrange(len(text) + 1)
    end = min(len(text), begin + chance.choice([0, 0, 0, 1, 2, 7]))
    new = "".join(chance.choice(PIECES) for _ in range(chance.choice([0, 1, 1, 2])))
    places = {"start": place_of(text, begin), "end": place_of(text, end)}
    return {"range": places, "text": new}, text[:begin] + new + text[end:]


def resident(editor: Editor) -> int:
    """Bytes of the server that are in memory."""
    pages = Path(f"/proc/{editor.process.pid}/statm").read_text().split()[_RESIDENT]
    return int(pages) * 4096


@pytest.mark.quick
def test_edits_are_made_as_the_editor_makes_them() -> None:
    """The places of random edits, by a text of two lines."""
    assert {"line": 1, "character": 2} == place_of("ab\ncde", 5)
    assert 20 == len(TEXTS)


def test_findings_behind_random_edits_are_those_of_check(editor: Editor, full: bool) -> None:
    """Of each grammar, some in bursts, some one by one with requests between; memory stays flat."""
    chance, sizes = random.Random(17), list[int]()
    rounds = 50 if full else 3
    texts = dict(TEXTS)
    for name, text in texts.items():
        editor.open(name, text)
    for number in range(2, rounds + 2):
        for name in texts:
            original = dict(TEXTS)[name]
            if chance.random() < 0.2:
                # Mostly broken texts would all have the same to say.
                change, texts[name] = {"text": original}, original
            else:
                change, texts[name] = random_edit(texts[name], chance)
            editor.change(name, number, [change])
            if chance.random() < 0.3:
                asked = chance.choice(["documentSymbol", "semanticTokens/full", "codeLens"])
                editor.ask(f"textDocument/{asked}", editor.about(name))
            if chance.random() < 0.1:
                editor.begin("textDocument/hover", editor.at(name, 0, chance.randrange(9)))
        for name in texts:
            editor.found(name, number)
        if sys.platform == "linux":
            sizes.append(resident(editor))

    for name, text in texts.items():
        path = editor.folder / name
        path.write_text(text, encoding="utf-8", newline="")
        assert checked(path) == editor.found(name, rounds + 1), name
    settled = sizes[len(sizes) // 3 :]
    assert not settled or max(settled) < 1.25 * settled[0]
