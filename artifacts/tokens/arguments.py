"""What callers give to a matcher: the id of a token, and arrays that are written to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def no_id(given: object) -> TypeError:
    """The error of what is no id."""
    return TypeError(
        f"the id of a token is wanted, an int, not {given!r:.60}; a tokenizer's encode() gives the "
        "ids of a text"
    )


def shared(array: Any, what: str) -> NDArray[Any]:
    """The memory of a NumPy array, or of a tensor of PyTorch on a CPU, as an array.

    ``what`` writes there. Raises ``TypeError`` for anything else, saying what is taken.
    """
    if isinstance(array, np.ndarray):
        return array
    if not callable(getattr(array, "detach", None)):
        raise TypeError(
            f"{what} writes to a NumPy array or to a tensor of PyTorch, not {type(array).__name__}"
        )
    try:
        found: NDArray[Any] = array.detach().numpy()
    except (TypeError, RuntimeError):
        raise TypeError(
            f"{what} writes to tensors of PyTorch on a CPU, of types that NumPy has, not to "
            f"{array.dtype} on {array.device}; constrain.artifacts.serving.bitmask.apply_torch does"
        ) from None
    return found
