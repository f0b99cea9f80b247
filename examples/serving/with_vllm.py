"""Answers of a model in vLLM that are JSON of a schema, with constrain as the engine's backend.

    pip install '.[vllm]'
    python examples/serving/with_vllm.py MODEL examples/tool_call.schema.json "Prompt" "Another"

A server has it by the same variable: CONSTRAIN_VLLM=1 vllm serve MODEL. Requests are vLLM's own:
response_format, structured_outputs, tools. CONSTRAIN_FOLDER keeps artifacts between runs.
"""

import argparse
import os
from pathlib import Path

# Before vLLM is imported, and in all its processes: this makes it call constrain's entry point.
os.environ["CONSTRAIN_VLLM"] = "1"

from vllm import LLM, SamplingParams
from vllm.sampling_params import StructuredOutputsParams


def main() -> None:
    """Print an answer a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("schema", type=Path)
    parser.add_argument("prompts", nargs="+")
    parser.add_argument("--max-tokens", type=int, default=200)
    wanted = parser.parse_args()
    model = LLM(model=wanted.model)

    schema = wanted.schema.read_text(encoding="utf-8")
    parameters = SamplingParams(
        max_tokens=wanted.max_tokens, structured_outputs=StructuredOutputsParams(json=schema)
    )
    for output in model.generate(wanted.prompts, parameters):
        print(output.outputs[0].text)


if __name__ == "__main__":
    main()
