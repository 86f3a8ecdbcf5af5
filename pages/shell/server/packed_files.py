"""Sends the scripts of the app, and the scripts and styles of Streamlit, compressed to a third of their bytes. This matters
when a whole class opens the app in one minute.

Streamlit does not compress its own files, because it would compress every file again for every visitor. Here each file is
compressed once and kept.
"""

import gzip
import re
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.ui.caches import cached
from pages.ui.compat import static_folder
from pages.ui.scripts import FOLDER, SCRIPTS

# The address of a script or style contains a digest of its content, so a browser may keep the file for a year.
FILE = re.compile(r"static/((?:js|css)/[\w.-]+\.(?:js|css))")
KEEP = "public, immutable, max-age=31536000"


class PackedFiles:
    """ASGI middleware that answers requests for scripts and styles, compressed if the browser accepts gzip. The app answers
    all other requests.

    Args:
        base: the path under which the operator has put the app (`server.baseUrlPath`).
    """

    def __init__(self, app: ASGIApp, base: str) -> None:
        self.app, self.base = app, base.strip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = below(self.base, scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else ""
        packs = path != "" and reads_gzip(dict(scope["headers"]))
        body = None
        if path in SCRIPTS or (packs and FILE.fullmatch(path)):
            body = await run_in_threadpool(packed if packs else content, path)
        if body is None and path.startswith(FOLDER):  # a script of another version; Streamlit would send the app's page
            await Response(status_code=404)(scope, receive, send)
        elif body is None:
            await self.app(scope, receive, send)
        else:
            headers = {"Vary": "Accept-Encoding", "Cache-Control": KEEP} | ({"Content-Encoding": "gzip"} if packs else {})
            kind = "text/css" if path.endswith(".css") else "text/javascript"
            await Response(body, 200, headers, kind)(scope, receive, send)


def below(base: str, path: str) -> str:
    """A request's path, relative to the path of the app. A path outside of it is returned unchanged."""
    return path.removeprefix(f"/{base}/" if base else "/")


def reads_gzip(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request asks for a whole file and accepts gzip. The names of the headers are in lower case."""
    accepted = [coding.replace(b" ", b"") for coding in headers.get(b"accept-encoding", b"").split(b",")]
    return b"range" not in headers and any(re.fullmatch(rb"gzip(;q=(1(\.0*)?|0?\.\d*[1-9]\d*))?", each) for each in accepted)


@cached
def packed(path: str) -> bytes | None:
    """The bytes of a script or style (`content`), compressed with gzip; None if there is no file with this path."""
    body = content(path)
    return None if body is None else gzip.compress(body, mtime=0)


def content(path: str) -> bytes | None:
    """The bytes of a script of the app, or of a script or style of Streamlit, by its path in the app's URL; None for others."""
    file = FILE.fullmatch(path)
    named = static_folder() / "static" / file[1] if file else None
    return SCRIPTS.get(path) or (named.read_bytes() if named and named.is_file() else None)
