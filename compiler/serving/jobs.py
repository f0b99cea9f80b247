"""A compilation as JSON and a text, and its outcome: what a service and its processes exchange."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, BinaryIO

from ..limits import Limits
from ..options import CompileOptions
from ..schema.options import SchemaOptions

# The fields of limits that bound; the clock and the memory at its start are no part of a job.
_BOUNDS = tuple(field.name for field in fields(Limits) if field.name != "meter")

# The exit code of what could not be written, for there was no room.
FULL = 73


@dataclass(frozen=True, slots=True)
class Job:
    """Compile ``text`` by ``options``; errors say ``name``. The artifact has its ``key``'s name in
    the folder ``root``, and is written by way of the folder ``own`` (``folder``).

    ``how``: then there is the ``body`` of a request in its place, which ``request_of`` reads by
    these options besides; what it asks for has no key so far. ``only_key``: nothing is compiled.
    """

    text: str
    options: CompileOptions
    root: str
    own: str
    name: str = "<grammar>"
    key: str = ""
    how: Mapping[str, Any] | None = None
    body: bytes = b""
    only_key: bool = False

    def written(self) -> tuple[bytes, bytes]:
        """The job as a line of JSON, in which its body is a number of bytes; and these, of its text
        where it has none."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        # subtle: writing a long text as JSON would hold up the server's other threads.
        octets = self.text.encode("utf-8", "surrogatepass") if self.how is None else self.body
        content |= {"options": options_to_json(self.options), "text": "", "body": len(octets)}
        return json.dumps(content).encode("ascii") + b"\n", octets

    @classmethod
    def read(cls, line: bytes, stream: BinaryIO) -> "Job":
        """The inverse of ``written``: a line of a stream, and what follows."""
        content = json.loads(line)
        content["body"] = stream.read(content["body"])
        if content["how"] is None:
            content["text"] = str(content["body"], "utf-8", "surrogatepass")
            content["body"] = b""
        return cls(**{**content, "options": options_of_json(content["options"])})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job. ``message``: why there is no artifact, empty if there is one.
    ``exit_code``: that of the error: 2 for what was asked for, 3 for a limit, 70 for a defect, 73
    for a disk that is full, 75 for a machine that had no time. ``key``: of the artifact, none where
    a request asks for no format; ``size``: of its file, if that was written now."""

    message: str = ""
    exit_code: int = 0
    key: str = ""
    size: int = 0

    def to_line(self) -> bytes:
        """The outcome as a line of JSON, with its line feed."""
        return json.dumps(asdict(self)).encode("ascii") + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> "Outcome":
        """The inverse of ``to_line``."""
        return cls(**json.loads(line))


def options_to_json(options: CompileOptions) -> dict[str, Any]:
    """The options as JSON values, without the clock."""
    schema = None if options.schema is None else asdict(options.schema)
    limits = {name: getattr(options.limits, name) for name in _BOUNDS}
    plain = replace(options, limits=Limits(**limits), schema=None, eos=list(options.eos))
    return {**asdict(plain), "schema": schema, "limits": limits}


def options_of_json(content: Mapping[str, Any]) -> CompileOptions:
    """The inverse of ``options_to_json``. Raises ``TypeError`` for fields that there are not and
    ``ValueError`` for values that they cannot have."""
    schema = content["schema"]
    if schema is not None:
        folders = tuple((uri, folder) for uri, folder in schema["schemas"])
        schema = SchemaOptions(**{**schema, "schemas": folders})
    plain = {"limits": Limits(**content["limits"]), "eos": tuple(content["eos"])}
    plain["include"] = tuple(content["include"])
    plain["define"] = tuple((name, regex) for name, regex in content["define"])
    return CompileOptions(**{**content, "schema": schema, **plain})
