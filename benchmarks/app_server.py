"""A Streamlit server of this checkout in a separate process, for benchmarks and tests."""

import contextlib
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import psutil

ROOT = Path(__file__).parents[1]
PORTS = range(20_000, 32_000)  # below the ports that Linux gives to outgoing connections, 32768 to 60999
LOG_CHARACTERS = 4_000  # characters of a server's log that are shown after an error


class Server(NamedTuple):
    """A running Streamlit server.

    Attributes:
        address: `http://127.0.0.1:<port>`, or `http://127.0.0.1:<port>/<base>`.
        process: the server's process, from which its memory and processor time are read.
        log_file: the file of its standard error.
    """

    address: str
    process: psutil.Process
    log_file: IO[bytes]

    @property
    def log(self) -> str:
        """The end of the server's output on standard error."""
        self.log_file.seek(0)
        return self.log_file.read().decode(errors="replace")[-LOG_CHARACTERS:]

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the server has used so far, in all its threads."""
        if sys.platform == "linux":
            # The id of the clock of the server's process, computed as in `clock_getcpuclockid` of the C library. This clock
            # counts nanoseconds; `cpu_times` counts steps of 10 ms.
            return time.clock_gettime((~self.process.pid << 3) | 2)
        times = self.process.cpu_times()
        return times.user + times.system

    @property
    def megabytes(self) -> float:
        """Resident memory of the server now, in MB."""
        return self.process.memory_info().rss / 1e6


def free_port() -> int:
    """A port of this machine on which no program listens.

    The port is not left to the operating system (port 0), which would choose among the ports that it also gives to outgoing
    connections. A server that is stopped and started again could then find its port taken by a browser's connection.
    """
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"every port from {PORTS[0]} to {PORTS[-1]} is taken")


@contextlib.contextmanager
def serving(script: Path, port: int = 0, environment: dict[str, str] | None = None, base: str = "") -> Generator[Server]:
    """A new server of a script on this machine only; stopped at the end of the context.

    Args:
        script: the script for `streamlit run`.
        port: the port on which it listens; 0 for any free port.
        environment: environment variables in addition to those of this process.
        base: the path under which the app is put (`server.baseUrlPath`); a part of the server's address.

    Raises:
        RuntimeError: the server did not start within a minute, or ended before it had started.
    """
    port = port or free_port()
    options = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
    options += ["--server.baseUrlPath", base] if base else []
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    with started(command, port, ROOT, {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}, base) as server:
        yield server


@contextlib.contextmanager
def started(command: Sequence[str], port: int, folder: Path, environment: dict[str, str], base: str = "") -> Generator[Server]:
    """The server that a command starts; stopped at the end of the context.

    Args:
        command: the command line.
        port: the port on which the command starts the server.
        folder: the current folder of the new process.
        environment: all environment variables of the new process.
        base: the path under which the command puts the app.

    Raises:
        RuntimeError: the server did not start within a minute, or the command ended before the server had started.
    """
    log = tempfile.TemporaryFile()  # noqa: SIM115 (closed below, when the server has stopped)
    child = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=log)
    server = Server(f"http://127.0.0.1:{port}{'/' if base else ''}{base}", psutil.Process(child.pid), log)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=1):
                break
            if child.poll() is not None:
                raise RuntimeError(f"the command ended with the status {child.returncode}")
            time.sleep(0.1)
        else:
            raise RuntimeError("the server did not start within 60 s")
        yield server
    except BaseException as error:
        # A page only says that something failed. The log says why.
        error.add_note(f"The server's log ends with:\n{server.log}")
        raise
    finally:
        child.terminate()
        child.wait(60)  # ending can take more than 10 s on a busy machine
        log.close()
