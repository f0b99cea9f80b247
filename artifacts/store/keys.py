"""Names of a store's files: an artifact's by its key, a file of tables by its digest.

A key is 64 hexadecimal digits (``compiler.serving.artifact_key``), so that no name that comes from
elsewhere leaves the store.
"""

from ..container.signature import SUFFIX
from ..container.thin import SUFFIX as TABLES_SUFFIX
from ..errors import ConstrainError

_DIGITS = frozenset("0123456789abcdef")
_LENGTH = 64

_TABLES = "tok"


class StoreError(ConstrainError):
    """A store that cannot be used, a key that is none, or a file that is not what its name says."""


def is_key(text: str) -> bool:
    """Whether a text has the form of a key."""
    return len(text) == _LENGTH and set(text) <= _DIGITS


def artifact_name(key: str) -> str:
    """Where the artifact of a key is, below the store. Raises ``StoreError``."""
    if not is_key(key):
        raise StoreError(f"{key!r} is no key: a key is {_LENGTH} digits from 0 to f")
    return f"{key[:2]}/{key}{SUFFIX}"


def tables_name(file: str) -> str:
    """Where a file of tables is, below the store."""
    return f"{_TABLES}/{file}"


def key_of(name: str) -> str | None:
    """The key of a file's name below the store; None of other files."""
    key = name.rpartition("/")[2].removesuffix(SUFFIX)
    return key if is_key(key) and name == artifact_name(key) else None


def is_tables(name: str) -> bool:
    """Whether a name below the store is that of a file of tables."""
    digest = name.removeprefix(f"{_TABLES}/").removesuffix(TABLES_SUFFIX)
    return is_key(digest) and name == tables_name(digest + TABLES_SUFFIX)
