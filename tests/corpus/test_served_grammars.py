"""Lark's grammars that two other engines' own tests ask about, beside what those engines answered.

Each recorded call is made again: texts are members, beginnings of members or neither, and masks are
equal. Where an answer is another one, the table says who is right and why.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.maximal_munch import BOTH
from support.serving.recorded import Call, compiled, compiler_of, matched, tokens_in

# What a call and the answer here match, and why the answer is right all the same.
DIFFERENT = {
    # Of xgrammar's answers.
    r"case-insensitive|regex_flags_ebnf": "case is Unicode's, and not that of ASCII alone",
    r"multiple_ignore_decl|ignore_inline|default_disallows_initial": "what is ignored may stand at "
    "the beginning, as in Lark",
    r"standalone_lazy|any_text_tag_dispatch": "a lazy rule ends with its end, as in llguidance",
    r"nullable_always": "a lazy rule that may be empty may also have a character, as in llguidance",
    r"unrelated_earley_branch": "all ends where a lazy rule ends, as in llguidance",
    r"mid-anchors": "no text has a beginning after its first character",
    r"matches_every_exact": "a token has one id",
    # What is refused by name.
    r"unknown escape \\c|look-ahead|%lark|is not supported|are not supported|is supported where"
    r"|is no terminal": "it is refused by name",
    r"has no token <": "the grammar was read for no tokenizer, and names a token",
    # Members with bytes that no token is are left out, with a note.
    r"the tokenizer can spell no member|dynamic_special_token": "no token for a byte",
    # Of llguidance's.
    r"%json[^|]*\|[^|]*\\": "strings of JSON have any escapes, whatever x-guidance says",
}


def of_llguidance(row: dict[str, Any]) -> Iterator[Call]:
    """What is a member of a grammar, ``all``, or begins one, ``prefix``, or neither."""
    grammar, what = row["grammar"], f"{row['grammar']} | {row['text']}"
    artifact = compiled(BOTH + grammar, compiler_of((), ()))
    text = list(row["text"].removeprefix("FINAL_REJECT:").encode())
    expected: str = row["want"]
    if isinstance(artifact, str):
        yield Call(what, expected, artifact)
        return
    matcher = artifact.matcher()
    found = "rejected" if matcher.accept(text) < len(text) else "prefix"
    found = "all" if found == "prefix" and matcher.is_accepting else found
    yield Call(what, found if found in expected.split("|") else expected, found)


def of_xgrammar(row: dict[str, Any]) -> Iterator[Call]:
    """What a grammar was compiled to, and what its matchers answered."""
    for entry in row["log"]:
        asked = entry.get("construct") or entry["matcher"]
        asked = asked.get("matcher") if isinstance(asked, dict) else asked
        if not asked or asked[0] != "lark" or (asked[2:] and "named_grammars" in asked[2]):
            continue
        (text,) = asked[1][:1]
        what = f"{row['case']} | {text}"
        if "construct" in entry:
            found = compiled(text, compiler_of((), ()))
            if entry["error"] is None:
                yield Call(what, None, found if isinstance(found, str) else None)
            continue
        tokens = tokens_in(entry["tok"])
        if tokens is None:
            continue
        artifact = compiled(text, compiler_of(*tokens))
        if isinstance(artifact, str):
            yield Call(what, None, artifact)
        else:
            at_once = entry["kw"].get("terminate_without_stop_token", False)
            yield from matched(what, artifact.matcher(), entry["events"], at_once, len(tokens[0]))


SUITES: dict[str, Callable[[dict[str, Any]], Iterator[Call]]] = {
    "llguidance": of_llguidance,
    "xgrammar": of_xgrammar,
}
# Without --full, one in so many.
EVERY = {"llguidance": 3, "xgrammar": 16}


@pytest.mark.parametrize("suite", SUITES)
def test_recorded_answers(
    suite: str,
    data: Callable[[str], Path],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Nothing is answered otherwise but for a reason; without --full some of the grammars, of those
    with rules that end as soon as they may more."""
    with data(f"suites/served/{suite}.jsonl").open(encoding="utf-8") as lines:
        rows = [line for line in lines if "lark" in line or '"grammar": "' in line]
    ending = [line for line in rows if re.search(r"\[lazy|stop=|suffix=", line)]
    few = [*rows[:: EVERY[suite]], *ending[:: EVERY[suite] // 2]]
    asked = rows if full else few
    calls, wrong, reasons = 0, list[str](), set[str]()
    for row in map(json.loads, asked):
        if row.get("grammar", "").startswith("{"):
            continue
        for call in SUITES[suite](row):
            calls += 1
            if call.expected == call.found:
                continue
            told = f"{call.what} -> {call.found}"
            why = next((why for known, why in DIFFERENT.items() if re.search(known, told)), None)
            if why is None:
                wrong.append(f"{told}, and not {call.expected}")
            else:
                reasons.add(why)

    assert [] == wrong
    assert calls > 80
    record_property(f"answers of {suite}, {len(reasons)} reasons for others", calls)
