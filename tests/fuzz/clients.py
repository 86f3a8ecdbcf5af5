"""Clients of a real server on this machine: ordinary, hostile and slow."""

import contextlib
import socket
from typing import Any
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.app_server import Server
from benchmarks.session import Session

ANSWER = 60.0  # seconds that a client waits at most for an answer, on a busy machine
LONG_QUERY = "source=" + "x" * 1_000_000


async def visit(server: Server, page: str = "tokens") -> None:
    """Open a page as an ordinary visitor, then disconnect. Raises `PageError`."""
    session = Session(server, page, {"model": "reverse", "source": "abc"})
    try:
        await session.open()
    finally:
        await session.close()


def connected(server: Server) -> Any:
    """A websocket to the server, as a context."""
    address = f"{server.address.replace('http', 'ws', 1)}/_stcore/stream"
    return websockets.connect(address, subprotocols=[websockets.Subprotocol("streamlit")])


def start_of_run(query: str) -> bytes:
    """The message with which a browser starts a run of the page at `/`."""
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


class SlowSenders:
    """Connections that send a request byte by byte until they are closed.

    Args:
        address: the address of the server.
        requests: for each connection, the bytes that are sent immediately, and the bytes that are sent one by one.
    """

    def __init__(self, address: str, requests: list[tuple[bytes, bytes]]) -> None:
        host = urlsplit(address)
        self.waiting = [bytearray(slow) for _, slow in requests]
        self.sockets = [socket.create_connection((host.hostname, host.port), timeout=ANSWER) for _ in requests]
        for connection, (quick, _) in zip(self.sockets, requests, strict=True):
            connection.sendall(quick)
            connection.setblocking(False)

    def send_a_byte(self) -> None:
        """Send the next byte on each connection that the server has not closed."""
        for connection, rest in zip(self.sockets, self.waiting, strict=True):
            with contextlib.suppress(OSError):
                connection.send(bytes([rest.pop(0)]))

    @property
    def open(self) -> int:
        """The number of connections that the server has neither answered nor closed."""
        count = 0
        for connection in self.sockets:
            try:
                connection.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                count += 1
            except OSError:
                pass
        return count

    def close(self) -> None:
        for connection in self.sockets:
            connection.close()


# Half of the connections send a header slowly, the other half an upload.
SLOW_HEADER = b"GET /attention HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"x" * 1_000
SLOW_UPLOAD = (
    b"PUT /_stcore/upload_file/session/file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 900000\r\n\r\n",
    b"x" * 1_000,
)
SLOW_REQUESTS = [SLOW_HEADER, SLOW_UPLOAD] * 25
