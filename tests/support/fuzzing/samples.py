"""A tiny artifact of each kind, of which mutated ones are made."""

from pathlib import Path
from typing import Any

import pytest

from constrain.artifacts import Artifact
from constrain.compiler import choose, compile_grammar, load_tokenizer, options
from constrain.compiler.lazy_dfa import conjunctions
from constrain.compiler.pipeline import build_artifact, build_automaton
from support import tokenizer_json, written
from support.wordpiece import tokenizer_of as words_of

LETTERS, MERGES = "abc(), <>10-eé\u0301", ["a b", "b c", "a ,", ") )", "ab ,", "Ã ©", "b b", "1 0"]
SPECIAL = [(26, "<eos>", True), (28, "<t>", True)]

REGEX = "[ab]{1,3}(,| c)?((10|01)-)?"
NESTED = 'start ::= "(" (start ("," " "? start)*)? ")" | #"[a-c]{1,4}" | "é";'
ACCENTS = NESTED[:-1] + ' | "e" "\u0301"? start;'
TOKENS = 'root ::= "a" root "b" opt | "ab" | <[3]> "c"\nopt ::= "a"?'
MUNCH = 'start: "(" (start ("," start)*)? ")" | WORD\nWORD: /[ab]+/\n%ignore " "\n'
COUNTED = 'root ::= (([ab] ","){3,40} "(" root? ")"){1,30}'
SETS = 'start ::= permute_by!(",", "a", "ab"?, (#"[ab]{1,80}" "(")?, start2?) ")"; '
SETS += 'start2 ::= "(" start;'
LAZY = "((a|b)*&~((a|b)*a(a|b){12})&.{0,60})|((ab)*&.{70,})"
QUOTED = 's ::= "<" text ">" | text "," text\ntext ::= [ab]+ - ([ab]* "aa" [ab]*)'
ANY, CANONICAL = {"tokenization": "any"}, {"tokenization": "canonical"}


# Grammar, dialect, options.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "byte-dfa": (REGEX, "regex", ANY),
    "byte-dfa without rows": (REGEX, "regex", {**ANY, "max_artifact_bytes": 0}),
    "token-dfa": (REGEX, "regex", {"method": "direct"}),
    "token-dfa without rows": (REGEX, "regex", {"method": "direct", "max_artifact_bytes": 0}),
    "product": (REGEX, "regex", {"method": "cartesian"}),
    "regular, tokens": ('root ::= "a" <[3]> "c"* | <[4]>', "gbnf", CANONICAL),
    "network": (NESTED, "kbnf", {**ANY, "engine": "network"}),
    "network, tokens": (TOKENS, "gbnf", {**ANY, "engine": "network"}),
    "network, nothing known": (NESTED, "kbnf", {**ANY, "engine": "network", "prewarm": 0}),
    "canonical network": (NESTED, "kbnf", {**CANONICAL, "engine": "network"}),
    "canonical network, tokens": (TOKENS, "gbnf", {**CANONICAL, "engine": "network"}),
    "canonical network, nothing known": (NESTED, "kbnf", {**CANONICAL, "prewarm": 0}),
    "earley": (NESTED, "kbnf", {**ANY, "engine": "earley"}),
    "earley, tokens": (TOKENS, "gbnf", {**ANY, "engine": "earley"}),
    "greedy": (MUNCH, "lark", ANY),
    "greedy, nothing known": (MUNCH, "lark", {**ANY, "prewarm": 0}),
    "lazy-greedy": (MUNCH.replace("]+/", "]{1,3000}/"), "lark", ANY),
    "lazy-dfa": (LAZY, "regex-extended", {**ANY, "prewarm": 0}),
    "lazy-network": (QUOTED, "w3c", {**ANY, "prewarm": 0}),
    "counters": (COUNTED, "gbnf", {**ANY, "engine": "network"}),
    "canonical counters": (COUNTED, "gbnf", {**CANONICAL, "engine": "network"}),
    "sets": (SETS, "kbnf", {**ANY, "prewarm": 0}),
}
# The table of a normal form has megabytes.
LARGE = {"normalized": (ACCENTS, "kbnf", {**CANONICAL, "engine": "network"})}
WORDS = {"word-dfa": 100, "word-dfa, short words": 5}


def samples(folder: Path, *, large: bool = False) -> dict[str, Artifact]:
    """Artifacts by name; what is lazy or counted where it is large is so here where it is small.
    Files of tokenizers are written to ``folder``. ``large``: one of megabytes as well."""
    described = tokenizer_json(LETTERS, MERGES, added=SPECIAL, splits=True)
    plain = load_tokenizer(written(folder / "plain.json", described))
    described["normalizer"] = {"type": "NFC"}
    changing = load_tokenizer(written(folder / "changing.json", described))
    found: dict[str, Artifact] = {}
    for name, (text, dialect, given) in (CASES | (LARGE if large else {})).items():
        with pytest.MonkeyPatch.context() as patch:
            if name.startswith("lazy"):
                patch.setattr(options, "SOON_LAZY_STATES", 0)
            if name == "lazy-greedy":
                patch.setattr(choose, "LEXEME_STATES", 2)
                patch.setattr(conjunctions, "_FEW_STATES", 0)
                patch.setattr(conjunctions, "_TIMES_NFA", 0)
            if name == "sets":
                patch.setattr(choose, "FEW_COPIED_STATES", 0)
            if name == "counters":
                patch.setattr(choose, "COPIED_STATES", 0)
            given = {"eos": ["<eos>"], **given}
            of = changing if name in LARGE else plain
            found[name] = compile_grammar(text, dialect=dialect, tokenizer=of, **given)
    pieces = ["a", "b", "##a", "##b", "ab", "##bb", "c"]
    automaton = build_automaton("[ab]{1,7}( c)?", dialect="regex")
    for name, longest in WORDS.items():
        words = words_of(pieces, max_chars=longest)
        made = build_artifact(automaton, words, keep_unknown=longest < 100)
        found[name] = made.artifact
    return found
