"""SGLang: a grammar backend, ``--grammar-backend constrain``. Interfaces of version 0.5.23.

The entry point ``sglang.srt.plugins`` calls ``register`` in each process. SGLang puts its own
backends after a wrapper that waits until a model has thought, and returns registered ones as they
are, so this one waits itself (``ReasoningMethods``). ``engines`` has the environment's variables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import new_class
from typing import Any, TypeAlias

from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.serving.bitmask import apply_torch
from constrain.artifacts.tokens.bitmask import fill_many
from constrain.artifacts.tokens.tokenset import word_count

from ..schema.options import SchemaOptions
from .engines import request_for, service_of
from .flags import with_flags

Host: TypeAlias = Any

NAME = "constrain"

# What SGLang has as a schema where any object will do.
_ANY_OBJECT = "$$ANY$$"


class GrammarMethods:
    """A request's matcher as SGLang's ``BaseGrammarObject``."""

    def __init__(self, matcher: Matcher) -> None:
        super().__init__()
        self.matcher = matcher
        self.current_token: int | None = None

    def accept_token(self, token: int) -> None:
        """Take a token. After the end nothing is taken. Raises ``ValueError`` for one that is not
        allowed."""
        self.current_token = token
        if not self.matcher.accept((token,)) and not self.matcher.is_finished:
            raise ValueError(f"token {token} is not allowed after {self.matcher.position} others")

    def rollback(self, k: int) -> None:
        """Take back the last tokens, also over the end."""
        self.matcher.rollback(min(k, self.matcher.position))

    def is_terminated(self) -> bool:
        """Whether the end was taken."""
        return self.matcher.is_finished

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Host) -> Host:
        """An int32 tensor (``batch_size``, words) on the CPU in which every token is allowed."""
        import torch

        return torch.full((batch_size, word_count(vocab_size)), -1, dtype=torch.int32)

    def fill_vocab_mask(self, vocab_mask: Host, idx: int) -> None:
        """Write the mask to a row; that of a text that has ended allows everything."""
        if not self.matcher.is_finished:
            self.matcher.fill(vocab_mask.numpy()[idx])

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Host], vocab_mask: Host) -> None:
        """The rows of several requests of this class, each with ``row`` and ``grammar``."""
        live = [entry for entry in entries if not entry.grammar.matcher.is_finished]
        matchers = [entry.grammar.matcher for entry in live]
        fill_many(matchers, vocab_mask.numpy(), [entry.row for entry in live])

    @staticmethod
    def reset_vocab_mask(vocab_mask: Host) -> None:
        """Allow every token again."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Host, device: Host) -> Host:
        """The rows stay on the CPU, from where they are applied."""
        return vocab_mask

    @staticmethod
    def apply_vocab_mask(logits: Host, vocab_mask: Host) -> None:
        """Write -inf to what the rows do not hold, in a tensor (B, V) on any device."""
        apply_torch(logits, vocab_mask.cpu().numpy())

    def copy(self) -> Host:
        """The same place in the same text, for another request."""
        return type(self)(self.matcher.fork())

    def try_jump_forward(self, tokenizer: Host) -> tuple[list[int], str] | None:
        """The tokens that alone may follow, if there are some."""
        forced = self.matcher.forced_tokens()
        return (forced, "") if forced else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """What SGLang asks for before it encodes again, which canonical tokens do not need."""
        return helper[1], -1

    def jump_and_retokenize(
        self, old_output_ids: Sequence[int], new_output_ids: Sequence[int], next_state: int
    ) -> None:
        """Go on from other tokens of the text."""
        self.matcher.seek(new_output_ids)


class ReasoningMethods:
    """A grammar that begins after a model's thoughts, which the tokens ``ends`` close."""

    def __init__(self, grammar: Host, ends: Sequence[int], is_thinking: bool = False) -> None:
        super().__init__()
        self.grammar, self.ends = grammar, list(ends)
        self.current_token: int | None = None
        self.maybe_init_reasoning(is_thinking)

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        """Say whether the text begins with thoughts."""
        self._thoughts: list[int] = []
        self.is_thinking, self._behind = reasoning, 0

    def accept_token(self, token: int) -> None:
        """Take a token: of the thoughts whichever it is. Raises as the grammar does."""
        self.current_token = token
        if self.is_thinking:
            self._thoughts.append(token)
            self.is_thinking = self._thoughts[-len(self.ends) :] != self.ends
        elif not self.grammar.is_terminated():
            self.grammar.accept_token(token)
            self._behind += 1

    def rollback(self, k: int) -> None:
        """Take back tokens of the answer, then of the thoughts."""
        of_answer = min(k, self._behind)
        if of_answer:
            self.grammar.rollback(of_answer)
            self._behind -= of_answer
        if of_answer < k and self._thoughts:
            del self._thoughts[of_answer - k :]
            self.is_thinking = True

    def is_terminated(self) -> bool:
        """Whether the answer has ended."""
        return not self.is_thinking and bool(self.grammar.is_terminated())

    def fill_vocab_mask(self, vocab_mask: Host, idx: int) -> None:
        """Write the mask to a row; thoughts may be any."""
        if not self.is_thinking:
            self.grammar.fill_vocab_mask(vocab_mask, idx)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Host], vocab_mask: Host) -> None:
        """The rows of several requests of this class, each with ``row`` and ``grammar``."""
        for entry in entries:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    allocate_vocab_mask = GrammarMethods.allocate_vocab_mask
    jump_forward_str_state = GrammarMethods.jump_forward_str_state
    reset_vocab_mask = staticmethod(GrammarMethods.reset_vocab_mask)
    move_vocab_mask = staticmethod(GrammarMethods.move_vocab_mask)
    apply_vocab_mask = staticmethod(GrammarMethods.apply_vocab_mask)

    def copy(self) -> Host:
        """The same place in the same text, for another request."""
        found = type(self)(self.grammar.copy(), self.ends)
        found.is_thinking, found._behind = self.is_thinking, self._behind
        found._thoughts = list(self._thoughts)
        return found

    def try_jump_forward(self, tokenizer: Host) -> tuple[list[int], str] | None:
        """As the grammar's, after the thoughts."""
        return None if self.is_thinking else self.grammar.try_jump_forward(tokenizer)


