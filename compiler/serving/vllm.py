"""vLLM: a backend of structured outputs, and a logits processor. Interfaces read in version 0.33.

    CONSTRAIN_VLLM=1 vllm serve MODEL           entry point vllm.general_plugins: ``register``
    SamplingParams(extra_args={"constrain": …}) entry point vllm.logits_processors: ``Processor``

vLLM has no registry of backends, so ``register`` wraps two of its methods: the one that checks a
request in the process that takes it, and the one that makes the engine's backend. What is used of
vLLM is a contract that is checked when it starts, whatever its version: the methods of its base
classes and the arguments that they are called with. Another one is refused loudly. vLLM leaves
logits processors out under speculative decoding, and fills masks of a backend in several threads.

``engines`` has the environment's variables.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from types import new_class
from typing import Any, TypeAlias

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.matcher import Matcher
from constrain.artifacts.read import load
from constrain.artifacts.serving.drafts import with_forced
from constrain.artifacts.tokens.bitmask import fill_many
from constrain.artifacts.tokens.tokenset import word_count

from .engines import request_for, service_of
from .flags import X_GUIDANCE
from .requests import Request, RequestError
from .service import CompileService

Host: TypeAlias = Any

# What vLLM calls this backend by.
NAME = "constrain"

# The methods that a grammar and a backend have in the release whose classes were read.
GRAMMAR_METHODS = frozenset(
    {"accept_tokens", "fill_bitmask", "is_terminated", "reset", "rollback", "validate_tokens"}
)
BACKEND_METHODS = frozenset({"allocate_token_bitmask", "compile_grammar", "destroy"})

_FIELDS = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
# Flags of requests, and those of them that an engine may be started with.
_FLAGS = ("disable_any_whitespace", "disable_additional_properties", "whitespace_pattern")
_OF_ENGINE = _FLAGS[:2]


class GrammarMethods:
    """A request's matcher as vLLM's ``StructuredOutputGrammar``."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Take tokens; those after the end are ignored, as vLLM's own backends do."""
        return self.matcher.accept(tokens) == len(tokens) or self.matcher.is_finished

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """The drafts that ``accept_tokens`` would take, and for those after the tokens that must
        come there, which are as many at most; nothing is taken."""
        return with_forced(self.matcher, tokens)

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens, also over the end."""
        self.matcher.rollback(min(num_tokens, self.matcher.position))

    def fill_bitmask(self, bitmask: Host, batch_index: int) -> None:
        """Write the mask to a row of an int32 tensor (B, n) on the CPU."""
        self.matcher.fill(bitmask.numpy()[batch_index])

    def is_terminated(self) -> bool:
        """Whether the end was taken; a text that may end has not."""
        return self.matcher.is_finished

    def reset(self) -> None:
        """Begin again."""
        self.matcher.reset()


class BackendMethods:
    """A service of one engine as vLLM's ``StructuredOutputBackend``; ``grammar``: the class of its
    grammars."""

    grammar: Callable[[Matcher], Host]

    def __init__(self, vllm_config: Host, tokenizer: Host, vocab_size: int) -> None:
        self.vllm_config, self.tokenizer, self.vocab_size = vllm_config, tokenizer, vocab_size
        self._flags = flags_of(getattr(vllm_config, "structured_outputs_config", None))
        self._service = service_of(tokenizer)

    def compile_grammar(
        self, request_type: Host, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> Host:
        """The grammar of a request, in a thread of vLLM's that waits for it.

        ``request_type``: a member of ``StructuredOutputOptions``. Raises ``ConstrainError``.
        """
        fields = structured_outputs_of(request_type.name, grammar_spec)
        request = _request(fields, self._flags)
        artifact = self._service.get(request).result()
        return self.grammar(artifact.matcher(stop_ids=_sorted(stop_token_ids)))

    def allocate_token_bitmask(self, max_num_seqs: int) -> Host:
        """An int32 tensor (``max_num_seqs``, words) in which every token is allowed."""
        import torch

        return torch.full((max_num_seqs, word_count(self.vocab_size)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """End the compiling processes."""
        self._service.close()


def structured_outputs_of(kind: str, spec: str) -> dict[str, Any]:
    """The field ``structured_outputs`` that vLLM has made a key of."""
    match kind:
        case "JSON_OBJECT":
            return {"json_object": True}
        case "CHOICE":
            return {"choice": json.loads(spec)}
        case _:
            return {kind.lower(): spec}


def flags_of(config: Host) -> dict[str, Any]:
    """The flags of vLLM's ``structured_outputs_config``. Raises ``ValueError`` if it names another
    backend than this one."""
    asked = getattr(config, "backend", "auto")
    if asked not in ("auto", NAME):
        raise ValueError(
            f"the backend {asked!r} is asked for, and CONSTRAIN_VLLM is 1: leave out one of them"
        )
    said = {name: getattr(config, name, None) for name in _OF_ENGINE}
    return {name: value for name, value in said.items() if value}


def carrying(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request with its flags inside of its schema, for that is what reaches the
    engine. Raises ``RequestError`` for flags beside what is no schema."""
    fields = {name: value for name, value in given.items() if name not in _FLAGS}
    flags = {name: given[name] for name in _FLAGS if name in given}
    if not flags:
        return fields
    if not fields.keys() & {"json", "json_object"}:
        name = next(iter(flags))
        raise RequestError(f"/structured_outputs/{name}", "this is read beside a schema alone")
    request = _request(given)
    schema = json.loads(request.text)
    said: dict[str, Any] = {}
    if "disable_any_whitespace" in flags:
        said["whitespace_flexible"] = False
    if "whitespace_pattern" in flags:
        said["whitespace_pattern"] = flags["whitespace_pattern"]
    if said:
        schema = {**(schema if isinstance(schema, dict) else {"allOf": [schema]}), X_GUIDANCE: said}
    return {"json": json.dumps(schema, ensure_ascii=False)}


