"""A tiny artifact of each kind, with each section that some file has, of which mutated ones are
made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from constrain.artifacts import Artifact
from constrain.artifacts.canonical_network.closure import token_liveness
from constrain.compiler import (
    Tokenizer,
    choose,
    compile_grammar,
    load_tokenizer,
    thresholds,
)
from constrain.compiler.lazy_dfa import conjunctions
from constrain.compiler.merge import lift
from constrain.compiler.pipeline import build_artifact
from support import tokenizer_json, written
from support.automata import build_automaton
from support.wordpiece import tokenizer_of as words_of

LETTERS, MERGES = "abc(), <>10-eé\u0301", ["a b", "b c", "a ,", ") )", "ab ,", "Ã ©", "b b", "1 0"]
SPECIAL = [(26, "<eos>", True), (28, "<t>", True)]

REGEX = "[ab]{1,3}(,| c)?((10|01)-)?"
MANY = "([^ab][^ab]?[^ab]?c){0,2}"
COMPOSING = "(e\u0301?|a|é){1,4}"
NESTED = 'start ::= "(" (start ("," " "? start)*)? ")" | #"[a-c]{1,4}" | "é";'
PLAIN = 'start ::= "(" start ")" | #"[^()]{1,3}c";'
ACCENTS = NESTED[:-1] + ' | "e" "\u0301"? start;'
TOKENS = 'root ::= "a" root "b" opt | "ab" | <[3]> "c"\nopt ::= "a"?'
REPEATED = 'root ::= "a" <[3]>{2,40} root? "b" | <[4]>'
NAMED = 'root ::= "a" <[3]> "c"* | <[4]>'
MUNCH = 'start: "(" (start ("," start)*)? ")" | WORD\nWORD: /[ab]+/\n%ignore " "\n'
COUNTED = 'root ::= (([ab] ","){3,40} "(" root? ")"){1,30}'
COUNTED_LEXEMES = 'start: "(" (start ("," start)~2..40)? ")" | /[ab]+/\n%ignore " "\n'
CALLED = 'root ::= "b" ( "a" | "ba" ){2,900} ( "b" root )? ")" | "(" root ")"'
SETS = 'start ::= permute_by!(",", "a", "ab"?, (#"[ab]{1,80}" "(")?, start2?) ")"; '
SETS += 'start2 ::= "(" start;'
LAZY = "((a|b)*&~((a|b)*a(a|b){12})&.{0,60})|((ab)*&.{70,})"
QUOTED = 's ::= "<" text ">" | text "," text\ntext ::= [ab]+ - ([ab]* "aa" [ab]*)'
SCHEMA = json.dumps({
    "properties": {"ab": {"items": {"enum": ["a", "b"]}, "minItems": 2, "maxItems": 60}},
    "required": ["ab"], "additionalProperties": False,
})  # fmt: skip
ANY, CANONICAL = {"tokenization": "any"}, {"tokenization": "canonical"}
DIRECT, CARTESIAN = {"method": "direct"}, {"method": "cartesian"}
NETWORK = {**CANONICAL, "engine": "network"}


class Case(NamedTuple):
    """Grammar, dialect, options of the compilation, and the name of a tokenizer."""

    text: str
    dialect: str
    given: dict[str, Any]
    tokenizer: str = "plain"


CASES = {
    "byte DFA": Case(REGEX, "regex", ANY),
    "byte DFA, lists": Case(MANY, "regex", ANY, "characters"),
    "byte DFA without rows": Case(REGEX, "regex", {**ANY, "max_artifact_bytes": 0}),
    "token-dfa": Case(REGEX, "regex", DIRECT),
    "token-dfa without rows": Case(REGEX, "regex", {**DIRECT, "max_artifact_bytes": 0}),
    "canonical DFA": Case(REGEX, "regex", CARTESIAN),
    "canonical DFA, blocks": Case(MANY, "regex", CARTESIAN, "printable"),
    "canonical DFA, prefix": Case(REGEX, "regex", CARTESIAN, "prefixed"),
    "canonical DFA, whole": Case(REGEX, "regex", CARTESIAN, "whole"),
    "canonical DFA, prompts": Case("(e|a|A|B){1,4}", "regex", CARTESIAN, "lowercase"),
    "regular, tokens": Case(NAMED, "gbnf", CANONICAL),
    "network": Case(NESTED, "kbnf", {**ANY, "engine": "network"}),
    "network, tokens": Case(TOKENS, "gbnf", {**ANY, "engine": "network"}),
    "network, nothing known": Case(NESTED, "kbnf", {**ANY, "engine": "network", "prewarm": 0}),
    "network, positions": Case(NESTED, "kbnf", {**ANY, "prewarm": 0}),
    "canonical network": Case(NESTED, "kbnf", NETWORK),
    "canonical network, tokens": Case(TOKENS, "gbnf", NETWORK),
    "canonical network, prefixed tokens": Case(TOKENS, "gbnf", NETWORK, "prefixed"),
    "canonical network, bytes": Case(NESTED, "kbnf", {**NETWORK, "prewarm": 0}, "characters"),
    "canonical network, rows": Case(PLAIN, "kbnf", NETWORK, "printable"),
    "canonical network, whole": Case(NESTED, "kbnf", NETWORK, "whole"),
    "canonical network, nothing known": Case(NESTED, "kbnf", {**CANONICAL, "prewarm": 0}),
    "earley": Case(NESTED, "kbnf", {**ANY, "engine": "earley"}),
    "earley, tokens": Case(TOKENS, "gbnf", {**ANY, "engine": "earley"}),
    "greedy": Case(MUNCH, "lark", ANY),
    "greedy, nothing known": Case(MUNCH, "lark", {**ANY, "prewarm": 0}),
    "greedy, counters": Case(COUNTED_LEXEMES, "lark", {**ANY, "prewarm": 0}),
    "lazy lexemes": Case(MUNCH.replace("]+/", "]{1,3000}/"), "lark", ANY),
    "lazy terminal": Case(LAZY, "regex-extended", {**ANY, "prewarm": 0}),
    "lazy terminals": Case(QUOTED, "w3c", {**ANY, "prewarm": 0}),
    "counters": Case(COUNTED, "gbnf", {**ANY, "engine": "network"}),
    "counters, calls": Case(CALLED, "gbnf", {**ANY, "engine": "network"}, "parentheses"),
    "canonical counters": Case(COUNTED, "gbnf", {**CANONICAL, "engine": "network"}),
    "schema": Case(SCHEMA, "json-schema", ANY, "quoting"),
    "sets": Case(SETS, "kbnf", {**ANY, "engine": "network", "prewarm": 0}),
    "network, fronts": Case(SETS, "kbnf", {**ANY, "prewarm": 0}),
    "network, named positions": Case(REPEATED, "gbnf", {**ANY, "prewarm": 0}),
    "decomposed": Case(ACCENTS, "kbnf", NETWORK, "decomposed"),
    "decomposed, nothing known": Case(ACCENTS, "kbnf", {**NETWORK, "prewarm": 0}, "decomposed"),
}
# Tables of this normal form have megabytes, and those of characters hundreds of kilobytes.
LARGE = {
    "normalized": Case(ACCENTS, "kbnf", NETWORK, "normalized"),
    "decomposed bytes": Case(ACCENTS, "kbnf", {**NETWORK, "prewarm": 0}, "decomposed characters"),
    "canonical DFA, normal form": Case(COMPOSING, "regex", CARTESIAN, "decomposed characters"),
}
WORDS = {"word-dfa": 100, "word-dfa, short words": 5}


def _prefixed(described: dict[str, Any]) -> None:
    described["pre_tokenizer"]["add_prefix_space"] = True


def _whole(described: dict[str, Any]) -> None:
    described["model"]["ignore_merges"] = True
    described["model"]["vocab"] |= {"abc": 40, "Ġcc": 41}


def _characters(described: dict[str, Any]) -> None:
    """A model of characters after a space that is put first, with a token for each byte."""
    names = [*"▁abc(),é<>10-e", "ab", "bc", "▁a", *(f"<0x{octet:02X}>" for octet in range(256))]
    merges = ["a b", "b c", "▁ a"]
    described["model"] |= {"merges": merges, "byte_fallback": True}
    described["model"]["vocab"] = {name: number for number, name in enumerate(names)}
    for number, added in enumerate(described["added_tokens"]):
        added["id"] = 300 + number
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    steps = [{"type": "Prepend", "prepend": "▁"}, space]
    described["normalizer"] = {"type": "Sequence", "normalizers": steps}
    described["pre_tokenizer"] = None


def _decomposed_characters(described: dict[str, Any]) -> None:
    _characters(described)
    described["normalizer"] = {"type": "NFD"}


def _normalized(form: str) -> Callable[[dict[str, Any]], None]:
    return lambda described: described.update(normalizer={"type": form})


def _printable(described: dict[str, Any]) -> None:
    printed = map(chr, range(33, 127))
    described["model"]["vocab"] |= {char: 40 + number for number, char in enumerate(printed)}


def _quoting(described: dict[str, Any]) -> None:
    names = {char: 40 + number for number, char in enumerate('{}[]":')}
    described["model"]["vocab"] |= names


def _parentheses(described: dict[str, Any]) -> None:
    letters, merges = {char: number for number, char in enumerate("ab()")}, ["a b", "ab b", "a a"]
    merges.append("a )")
    names = {merge.replace(" ", ""): 4 + number for number, merge in enumerate(merges)}
    described["model"] |= {"vocab": letters | names, "merges": merges}


_TOKENIZERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "plain": lambda described: None,
    "prefixed": _prefixed,
    "whole": _whole,
    "characters": _characters,
    "decomposed": _normalized("NFD"),
    "decomposed characters": _decomposed_characters,
    "lowercase": _normalized("Lowercase"),
    "normalized": _normalized("NFC"),
    "parentheses": _parentheses,
    "printable": _printable,
    "quoting": _quoting,
}


def _tokenizer(name: str, folder: Path) -> Tokenizer:
    described = tokenizer_json(LETTERS, MERGES, added=SPECIAL, splits=True)
    _TOKENIZERS[name](described)
    return load_tokenizer(written(folder / f"{name}.json", described))


def samples(folder: Path, *, large: bool = False) -> dict[str, Artifact]:
    """Artifacts by name; what is lazy or counted where it is large is so here where it is small.
    Files of tokenizers are written to ``folder``. ``large``: one of megabytes as well."""
    cases = CASES | (LARGE if large else {})
    tokenizers = {case.tokenizer: case.tokenizer for case in cases.values()}
    made = {name: _tokenizer(name, folder) for name in tokenizers}
    found: dict[str, Artifact] = {}
    for name, case in cases.items():
        with pytest.MonkeyPatch.context() as patch:
            if name.startswith("lazy"):
                patch.setattr(thresholds, "LARGE_STATES", 0)
            if name == "lazy lexemes":
                patch.setattr(thresholds, "LARGE_STATES", 2)
                patch.setattr(conjunctions, "_FEW_STATES", 0)
                patch.setattr(conjunctions, "_TIMES_NFA", 0)
            if name in ("canonical DFA, blocks", "canonical network, rows"):
                patch.setattr(lift, "LONGEST_LIST", 4)
                patch.setattr(token_liveness, "LONGEST_LIST", 4)
            if name == "sets":
                patch.setattr(thresholds, "SOON_COPIED_STATES", 0)
            if name in ("counters", "schema"):
                patch.setattr(thresholds, "COPIED_STATES", 0)
            if name == "greedy, counters":
                patch.setattr(choose, "counted_from", lambda *_: 0)
            given = {"eos": ["<eos>"], **case.given}
            found[name] = compile_grammar(
                case.text, dialect=case.dialect, tokenizer=made[case.tokenizer], **given
            )
    pieces = ["a", "b", "##a", "##b", "ab", "##bb", "c"]
    automaton = build_automaton("[ab]{1,7}( c)?", dialect="regex")
    for name, longest in WORDS.items():
        words = words_of(pieces, max_chars=longest)
        wordwise = build_artifact(automaton, words, keep_unknown=longest < 100)
        found[name] = wordwise.artifact
    return found
