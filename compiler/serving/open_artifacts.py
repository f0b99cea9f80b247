"""Artifacts that are open, the least recently used first, and what they hold."""

from collections import OrderedDict

from constrain.artifacts.artifact import Artifact

# Of each artifact besides its file and its caches: objects of Python, measured.
OBJECT_BYTES = 240_000


class OpenArtifacts:
    """Artifacts by key, as many as hold ``capacity`` bytes together, and the one used last."""

    def __init__(self, capacity: int) -> None:
        self._capacity, self.total = capacity, 0
        self._entries: OrderedDict[str, tuple[Artifact, int, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Artifact | None:
        """The artifact of a key; what it holds by now is counted again."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        self.add(key, entry[0], entry[1])
        return entry[0]

    def add(self, key: str, artifact: Artifact, size: int) -> None:
        """Keep an artifact whose file has that size, and of the others as many as there is room
        for."""
        held = size + OBJECT_BYTES + artifact.held_bytes
        self.total += held - (self._entries[key][2] if key in self._entries else 0)
        self._entries[key] = artifact, size, held
        while self.total > self._capacity and len(self._entries) > 1:
            _, (_, _, gone) = self._entries.popitem(last=False)
            self.total -= gone
