"""What tests of the engines network and earley share."""

from constrain.artifacts import Artifact
from constrain.compiler import Tokenizer, compile_grammar

ENGINES = ("network", "earley")


def made(text: str, tokenizer: Tokenizer, engine: str = "auto", **options: object) -> Artifact:
    """The artifact of a kbnf grammar under ``any``."""
    return compile_grammar(
        text,
        dialect="kbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine=engine,
        **options,  # type: ignore[arg-type]
    )
