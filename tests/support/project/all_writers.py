"""Prints a digest of each kind of what is written of grammars, for processes that hash strings in
other ways (``PYTHONHASHSEED``)."""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256

from constrain.compiler import Compiler, load_tokenizer
from constrain.compiler.drawing import Size, View, draw_dfa, draw_nfa, draw_tokenizer, draw_tokens
from constrain.compiler.frontend import Automaton
from constrain.compiler.pipeline import build_artifact, build_engine
from constrain.compiler.tokenizer_steps.character_properties import character_properties
from constrain.compiler.tokenizers.definition import Form, Normalize
from support import EXAMPLES, compiled, maximal_munch
from support.container import KINDS
from support.grammars import COUNTED, JSON, STATEMENTS
from support.network import made

SCHEMAS = {
    "rules when met": {
        "properties": {"a": {"type": "string"}, "b": {"type": "number"}, "c": {"type": "boolean"}},
        "required": ["a"],
    },
    "all rules": {
        "oneOf": [
            {"required": ["name"], "properties": {"name": {"type": "string", "maxLength": 4}}},
            {"type": "array", "contains": {"type": "string"}, "maxItems": 3},
        ],
        "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 2}},
    },
}


def written() -> Iterator[tuple[str, bytes]]:
    """What it is, and its bytes: artifacts of each engine, tables, drawings."""
    tokenizer = load_tokenizer()
    compiler = Compiler(tokenizer)
    date = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")
    for kind in KINDS:
        yield f"{kind} DFA", compiled(date, tokenizer, kind).to_bytes()
    for text in (JSON, STATEMENTS):
        yield f"network of {text}", made(text, tokenizer, "network").to_bytes()
    yield "lexemes", maximal_munch.compiled_lark(maximal_munch.JSON, tokenizer).to_bytes()
    found = [(JSON, "kbnf"), (STATEMENTS, "kbnf"), *COUNTED]
    found += [(json.dumps(schema), "json-schema") for schema in SCHEMAS.values()]
    for number, (text, dialect) in enumerate(found):
        artifact = compiler.compile(text, dialect=dialect, tokenization="any", prewarm=0)
        yield f"machine {number}", artifact.to_bytes()
    schema = json.dumps(SCHEMAS["all rules"])
    whole = compiler.compile(schema, dialect="json-schema", tokenization="any")
    yield "schema", whole.to_bytes()
    automaton = build_engine(date, dialect="kbnf", engine="dfa")
    assert isinstance(automaton, Automaton)
    drawn = build_artifact(automaton, tokenizer).artifact
    yield "NFA", draw_nfa(automaton.nfa, View("t")).dot.encode()
    yield "drawn DFA", draw_dfa(automaton.dfa.tables(), View("t", size=Size(7))).dot.encode()
    yield "tokens", draw_tokens(drawn, View("t")).dot.encode()
    yield "tokenizer", draw_tokenizer(drawn, View("t")).dot.encode()
    characters = character_properties((Normalize(Form.NFC),))
    arrays = characters.classes, characters.row, characters.second, characters.changes
    yield "characters", b"".join(array.tobytes() for array in arrays)


if __name__ == "__main__":
    digests = {name: sha256(octets).hexdigest() for name, octets in written()}
    sys.stdout.write(json.dumps(digests))
