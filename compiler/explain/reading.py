"""What a machine reads behind a text, which says what of Earley's recogniser's items counts.

That one, which knows what lies around a place, may read more than the members: it has the parts of
a permutation in any number, and long counts without their ends.
"""

from .machines import TextMachine


class Reading:
    """A machine behind a prefix of the text to be explained, at first behind nothing."""

    def __init__(self, machine: TextMachine) -> None:
        self._machine, self._state = machine, machine.start

    def feed(self, text: bytes) -> int:
        """Read bytes up to the first that does not fit; how many were read."""
        count, self._state = self._machine.follow(self._state, text)
        return count

    @property
    def may_end(self) -> bool:
        """Whether the text so far is a member."""
        return self._machine.may_end(self._state)

    def continues(self, text: bytes) -> bool:
        """Whether some member goes on with a text."""
        return self._machine.follow(self._state, text)[0] == len(text)

    @property
    def next_bytes(self) -> int:
        """The bytes that may follow, as bits."""
        return sum(1 << octet for octet in self._machine.next_bytes(self._state))
