"""The reverse proxy of docker-compose.yml, as nginx runs it before a service: slow clients occupy the proxy alone."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which

import httpx
import psutil
import pytest

from app.settings import Settings
from app.store.database import Database
from tests.api.conftest import Serve
from tests.service import client_of

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "proxy" / "nginx.conf"
NGINX = which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
WITHIN_S = 60.0
SLOW_CLIENTS = 8
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def _port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _until(condition: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < ends, what
        time.sleep(0.05)


@contextmanager
def _proxied(service: str, folder: Path) -> Iterator[str]:
    """The address of a proxy with the configuration of the deployment, but for addresses and folders."""
    port, text = _port(), CONFIGURATION.read_text(encoding="utf-8")
    for right, here in (
        ("server api:8080 ", f"server {service.removeprefix('http://')} "),
        ("listen 8080;", f"listen 127.0.0.1:{port};"),
        ("/tmp/", f"{folder}/"),  # noqa: S108
        ("/dev/stderr", f"{folder}/errors.log"),
    ):
        assert right in text
        text = text.replace(right, here)
    # Started by root, its workers would run as an account that cannot write to the folder.
    (folder / "nginx.conf").write_text(text if _is_user() else f"user root;\n{text}", encoding="utf-8")
    assert NGINX is not None
    command = [NGINX, "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors.log"), "-g", "daemon off;"]
    with subprocess.Popen(command) as nginx:
        try:
            _until(lambda: nginx.poll() is None and _listens(port), "the proxy did not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            nginx.terminate()
            nginx.wait(WITHIN_S)


def _is_user() -> bool:
    return psutil.Process().uids().effective != 0


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def behind(serve: Serve, database: Database, tmp_path: Path) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """A client of a service and one of a proxy before it, which the service trusts."""
    direct = serve(database, trusted_proxies="127.0.0.1/32", rate_per_address=3)
    with _proxied(str(direct.base_url).rstrip("/"), tmp_path) as address, client_of(address) as client:
        yield direct, client


def _large_answer(client: httpx.Client) -> str:
    """The path of an answer that no buffers of sockets hold."""
    body = {
        "brokers": [{"id": i} for i in range(9)],
        "algorithm": "striped",
        "topics": [{"name": "wide", "partitions": 400_000, "replication_factor": 3}],
    }
    plan = client.post("/v1/plans/replicas", json=body).raise_for_status().json()
    return f"/v1/plans/{plan['id']}/export?format=csv"


def _done(direct: httpx.Client) -> int:
    """Exports that services of this process have answered to the end."""
    metrics = direct.get("/metrics").text.splitlines()
    counted = [line for line in metrics if line.startswith("rackplan_requests_total{") and "export" in line]
    return sum(int(float(line.split()[-1])) for line in counted)


class TestSlowClients:
    @pytest.mark.long
    def test_what_a_client_does_not_read_is_in_the_proxy(
        self, serve: Serve, database: Database, tmp_path: Path
    ) -> None:
        """The service has sent all answers while no client has read one; directly, it has sent none."""
        direct = serve(database)
        path = _large_answer(direct)
        before = _done(direct)
        with _proxied(str(direct.base_url).rstrip("/"), tmp_path) as proxy, ExitStack() as opened:
            for _ in range(SLOW_CLIENTS):
                _request(opened, str(direct.base_url), f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in range(SLOW_CLIENTS):
                _request(opened, proxy, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _until(lambda: _done(direct) - before >= SLOW_CLIENTS, "the service waits for clients of the proxy")
            assert _done(direct) - before == SLOW_CLIENTS
            assert direct.get("/healthz").status_code == 200

    def test_half_a_request_does_not_reach_the_service(self, behind: tuple[httpx.Client, httpx.Client]) -> None:
        direct, proxied = behind
        with ExitStack() as opened:
            for _ in range(SLOW_CLIENTS):
                _request(opened, str(proxied.base_url), "POST /v1/snapshots HTTP/1.1\r\nHost: localhost\r\nContent-Le")
                head = "POST /v1/snapshots HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
                _request(opened, str(proxied.base_url), head + "half a body")
            assert proxied.get("/healthz").status_code == 200
            ours = psutil.Process().net_connections("tcp")  # the service is in this process
            accepted = [each for each in ours if each.laddr.port == direct.base_url.port and each.raddr]
            assert len(accepted) < SLOW_CLIENTS


class TestPassed:
    def test_a_client_cannot_choose_its_address(self, behind: tuple[httpx.Client, httpx.Client]) -> None:
        """Loopback has no limit of rates, so that the client would get one by the header that it sends."""
        direct, proxied = behind
        claimed = {"X-Forwarded-For": "203.0.113.9"}
        assert [proxied.get("/v1/plans", headers=claimed).status_code for _ in range(6)] == [200] * 6
        assert 429 in [direct.get("/v1/plans", headers=claimed).status_code for _ in range(6)]

    def test_events_arrive_one_by_one(self, behind: tuple[httpx.Client, httpx.Client]) -> None:
        """The first event of a job that no worker takes, while the stream is open."""
        _, proxied = behind
        body = {"brokers": [{"id": 1}], "topics": [{"name": "t", "partitions": 1, "replication_factor": 1}]}
        job = proxied.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"}).raise_for_status()
        with proxied.stream("GET", f"{job.headers['Location']}/events") as stream:
            assert next(stream.iter_lines()) == "event: progress"

    def test_errors_are_problems(self, behind: tuple[httpx.Client, httpx.Client], tmp_path: Path) -> None:
        """Of the service up to a size, of the proxy above it, and of the proxy if the service does not answer."""
        _, proxied = behind
        most = Settings.model_fields["max_body_bytes"].default
        for size, code in ((most + 1, "limit_exceeded"), (33 << 20, None)):
            answer = proxied.post("/v1/snapshots", content=b" " * size, headers={"Content-Type": "text/plain"})
            assert answer.status_code == 413
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.json().get("code") == code
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        with _proxied(f"http://127.0.0.1:{_port()}", elsewhere) as address, client_of(address) as client:
            answer = client.get("/v1/plans")
            assert (answer.status_code, answer.json()["status"]) == (503, 503)
            assert answer.headers["Retry-After"] == "5"


def _request(opened: ExitStack, address: str, text: str) -> None:
    """Send the beginning of a request and read nothing, on a connection that stays open."""
    host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
    opened.enter_context(socket.create_connection((host, int(port)))).sendall(text.encode())
