"""Many tools with many fields: files of a few megabytes, and masks that follow each call."""

# Tests here say `expected == actual`.

import random
from collections.abc import Callable

from workloads.tools import call, tools

from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.serving.requests import request_of


def test_calls_of_many_tools_are_followed_in_small_files(
    real: Callable[[str], Tokenizer], full: bool
) -> None:
    """24 tools of 8 fields, any tokens; with --full 128 and Qwen's tokenizer, and canonical tokens,
    too: 10 and 30 MB. All that the tokenizer encodes is taken, to the end."""
    tokenizer = real("qwen2_5" if full else "gpt2")
    compiler, rng, asked = Compiler(tokenizer), random.Random(3), tools(128 if full else 12, 8)
    for tokenization, megabytes in {"any": 10, "canonical": 30}.items():
        if tokenization == "any" or full:
            fields = {"tools": asked, "tool_choice": "required", "parallel_tool_calls": False}
            found = request_of(fields, tokenization=tokenization)
            assert found is not None
            artifact = compiler.compile(found.text, name=found.name, **found.changes)
            for tool in rng.sample(asked, 12):
                ids = tokenizer.encode(call(tool, rng))
                matcher = artifact.matcher()
                assert len(ids) == matcher.accept(ids)
                assert matcher.is_accepting
            assert len(artifact.to_bytes()) <= megabytes * 1_000_000
