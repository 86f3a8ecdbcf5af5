"""Several servers of the app behind nginx with the shipped settings, on this machine only."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.app_server import ROOT, Server, free_port, serving

SETTINGS = ROOT / "deploy" / "nginx.conf"
# Debian installs nginx in a folder that is only in root's PATH.
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SERVER_LINES = re.compile(r"(?: +server 127\.0\.0\.1:85\d\d(.*);\n)+")


class Replicas(NamedTuple):
    """Running servers of one app.

    Attributes:
        address: address of the nginx in front of the servers.
        servers: the replicas.
    """

    address: str
    servers: Sequence[Server]

    @property
    def cpu_seconds(self) -> float:
        """Processor time that all servers, not counting nginx, have used so far."""
        return sum(server.cpu_seconds for server in self.servers)

    @property
    def megabytes(self) -> float:
        """Resident memory of all servers now, in MB."""
        return sum(server.megabytes for server in self.servers)


@contextlib.contextmanager
def serving_replicas(script: Path, count: int, environment: dict[str, str] | None = None) -> Generator[Replicas]:
    """New servers of a script behind nginx; stopped at the end of the context. Raises `RuntimeError`, as `serving` does."""
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(count) as starting:

        def start(_: int) -> Server:
            return stack.enter_context(serving(script, environment=environment))

        servers = list(starting.map(start, range(count)))
        address = stack.enter_context(behind_nginx(*(server.address for server in servers)))
        yield Replicas(address, servers)


@contextlib.contextmanager
def behind_nginx(*replicas: str) -> Generator[str]:
    """The address of a new nginx in front of replicas; stopped at the end of the context.

    Raises:
        RuntimeError: nginx is not installed, or did not answer within 10 s.
    """
    if not NGINX:
        raise RuntimeError("nginx is missing; install Debian's nginx")
    port = free_port()
    # Not pytest's tmp_path: if root starts nginx, nginx runs as another user, who cannot enter that folder.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        settings = Path(folder, "nginx.conf")
        settings.write_text(settings_for(replicas, port), encoding="utf-8")
        nginx = subprocess.Popen([NGINX, "-p", folder, "-c", settings, "-g", "daemon off;"])
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.1)
            else:
                raise RuntimeError("nginx did not answer within 10 s")
            yield f"http://127.0.0.1:{port}"
        finally:
            nginx.terminate()
            nginx.wait(10)


def settings_for(replicas: Sequence[str], port: int) -> str:
    """The shipped nginx.conf with other ports, a `server` line for each replica, and nothing else changed.

    Args:
        replicas: addresses of the servers, `http://127.0.0.1:<port>`.
        port: the port on which nginx listens.
    """
    settings = SETTINGS.read_text(encoding="utf-8").replace("listen 127.0.0.1:8080;", f"listen 127.0.0.1:{port};")
    ports = [urlsplit(replica).port for replica in replicas]
    return SERVER_LINES.sub(lambda lines: "".join(f"server 127.0.0.1:{port}{lines[1]};\n" for port in ports), settings)


def cookie_of(address: str) -> str:
    """The cookie that nginx gives to a new visitor, as a browser sends it back."""
    with urllib.request.urlopen(address, timeout=10) as response:
        return response.headers["Set-Cookie"].partition(";")[0]
