"""Middleware of every request: its id, its log line, and its allowed origins."""

import json
from contextlib import closing
from http.client import HTTPConnection

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import PLACE
from app.store.database import Database
from tests.api.conftest import RunService, Serve
from tests.api.contract import problem

PORTAL = "https://portal.example"


class TestRequestId:
    """`X-Request-ID`: the caller's, or one of ours."""

    def test_one_of_ours(self, client: httpx.Client) -> None:
        ids = {client.get("/healthz").headers["x-request-id"] for _ in range(20)}
        assert len(ids) == 20
        assert all(len(bytes.fromhex(given)) == 16 for given in ids)

    @pytest.mark.parametrize("given", ["a", "req-1/2:3 4", "x" * 64])
    def test_the_callers(self, client: httpx.Client, given: str) -> None:
        response = client.get("/v1/nothing", headers={"X-Request-ID": given})
        assert response.headers["x-request-id"] == given
        assert problem(response, 404, "not_found")["request_id"] == given

    @pytest.mark.parametrize("given", [b"", b"x" * 65, b"\xc3\xa9"])
    def test_one_that_does_not_go_into_a_log(self, client: httpx.Client, given: bytes) -> None:
        response = client.get("/healthz", headers={b"X-Request-ID": given})
        assert len(bytes.fromhex(response.headers["x-request-id"])) == 16

    def test_content_is_not_sniffed(self, client: httpx.Client) -> None:
        for path in ("/healthz", "/v1/nothing", "/docs"):
            assert client.get(path).headers["x-content-type-options"] == "nosniff"


class TestLog:
    """Each request is one line of JSON, under its id."""

    def test_one_line_a_request(self, scratch: Database, run_service: RunService) -> None:
        with run_service(scratch, RACKPLAN_LOG_LEVEL="info", RACKPLAN_LOG_FORMAT="json") as service:
            service.client.get("/v1/plans?label=private%3Dyes", headers={"X-Request-ID": "mine"})
            service.client.get("/healthz", headers={"X-Request-ID": "probe"})
        # A line is written after its response: the log is complete once the service has ended.
        lines = [json.loads(line) for line in service.log.read_text().splitlines()]
        (line,) = [line for line in lines if line.get("request_id") == "mine"]
        said = {name: line[name] for name in ("event", "method", "path", "status", "level")}
        wanted = {"event": "request.answered", "method": "GET", "path": "/v1/plans", "status": 200, "level": "info"}
        assert said == wanted
        assert 0 <= line["seconds"] < 60
        assert "private" not in json.dumps(line)
        assert not [line for line in lines if line.get("request_id") == "probe"], "probes say nothing at this level"
        assert [line for line in lines if "/v1/plans" in json.dumps(line)] == [line], "uvicorn logs none"

    @pytest.mark.long
    def test_a_plan_has_its_kind_hash_solver_time_and_gap(self, scratch: Database, run_service: RunService) -> None:
        with run_service(scratch, RACKPLAN_LOG_LEVEL="info", RACKPLAN_LOG_FORMAT="json") as service:
            partitions = [{"partition": number, "replicas": [0, 1]} for number in range(6)]
            cluster = {
                "cluster": "log",
                "brokers": [{"id": broker, "rack": "r"} for broker in range(3)],
                "topics": [{"name": "t", "partitions": partitions}],
            }
            snapshot = service.client.post("/v1/snapshots", json=cluster).json()["id"]
            place = PLACE | {"snapshot_id": snapshot}
            answers = {
                "placed": service.client.post("/v1/plans/replicas", json=place, headers={"X-Request-ID": "placed"}),
                "moved": service.client.post(
                    "/v1/plans/reassignment",
                    json={"snapshot_id": snapshot, "remove_brokers": [1]},
                    headers={"X-Request-ID": "moved"},
                ),
                "rejected": service.client.post(
                    "/v1/plans/reassignment",
                    json={"snapshot_id": snapshot, "remove_brokers": [77]},
                    headers={"X-Request-ID": "rejected"},
                ),
                "invalid": service.client.post("/v1/plans/replicas", json={}, headers={"X-Request-ID": "invalid"}),
                "missing": service.client.get("/v1/plans/x", headers={"X-Request-ID": "missing"}),
            }
        lines = [json.loads(line) for line in service.log.read_text().splitlines()]
        by_id = {line.get("request_id"): line for line in lines if line["event"] == "request.answered"}
        for name, kind in (("placed", "replicas"), ("moved", "reassignment")):
            plan, line = answers[name].json(), by_id[name]
            assert (line["plan_kind"], line["plan_hash"], line["status"]) == (kind, plan["hash"], 201)
            assert 0 <= line["solver_seconds"] <= line["seconds"]
            assert "code" not in line
        assert by_id["moved"]["gap"] == answers["moved"].json()["certificate"]["gap"]
        assert "gap" not in by_id["placed"], "a replayed draw is no optimisation"
        rejected = by_id["rejected"]
        assert (rejected["plan_kind"], rejected["code"]) == ("reassignment", "unknown_broker")
        assert answers["rejected"].json()["code"] == rejected["code"]
        assert not {"plan_hash", "solver_seconds", "gap"} & set(rejected)
        assert (by_id["invalid"]["code"], by_id["missing"]["code"]) == ("validation", "not_found")


