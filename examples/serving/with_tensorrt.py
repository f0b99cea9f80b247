"""Answers of a model in TensorRT-LLM that are JSON of a schema.

    pip install '.[tensorrt]'
    python examples/serving/with_tensorrt.py MODEL examples/tool_call.schema.json "Prompt" "Another"

MODEL is a folder with the model's ``tokenizer.json``. Where the host runs the model in a process of
its own, that process has to approve of the processor's class
(``tensorrt_llm.serialization.register_approved_class``).
"""

import argparse
from pathlib import Path

from tensorrt_llm import LLM, SamplingParams

from constrain.artifacts.serving.tensorrt import processor
from constrain.compiler import Compiler, SchemaOptions


def main() -> None:
    """Print an answer a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("schema", type=Path)
    parser.add_argument("prompts", nargs="+")
    parser.add_argument("--max-tokens", type=int, default=200)
    wanted = parser.parse_args()
    model = LLM(model=wanted.model)

    compiler = Compiler(wanted.model)
    schema = wanted.schema.read_text(encoding="utf-8")
    options = SchemaOptions(whitespace="python")  # as json.dumps writes: one space after , and :
    artifact = compiler.compile(schema, dialect="json-schema", schema=options)

    # One for all requests that share these parameters.
    parameters = SamplingParams(logits_processor=processor(artifact), max_tokens=wanted.max_tokens)
    for output in model.generate(wanted.prompts, parameters):
        print(output.outputs[0].text)


if __name__ == "__main__":
    main()
