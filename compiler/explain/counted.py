"""What a network whose frames count, or hold sets, reads behind a text.

Earley's recogniser, which knows what lies around a place, has the parts of a permutation in any
number; so it reads more, and the network says what of it is meant.
"""

from constrain.artifacts.counting_network.configurations import CountedStacks
from constrain.artifacts.network.tables import NetworkTables

_BYTES = 256


class Counted:
    """The network behind a prefix of the text to be explained, at first behind nothing."""

    def __init__(self, tables: NetworkTables) -> None:
        self._network = CountedStacks(tables)
        self._threads = dict(self._network.threads[self._network.start])

    @classmethod
    def of(cls, tables: NetworkTables | None) -> "Counted | None":
        """Such a network, if there is one."""
        return None if tables is None or tables.counters is None else cls(tables)

    def feed(self, text: bytes) -> int:
        """Read bytes up to the first that does not fit; how many were read."""
        for count, octet in enumerate(text):
            threads = self._network.read_threads(self._threads, (octet,))
            if not threads:
                return count
            self._threads = threads
        return len(text)

    @property
    def may_end(self) -> bool:
        """Whether the text so far is a member."""
        return self._network.is_member(self._threads)

    def continues(self, text: bytes) -> bool:
        """Whether some member goes on with a text."""
        return bool(self._network.read_threads(self._threads, text))

    @property
    def next_bytes(self) -> int:
        """The bytes that may follow, as bits."""
        return sum(1 << octet for octet in range(_BYTES) if self.continues(bytes((octet,))))
