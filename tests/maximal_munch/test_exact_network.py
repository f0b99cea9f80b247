"""Networks over bytes of grammars that nest and are read by maximal munch: the members are those of
the definition, no prefix is a dead end, and masks are canonical."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support.maximal_munch import SAMPLES, members_of, random_larks

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.explain.explainer import explainer_of_artifact, explainer_of_grammar
from constrain.compiler.frontend import MaximalMunchGrammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.exact_network import exact_network
from constrain.compiler.maximal_munch.one_reading import SeveralReadingsError
from constrain.compiler.maximal_munch.to_dfa import accepts, text_machine
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine

# The innermost "if" takes the "else"; a name is no keyword, and goes on with letters.
BRANCHES = 'start: "if" NAME start ["else" start] | NAME ";" | "{" start* "}"\n'
BRANCHES += "NAME: /[a-z]+/\n%ignore / +/\n"


def network_over(text: str) -> NetworkTables | None:
    """The network over bytes of a grammar, None without a member."""
    found = build_engine(text, dialect="lark", meaning="maximal-munch", engine="greedy")
    assert isinstance(found, MaximalMunchGrammar)
    return exact_network(found.tables, Limits().started())


def test_members_are_those_of_the_definition(full: bool) -> None:
    """On random grammars, of all texts up to four bytes; most have one reading."""
    texts = [bytes(text) for n in range(5) for text in product(b"abc #", repeat=n)]
    decided = undecided = members = 0
    for text, plain in random_larks(5000 if full else 20, seed=43):
        try:
            found = network_over(text)
        except CheckError:
            assert not any(map(plain.accepts, texts)), text
            continue
        except SeveralReadingsError:
            undecided += 1
            continue
        expected = {each for each in texts if plain.accepts(each)}
        assert expected == members_of(found, texts), text
        decided += 1
        members += len(expected)
    assert decided > undecided
    assert members > 300


def test_no_prefix_is_a_dead_end(full: bool) -> None:
    """Each text that a network reads begins one that it accepts: any shortest end is found."""
    texts = [bytes(text) for n in range(4) for text in product(b"abc #", repeat=n)]
    viable = 0
    for text, _ in random_larks(1000 if full else 20, seed=47):
        try:
            tables = network_over(text)
        except (CheckError, SeveralReadingsError):
            continue
        if tables is None:
            continue
        network = Network(tables)
        for each in texts:
            reached = network.read(network.start, each)
            if reached != REFUSED:
                viable += 1
                assert _has_end(network, reached), (text, each)
    assert viable > 250


def _has_end(network: Network, reached: int) -> bool:
    """Whether a member follows, breadth-first."""
    seen, pending = {reached}, [reached]
    for each in pending:
        if network.may_end(each):
            return True
        assert len(pending) < 5_000
        for octet in b"abc #":
            after = network.read(each, bytes([octet]))
            if after != REFUSED and after not in seen:
                seen.add(after)
                pending.append(after)
    return False


def test_an_else_is_read_by_the_innermost_if() -> None:
    """Two readings of a text, of which one is left out: no text is lost, and none is added."""
    words = ["if a ", "a;", "else ", "{", "}", "ifa"]
    texts = ["".join(each).encode() for n in range(6) for each in product(words, repeat=n)]
    machine = build_engine(BRANCHES, dialect="lark", engine="greedy")
    assert isinstance(machine, MaximalMunchGrammar)
    munching = text_machine(machine.tables)
    expected = {text for text in texts if accepts(munching, text)}
    assert expected == members_of(network_over(BRANCHES), texts)
    assert {b"if aif a;", b"if a a;elsea;"}.isdisjoint(expected)
    assert len(expected) > 40


def _sequences(artifact: Artifact, most: int) -> set[tuple[int, ...]]:
    """All sequences of tokens that spell a member of at most ``most`` bytes, by masks alone."""
    found = set[tuple[int, ...]]()
    size = {i: len(artifact.vocabulary.token(i)) for i in range(artifact.manifest.vocab_size)}
    pending: list[tuple[int, ...]] = [()]
    while pending:
        tokens = pending.pop()
        matcher = artifact.matcher()
        for token in tokens:
            matcher.advance(token)
        if matcher.is_accepting:
            found.add(tokens)
        left = most - sum(size[token] for token in tokens)
        for token in tokenset.to_ids(matcher.mask()).tolist():
            if token not in artifact.manifest.eos and size[token] <= left:
                pending.append((*tokens, token))
    return found


@pytest.mark.parametrize(
    ("grammar", "letters"),
    [
        ('start: "(" start ")" | NAME | "ab"\nNAME: /[ab]+/\n%ignore " "\n', b"ab( )"),
        ('start: A start B | C\nA: "a"\nB: "b" | "bb"\nC: /c+/\n%ignore / /\n', b"abc "),
        ('start: X ["(" start ")"]\nX: "aa" | "a"\n%ignore "b"\n', b"ab()"),
    ],
)
def test_masks_allow_the_encodings_of_members_alone(
    grammar: str, letters: bytes, default_tokenizer: Tokenizer
) -> None:
    """Every sequence of tokens up to five bytes that masks allow to the end is what the tokenizer
    makes of a member, and the other way round."""
    artifact = compile_grammar(grammar, dialect="lark", tokenizer=default_tokenizer)
    assert (artifact.manifest.kind, artifact.manifest.tokenization) == ("network", "canonical")
    texts = [bytes(text) for n in range(6) for text in product(letters, repeat=n)]
    members = members_of(network_over(grammar), texts)
    expected = {tuple(default_tokenizer.encode(text.decode())) for text in members}
    assert expected == _sequences(artifact, 5)
    assert len(expected) > 20
    again = load_bytes(artifact.to_bytes())
    assert expected == _sequences(again, 5)


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_real_grammars_are_canonical_by_default(grammar: str, default_tokenizer: Tokenizer) -> None:
    """A text by its own tokens; another division of it is refused."""
    artifact = compile_grammar(grammar, dialect="lark", tokenizer=default_tokenizer, prewarm=0)
    assert artifact.manifest.tokenization == "canonical"
    assert not any("dead ends" in note for note in artifact.notes)
    matcher = artifact.matcher()
    for token in default_tokenizer.encode(SAMPLES[grammar]):
        assert tokenset.contains(matcher.mask(), token)
        matcher.advance(token)
    assert matcher.is_accepting


def test_texts_are_explained_by_lexemes(default_tokenizer: Tokenizer) -> None:
    """From the grammar, and from the artifact."""
    artifact = compile_grammar(BRANCHES, dialect="lark", tokenizer=default_tokenizer)
    loaded = load_bytes(artifact.to_bytes())
    for found in (
        explainer_of_grammar(BRANCHES, CompileOptions(dialect="lark")),
        explainer_of_artifact(loaded),
    ):
        verdict = found.verdict(b"if a { b }")
        assert verdict.offset == 9
        assert any("NAME" in name or ";" in name for name in verdict.terminals)


def test_why_there_are_none(default_tokenizer: Tokenizer) -> None:
    """Where two readings are needed the note names the lexeme, and masks are as they were."""
    grammar = 'start: "(" (start "." start | start+ ) ")" | "."\n%ignore " "\n'
    artifact = compile_grammar(grammar, dialect="lark", tokenizer=default_tokenizer, prewarm=0)
    assert (artifact.manifest.kind, artifact.manifest.tokenization) == ("greedy", "any")
    assert any('two readings: "." may' in note for note in artifact.notes)
    with pytest.raises(CheckError, match="two readings"):
        compile_grammar(
            grammar, dialect="lark", tokenizer=default_tokenizer, tokenization="canonical"
        )


# Of real grammars, and whether they are canonical by default.
PEOPLE = {
    "antlr__DOT.g4": True,
    "antlr__JSON.g4": True,
    "antlr__calculator.g4": True,
    "antlr__sexpression.g4": False,
    "commentjson.lark": True,
    "dolang__src_grammar.lark": False,
    "syncode__syncode_parsers_grammars_calc.lark": True,
    "syncode__syncode_parsers_grammars_json.lark": True,
    "syncode__syncode_parsers_grammars_prover9.lark": True,
    "tap4s__contract_parser_contract_grammar.lark": True,
}


@pytest.mark.parametrize("name", PEOPLE)
def test_grammars_of_other_people(name: str, data: Callable[[str], Path]) -> None:
    """Which have one reading."""
    path = data(f"grammars/people/{name}")
    dialect = "antlr" if Path(name).suffix == ".g4" else "lark"
    found = build_engine(path.read_text(), dialect=dialect, tokenization="any")
    assert isinstance(found, MaximalMunchGrammar)
    if PEOPLE[name]:
        assert exact_network(found.tables, Limits().started()) is not None
    else:
        with pytest.raises(SeveralReadingsError):
            exact_network(found.tables, Limits().started())
