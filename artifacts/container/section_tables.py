"""Tables whose arrays are sections of a file, one a field."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SectionTables:
    """A field is the section of its name after ``PREFIX``."""

    PREFIX: ClassVar[str]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The sections of an artifact."""
        found: dict[str, Any] = {each.name: arrays[cls.PREFIX + each.name] for each in fields(cls)}
        return cls(**found)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {self.PREFIX + each.name: getattr(self, each.name) for each in fields(self)}
