"""Tests of the walk run with both of its forms."""

import os
from collections.abc import Iterator

import pytest

from constrain.artifacts.walk import forms

# Set where the walk is compiled for sure, as in CI: tests of that form may not skip.
VARIABLE = "CONSTRAIN_TEST_COMPILED"

NOT_COMPILED = "the walk is not compiled from this source: install again, with a C compiler"


@pytest.fixture(params=["python", "compiled"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The form that runs in all machines that a test makes: ``python`` or ``compiled``."""
    if request.param == "compiled" and not forms.is_compiled():
        assert not os.environ.get(VARIABLE), NOT_COMPILED
        pytest.skip(NOT_COMPILED)
    monkeypatch.setattr(forms, "is_compiled", lambda: request.param == "compiled")
    forms.kernel.cache_clear()
    yield request.param
    forms.kernel.cache_clear()
