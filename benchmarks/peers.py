"""Other engines, as far as they are installed."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.lnf.resolve_exclusions import resolve_exclusions
from constrain.compiler.writers import write


class Guidance:
    """A session of llguidance."""

    def __init__(self, matcher: Any, buffer: Words) -> None:
        self.matcher, self.buffer = matcher, buffer

    def mask(self) -> object:
        self.matcher.unsafe_compute_mask_ptr(self.buffer.ctypes.data, self.buffer.nbytes)
        return self.buffer

    def allows(self, token_id: int) -> bool:
        return tokenset.contains(self.buffer, token_id)

    def advance(self, token_id: int) -> None:
        if not self.matcher.consume_token(token_id):
            raise ValueError(f"llguidance refuses token {token_id}")


class Xgrammar:
    """A session of xgrammar."""

    def __init__(self, matcher: Any, bitmask: Any) -> None:
        self.matcher, self.bitmask = matcher, bitmask
        self.buffer: Words = bitmask.numpy()[0].view(np.uint32)

    def mask(self) -> object:
        self.matcher.fill_next_token_bitmask(self.bitmask)
        return self.buffer

    def allows(self, token_id: int) -> bool:
        return tokenset.contains(self.buffer, token_id)

    def advance(self, token_id: int) -> None:
        if not self.matcher.accept_token(token_id):
            raise ValueError(f"xgrammar refuses token {token_id}")


# Makes an engine that has met no text, and gives what begins a session.
Fresh: TypeAlias = Callable[[], Callable[[], Any]]

# With it, the seconds of compiling, and the milliseconds of loading what was compiled.
Compiled: TypeAlias = tuple[Fresh, float, float]


def engines(
    grammar: str, tokenizer: Tokenizer, file: Path
) -> Iterator[tuple[str, Callable[[], Compiled]]]:
    """Names, and functions that compile a Lark grammar. Nothing is loaded."""
    with suppress(ImportError):
        yield "llguidance", _compiled(_guidance(grammar, tokenizer, file))
    with suppress(ImportError):
        yield "xgrammar", _compiled(_xgrammar(grammar, tokenizer))


def _compiled(fresh: Fresh) -> Callable[[], Compiled]:
    def compiled() -> Compiled:
        before = time.process_time()
        fresh()
        return fresh, time.process_time() - before, float("nan")

    return compiled


def _guidance(grammar: str, tokenizer: Tokenizer, file: Path) -> Fresh:
    import llguidance

    text = file.read_text(encoding="utf-8")
    theirs = llguidance.LLTokenizer(text, n_vocab=tokenizer.vocab_size)
    buffer = np.zeros(tokenset.word_count(tokenizer.vocab_size), dtype=np.uint32)

    def fresh() -> Callable[[], Guidance]:
        compiled = llguidance.LLMatcher.grammar_from_lark(grammar)
        first = llguidance.LLMatcher(theirs, compiled)
        if first.is_error():
            raise ValueError(first.get_error())
        return lambda: Guidance(first.deep_copy(), buffer)

    return fresh


def _xgrammar(grammar: str, tokenizer: Tokenizer) -> Fresh:
    import xgrammar

    # It reads llama.cpp's dialect, which ignores nothing: ignored text is woven into the rules.
    # It takes one operator after an item: x+* is x*.
    text = write(resolve_exclusions(read_grammar(grammar, "lark")), "gbnf").replace("+*", "*")
    size = tokenizer.vocab_size
    spelled = [tokenizer.tokens.get(i, b"") for i in range(size)]
    info = xgrammar.TokenizerInfo(spelled, vocab_size=size, stop_token_ids=list(tokenizer.eos))

    def fresh() -> Callable[[], Xgrammar]:
        compiled = xgrammar.GrammarCompiler(info).compile_grammar(text)
        bitmask = xgrammar.allocate_token_bitmask(1, size)
        return lambda: Xgrammar(xgrammar.GrammarMatcher(compiled), bitmask)

    return fresh
