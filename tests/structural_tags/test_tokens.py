"""Kinds that name tokens: what token sequences they take under any tokenization."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json

import pytest
from support import tokenizer_of
from support.structural_tags import TOKEN_CASES, whole

from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler
from constrain.compiler.diagnostics import CheckError

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


def test_tokens_that_the_tokenizer_has_not_are_refused_at_their_place(compiler: Compiler) -> None:
    """One among several, too."""
    tag = json.dumps(whole({"type": "any_tokens", "exclude_tokens": ["<x>", "<z>", 3]}))
    with pytest.raises(CheckError, match="has no token <z>") as found:
        compiler.compile(tag, dialect="structural-tag", tokenization="any", eos=["<eos>"])
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.span is not None
    assert tag[diagnostic.span.start :].startswith('{"type": "any_tokens"')
