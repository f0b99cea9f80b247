"""Tokenizers by name on a hub, through the optional packages that download them.

``hf:ORG/REPO`` goes through huggingface_hub, ``tiktoken:NAME`` through tiktoken. Both have caches
of their own; nothing is downloaded here.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import TokenizerError

if TYPE_CHECKING:
    from .tiktoken_ranks import Encoding

HUGGING_FACE, TIKTOKEN = "hf:", "tiktoken:"

# What errors of huggingface_hub mean, by class name: its versions raise different classes.
_REASONS = {
    "LocalEntryNotFoundError": "there is no copy here, and the network does not answer",
    "OfflineModeIsEnabled": "there is no copy here, and huggingface_hub is set to be offline",
    "EntryNotFoundError": "the repository has neither tokenizer.json nor tekken.json",
    "RevisionNotFoundError": "the repository has no such revision",
    "GatedRepoError": "the repository is for those who have been given access and are logged in",
    "RepositoryNotFoundError": "there is no such repository, or it is a private one",
}


def hugging_face_file(name: str) -> Path:
    """The ``tokenizer.json`` of ``hf:ORG/REPO`` or ``hf:ORG/REPO@REVISION``, a local copy; else its
    ``tekken.json``.

    Its ``tokenizer_config.json`` is beside it, if there is one. Raises ``TokenizerError``.
    """
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError
    except ImportError:
        raise _missing("huggingface_hub", "hf") from None
    repository, _, revision = name.removeprefix(HUGGING_FACE).partition("@")
    if not repository:
        raise TokenizerError("it names no repository; write hf:ORG/REPO or hf:ORG/REPO@REVISION")
    try:
        try:
            file = hf_hub_download(repository, "tokenizer.json", revision=revision or None)
        except EntryNotFoundError as error:
            if _of_kind(error, "LocalEntryNotFoundError"):
                raise  # The network does not answer, which takes half a minute to find out.
            file = hf_hub_download(repository, "tekken.json", revision=revision or None)
        with suppress(EntryNotFoundError):
            hf_hub_download(repository, "tokenizer_config.json", revision=revision or None)
    except Exception as error:
        # The package raises errors of its own, of the network's and of the values' kinds.
        raise _unavailable(error) from None
    return Path(file)


def tiktoken_encoding(name: str) -> tuple[Mapping[bytes, int], "Encoding"]:
    """The ranks of ``tiktoken:NAME``, its pattern and special tokens. Raises ``TokenizerError``."""
    try:
        from tiktoken_ext.openai_public import ENCODING_CONSTRUCTORS
    except ImportError:
        raise _missing("tiktoken", "tiktoken") from None
    from .tiktoken_ranks import NAMED, Encoding

    wanted = name.removeprefix(TIKTOKEN)
    if wanted not in ENCODING_CONSTRUCTORS:
        known = ", ".join(sorted(ENCODING_CONSTRUCTORS))
        raise TokenizerError(f"tiktoken has no such encoding; known are {known}")
    try:
        found = ENCODING_CONSTRUCTORS[wanted]()
    except Exception as error:
        # A download that failed, by whatever library tiktoken uses for it.
        raise _unavailable(error) from None
    # tiktoken writes its patterns for speed; named encodings have a plain equivalent form.
    pattern = NAMED[wanted].pattern if wanted in NAMED else found["pat_str"]
    return found["mergeable_ranks"], Encoding(pattern, found["special_tokens"])


def _missing(package: str, extra: str) -> TokenizerError:
    return TokenizerError(
        f"names of this kind need the package {package}: pip install {package}, or in a clone "
        f"of constrain pip install '.[{extra}]'; or name a file"
    )


def _of_kind(error: Exception, name: str) -> bool:
    """Whether an error is of the class of a name, or of one that inherits from it."""
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _unavailable(error: Exception) -> TokenizerError:
    kinds = (kind.__name__ for kind in type(error).__mro__)
    reason = next((_REASONS[kind] for kind in kinds if kind in _REASONS), None)
    if reason is None:
        reason = (str(error) or type(error).__name__).strip().split("\n")[0]
    return TokenizerError(f"not available ({reason}); a file of your own will do as well")
