"""Arrays that say when an index wraps: numpy takes -1 for the last place, and a slice that ends
after an array for one that ends with it.

``guarded()`` puts them in the place of numpy's in all modules of ``constrain.artifacts``, with the
lists and views that are made of them. What wraps on purpose is written as such: a negative constant
in the expression itself, ``offsets[-1]``.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

import constrain.artifacts

# An index that is written so wraps on purpose, and so does a slice between constants.
_CONSTANT = re.compile(r"-\s*\d|\[\d*:\d*\]")


# Places that wrapped: file, line, expression, and what was wrong.
_wrapped: set[str] = set()


@cache
def _expression(code: CodeType, at: int) -> tuple[str, str]:
    """Where an instruction is, and its source."""
    line, last, begin, end = list(code.co_positions())[at // 2]
    place = f"{Path(code.co_filename).parent.name}/{Path(code.co_filename).name}:{line}"
    if line is None or last is None:
        return place, ""
    lines = Path(code.co_filename).read_text(encoding="utf-8").splitlines()[line - 1 : last]
    if line == last:
        return place, lines[0][begin:end]
    return place, " ".join(each.strip() for each in lines)


def _note(what: str) -> None:
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    place, source = _expression(frame.f_code, frame.f_lasti)
    if "/artifacts/" not in frame.f_code.co_filename or _CONSTANT.search(source):
        return
    _wrapped.add(f"{place}: {source}: {what}")


def _check_slice(key: slice, size: int) -> None:
    start = 0 if key.start is None else int(key.start)
    stop = size if key.stop is None else int(key.stop)
    if (key.step or 1) < 0:
        return
    if start < 0 or stop < 0:
        _note("a slice below 0")
    elif start > size or stop > size or start > stop:
        _note("a slice beyond the end")


def _check(shape: tuple[int, ...], key: Any) -> None:
    keys = key if isinstance(key, tuple) else (key,)
    axis = 0
    for one in keys:
        if one is None:
            continue
        if one is Ellipsis:
            return
        size = shape[axis] if axis < len(shape) else 0
        if isinstance(one, slice):
            _check_slice(one, size)
        elif isinstance(one, np.ndarray | list):
            array = np.asarray(one)
            if array.dtype == np.bool_:
                axis += array.ndim
                continue
            if array.size and array.min() < 0:
                _note("an index below 0")
        elif isinstance(one, bool | np.bool_):
            continue
        elif int(one) < 0:
            _note("an index below 0")
        axis += 1


class GuardedArray(np.ndarray):  # type: ignore[type-arg]
    """An array that notes which places are asked for."""

    def __getitem__(self, key: Any) -> Any:
        _check(self.shape, key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _check(self.shape, key)
        super().__setitem__(key, value)

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        if mode == "raise" and np.size(indices) and np.min(indices) < 0:
            _note("an index below 0")
        return super().take(indices, axis, out, mode)

    def tolist(self) -> Any:
        return _listed(super().tolist())

    @property
    def data(self) -> Any:
        view = super().data
        # Checksums need a buffer.
        return view if "sections" in sys._getframe(1).f_code.co_filename else GuardedView(view)


def _listed(value: Any) -> Any:
    return GuardedList(map(_listed, value)) if isinstance(value, list) else value


class GuardedList(list[Any]):
    """The same for a list that was made of an array."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            _check_slice(key, len(self))
            return GuardedList(super().__getitem__(key))
        if key < 0:
            _note("an index below 0")
        return super().__getitem__(key)


class GuardedView:
    """The same for a view."""

    def __init__(self, array: Any) -> None:
        self._view = memoryview(array) if not isinstance(array, memoryview) else array

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            _check_slice(key, len(self._view))
            return GuardedView(self._view[key])
        if isinstance(key, tuple):
            if min(key) < 0:
                _note("an index below 0")
        elif key < 0:
            _note("an index below 0")
        return self._view[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, slice) and (min(key) if isinstance(key, tuple) else key) < 0:
            _note("an index below 0")
        self._view[key] = value

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._view)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._view, dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)


class _Ufunc:
    """A ufunc whose ``at`` is noted."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _guarded(self._ufunc(*arguments, **named))

    def at(self, array: Any, places: Any, *more: Any) -> None:
        if np.size(places) and np.min(places) < 0:
            _note("an index below 0")
        self._ufunc.at(array, places, *more)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ufunc, name)
        return (lambda *a, **n: _guarded(found(*a, **n))) if callable(found) else found


def _guarded(value: Any) -> Any:
    if type(value) is np.ndarray:
        return value.view(GuardedArray)
    if type(value) is tuple:
        return tuple(map(_guarded, value))
    if type(value) is list:
        return [_guarded(one) for one in value]
    return value


class _Numpy:
    """numpy, whose functions give guarded arrays."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, np.ufunc):
            found = _Ufunc(found)
        elif callable(found) and not isinstance(found, type):
            found = _calls(found)
        setattr(self, name, found)
        return found


def _calls(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        return _guarded(function(*arguments, **named))

    return call


def _view_of(value: Any) -> Any:
    return GuardedView(np.asarray(value)) if isinstance(value, np.ndarray) else memoryview(value)


@contextmanager
def guarded() -> Iterator[set[str]]:
    """The places that wrap in here, which may be taken out."""
    found = [importlib.import_module(name) for name in _modules()]
    numpy = _Numpy()
    _wrapped.clear()
    changed: list[tuple[ModuleType, Any]] = [(m, m.np) for m in found if hasattr(m, "np")]
    for module in found:
        if hasattr(module, "np"):
            module.np = numpy
        module.memoryview = _view_of  # type: ignore[attr-defined]
    try:
        yield _wrapped
    finally:
        for module, own in changed:
            module.np = own
        for module in found:
            del module.memoryview


@cache
def _modules() -> tuple[str, ...]:
    path, prefix = constrain.artifacts.__path__, "constrain.artifacts."
    names = [each.name for each in pkgutil.walk_packages(path, prefix)]
    return tuple(n for n in names if ".serving." not in n and not n.endswith(".serving"))
