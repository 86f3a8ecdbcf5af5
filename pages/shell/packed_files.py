"""Streamlit's scripts and styles, sent compressed: a third of the bytes, for a class that opens the app in one minute.

Streamlit sends them as they are, because its own compression would do the same work for every visitor. Here each file is
compressed once and kept.
"""

import gzip
import mimetypes
import re
from collections.abc import Mapping

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.ui.caches import cached
from pages.ui.compat import static_folder

# Their names have a digest of what is in them, so a browser may keep them for a year.
FILE = re.compile(r"/static/((?:js|css)/[\w.-]+\.(?:js|css))")
KEEP = "public, immutable, max-age=31536000"


class PackedFiles:
    """ASGI middleware: a browser that reads gzip gets scripts and styles in it. Everything else is answered as before."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = FILE.fullmatch(below_base(scope["path"])) if scope["type"] == "http" and scope["method"] == "GET" else None
        if file and reads_gzip(dict(scope["headers"])):
            body = await run_in_threadpool(packed, file[1])
            if body is not None:
                headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Cache-Control": KEEP}
                await Response(body, 200, headers, mimetypes.guess_type(file[1])[0])(scope, receive, send)
                return
        await self.app(scope, receive, send)


def below_base(path: str) -> str:
    """A request's path without `server.baseUrlPath`, below which an operator can put the app; the path itself if it is not
    below."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return path.removeprefix(f"/{base}") if base and path.startswith(f"/{base}/") else path


def reads_gzip(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request with these headers, their names in lower case, asks for a whole file and may get it in gzip."""
    accepted = [coding.replace(b" ", b"") for coding in headers.get(b"accept-encoding", b"").split(b",")]
    return b"range" not in headers and any(re.fullmatch(rb"gzip(;q=(1(\.0*)?|0?\.\d*[1-9]\d*))?", each) for each in accepted)


@cached
def packed(name: str) -> bytes | None:
    """A file of Streamlit's static folder in gzip; None if there is none of that name."""
    file = static_folder() / "static" / name
    return gzip.compress(file.read_bytes(), mtime=0) if file.is_file() else None
