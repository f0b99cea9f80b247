"""Forced tokens as drafts: a model that writes a document takes them, and writes the same one."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from workloads.instances import schemas

from constrain.artifacts.serving.drafts import Drafts, with_forced
from constrain.artifacts.serving.texts import ServingError, Texts
from constrain.compiler import Compiler, SchemaOptions, Tokenizer
from constrain.compiler.serving import sglang, vllm

MOST = 16


@pytest.fixture
def tokenizer(full: bool, request: pytest.FixtureRequest) -> Tokenizer:
    """GPT-2's in full, else a small one."""
    name = "gpt2" if full else "default_tokenizer"
    found: Tokenizer = request.getfixturevalue(name)
    return found


@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_documents_are_the_same_with_drafts(
    tokenizer: Tokenizer,
    tokenization: str,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Of five schemas. What is forced is always right; so it is where the drafts of a server that
    were refused have it in their place, and where it says what comes next."""
    compiler, total, saved, refused = Compiler(tokenizer), 0, 0, 0
    for name, schema, instance in schemas():
        options = SchemaOptions(whitespace="python")
        artifact = compiler.compile(
            json.dumps(schema), dialect="json-schema", schema=options, tokenization=tokenization
        )
        rng, drafts = random.Random(name), Drafts(artifact.vocabulary, tokenizer.encode)
        for _ in range(40 if full else 1):
            wanted = tokenizer.encode(json.dumps(instance(rng), ensure_ascii=False))
            matcher, steps = artifact.matcher(), 0
            while matcher.position < len(wanted):
                rest = wanted[matcher.position :]
                found = drafts.after(matcher, MOST)
                assert len(found) <= MOST
                assert matcher.validate(found) == len(found)
                taken = next(
                    (i for i, each in enumerate(found) if [each] != rest[i : i + 1]), len(found)
                )
                refused += len(found) - taken
                forced = matcher.forced_tokens(MOST)
                if forced:
                    assert rest[: len(forced)] == forced == found
                    check_hosts(matcher, rest, forced)
                assert matcher.accept(rest[: taken + 1])
                steps += 1
            assert matcher.is_accepting
            assert wanted == list(matcher.taken)
            total, saved = total + len(wanted), saved + len(wanted) - steps
    record_property("tokens", total)
    record_property("saved", saved)
    assert saved > total // (3 if tokenization == "canonical" else 5)
    assert refused <= (0 if tokenization == "canonical" else saved // 20)


def check_hosts(matcher: Any, rest: list[int], forced: list[int]) -> None:
    """What vLLM and SGLang are told where tokens are forced; nothing moves."""
    position = matcher.position
    host: Any = vllm.GrammarMethods(matcher)
    other = next(each for each in (0, 1) if each != forced[0])
    assert forced[:3] == host.validate_tokens([other] * 3)[: len(forced)]
    longer = [*forced, -1, -1]
    assert [*forced, *with_forced_behind(matcher, forced)][: len(longer)] == host.validate_tokens(
        longer
    )
    assert (rest[: len(forced)], "") == sglang.GrammarMethods.try_jump_forward(
        SimpleNamespace(matcher=matcher), None
    )
    assert position == matcher.position


def with_forced_behind(matcher: Any, tokens: list[int]) -> list[int]:
    """What is forced after tokens."""
    behind = matcher.fork()
    assert behind.accept(tokens) == len(tokens)
    return behind.forced_tokens(2)


def test_drafts_are_no_more_than_were_asked_for(default_tokenizer: Tokenizer) -> None:
    """Also where more is forced; after the end there are none."""
    artifact = Compiler(default_tokenizer).compile('root ::= "abcdefghij" [0-9]', dialect="gbnf")
    matcher = artifact.matcher()
    forced = matcher.forced_tokens()
    drafts = Drafts(artifact.vocabulary, default_tokenizer.encode)
    for most in range(len(forced) + 2):
        assert forced[:most] == drafts.after(matcher, most)
        assert forced[:most] == with_forced(matcher, [-1] * most)
    matcher.accept(default_tokenizer.encode("abcdefghij7"))
    assert [] == drafts.after(matcher, 8) == with_forced(matcher, [forced[0]])
    matcher.advance(artifact.manifest.eos[0])
    assert [] == drafts.after(matcher, 8) == with_forced(matcher, [forced[0]])


def test_drafts_of_a_row_follow_its_prompt(default_tokenizer: Tokenizer) -> None:
    """Row by row as masks do; after a token that was not allowed there are none, and not of
    another text."""
    artifact = Compiler(default_tokenizer).compile('root ::= [0-9] "abcdefghij"', dialect="gbnf")
    texts, prompt = Texts(artifact), [5, 6]
    digit, *rest = default_tokenizer.encode("7abcdefghij")
    assert [] == texts.drafts(np.array([prompt]), 8)
    assert rest == texts.drafts(np.array([[*prompt, digit]]), 8)
    assert rest[1:3] == texts.drafts(np.array([[*prompt, digit, *rest[:1]]]), 2)
    assert [] == texts.drafts(np.array([[*prompt, rest[0]]]), 8)
    with pytest.raises(ServingError, match="not the texts"):
        texts.drafts(np.array([[6, 5, digit]]), 8)


def test_bytes_that_are_forced_are_encoded_with_the_token_before(
    default_tokenizer: Tokenizer,
) -> None:
    """And without the last token, which may be joined with what follows."""
    text = 'root ::= "{\\"name\\": \\"" [a-z]+ "\\", \\"years\\": " [0-9]+ "}"'
    artifact = Compiler(default_tokenizer).compile(text, dialect="gbnf", tokenization="any")
    drafts = Drafts(artifact.vocabulary, default_tokenizer.encode)
    matcher = artifact.matcher()
    assert [] == Drafts(artifact.vocabulary).after(matcher, 8)
    whole = default_tokenizer.encode('{"name": "ann", "years": 30}')
    saved = 0
    while matcher.position < len(whole):
        rest = whole[matcher.position :]
        found = drafts.after(matcher, 8)
        assert rest[: len(found)] == found
        saved += len(found)
        assert matcher.accept(rest[: len(found) + 1])
    assert saved > 5