class BackendMethods:
    """A service as SGLang's ``BaseGrammarBackend``.

    ``grammar``, ``reasoning``, ``invalid``: the classes of its grammars, of those after thoughts,
    and of what could not be compiled. ``ends``: the tokens that close thoughts, none where the
    model does not think. ``flags``: of JSON, as ``flags.with_flags`` reads them.
    """

    grammar: Callable[[Matcher], Host]
    reasoning: Callable[[Host, Sequence[int], bool], Host]
    invalid: Callable[[str], Host]

    def __init__(
        self,
        tokenizer: Host,
        stop_ids: Iterable[int] | None,
        ends: Sequence[int] = (),
        flags: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._flags = flags
        self._service = service_of(tokenizer)
        self._stop_ids = sorted(stop_ids) if stop_ids else None
        self._ends = tuple(ends)

    def dispatch_json(self, key_string: str) -> Host:
        """A JSON Schema, or any object."""
        return self._compiled("json_schema", key_string)

    def dispatch_regex(self, key_string: str) -> Host:
        """A regular expression."""
        return self._compiled("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> Host:
        """A grammar of whichever dialect reads it, if exactly one does."""
        return self._compiled("ebnf", key_string)

    def dispatch_structural_tag(self, key_string: str) -> Host:
        """A structural tag of either form."""
        return self._compiled("structural_tag", key_string)

    def _init_value_dispatch(self, key: tuple[str, str], require_reasoning: bool) -> Host:
        """What SGLang calls in a thread that waits; a whole answer's grammar has the thoughts in
        itself."""
        found = super()._init_value_dispatch(key, require_reasoning)  # type: ignore[misc]
        if not self._ends or not hasattr(found, "matcher") or key[0] == "full_assistant_ebnf":
            return found
        return self.reasoning(found, self._ends, require_reasoning)

    def _compiled(self, kind: str, spec: str) -> Host:
        fields = {"format": "json"} if spec == _ANY_OBJECT else {kind: spec}
        try:
            artifact = self._service.get(request_for(fields, self._flags)).result()
        except ConstrainError as error:
            return self.invalid(str(error))
        return self.grammar(artifact.matcher(stop_ids=self._stop_ids))


def backend_class(base: Host) -> Host:
    """The backend as a subclass of SGLang's; ``base``: its module of base classes."""
    parts = {
        "grammar": new_class("ConstrainGrammar", (GrammarMethods, base.BaseGrammarObject)),
        "reasoning": new_class("ConstrainReasoning", (ReasoningMethods, base.BaseGrammarObject)),
        "invalid": base.InvalidGrammarObject,
    }
    bases = (BackendMethods, base.BaseGrammarBackend)
    return new_class("ConstrainBackend", bases, exec_body=lambda names: names.update(parts))


def register() -> None:
    """Make ``--grammar-backend constrain`` known to SGLang in this process; again does nothing."""
    from sglang.srt.constrained import base_grammar_backend
    from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices

    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    made = partial(_created, backend_class(base_grammar_backend))
    base_grammar_backend.register_grammar_backend(NAME, made)


def _created(
    backend: Host, server_args: Host, tokenizer: Host, vocab_size: int, stop_ids: set[int] | None
) -> Host:
    """The backend of a server. Raises ``ValueError`` for an option that it does not enforce."""
    from sglang.srt.parser.reasoning_parser import ReasoningParser
    from sglang.srt.runtime_context import get_serving

    flags = flags_of(server_args)
    serving = get_serving()
    if serving.enable_strict_thinking:
        raise ValueError(f"--enable-strict-thinking is not enforced by the backend {NAME}")
    if not serving.reasoning_parser:
        return backend(tokenizer, stop_ids, flags=flags)
    parser = ReasoningParser(
        model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer
    )
    ends = parser.detector.get_think_end_token_ids(tokenizer)
    return backend(tokenizer, stop_ids, ends, flags)


def flags_of(server_args: Host) -> dict[str, Any]:
    """SGLang's options of JSON. Raises ``ValueError`` for a pattern that is no white space."""
    found = {
        name: getattr(server_args, f"constrained_json_{name}", None)
        for name in ("whitespace_pattern", "disable_any_whitespace")
    }
    flags = {name: value for name, value in found.items() if value}
    with_flags(SchemaOptions(), flags)
    return flags
