"""Messages between the process of a live training and the program that started it, over two pipes.

A message is a line of JSON. If its field `bytes` is above 0, this many bytes follow: a safetensors file.
"""

import json
from collections.abc import Mapping
from typing import IO, Any, NamedTuple


class Message(NamedTuple):
    """One message between the process of a live training and the program that started it.

    Attributes:
        kind: the kind of message, such as `pause` (a command) or `steps` (a report).
        values: named values of the types that JSON has.
        data: the contents of a file that is sent with the message; may be empty.
    """

    kind: str
    values: Mapping[str, Any]
    data: bytes = b""


def send(stream: IO[bytes], kind: str, data: bytes = b"", **values: Any) -> None:
    """Write one message to the stream: its kind, the contents of a file or nothing (`data`), and named values of JSON's types.

    Raises:
        OSError: the other process has ended.
        ValueError: a value is NaN or infinite, or the stream is closed.
    """
    head = {"kind": kind, "bytes": len(data), "values": values}
    stream.write(json.dumps(head, allow_nan=False).encode() + b"\n" + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Message | None:
    """Wait for the next message in the stream, and return it; None if the other process has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    head = json.loads(line)
    data = stream.read(head["bytes"])
    return Message(head["kind"], head["values"], data) if len(data) == head["bytes"] else None
