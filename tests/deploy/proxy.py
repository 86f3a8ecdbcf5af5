"""Replicas of the app behind nginx with the shipped settings, on this machine only."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.session import ROOT

SETTINGS = ROOT / "deploy" / "nginx.conf"
# Debian installs it where only root's PATH looks.
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_nginx = pytest.mark.skipif(
    not NGINX and os.environ.get("HEADLIGHT_BROWSER") != "required", reason="no nginx found; install Debian's nginx"
)


def settings_for(replicas: Sequence[str], port: int) -> str:
    """The shipped nginx.conf with other ports, and nothing else changed.

    Args:
        replicas: addresses of the servers, `http://127.0.0.1:<port>`, one for each `server` line.
        port: where nginx listens.
    """
    settings = SETTINGS.read_text(encoding="utf-8").replace("listen 127.0.0.1:8080;", f"listen 127.0.0.1:{port};")
    lines = iter(replicas)
    changed, count = re.subn(
        r"server 127\.0\.0\.1:85\d\d ", lambda _: f"server 127.0.0.1:{urlsplit(next(lines)).port} ", settings
    )
    assert count == len(replicas), f"nginx.conf names {count} replicas; expected {len(replicas)}"
    return changed


@contextlib.contextmanager
def behind_nginx(*replicas: str) -> Iterator[str]:
    """The address of a new nginx in front of the replicas; stopped at the end of the context.

    Raises:
        RuntimeError: it did not answer within 10 s.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not pytest's tmp_path: nginx started by root works as another user, who cannot enter it.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        settings = Path(folder, "nginx.conf")
        settings.write_text(settings_for(replicas, port), encoding="utf-8")
        assert NGINX, "nginx is missing; install Debian's nginx"
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
