"""A small hub on this machine, which serves folders of models as the real hub does."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """The models of the hub, and its faults.

    Attributes:
        models: id → folder.
        announced: name of a file → a size that the hub announces instead of the real one.
        digests: name of a file of weights → a digest that the hub lists instead of the real one.
        breaks: name of a file → number of bytes after which a connection is interrupted, once.
        gate: while it is not set, no file larger than 5 kB is served.
        requests: paths and ranges of all requests for files.
        listings: number of requests for the list of files.
    """

    def __init__(self, **models: Path) -> None:
        self.models = {name.replace("__", "/"): path for name, path in models.items()}
        self.announced: dict[str, int] = {}
        self.digests: dict[str, str] = {}
        self.breaks: dict[str, int] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.requests: list[tuple[str, str | None]] = []
        self.listings = 0
        self.address = ""


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve a hub, and set its `address`."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            listing = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/?]+))?(?:\?.*)?", self.path)
            file = re.fullmatch(rf"/([^/]+/[^/]+)/resolve/{COMMIT}/([^/]+)", self.path)
            if listing and listing[1] in hub.models:
                hub.listings += 1
                if listing[2] not in (None, "main", "v1", COMMIT):
                    self._refuse("RevisionNotFound")
                else:
                    self._answer(200, json.dumps(self._listing(listing[1])).encode(), {"Content-Type": "application/json"})
            elif file and file[1] in hub.models and (hub.models[file[1]] / file[2]).is_file():
                self._file(file[2], (hub.models[file[1]] / file[2]).read_bytes())
            else:
                self._refuse("RepoNotFound")

        def _listing(self, name: str) -> dict[str, Any]:
            siblings = []
            for path in sorted(hub.models[name].iterdir()):
                data = path.read_bytes()
                size = hub.announced.get(path.name, len(data))
                one: dict[str, Any] = {"rfilename": path.name, "size": size, "blobId": "0" * 40}
                if path.suffix == ".safetensors":
                    digest = hub.digests.get(path.name, hashlib.sha256(data).hexdigest())
                    one["lfs"] = {"size": size, "sha256": digest, "pointerSize": 134}
                siblings.append(one)
            return {"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}

        def _file(self, name: str, data: bytes) -> None:
            about = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT}
            if self.command == "HEAD":
                self._answer(200, data, about)
                return
            wanted = self.headers.get("Range")
            hub.requests.append((name, wanted))
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            if len(data) > 5000:
                hub.gate.wait(20)
            body, cut = data[start:], hub.breaks.pop(name, None)
            headers = about | ({"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if wanted else {})
            self._answer(206 if wanted else 200, body, headers, cut)

        def _refuse(self, code: str) -> None:
            self._answer(404, b"{}", {"X-Error-Code": code})

        def _answer(self, status: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body[:cut])

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        hub.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
