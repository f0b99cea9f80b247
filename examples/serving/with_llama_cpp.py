"""An answer of a GGUF model in llama.cpp that is a text of a grammar.

    pip install '.[llama-cpp]'
    python examples/serving/with_llama_cpp.py MODEL.gguf TOKENIZER.json examples/json.ebnf "Prompt"

TOKENIZER.json is that of the model that the GGUF file was made from: the ids have to be the same.
"""

import argparse
from pathlib import Path

from llama_cpp import Llama, LogitsProcessorList

from constrain.artifacts.serving.llama_cpp import processor
from constrain.compiler import Compiler


def main() -> None:
    """Print the answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("tokenizer")
    parser.add_argument("grammar", type=Path)
    parser.add_argument("prompt")
    parser.add_argument("--dialect", default="kbnf")
    parser.add_argument("--max-tokens", type=int, default=200)
    wanted = parser.parse_args()
    model = Llama(model_path=wanted.model, n_ctx=2048, verbose=False)

    compiler = Compiler(wanted.tokenizer)
    grammar = wanted.grammar.read_text(encoding="utf-8")
    artifact = compiler.compile(grammar, dialect=wanted.dialect)
    if artifact.vocab_size > model.n_vocab():
        parser.error("the tokenizer has more tokens than the model")

    # Once for each completion.
    prompt = model.tokenize(wanted.prompt.encode())
    constrained = processor(artifact, stop_ids=[model.token_eos()])
    answer = model.create_completion(
        prompt,
        logits_processor=LogitsProcessorList([constrained]),
        max_tokens=wanted.max_tokens,
    )
    if constrained.error is not None:  # The host goes on from errors of processors.
        raise constrained.error
    print(answer["choices"][0]["text"])


if __name__ == "__main__":
    main()