def _request(fields: Mapping[str, Any], flags: Mapping[str, Any] | None = None) -> Request:
    return request_for({"structured_outputs": fields}, flags)


def backend_class(types: Host) -> Host:
    """The backend as a subclass of vLLM's; ``types``: its module of base classes.

    Raises ``RuntimeError`` if these ask for methods that it has not, or for other arguments.
    """
    bases = types.StructuredOutputGrammar, types.StructuredOutputBackend
    for base, ours in zip(bases, (GrammarMethods, BackendMethods), strict=True):
        for name in sorted(base.__abstractmethods__):
            _check_calls(getattr(base, name), getattr(ours, name, None), base, name)
    grammar = new_class("ConstrainGrammar", (GrammarMethods, bases[0]))
    parts = {"grammar": grammar}
    return new_class(
        "ConstrainBackend", (BackendMethods, bases[1]), exec_body=lambda names: names.update(parts)
    )


def register() -> None:
    """Make this vLLM's backend in this process, if ``CONSTRAIN_VLLM`` is 1.

    Raises ``RuntimeError`` where vLLM calls its backends otherwise than this one can be called.
    """
    if os.environ.get("CONSTRAIN_VLLM") != "1":
        return
    import vllm.exceptions
    import vllm.sampling_params
    import vllm.v1.structured_output
    import vllm.v1.structured_output.backend_types

    wrap(
        vllm.v1.structured_output.StructuredOutputManager,
        vllm.sampling_params.SamplingParams,
        backend_class(vllm.v1.structured_output.backend_types),
        vllm.exceptions.VLLMValidationError,
    )


def wrap(manager: Host, params: Host, backend: Host, error: type[Exception]) -> None:
    """Put the backend into vLLM's classes, once. ``error``: what a refused request is told by."""
    original = getattr(manager, "grammar_init", None)
    if getattr(original, "is_constrain", False):
        return

    def grammar_init(self: Host, request: Host) -> None:
        if request.structured_output_request is not None and self.backend is None:
            size = self.vllm_config.model_config.get_vocab_size()
            self.backend = backend(self.vllm_config, self.tokenizer, size)
            self.backend_name = NAME
        assert original is not None
        original(self, request)

    def validate(self: Host, model_config: Host, config: Host, tokenizer: Host) -> None:
        asked = self.structured_outputs
        if config is None or asked is None:
            return
        if model_config.is_diffusion or tokenizer is None:
            raise error("structured outputs need a model that writes in order, and its tokenizer")
        said = {name: getattr(asked, name) for name in (*_FIELDS, *_FLAGS)}
        given = {k: v for k, v in said.items() if v is not None and v is not False}
        try:
            fields = carrying(given)
            _request(fields, flags_of(config))
        except (ConstrainError, ValueError) as refused:
            raise error(str(refused)) from None
        if fields.keys() != given.keys():
            for name in (*_FIELDS, *_FLAGS):
                setattr(asked, name, fields.get(name))
        asked._backend, asked._backend_was_auto = NAME, True

    theirs = (manager, "grammar_init"), (params, "_validate_structured_outputs")
    for (owner, name), ours in zip(theirs, (grammar_init, validate), strict=True):
        _check_calls(getattr(owner, name, None), ours, owner, name)
    grammar_init.is_constrain = True  # type: ignore[attr-defined]
    manager.grammar_init, params._validate_structured_outputs = grammar_init, validate


