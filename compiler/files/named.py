"""What readers of tokenizers share: errors that name the tokenizer, and the file beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from constrain.artifacts.errors import visible

from ..diagnostics import TokenizerError
from .bounded import bounded_json, read_bounded


@contextmanager
def named(name: str, kind: str = "tokenizer") -> Iterator[None]:
    """Whatever is wrong inside is a ``TokenizerError`` that names the tokenizer."""
    try:
        yield
    except TokenizerError as error:
        raise TokenizerError(f"{visible(name)}: {visible(error)}") from None
    except OSError as error:
        why = f"{error.strerror or error}{_by_name(name, error)}"
        raise TokenizerError(f"{visible(name)}: {why}") from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        # Fields of another type than the format has: separate checks would say no more than this.
        raise TokenizerError(f"{visible(name)}: not a valid {kind} ({visible(error)})") from None


def _by_name(name: str, error: OSError) -> str:
    """What to say in place of a model's name, where a file was looked for."""
    is_name = name.replace("-", "").replace("_", "").isalnum()
    if not (isinstance(error, FileNotFoundError) and is_name):
        return ""
    return f"; a model's tokenizer is a file, hf:ORG/{name} or tiktoken:{name}"


def configuration_beside(file: Path) -> dict[str, Any]:
    """The ``tokenizer_config.json`` beside a file, or nothing."""
    config = file.with_name("tokenizer_config.json")
    data = bounded_json(read_bounded(config), config.name) if config.is_file() else {}
    if not isinstance(data, dict):
        raise TokenizerError("tokenizer_config.json beside it is not a JSON object")
    return data
