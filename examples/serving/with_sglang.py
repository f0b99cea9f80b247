"""Answers of a model in SGLang that are JSON of a schema, with constrain as the grammar backend.

    pip install '.[sglang]'
    python examples/serving/with_sglang.py MODEL examples/tool_call.schema.json "Prompt" "Another"

A server has it by an option: python -m sglang.launch_server --model MODEL --grammar-backend
constrain. Requests are SGLang's own. CONSTRAIN_FOLDER keeps artifacts between runs.
"""

import argparse
from pathlib import Path

import sglang


def main() -> None:
    """Print an answer a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("schema", type=Path)
    parser.add_argument("prompts", nargs="+")
    parser.add_argument("--max-tokens", type=int, default=200)
    wanted = parser.parse_args()
    engine = sglang.Engine(model_path=wanted.model, grammar_backend="constrain")

    schema = wanted.schema.read_text(encoding="utf-8")
    parameters = {"max_new_tokens": wanted.max_tokens, "json_schema": schema}
    for output in engine.generate(wanted.prompts, parameters):
        print(output["text"])
    engine.shutdown()


# SGLang starts its processes by importing this file again.
if __name__ == "__main__":
    main()
