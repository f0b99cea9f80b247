"""Calls that other engines' own tests made, asked of this one: tokenizers and answers."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.tokenizers.definition import AddedToken

# Bytes and the numbers of the tokens that end a text; no tokens stand for all bytes.
Tokens = tuple[tuple[bytes, ...], tuple[int, ...]]


class Call(NamedTuple):
    """``what``: what was asked. ``expected``: what was answered; ``found``: what is answered."""

    what: str
    expected: object
    found: object


def tokenizer_of(
    tokens: Sequence[bytes], stops: Sequence[int], *, is_plain: bool = False
) -> Tokenizer:
    """A tokenizer of these tokens, of which those in angle brackets and those that end texts are
    special; without such there is one more. If it ``is_plain``, those that end texts alone are
    special, and after all each byte is a token that was none."""
    ends = tuple(stops) or (len(tokens),)
    special = {i: f"<stop {i}>" for i in ends}
    for i, token in enumerate(tokens):
        name = token.decode("utf-8", "replace")
        if not is_plain and re.fullmatch("<.+>", name) and name not in special.values():
            special[i] = name
    texts = {i: token for i, token in enumerate(tokens) if i not in special and token}
    known, behind = set(texts.values()), max(len(tokens), *(end + 1 for end in ends))
    missing = [i for i in range(256) if is_plain and bytes([i]) not in known]
    texts |= {behind + i: bytes([octet]) for i, octet in enumerate(missing)}
    by_text = {token: i for i, token in texts.items()}
    return Tokenizer(
        name="recorded",
        sha256="0" * 64,
        tokens=texts,
        added_tokens=tuple(AddedToken(i, name, special=True) for i, name in special.items()),
        merges=np.zeros((0, 3), dtype=np.int32),
        base=[by_text.get(bytes([octet]), -1) for octet in range(256)],
        eos=ends,
        vocab_size=behind + len(missing),
    )


@cache
def compiler_of(
    tokens: tuple[bytes, ...], stops: tuple[int, ...], *, is_plain: bool = False
) -> Compiler:
    """One compiler for all grammars of a tokenizer; no tokens stand for all bytes."""
    every = tokens or tuple(bytes([octet]) for octet in range(256))
    return Compiler(tokenizer_of(every, stops, is_plain=is_plain), cache=None)


def tokens_in(known: dict[str, Any]) -> Tokens | None:
    """The tokens of a recorded tokenizer; None where there are too many to be recorded."""
    tokens = tuple(map(bytes.fromhex, known.get("vocab") or ()))
    if known["__tok__"] and not tokens:
        return None
    return tokens, tuple(known["stop"] if tokens else ())


@cache
def compiled(text: str, compiler: Compiler, dialect: str = "lark") -> Artifact | str:
    """The artifact of a grammar; what is wrong with it, else."""
    try:
        return compiler.compile(text, dialect=dialect, tokenization="any", prewarm=0)
    except ConstrainError as error:
        return str(error)


def matched(
    what: str, matcher: Matcher, events: list[list[Any]], at_once: bool, tokens: int
) -> Iterator[Call]:
    """The calls of one matcher, up to a token that is taken by one engine alone."""
    steps: list[int] = []
    for name, arguments, expected in events:
        found: object = expected
        match name:
            case "accept_string" | "accept_token":
                ids = [arguments[0]] if name == "accept_token" else list(_octets(arguments[0]))
                if name == "accept_string" and tokens:
                    return
                found = matcher.validate(ids) == len(ids)
                steps += [matcher.accept(ids)] * found
            case "is_terminated" | "is_completed":
                found = matcher.is_accepting
                if name == "is_terminated" and not at_once:
                    found = matcher.is_finished
            case "rollback":
                for _ in range(arguments[0] if arguments else 1):
                    matcher.rollback(steps.pop())
            case "reset":
                matcher.reset()
                steps.clear()
            case "fill_next_token_bitmask" if expected is not None and tokens:
                found = [i for i in tokenset.to_ids(matcher.mask()).tolist() if i < tokens]
            case _:
                assert name in {"find_jump_forward_string", "fill_next_token_bitmask"}, name
        yield Call(f"{what} | {name} {arguments}", expected, found)
        if found != expected and name.startswith("accept"):
            return


def _octets(given: Any) -> bytes:
    """A recorded text, or recorded bytes."""
    if isinstance(given, dict):
        return bytes.fromhex(given["__hex__"])
    return str(given).encode("utf-8", "surrogatepass")