class TestSameOrigin:
    """A page of another origin may not make a browser change something here."""

    @pytest.mark.parametrize(
        "origin", ["https://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "null", "x", "http://[", ""]
    )
    def test_another_origin(self, client: httpx.Client, origin: str) -> None:
        response = client.post("/v1/plans/replicas", json=PLACE, headers={"Origin": origin})
        problem(response, 403, "forbidden")
        assert "access-control-allow-origin" not in response.headers

    def test_its_own(self, client: httpx.Client) -> None:
        origin = str(client.base_url).rstrip("/")
        assert client.post("/v1/plans/replicas", json=PLACE, headers={"Origin": origin}).status_code == 201

    def test_reading_changes_nothing(self, client: httpx.Client) -> None:
        response = client.get("/v1/plans", headers={"Origin": "https://evil.example"})
        assert response.status_code == 200
        assert "access-control-allow-origin" not in response.headers, "so that the page cannot read it"


class TestHost:
    """A service on a loopback address goes by this machine's names, so that no page can be of its origin."""

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""])
    def test_another_name(self, client: httpx.Client, host: str) -> None:
        """A request of a page whose name points to this machine: origin and host agree."""
        headers = {"Host": host, "Origin": f"http://{host}"}
        problem(client.get("/v1/plans", headers=headers), 403, "forbidden")
        problem(client.post("/v1/plans/replicas", json=PLACE, headers=headers), 403, "forbidden")

    @pytest.mark.parametrize(
        "host", ["localhost:x", "::1", "[::1", "localhost, evil.example", "localhost@evil.example"]
    )
    def test_what_is_no_host(self, client: httpx.Client, host: str) -> None:
        problem(client.get("/v1/plans", headers={"Host": host}), 403, "forbidden")

    def test_two_names(self, client: httpx.Client) -> None:
        """This process reads the first; a proxy may have read the last."""
        for last in ("evil.example", "localhost"):
            with closing(HTTPConnection(client.base_url.host, client.base_url.port, timeout=20)) as connection:
                connection.putrequest("GET", "/v1/plans", skip_host=True)
                for name in ("localhost", last):
                    connection.putheader("Host", name)
                connection.endheaders()
                assert connection.getresponse().status == 403

    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1", "[::1]:8080"])
    def test_this_machines_names(self, client: httpx.Client, host: str) -> None:
        assert client.get("/v1/plans", headers={"Host": host}).status_code == 200

    def test_a_name_that_the_operator_allowed(self, scratch: Database, serve: Serve) -> None:
        behind_a_proxy = serve(scratch, allowed_hosts=("Rackplan.example",))
        assert behind_a_proxy.get("/v1/plans", headers={"Host": "rackplan.example"}).status_code == 200
        assert behind_a_proxy.get("/v1/plans", headers={"Host": "evil.example"}).status_code == 403


class TestCors:
    """Origins that the operator allowed."""

    @pytest.fixture
    def portal(self, scratch: Database, serve: Serve) -> httpx.Client:
        return serve(scratch, allowed_origins=(PORTAL,))

    def test_preflight(self, portal: httpx.Client) -> None:
        headers = {
            "Origin": PORTAL,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type, idempotency-key, if-match, prefer",
        }
        response = portal.options("/v1/plans/replicas", headers=headers)
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == PORTAL
        assert {"GET", "POST", "DELETE"} <= set(response.headers["access-control-allow-methods"].split(", "))

    def test_it_may_read_and_write(self, portal: httpx.Client) -> None:
        headers = {"Origin": PORTAL}
        for response in (
            portal.get("/v1/plans", headers=headers),
            portal.post("/v1/plans/replicas", json=PLACE, headers=headers),
            portal.post("/v1/plans/replicas", json={}, headers=headers),
        ):
            assert response.headers["access-control-allow-origin"] == PORTAL
            exposed = {name.strip() for name in response.headers["access-control-expose-headers"].split(",")}
            assert {"ETag", "Location", "Retry-After", "X-Request-ID"} <= exposed

    def test_it_may_read_why_the_service_failed(self, portal: httpx.Client, scratch: Database) -> None:
        with scratch.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE plans RENAME TO elsewhere"))
        response = portal.get("/v1/plans", headers={"Origin": PORTAL})
        problem(response, 500, "internal_error")
        assert response.headers["access-control-allow-origin"] == PORTAL

    def test_others_may_not(self, portal: httpx.Client) -> None:
        headers = {"Origin": "https://evil.example"}
        assert "access-control-allow-origin" not in portal.get("/v1/plans", headers=headers).headers
        problem(portal.post("/v1/plans/replicas", json=PLACE, headers=headers), 403, "forbidden")
        headers = headers | {"Access-Control-Request-Method": "POST"}
        assert "access-control-allow-origin" not in portal.options("/v1/plans/replicas", headers=headers).headers

    def test_no_origin_is_allowed_by_default(self, client: httpx.Client) -> None:
        headers = {"Origin": PORTAL, "Access-Control-Request-Method": "POST"}
        problem(client.options("/v1/plans/replicas", headers=headers), 405, "method_not_allowed")
