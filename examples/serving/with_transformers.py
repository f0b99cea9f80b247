"""Answers of a model of Transformers that are JSON of a schema.

    pip install '.[transformers]'
    python examples/serving/with_transformers.py MODEL examples/tool_call.schema.json "The prompt"

MODEL is a folder or a name on the hub. The answers are encoded as the model's own tokenizer does.
"""

import argparse
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

from constrain.artifacts.serving.transformers import processor
from constrain.compiler import Compiler, SchemaOptions


def main() -> None:
    """Print an answer a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("schema", type=Path)
    parser.add_argument("prompt")
    parser.add_argument("--answers", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=200)
    wanted = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(wanted.model)
    model = AutoModelForCausalLM.from_pretrained(wanted.model)

    # Once for each schema: ``artifact.save(path)`` keeps it, ``constrain.artifacts.load`` opens it.
    compiler = Compiler(tokenizer)
    schema = wanted.schema.read_text(encoding="utf-8")
    options = SchemaOptions(whitespace="python")  # as json.dumps writes: one space after , and :
    artifact = compiler.compile(schema, dialect="json-schema", schema=options)

    # Once for each call of ``generate``: one artifact, or one for each prompt of the batch.
    inputs = tokenizer([wanted.prompt], return_tensors="pt")
    begin = inputs["input_ids"].shape[1]
    ids = model.generate(
        **inputs,
        logits_processor=[processor(artifact, stop_ids=[tokenizer.eos_token_id])],
        max_new_tokens=wanted.max_tokens,
        num_return_sequences=wanted.answers,
        do_sample=True,
        pad_token_id=tokenizer.eos_token_id,
    )
    for row in ids:
        print(tokenizer.decode(row[begin:], skip_special_tokens=True))


if __name__ == "__main__":
    main()