def _check_calls(theirs: Host, ours: Host, owner: Host, name: str) -> None:
    """Raise ``RuntimeError`` unless what is called as a method of the host's can be ours."""
    told = f"constrain knows no vLLM like this one: {owner.__name__}.{name}"
    if theirs is None or ours is None:
        raise RuntimeError(f"{told} is not there, or not known")
    given = signature(theirs).parameters.values()
    if any(each.kind is Parameter.VAR_POSITIONAL for each in given):
        return
    try:
        signature(ours).bind(*given)
    except TypeError as error:
        raise RuntimeError(f"{told} has other arguments: {error}") from None


class ProcessorMethods:
    """Constrains the requests of a batch that ask for it, as vLLM's ``LogitsProcessor``.

    A request says ``extra_args={"constrain": {"artifact": PATH}}``, or in place of the path what
    ``structured_outputs`` takes; over HTTP as ``vllm_xargs``. Masks of canonical tokens follow the
    prompt.
    """

    def __init__(self, vllm_config: Host, device: Host, is_pin_memory: bool) -> None:
        self._config = vllm_config
        self._rows: dict[int, tuple[Matcher, Sequence[int]]] = {}
        self._service: CompileService | None = None

    @classmethod
    def validate_params(cls, sampling_params: Host) -> None:
        """Raise ``ValueError`` for what the request asks of this processor and cannot have."""
        asked = _asked(sampling_params)
        if asked is None:
            return
        try:
            if not isinstance(asked, Mapping):
                raise ConstrainError(f"constrain must be an object, not {asked!r}")
            if "artifact" in asked:
                load(asked["artifact"])
            else:
                _request(asked)
        except (ConstrainError, OSError, TypeError) as error:
            raise ValueError(str(error)) from None

    def is_argmax_invariant(self) -> bool:
        """False: the likeliest token may be one that is refused."""
        return False

    def update_state(self, batch_update: Host) -> None:
        """Follow the batch, and what its requests have written since the last call."""
        if batch_update is not None:
            for index in batch_update.removed:
                self._rows.pop(index, None)
            for index, params, prompt, written in batch_update.added:
                self._rows.pop(index, None)
                asked = _asked(params)
                if asked is not None:
                    self._rows[index] = self._matcher(asked, params, prompt), written
            for one, other, direction in batch_update.moved:
                moved, replaced = self._rows.pop(one, None), self._rows.pop(other, None)
                if moved is not None:
                    self._rows[other] = moved
                if replaced is not None and direction.name == "SWAP":
                    self._rows[one] = replaced
        for matcher, written in self._rows.values():
            new = list(written[matcher.position :])
            if -1 in new:
                raise RuntimeError(
                    "tokens that are not yet known stand in a text: start vLLM with "
                    "--no-async-scheduling, or use constrain as its backend"
                )
            matcher.accept(new)

    def apply(self, logits: Host) -> Host:
        """Write -inf to what the masks do not hold, in a tensor (B, V); rows of other requests and
        of texts that have ended stay as they are."""
        from constrain.artifacts.serving.bitmask import apply_torch

        live = {i: m for i, (m, _) in sorted(self._rows.items()) if not m.is_finished}
        if live:
            rows = np.zeros((len(live), word_count(logits.shape[1])), np.int32)
            fill_many(list(live.values()), rows)
            indices = list(live)
            chosen = logits[indices]
            apply_torch(chosen, rows)
            logits[indices] = chosen
        return logits

    def _matcher(self, asked: Mapping[str, Any], params: Host, prompt: Sequence[int]) -> Matcher:
        artifact = self._artifact(asked)
        after = list(prompt) if prompt and artifact.is_canonical else None
        return artifact.matcher(after, _sorted(params.all_stop_token_ids))

    def _artifact(self, asked: Mapping[str, Any]) -> Artifact:
        if "artifact" in asked:
            return _opened(str(asked["artifact"]))
        if self._service is None:
            from vllm.tokenizers import cached_tokenizer_from_config

            self._service = service_of(cached_tokenizer_from_config(self._config.model_config))
        return self._service.get(_request(asked)).result()


def processor_class(base: Host) -> Host:
    """The processor as a subclass of vLLM's ``LogitsProcessor``, ``base``."""
    return new_class("ConstrainProcessor", (ProcessorMethods, base))


@cache
def _processor() -> Host:
    from vllm.v1.sample.logits_processor import LogitsProcessor

    return processor_class(LogitsProcessor)


def __getattr__(name: str) -> Any:
    # The entry point names a class, which has a base class of vLLM's.
    if name == "Processor":
        return _processor()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _opened(path: str) -> Artifact:
    return load(path)


def _asked(params: Host) -> Any:
    """What a request's sampling parameters ask of the processor, None for nothing."""
    return (params.extra_args or {}).get("constrain") if params is not None else None


def _sorted(ids: Sequence[int] | set[int] | None) -> list[int] | None:
    return sorted(ids) if ids else None
