"""Beside which token terminals canonical masks do not follow the texts, and why: by the grammar and
the tokenizer's definition alone."""

from collections.abc import Iterator

from constrain.artifacts.token_terminals.sentinels import SENTINELS

from ..grammar.tree import Grammar, Token
from ..tokenizers import Tokenizer
from ..tokenizers.definition import AddedToken, ByteLevel, Metaspace, Prepend, PrependScheme


def not_followed(
    grammar: Grammar, tokenizer: Tokenizer, *, is_dfa: bool
) -> Iterator[tuple[Token, str]]:
    """The token terminals of a grammar, each with what is not followed. ``is_dfa``: the grammar
    is recognised by a DFA."""
    most = len(SENTINELS)
    is_limited = not (is_dfa and merges_alone(tokenizer))
    puts = _puts_otherwise(tokenizer)
    for number, token in enumerate(grammar.tokens):
        if puts:
            yield token, f"token terminals where the tokenizer has the step {puts}"
        for added in tokenizer.added_tokens:
            if _reaches_out(added) and _stands_for(token, added):
                yield token, f"the added token {added.content}, which takes in what is beside it"
        if number == most and is_limited:
            yield token, f"more than {most} different token terminals"


def merges_alone(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer does nothing with a text but merge its bytes."""
    steps = tokenizer.pre_tokenizers
    rewrites = tokenizer.normalizers or any(isinstance(s, ByteLevel) and _puts(s) for s in steps)
    is_whole = tokenizer.splits or tokenizer.ignore_merges
    return tokenizer.byte_level and not is_whole and not rewrites


def _puts_otherwise(tokenizer: Tokenizer) -> str:
    """The step that puts before texts several characters, or what is looked for after it; empty if
    there is none."""
    prepends = [step for step in tokenizer.normalizers if isinstance(step, Prepend)]
    if sum(len(step.prefix.encode().replace("▁".encode(), b" ")) for step in prepends) > 1:
        return "Prepend"
    if prepends and any(token.normalized for token in tokenizer.added_tokens):
        return "Prepend, and added tokens that are looked for after it"
    first = tokenizer.pre_tokenizers[:1]
    if prepends and any(isinstance(s, Metaspace | ByteLevel) and _puts(s) for s in first):
        return "Prepend, and another one that puts something before texts"
    return ""


def _puts(step: Metaspace | ByteLevel) -> bool:
    if isinstance(step, ByteLevel):
        return step.add_prefix_space
    return step.prepend is not PrependScheme.NEVER


def _reaches_out(added: AddedToken) -> bool:
    """Whether the text beside a token decides what it is, or is a part of it."""
    return added.lstrip or added.rstrip or added.single_word


def _stands_for(token: Token, added: AddedToken) -> bool:
    others = {f"<[{each}]>" if isinstance(each, int) else each for each in token.also}
    is_named = added.content in {token.name, *others} or f"<[{added.id}]>" in others
    is_named |= any(low <= added.id <= high for low, high in token.ids)
    return is_named != token.negated
