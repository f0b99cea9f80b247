"""What a service has done: counts and times, as numbers and as Prometheus reads them.

constrain_requests_total{outcome="compiled"} 12
constrain_compile_seconds{quantile="0.5"} 0.021
"""

import threading
from collections import Counter, deque
from collections.abc import Mapping

# The last so many compilations that percentiles are of.
_RECENT = 1_000

_QUANTILES = (0.5, 0.9, 0.99)

# How a request may end.
OUTCOMES = ("open", "folder", "store", "compiled", "no_format", "refused", "busy", "failed")


class Metrics:
    """Counts of requests by how they ended, and the seconds of the last compilations; threads may
    share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._outcomes = Counter[str](dict.fromkeys((*OUTCOMES, "cancelled"), 0))
        self._seconds: deque[float] = deque(maxlen=_RECENT)

    def count(self, outcome: str) -> None:
        """A request has ended so."""
        with self._lock:
            self._outcomes[outcome] += 1

    def took(self, seconds: float) -> None:
        """A compilation took so long, with its time in the queue."""
        with self._lock:
            self._seconds.append(seconds)

    def quantile(self, share: float) -> float:
        """The seconds within which that share of the last compilations were done."""
        with self._lock:
            ordered = sorted(self._seconds)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0

    def values(self, **gauges: float) -> dict[str, float]:
        """All numbers by name."""
        with self._lock:
            found: dict[str, float] = {f"requests_{k}": v for k, v in self._outcomes.items()}
        found |= {f"compile_seconds_p{100 * q:g}": self.quantile(q) for q in _QUANTILES}
        return {**found, **gauges}


def prometheus(values: Mapping[str, float]) -> str:
    """The numbers of ``Metrics.values`` in Prometheus's text format."""
    lines: list[str] = []
    for name, value in values.items():
        if name.startswith("requests_"):
            lines.append(f'constrain_requests_total{{outcome="{name[9:]}"}} {value:g}')
        elif name.startswith("compile_seconds_p"):
            share = float(name[17:]) / 100
            lines.append(f'constrain_compile_seconds{{quantile="{share:g}"}} {value:g}')
        else:
            lines.append(f"constrain_{name} {value:g}")
    kinds = ("# TYPE constrain_requests_total counter", "# TYPE constrain_compile_seconds summary")
    return "\n".join([*kinds, *lines, ""])
