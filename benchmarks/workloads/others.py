"""llguidance and xgrammar, given the requests of this folder, as far as they are installed."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer

from .request import Request


class Session(Protocol):
    """A text in the making."""

    def fill(self) -> object:
        """Compute the mask into a buffer."""

    def accept(self, token: int) -> bool:
        """Take a token; false: it is refused."""


class Reader(Session, Protocol):
    """A session that is asked for verdicts."""

    def ends(self) -> bool:
        """Whether the text may end here."""

    def again(self) -> "Reader":
        """A session at the beginning of a text, of the same compiled grammar."""


# From a request to a session at the beginning of a text. Raises ValueError for what is not read.
Opened = Callable[[Request], Session]
OpenedReader = Callable[[Request], Reader]


def others(
    tokenizer: Tokenizer, file: Path, *, is_lenient: bool = False
) -> Iterator[tuple[str, OpenedReader]]:
    """Names, and what opens a session; their tokenizers are ready. ``is_lenient``: of schemas, what
    they do not know is left out, as far as they have that."""
    with suppress(ImportError):
        yield "llguidance", _guidance(tokenizer, file, is_lenient=is_lenient)
    with suppress(ImportError):
        yield "xgrammar", _xgrammar(tokenizer)


class _Guidance:
    def __init__(self, make: Callable[[], Any], buffer: Any) -> None:
        self.make, self.matcher, self.buffer = make, make(), buffer

    def fill(self) -> object:
        return self.matcher.unsafe_compute_mask_ptr(self.buffer.ctypes.data, self.buffer.nbytes)

    def accept(self, token: int) -> bool:
        return bool(self.matcher.consume_token(token))

    def ends(self) -> bool:
        return bool(self.matcher.is_accepting())

    def again(self) -> "_Guidance":
        return _Guidance(self.make, self.buffer)


def _guidance(tokenizer: Tokenizer, file: Path, *, is_lenient: bool) -> OpenedReader:
    from llguidance import LLMatcher, LLTokenizer
    from llguidance.gbnf_to_lark import any_to_lark

    theirs = LLTokenizer(file.read_text(encoding="utf-8"), n_vocab=tokenizer.vocab_size)
    buffer = np.zeros(tokenset.word_count(tokenizer.vocab_size), dtype=np.uint32)

    def opened(request: Request) -> Reader:
        if request.schema is not None:
            asked = {"lenient": True, "coerce_one_of": True} if is_lenient else None
            grammar = LLMatcher.grammar_from_json_schema(request.schema, overrides=asked)
        elif request.dialect == "regex":
            grammar = LLMatcher.grammar_from_regex(request.grammar)
        elif request.dialect == "lark":
            grammar = LLMatcher.grammar_from_lark(request.grammar)
        elif request.dialect == "gbnf":
            grammar = LLMatcher.grammar_from_lark(any_to_lark(request.grammar))
        else:
            raise ValueError(f"llguidance does not read {request.dialect}")
        found = _Guidance(lambda: LLMatcher(theirs, grammar, log_level=0), buffer)
        if found.matcher.is_error():
            raise ValueError(found.matcher.get_error())
        return found

    return opened


class _Xgrammar:
    def __init__(self, make: Callable[[], Any], bitmask: Any, end: int) -> None:
        self.make, self.matcher, self.bitmask, self.end = make, make(), bitmask, end

    def fill(self) -> object:
        return self.matcher.fill_next_token_bitmask(self.bitmask)

    def accept(self, token: int) -> bool:
        return bool(self.matcher.accept_token(token))

    def ends(self) -> bool:
        return bool(self.matcher.accept_token(self.end))

    def again(self) -> "_Xgrammar":
        return _Xgrammar(self.make, self.bitmask, self.end)


def _xgrammar(tokenizer: Tokenizer) -> OpenedReader:
    import xgrammar

    size = tokenizer.vocab_size
    spelled = [tokenizer.tokens.get(i, b"") for i in range(size)]
    info = xgrammar.TokenizerInfo(spelled, vocab_size=size, stop_token_ids=list(tokenizer.eos))
    bitmask = xgrammar.allocate_token_bitmask(1, size)

    def opened(request: Request) -> Reader:
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        try:
            if request.schema is not None:
                compiled = compiler.compile_json_schema(request.schema)
            elif request.dialect == "regex":
                compiled = compiler.compile_regex(request.grammar)
            elif request.dialect == "gbnf":
                compiled = compiler.compile_grammar(request.grammar)
            else:
                raise ValueError(f"xgrammar does not read {request.dialect}")
        except RuntimeError as error:
            raise ValueError(str(error)) from None
        return _Xgrammar(lambda: xgrammar.GrammarMatcher(compiled), bitmask, tokenizer.eos[0])

    return opened
