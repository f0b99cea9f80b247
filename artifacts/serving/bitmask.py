"""Mask rows into logits: what a row does not hold becomes -inf, in place.

rows (B, n) of packed words, logits (B, v): bit i % 32 of word i // 32 is entry i of the logits.
Logits wider than the rows, as those of models whose vocabulary is padded, have a tail: it becomes
-inf, too. NumPy arrays are written here; tensors of PyTorch by the kernel that is there for them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Which dtypes NumPy has of PyTorch's.
_SHARED = ("torch.float32", "torch.float64", "torch.float16")


def allowed(rows: NDArray[Any], width: int) -> NDArray[np.bool_]:
    """One boolean an entry of the logits: (B, ``width``) of ``rows`` int32 or uint32 (B, n)."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    flags = np.unpackbits(octets, axis=1, bitorder="little", count=min(width, octets.shape[1] * 8))
    if flags.shape[1] < width:
        flags = np.pad(flags, ((0, 0), (0, width - flags.shape[1])))
    return flags.view(np.bool_)


def apply(logits: NDArray[Any], rows: NDArray[Any]) -> None:
    """Set what ``rows`` do not hold to -inf, in place.

    ``logits``: floating (B, v), of any strides; ``rows``: int32 or uint32 (B, n). Raises
    ``ValueError`` on other shapes or dtypes.
    """
    _check(logits.shape, rows)
    if logits.dtype.kind != "f":
        raise ValueError(f"the logits are {logits.dtype}, and not floating")
    np.copyto(logits, -np.inf, where=~allowed(rows, logits.shape[1]))


def apply_torch(logits: Any, rows: NDArray[Any], kernel: str | None = None) -> None:
    """The same for a tensor of PyTorch, on any device.

    ``kernel``: ``numpy`` writes to the tensor's own memory, on a CPU; ``xgrammar`` is that
    library's for the device; ``torch`` is PyTorch's own ``masked_fill_``. None: the first of these
    that there is for the tensor. Raises ``ValueError`` as ``apply`` does, and for a kernel that
    the tensor cannot have.
    """
    _check(tuple(logits.shape), rows)
    chosen = kernel or _kernel_for(logits)
    if chosen == "numpy":
        if not _is_shared(logits):
            raise ValueError(f"NumPy does not share {logits.dtype} on {logits.device.type}")
        apply(logits.detach().numpy(), rows)
    elif chosen == "xgrammar":
        _apply_xgrammar(logits, rows)
    elif chosen == "torch":
        import torch

        flags = torch.from_numpy(~allowed(rows, logits.shape[1]))
        logits.masked_fill_(flags.to(logits.device, non_blocking=True), float("-inf"))
    else:
        raise ValueError(f"there is no kernel {chosen!r}: numpy, xgrammar, torch")


def _check(shape: tuple[int, ...], rows: NDArray[Any]) -> None:
    if rows.ndim != 2 or rows.dtype not in (np.int32, np.uint32):
        raise ValueError(f"rows are int32 or uint32 (B, n), not {rows.dtype} {rows.shape}")
    if len(shape) != 2 or shape[0] != len(rows):
        raise ValueError(f"logits for {len(rows)} rows are ({len(rows)}, v), not {shape}")


def _is_shared(logits: Any) -> bool:
    return logits.device.type == "cpu" and str(logits.dtype) in _SHARED


def _kernel_for(logits: Any) -> str:
    if _is_shared(logits):
        return "numpy"
    if logits.device.type == "cuda":
        from importlib.util import find_spec

        return "xgrammar" if find_spec("xgrammar") else "torch"
    return "torch"


def _apply_xgrammar(logits: Any, rows: NDArray[Any]) -> None:
    import torch
    import xgrammar

    # That kernel leaves entries alone that no word is there for.
    words, width = (logits.shape[1] + 31) // 32, rows.shape[1]
    wide = np.zeros((len(rows), words), np.int32)
    wide[:, : min(words, width)] = rows.view(np.int32)[:, :words]
    bitmask = torch.from_numpy(wide).to(logits.device, non_blocking=True)
    xgrammar.apply_token_bitmask_inplace(logits, bitmask)
