"""An answer of a model in MLX-LM that is JSON of a schema.

pip install '.[mlx]'
python examples/serving/with_mlx.py MODEL examples/tool_call.schema.json "The prompt"
"""

import argparse
from pathlib import Path

from mlx_lm import generate, load

from constrain.artifacts.serving.mlx import processor
from constrain.compiler import Compiler, SchemaOptions


def main() -> None:
    """Print the answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("schema", type=Path)
    parser.add_argument("prompt")
    parser.add_argument("--max-tokens", type=int, default=200)
    wanted = parser.parse_args()
    model, tokenizer = load(wanted.model)

    compiler = Compiler(tokenizer)
    schema = wanted.schema.read_text(encoding="utf-8")
    options = SchemaOptions(whitespace="python")  # as json.dumps writes: one space after , and :
    artifact = compiler.compile(schema, dialect="json-schema", schema=options)

    # Once for each text, also in a batch.
    prompt = tokenizer.encode(wanted.prompt)
    constrained = processor(artifact, stop_ids=sorted(tokenizer.eos_token_ids))
    print(
        generate(
            model,
            tokenizer,
            prompt,
            max_tokens=wanted.max_tokens,
            logits_processors=[constrained],
        )
    )


if __name__ == "__main__":
    main()
