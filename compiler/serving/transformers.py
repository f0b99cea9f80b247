"""Transformers in one call: a logits processor for what Python has as a grammar.

model.generate(…, logits_processor=[processor(tokenizer, Person)])
"""

from typing import Any, Unpack

from constrain.artifacts.serving import transformers

from . import one_call


def processor(tokenizer: object, grammar: Any, **options: Unpack[one_call.Options]) -> Any:
    """A ``transformers.LogitsProcessor`` for one call of ``generate``, whose texts are those of
    ``grammar``.

    Takes and raises what ``constrain.compile`` does, ``tokenizer`` being that of the model; an
    artifact that is used again is compiled there, and given to
    ``constrain.artifacts.serving.transformers.processor``.
    """
    return transformers.processor(one_call.compile(grammar, tokenizer, **options))
