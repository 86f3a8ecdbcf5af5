"""Middleware that handles requests before Streamlit does. `app.py` passes it to `st.App`."""

from collections.abc import Mapping
from urllib.parse import urlsplit

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
    """ASGI middleware that keeps pages of other sites from opening a session and from reading an answer.

    Streamlit does the same, but it also compares the other site with the public address of this machine. To find that address
    it asks another host, and for up to 2 seconds no request is served. This class does not ask. So a browser must request the
    app under its public address, or that address must be in `server.corsAllowedOrigins`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and is_foreign(dict(scope["headers"])):
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


def is_foreign(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request with these headers, their names in lower case, comes from a page of another site."""
    origin = headers.get(b"origin")
    if origin is None or not st.get_option("server.enableCORS"):
        return False
    try:
        site = urlsplit(origin.decode("latin-1"))
        named = [urlsplit(allowed.strip()).hostname for allowed in st.get_option("server.corsAllowedOrigins")]
    except ValueError:  # not an address
        return True
    own_address = st.get_option("browser.serverAddress")
    return site.netloc.encode("latin-1") != headers.get(b"host") and site.hostname not in {*LOCAL_NAMES, own_address, *named}


def middleware() -> list[Middleware]:
    """The middleware of the app."""
    return [Middleware(OwnPagesOnly), Middleware(BytesOnly), Middleware(PackedFiles)]
