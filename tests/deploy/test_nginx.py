"""How the shipped nginx.conf handles requests, tested with replicas that only answer with their port."""

import base64
import gzip
import hashlib
import http.client
import http.server
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar, NamedTuple

import pytest
import streamlit

from benchmarks.replicas import NGINX, SETTINGS, behind_nginx, settings_for
from tests.deploy.needs import needs_nginx

pytestmark = needs_nginx


class Replica(http.server.BaseHTTPRequestHandler):
    """A replica that answers every request with its port and the request's headers, and records the requested paths."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        port = self.server.server_address[1]
        body = f"{port}\n{self.headers}".encode()
        self.send_response(200)
        if self.path.endswith(".js"):
            self.send_header("Content-Type", "text/javascript")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Do not log single requests."""


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def body(self) -> str:
        return self.content.decode()

    @property
    def replica(self) -> str:
        """The port of the replica that answered."""
        return self.body.partition("\n")[0]


@contextmanager
def replica() -> Iterator[http.server.ThreadingHTTPServer]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Replica)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def address_of(server: http.server.ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def get(address: str, path: str = "/", **headers: str) -> Answer:
    """Send one request; returns the answer. In the names of headers, `_` stands for `-`."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return Answer(response.status, response.headers, content)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of an nginx in front of two replicas."""
    with replica() as one, replica() as two, behind_nginx(address_of(one), address_of(two)) as address:
        yield address


def cookie(answer: Answer) -> str:
    return (answer.headers["Set-Cookie"] or "").partition(";")[0]


def test_nginx_accepts_the_shipped_file(tmp_path: Path) -> None:
    check = subprocess.run([str(NGINX), "-t", "-p", tmp_path, "-c", SETTINGS], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stderr
    assert "warn" not in check.stderr


def test_the_tests_change_only_the_ports_of_the_shipped_file() -> None:
    settings = settings_for(["http://127.0.0.1:1", "http://127.0.0.1:2"], 3)
    shipped = SETTINGS.read_text(encoding="utf-8").split()
    changed = [(before, after) for before, after in zip(shipped, settings.split(), strict=True) if before != after]
    assert changed == [
        ("127.0.0.1:8501", "127.0.0.1:1"),
        ("127.0.0.1:8502", "127.0.0.1:2"),
        ("127.0.0.1:8080;", "127.0.0.1:3;"),
    ]


def test_a_visitor_stays_on_one_replica(address: str) -> None:
    first = get(address)
    assert re.fullmatch(r"headlight_visitor=[0-9a-f]{32}", cookie(first))
    assert "HttpOnly" in first.headers["Set-Cookie"]
    assert "SameSite=Lax" in first.headers["Set-Cookie"]
    again = [get(address, Cookie=cookie(first)) for _ in range(10)]
    assert {answer.replica for answer in again} == {first.replica}
    assert not any(answer.headers["Set-Cookie"] for answer in again)


def test_visitors_are_spread_over_the_replicas(address: str) -> None:
    assert len({get(address).replica for _ in range(40)}) == 2


def test_no_replica_gets_a_request_for_an_address_with_a_slash_at_its_end(address: str) -> None:
    """A replica's redirect repeats the query, and nginx would treat such a long answer as a sign of a broken replica."""
    Replica.asked.clear()
    query = "source=" + "x" * 9_000
    redirected = get(address, f"/attention/?{query}")
    assert (redirected.status, redirected.headers["Location"]) == (301, f"/attention?{query}")
    for path in ("/a/b/", "//elsewhere.example/", "/%5Celsewhere.example/", "/%0d%0aX:1/", "/attention/%2e/x/"):
        assert get(address, path).status == 404
    assert Replica.asked == []
    assert get(address, "/").status == 200


def test_a_cookie_that_nginx_did_not_make_is_replaced(address: str) -> None:
    assert re.fullmatch(r"headlight_visitor=[0-9a-f]{32}", cookie(get(address, Cookie="headlight_visitor=chosen")))


def test_visitors_of_a_dead_replica_go_to_the_other() -> None:
    with ExitStack() as stack:
        alive = stack.enter_context(replica())
        with replica() as dead:
            addresses = address_of(alive), address_of(dead)
        address = stack.enter_context(behind_nginx(*addresses))
        answers = [get(address) for _ in range(20)]
        assert {(answer.status, answer.replica) for answer in answers} == {(200, str(alive.server_address[1]))}


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("", 200),
        ("http://{host}", 200),
        ("https://{host}", 200),
        ("http://elsewhere.example", 403),
        ("http://elsewhere.example/{host}", 403),
        ("http://{host}.elsewhere.example", 403),
        ("null", 403),
    ],
)
def test_only_requests_from_own_pages_are_accepted(address: str, origin: str, status: int) -> None:
    host = address.removeprefix("http://")
    headers = {"Origin": origin.format(host=host)} if origin else {}
    answer = get(address, "/_stcore/stream", **headers)
    assert answer.status == status


def test_every_answer_has_the_security_headers(address: str) -> None:
    for answer in (get(address), get(address, "/_stcore/metrics")):
        headers = answer.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
        assert headers["Server"] == "nginx"


def test_the_policy_allows_only_own_scripts(address: str) -> None:
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    scripts = re.findall(r"<script>(.*?)</script>", index.read_text(encoding="utf-8"), re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = get(address).headers["Content-Security-Policy"]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    scripts_from = next(part for part in policy.split("; ") if part.startswith("script-src "))
    assert scripts_from.split()[1:] == ["'self'", *(f"'sha256-{digest}'" for digest in hashes), "blob:"]


def test_counters_of_the_server_are_not_public(address: str) -> None:
    assert get(address, "/_stcore/metrics").status == 404


@pytest.mark.parametrize(("letters", "status"), [(30_000, 200), (1_000_000, 414)])
def test_links_with_long_texts_are_accepted_and_endless_ones_are_refused(address: str, letters: int, status: int) -> None:
    link = f"/attention?source={'x' * letters}"
    referrer = {"Referer": f"{address}{link}"} if status == 200 else {}
    assert get(address, link, **referrer).status == status


def test_a_replica_gets_the_host_and_the_address_of_the_visitor(address: str) -> None:
    body = get(address).body.lower()
    assert f"host: {address.removeprefix('http://')}" in body
    assert "x-forwarded-for: 127.0.0.1" in body
    assert "x-forwarded-proto: http" in body


@pytest.mark.parametrize("path", ["/static/js/index.Dorm_vYx.js", "/headlight/54b78cb16b292a49/ui/format.js"])
def test_scripts_are_cached_and_compressed(address: str, path: str) -> None:
    first, *others = [get(address, path, Cookie=f"headlight_visitor={number:032x}") for number in range(8)]
    assert Replica.asked.count(path) == 1
    assert {answer.body for answer in others} == {first.body}
    assert first.headers["X-Frame-Options"] == "SAMEORIGIN"
    packed = get(address, path, Accept_Encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content).decode() == first.body
    assert Replica.asked.count(path) == 1


def test_answers_of_the_app_are_not_cached(address: str) -> None:
    path = "/_stcore/health-of-a-test"
    for _ in range(3):
        get(address, path)
    assert Replica.asked.count(path) == 3
