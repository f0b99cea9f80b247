"""Structural tags of each kind, ten texts of each and ten that are none, by the description."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.check import check
from constrain.compiler.limits import Limits
from support import ROOT
from support.network import network_in_all_orders


@dataclass(frozen=True)
class TagCase:
    """A format, and what it takes and refuses."""

    format: Any
    accepts: Sequence[str]
    rejects: Sequence[str]


def _cases(name: str) -> Mapping[str, TagCase]:
    text = (ROOT / "tests" / "structural_tags" / name).read_text(encoding="utf-8")
    return {kind: TagCase(**case) for kind, case in json.loads(text).items()}


CASES, TOKEN_CASES = _cases("cases.json"), _cases("token_cases.json")


def whole(form: Any) -> Any:
    """The structural tag around a format."""
    return {"type": "structural_tag", "format": form}


@cache
def network_of(text: str, dialect: str = "structural-tag") -> Network:
    """The network of a structural tag, or of a grammar by hand."""
    limits = Limits().started()
    grammar = read_grammar(text, dialect, limits=limits)
    check(grammar)
    return Network(network_in_all_orders(grammar, limits))


def of(form: Any) -> Network:
    """The network of a format."""
    return network_of(json.dumps(whole(form)))


def accepts(found: Network, text: str) -> bool:
    """Whether a text is a member."""
    reached = found.read(found.start, text.encode("utf-8"))
    return reached != REFUSED and found.may_end(reached)
