"""Notes on a compilation: what was chosen by itself, and which options changed nothing.

of_tokenizer      which token ends a text, where that is a guess; a style that it speaks against
notes_of          how the grammar is read, which engine follows it, what a depth has cut
without_effect    options that the caller gave and that this grammar or tokenizer ignores
added_tokens_as_text    literals that hold the text of an added token
NOTE_KINDS, kind_of, summary    the kinds of notes: their names, and whether to worry
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import (
    GREEDY,
    MAXIMAL_MUNCH,
    NETWORK,
    WORD_DFA,
)

from .choose import ANY_ALLOWED, AS_ASKED, OF_SCHEMAS, WHEN_MET
from .diagnostics import Diagnostic
from .frontend import Automaton, Parser, Recogniser
from .grammar.tree import Grammar
from .options import ANY, AUTO, AnyTokenizer, CompileOptions
from .schema.notes import NARROWED, SPELLINGS
from .tokenizers import Tokenizer

DEAD_ENDS = (
    "dead ends are possible: where the grammar nests, it is not decided whether maximal munch "
    "leaves a way to the end of a text after each token"
)

# A note on what is left to decoding begins so.
MASKS = "masks: "


def of_masks(count: int, *, is_complete: bool) -> tuple[str, ...]:
    """How many masks are there, if others are left to decoding."""
    if is_complete:
        return ()
    if not count:
        return (f"{MASKS}none precomputed, all when met",)
    return (f"{MASKS}{count:,} precomputed, others when met",)


def is_of_masks(note: str) -> bool:
    """Whether a note says that masks are left to decoding."""
    return note.startswith(MASKS)


def notes_of(recogniser: Recogniser, options: CompileOptions) -> Iterator[str]:
    """How a grammar is read, where that is no matter of course."""
    if recogniser.choice.semantics == MAXIMAL_MUNCH:
        if options.lexer is None:
            known = "Lark and llguidance do; --meaning exact reads it otherwise"
        else:
            known = "Lark's LALR parser does, whose states say what the lexer may read"
        yield f"read by maximal munch, as {known}"
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


def of_tokenizer(
    grammar: Grammar, tokenizer: AnyTokenizer, options: CompileOptions
) -> Iterator[str]:
    """The token that ends a text, where no file of the tokenizer's names it; and calls in the style
    that nobody asked for, of a model that has a token to begin them."""
    if tokenizer.eos_is_guessed and not options.eos:
        for token_id in tokenizer.eos:
            name = tokenizer.added.get(token_id) or tokenizer.tokens[token_id].decode("utf-8")
            yield (
                f"the end-of-text token is taken to be {name} ({token_id}), by its usual name: no "
                f"tokenizer_config.json says so; --eos names another"
            )
    if grammar.source.dialect == "tools" and "<tool_call>" in tokenizer.added.values():
        from .schema.read import value_of

        asked = value_of(grammar.source.text, options.limits)
        if isinstance(asked, list) or (isinstance(asked, dict) and asked.get("style") is None):
            yield (
                f"{STYLE_BY_DEFAULT}the tokenizer has the token <tool_call>, with which its model "
                'may begin calls: {"tools": […], "style": "qwen", "tool_choice": "auto"} allows '
                "that in free text"
            )


def depth_without_effect(recogniser: Recogniser, options: CompileOptions) -> Iterator[str]:
    """A bound of the nesting where nothing nests."""
    if isinstance(recogniser, Automaton) and options.max_depth is not None and not recogniser.cut:
        yield f"--max-depth {options.max_depth} leaves out nothing: no rule of the grammar nests"


def _is_made_when_met(recogniser: Recogniser) -> bool:
    """Whether a terminal has states that are made while decoding, so that no rows are
    precomputed."""
    if isinstance(recogniser, Automaton):
        return recogniser.operation is not None
    return isinstance(recogniser, Parser) and recogniser.lazily is not None


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
    if options.prewarm and _is_made_when_met(recogniser):
        why = "the states of a terminal are made while decoding"
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


# A note on a style that nobody named begins so.
STYLE_BY_DEFAULT = "calls are written by the default style, json: "

# --- kinds


@dataclass(frozen=True, slots=True)
class NoteKind:
    """Notes are of the first kind whose ``pattern``, a regex, is found in them. ``is_fine``: for
    most uses. ``about``: what it means and what to do, in sentences."""

    name: str
    pattern: str
    is_fine: bool
    about: str


NOTE_KINDS = (
    NoteKind(
        "no-effect",
        r" (changes|leaves out) nothing: ",
        True,
        "An option was given that this grammar or tokenizer has no use for. Leave it out.",
    ),
    NoteKind(
        "spellings",
        f"^{re.escape(SPELLINGS)}",
        True,
        "JSON has several spellings of a value, and masks allow the usual ones: a model that is "
        "made to write by them says each value that the schema has. It matters where texts of "
        "others are checked: the options that the note names allow more.",
    ),
    NoteKind(
        "narrowed",
        re.escape(NARROWED),
        False,
        "Some values that the schema allows are left out, at the place that the note names: no "
        "invalid one is allowed, but a model cannot say these. The table 'What is refused or left "
        "out' of compiler/schema/README.md says which option keeps them.",
    ),
    NoteKind(
        "masks",
        f"^{re.escape(MASKS)}",
        True,
        "Masks that are not in the file are made when a text first comes to them, which takes "
        "longer than reading one. They are the same. --precompute all puts more into the file.",
    ),
    NoteKind(
        "engine",
        r"^engine \w+: ",
        True,
        "What follows the grammar, and why not what is tried first. All engines have the same "
        "masks; they differ in what they cost. --engine asks for one.",
    ),
    NoteKind(
        "while-decoding",
        r"^states are made while decoding: ",
        True,
        "An automaton that would be too large is made as far as texts need it. Masks are the same; "
        "a state that is met for the first time takes longer.",
    ),
    NoteKind(
        "dead-ends",
        re.escape(DEAD_ENDS),
        False,
        "Each token that a mask allows can be read, but after some no text may end, so that a "
        "model has to be stopped there. --meaning exact, or a grammar that does not nest, has no "
        "such tokens.",
    ),
    NoteKind(
        "any-tokens",
        f"^{re.escape(ANY_ALLOWED)}",
        True,
        "All texts are members as before, but a model may write one by other tokens than its "
        "tokenizer would, which it has not seen in training. --tokenization any asks for that "
        "and is silent; canonical makes an error of it.",
    ),
    NoteKind(
        "meaning",
        r"^read by maximal munch|^rule '.*' is lazy, ",
        True,
        "A lexer cuts the text into terminals as long as possible, or none does: of some grammars "
        "the two read different texts. --meaning says which is meant.",
    ),
    NoteKind(
        "read-as",
        r"^read as ",
        True,
        "The text follows no single standard and was read by the conventions that it seems to "
        "have. If they are others, --dialect names the dialect.",
    ),
    NoteKind(
        "cut-off",
        r"^members that nest .* are left out$",
        False,
        "The bound of the nesting that was asked for leaves deeper members out. A higher "
        "--max-depth has more; without it there is no bound, by another engine.",
    ),
    NoteKind(
        "added-tokens",
        r"added token",
        True,
        "A tokenizer looks for its added tokens, such as <|im_end|>, before anything else, so that "
        "a text with such a name in it is written by that token, which stands for no text. Where "
        "the grammar means the token, it can name it (compiler/dialects/README.md).",
    ),
    NoteKind(
        "unspelled",
        r"^members (with (characters|a word)|of which the tokenizer|that the tokenizer's|"
        r"that need)|^some members have no|stands for whole words",
        False,
        "The tokenizer cannot write some members, or would change them, so that no row of its "
        "tokens is such a text. It has no token for a part of them, or it normalizes: a grammar "
        "of what it keeps (NFC, lower case, known words) loses nothing.",
    ),
    NoteKind(
        "end-of-text",
        r"^the end-of-text token is taken to be ",
        False,
        "No file of the tokenizer says which token ends a text. If the guess is wrong, a model "
        "never stops: --eos names the token.",
    ),
    NoteKind(
        "style",
        f"^{re.escape(STYLE_BY_DEFAULT)}",
        False,
        "Models write calls as they were taught, and the list says no style. json is for servers "
        'that read a text of calls alone; \'"style": "json"\' asks for it and is silent. '
        "compiler/structural_tags/TOOLS.md has the styles of models.",
    ),
    NoteKind(
        "never-reached",
        r"ends the text wherever ",
        False,
        "The grammar goes on after a token that ends texts, where the text may end already. "
        "--eos names other tokens that end texts.",
    ),
    NoteKind(
        "ignored-text",
        r" may end before its longest match ",
        True,
        "Text that the grammar ignores is read as a lexer would, as long as possible, but not "
        "here: a text may be read that a lexer refuses. The note says why.",
    ),
    NoteKind(
        "of-the-text",
        r"",
        False,
        "A place of the grammar's text says nothing about the texts, or is read otherwise than it "
        "may be meant. The note says which and how.",
    ),
)


def kind_of(note: str) -> NoteKind:
    """The kind of a note."""
    return next(kind for kind in NOTE_KINDS if re.search(kind.pattern, note))


def summary(notes: Iterable[str]) -> str:
    """What to look at, and what is fine, by name; empty without notes."""
    kinds = {kind.name: kind for kind in map(kind_of, notes)}.values()
    parts = [
        f"{what}: {', '.join(names)}"
        for what, is_fine in (("look at", False), ("fine for most uses", True))
        if (names := [kind.name for kind in kinds if kind.is_fine is is_fine])
    ]
    return "; ".join(parts)
