"""A cluster of Dask as an executor.

with dask_executor("dask://scheduler:8786") as executor:
    compile_many(jobs, store="s3://bucket/grammars", executor=executor)
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from constrain.artifacts.errors import ConstrainError, visible

DASK = "dask://"

# Seconds to wait for a scheduler.
_SECONDS = 30


class ClusterError(ConstrainError):
    """A cluster that cannot be used."""


@contextmanager
def dask_executor(url: str) -> Iterator[Executor]:
    """What runs calls on the workers of the scheduler at ``dask://host:port``; they need constrain,
    the tokenizers under the names that jobs have, and the store. Raises ``ClusterError``."""
    address = url.removeprefix(DASK)
    if address == url or not address:
        raise ClusterError(
            f"{visible(url)}: expected {DASK}HOST:PORT, the scheduler of a cluster of Dask"
        )
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            f"{visible(url)}: a cluster of Dask needs distributed: pip install "
            "'constrain-grammar[cluster]'"
        ) from None
    try:
        client = Client(f"tcp://{address}", timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"{visible(url)}: there is no scheduler: {visible(error)}") from None
    with client:
        yield client.get_executor(pure=False)
