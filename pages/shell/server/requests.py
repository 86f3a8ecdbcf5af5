"""Middleware that handles requests before Streamlit does. `app.py` passes it to `st.App`."""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shell.server.packed_files import PackedFiles

# Streamlit accepts pages from these names of the machine, too, whatever the requested host is.
LOCAL_NAMES = frozenset({"localhost", "0.0.0.0", "127.0.0.1"})
# Closing codes of the websocket protocol: for a page of another site (the server then answers 403), and for a message of the
# wrong kind.
POLICY_VIOLATION, UNSUPPORTED_DATA = 1008, 1003


class OwnPagesOnly:
    """ASGI middleware that keeps pages of other sites from opening a session and from reading a response.

    Streamlit does the same, but it also compares the other site with the public address of this machine. To find that address
    it asks another host, and for up to 2 seconds no request is served. This class does not ask. So a browser must request the
    app under its public address, or that address must be in `server.corsAllowedOrigins`.

    Args:
        hosts: the hosts whose pages are allowed, whatever host a request names.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and is_foreign(dict(scope["headers"]), self.hosts):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return
            # Without this header in the request, the answer does not allow the other site to read it.
            scope = {**scope, "headers": [header for header in scope["headers"] if header[0] != b"origin"]}
        await self.app(scope, receive, send)


class BytesOnly:
    """ASGI middleware that closes a websocket if it sends text. Streamlit's own page sends only bytes, and its server would
    raise an error on text."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_bytes() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and message.get("bytes") is None:
                await send({"type": "websocket.close", "code": UNSUPPORTED_DATA})
                return {"type": "websocket.disconnect", "code": UNSUPPORTED_DATA}
            return message

        await self.app(scope, receive_bytes if scope["type"] == "websocket" else receive, send)


def is_foreign(headers: Mapping[bytes, bytes], hosts: Collection[str]) -> bool:
    """Whether a request comes from a page of another site: neither of the requested host nor of one of `hosts`. False without
    an `origin` header. The names of the headers are in lower case."""
    origin = headers.get(b"origin")
    if origin is None:
        return False
    site = _site(origin.decode("latin-1"))
    return site is None or (site.netloc.encode("latin-1") != headers.get(b"host") and site.hostname not in hosts)


def _site(origin: str) -> SplitResult | None:
    """The parts of an address; None if the text is not an address."""
    try:
        return urlsplit(origin.strip())
    except ValueError:
        return None


def middleware(option: Callable[[str], Any] = st.get_option) -> list[Middleware]:
    """The middleware of the app. `option` returns a setting of the server by its name."""
    allowed = (site.hostname for origin in option("server.corsAllowedOrigins") if (site := _site(origin)))
    hosts = frozenset(filter(None, (*LOCAL_NAMES, option("browser.serverAddress"), *allowed)))
    own_pages = [Middleware(OwnPagesOnly, hosts=hosts)] if option("server.enableCORS") else []
    return [*own_pages, Middleware(BytesOnly), Middleware(PackedFiles, base=option("server.baseUrlPath"))]
