"""Notes on a compilation: what was chosen by itself, and which options changed nothing.

end_of_text       which token ends a text, where that is a guess
notes_of          how the grammar is read, which engine follows it, what a depth has cut
without_effect    options that the caller gave and that this grammar or tokenizer ignores
added_tokens_as_text    literals that hold the text of an added token
"""

from collections.abc import Iterator

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import (
    GREEDY,
    MAXIMAL_MUNCH,
    NETWORK,
    WORD_DFA,
)

from .choose import AS_ASKED, OF_SCHEMAS, WHEN_MET
from .diagnostics import Diagnostic
from .frontend import Automaton, Parser, Recogniser
from .grammar.tree import Grammar
from .options import ANY, AUTO, AnyTokenizer, CompileOptions
from .tokenizers import Tokenizer

DEAD_ENDS = (
    "dead ends are possible: where the grammar nests, it is not decided whether maximal munch "
    "leaves a way to the end of a text behind each token"
)

_MASKS = "masks: "


def of_masks(count: int, *, is_complete: bool) -> tuple[str, ...]:
    """How many masks are there, if others are left to decoding."""
    if is_complete:
        return ()
    if not count:
        return (f"{_MASKS}none precomputed, all when met",)
    return (f"{_MASKS}{count:,} precomputed, others when met",)


def is_of_masks(note: str) -> bool:
    """Whether a note says that masks are left to decoding."""
    return note.startswith(_MASKS)


def notes_of(recogniser: Recogniser, options: CompileOptions) -> Iterator[str]:
    """How a grammar is read, where that is no matter of course."""
    if recogniser.choice.semantics == MAXIMAL_MUNCH:
        yield "read by maximal munch, as Lark and llguidance do; --meaning exact reads it otherwise"
    else:
        yield from (
            f"rule {rule.name!r} is lazy, and this grammar is read without a lexer: text beside it "
            f"may hold what ends it"
            for rule in recogniser.grammar.rules
            if rule.shortest
        )
    if not isinstance(recogniser, Automaton):
        if recogniser.reason not in (AS_ASKED, OF_SCHEMAS, WHEN_MET):
            yield f"engine {recogniser.engine}: {recogniser.reason}"
    elif recogniser.operation is not None:
        yield f"states are made while decoding: {recogniser.choice.reason}"
    elif recogniser.cut:
        rules = ", ".join(repr(rule) for rule in recogniser.cut)
        yield f"members that nest {rules} more than {options.max_depth} deep are left out"


def end_of_text(tokenizer: AnyTokenizer, options: CompileOptions) -> Iterator[str]:
    """The token that ends a text, where no file of the tokenizer's names it."""
    if isinstance(tokenizer, Tokenizer) and tokenizer.eos_is_guessed and not options.eos:
        for token_id in tokenizer.eos:
            name = tokenizer.added.get(token_id) or tokenizer.tokens[token_id].decode("utf-8")
            yield (
                f"the end-of-text token is taken to be {name} ({token_id}), by its usual name: no "
                f"tokenizer_config.json says so; --eos names another"
            )


def depth_without_effect(recogniser: Recogniser, options: CompileOptions) -> Iterator[str]:
    """A bound of the nesting where nothing nests."""
    if isinstance(recogniser, Automaton) and options.max_depth is not None and not recogniser.cut:
        yield f"--max-depth {options.max_depth} changes nothing: no rule of the grammar nests"


def _made_when_met(recogniser: Recogniser) -> str:
    """What has states that are made while decoding, so that no rows are precomputed; empty for
    none."""
    if isinstance(recogniser, Automaton):
        return "a terminal" if recogniser.operation is not None else ""
    is_lazy = isinstance(recogniser, Parser) and recogniser.lazily is not None
    return "a terminal" if is_lazy else ""


def without_effect(
    recogniser: Recogniser, kind: str, method: str, options: CompileOptions
) -> Iterator[str]:
    """Options that changed nothing, and why.

    ``kind``: of the artifact. ``method``: how its canonical masks were found, empty if there was
    no choice.
    """
    is_dfa = isinstance(recogniser, Automaton)
    yield from depth_without_effect(recogniser, options)
    if options.prewarm is not None and kind not in (NETWORK, GREEDY):
        yield f"{_amount(options)} changes nothing: it is about networks, and this is a {kind}"
    if options.prewarm and (whose := _made_when_met(recogniser)):
        why = f"the states of {whose} are made while decoding"
        yield f"{_amount(options)} changes nothing: {why}"
    if options.method not in (AUTO, method):
        why = f"the method is {method}" if method else "there is no choice of methods here"
        if not is_dfa:
            why = "it is about regular grammars"
        elif recogniser.grammar.tokens and method:
            why = f"the grammar has token terminals, and the method is {method}"
        yield f"--method {options.method} changes nothing: {why}"
    if options.keep_unknown is not None and kind != WORD_DFA:
        yield "--unk changes nothing: only WordPiece has words that become unknown"
    if options.parser != AUTO and (is_dfa or options.engine != AUTO):
        yield f"parser={options.parser!r} changes nothing: the engine is {recogniser.choice.engine}"


def _amount(options: CompileOptions) -> str:
    """The option that says what is precomputed."""
    if options.precompute is not None:
        return f"--precompute {options.precompute:g}"
    if options.prewarm == 0:
        return "--precompute none"
    return "--precompute all" if options.wants_all_masks else f"--prewarm {options.prewarm}"


def added_tokens_as_text(
    grammar: Grammar, tokenizer: AnyTokenizer, artifact: Artifact
) -> Iterator[Diagnostic]:
    """Literals whose text is an added token's, which the masks do not allow as that token."""
    if isinstance(tokenizer, Tokenizer):
        from .grammar.added_text import added_text

        is_any = artifact.manifest.tokenization == ANY
        # By any sequences an added token that is a text spells it, too; by its own those do that
        # merging makes.
        allowed = set(tokenizer.added_by_merging)
        if is_any:
            allowed |= {n for i, n in tokenizer.added.items() if i not in tokenizer.special}
        added = {i: name for i, name in tokenizer.added.items() if name not in allowed}
        for _, found in added_text(grammar, added):
            yield found
