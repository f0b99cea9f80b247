"""Kinds that name tokens: what token sequences they take under any tokenization."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from typing import Any

import pytest
from support import tokenizer_of
from support.structural_tags import TOKEN_CASES, whole

from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.lints import lint

pytestmark = pytest.mark.quick

NAMES = ("a", "b", "c", "ab", "<t>", "</t>", "<x>", "<y>", "<eos>")


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """Of the tokens above; the last one ends a text."""
    folder = tmp_path_factory.mktemp("tags")
    added = [(i, name, True) for i, name in enumerate(NAMES) if i > 3]
    return Compiler(tokenizer_of(folder, "abc", ["a b"], added=added))


@pytest.mark.parametrize("name", TOKEN_CASES)
def test_each_kind_takes_its_tokens_and_no_others(name: str, compiler: Compiler) -> None:
    """Ten of each (one token alone has one), by the published description; masks agree."""
    case = TOKEN_CASES[name]
    text = json.dumps(whole(case.format))
    artifact = compiler.compile(
        text, dialect="structural-tag", tokenization="any", eos=["<eos>"], prewarm=0
    )

    def takes(tokens: str) -> bool:
        matcher = artifact.matcher()
        for token in map(NAMES.index, tokens.split()):
            is_allowed = tokenset.contains(matcher.mask(), token)
            assert is_allowed == (matcher.validate([token]) == 1)
            if not is_allowed or matcher.accept([token]) == 0:
                return False
        return matcher.is_accepting

    assert [] == [tokens for tokens in case.accepts if not takes(tokens)]
    assert [] == [tokens for tokens in case.rejects if takes(tokens)]
    assert 10 == len(set(case.rejects))
    assert len(set(case.accepts)) == (1 if name.startswith("token") and "_" not in name else 10)


# What xgrammar takes besides: it counts tokens in masks alone, and added tokens are text to it.
TAKEN_BY_XGRAMMAR = {
    "any_tokens of so many": 6,
    "any_text of so many tokens": 5,
    "tag from a token to a text": 1,
}


def test_xgrammar_takes_the_same_tokens(full: bool) -> None:
    """By ``accept_token``; where it differs, the README says who is right."""
    if not full:
        pytest.skip("xgrammar runs beside this with --full")
    library = pytest.importorskip("xgrammar", reason="xgrammar is not installed here")
    about = library.TokenizerInfo(
        list(NAMES), vocab_type=library.VocabType.RAW, vocab_size=len(NAMES), stop_token_ids=[8]
    )
    compiler = library.GrammarCompiler(about)
    for name, case in TOKEN_CASES.items():
        compiled = compiler.compile_structural_tag(whole(case.format))

        def takes(tokens: str, compiled: Any = compiled) -> bool:
            matcher = library.GrammarMatcher(compiled)
            ids = [*map(NAMES.index, tokens.split()), NAMES.index("<eos>")]
            return all(matcher.accept_token(token) for token in ids)

        assert all(map(takes, case.accepts))
        assert TAKEN_BY_XGRAMMAR.get(name, 0) == sum(map(takes, case.rejects)), name


def test_tokens_that_the_tokenizer_has_not_are_refused_at_their_place(compiler: Compiler) -> None:
    """One among several, too."""
    tag = json.dumps(whole({"type": "any_tokens", "exclude_tokens": ["<x>", "<z>", 3]}))
    with pytest.raises(CheckError, match="has no token <z>") as found:
        compiler.compile(tag, dialect="structural-tag", tokenization="any", eos=["<eos>"])
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.span is not None
    assert tag[diagnostic.span.start :].startswith('{"type": "any_tokens"')


def test_a_text_that_is_a_token_to_the_tokenizer_is_found_and_how_to_name_it_said() -> None:
    """By the lint of added tokens."""
    tag = whole({"type": "tag", "begin": "<t>", "content": {"type": "any_text"}, "end": "</t>"})
    grammar = read_grammar(json.dumps(tag), "structural-tag")
    found = lint(grammar, added={4: "<t>"})

    assert ["added-token-text"] == [each.lint for each in found]
    assert '{"type": "token", "token": "<t>"}' in (found[0].help or "")
