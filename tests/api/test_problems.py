"""Every failure is a problem document (RFC 9457): the domain's, the framework's and the machine's."""

import gzip
import re
import socket
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import event, given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from app.api.problems.codes import OF_HTTP
from app.api.problems.field_errors import field_errors, within_body
from app.api.problems.responses import OF_OPERATIONS, STATUS, status_of
from app.errors import Failure
from app.errors.crossing import FAILURES
from app.errors.machine import MachineRefuses
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import SNAPSHOT_ID, UNKNOWN_ID, only_error, place, problem, topic
from tests.api.operations import IDS
from tests.conftest import ROOT
from tests.documents import Document

JSON = {"Content-Type": "application/json"}
ELEVEN_MB = 11 * 1024 * 1024


def _subclasses(base: type[Failure]) -> Iterator[type[Failure]]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


class TestStatuses:
    """Every failure has a code, a title and a status, or is for the operator of the machine only."""

    def test_every_failure_has_a_status_unless_only_the_operator_can_act_on_it(self) -> None:
        without = {failure for failure in _subclasses(Failure) if status_of(failure) is None}
        assert without == {failure for failure in _subclasses(Failure) if issubclass(failure, MachineRefuses)}
        assert all(status >= 400 for status in STATUS.values())

    def test_most_statuses_are_those_of_a_category(self) -> None:
        """A row of the table is a category, or one failure that no category fits."""
        assert len(STATUS) < 15
        own = {status for failure, status in STATUS.items() if "code" in vars(failure)}
        categories = {status for failure, status in STATUS.items() if "code" not in vars(failure)}
        assert categories == {422, 404, 409, 503}
        assert not own & categories

    def test_the_registry_has_every_failure(self) -> None:
        """By its code; a failure outside `app.errors`, or without a title, would be missing."""
        concrete = {failure for failure in _subclasses(Failure) if "title" in vars(failure)}
        assert set(FAILURES.values()) == {failure for failure in concrete if failure.__module__.startswith("app.")}
        assert all(code == failure.code for code, failure in FAILURES.items())

    def test_the_table_of_operations_names_operations_and_failures(self) -> None:
        """A misspelt id would leave an operation without its failures."""
        assert OF_OPERATIONS.keys() <= set(IDS)
        assert {code for codes in OF_OPERATIONS.values() for code in codes} <= FAILURES.keys()

    def test_codes_and_titles_are_unique(self) -> None:
        concrete = {failure for failure in _subclasses(Failure) if "title" in vars(failure)}
        assert len({failure.code for failure in concrete}) == len(concrete)
        assert len({failure.title for failure in concrete}) == len(concrete)
        assert all(failure.title for failure in concrete)

    def test_a_code_is_the_class_name_unless_the_class_states_another(self) -> None:
        derived = {failure: re.sub(r"(?<!^)(?=[A-Z])", "_", failure.__name__).lower() for failure in FAILURES.values()}
        stated = {failure.__name__: code for code, failure in FAILURES.items() if code != derived[failure]}
        assert stated == {
            "NotFeasible": "infeasible_reassignment",
            "LogDirsTooSmall": "infeasible_log_dirs",
            "InvalidField": "validation",
            "DatabaseUnavailable": "unavailable",
        }

    def test_a_category_has_neither_code_nor_title(self) -> None:
        categories = {failure for failure in _subclasses(Failure) if "title" not in vars(failure)}
        assert {failure.__name__ for failure in categories} == {
            "Unprocessable",
            "NotFound",
            "Conflict",
            "KafkaRefuses",
            "MachineRefuses",
            "Unavailable",
        }
        assert not any(hasattr(failure, "code") for failure in categories)

    def test_codes_are_those_of_the_contract(self) -> None:
        """Callers branch on codes: the documentation lists every one, and none disappears when a class is renamed."""
        rows = Document(ROOT / "docs" / "problems.md").table("code", "status", "meaning")
        assert {code.strip("`") for code, *_ in rows} == set(FAILURES) | set(OF_HTTP)


class TestFramework:
    """Failures before an operation is reached."""

    def test_404(self, client: httpx.Client) -> None:
        assert "/v2/plans" in problem(client.get("/v2/plans"), 404, "not_found")["detail"]
        problem(client.get("/v1/plans/none-of-ours"), 404, "not_found")

    @pytest.mark.parametrize(
        ("method", "path", "allowed"),
        [
            ("PUT", "/v1/snapshots", {"GET", "POST"}),
            ("PUT", f"/v1/plans/{UNKNOWN_ID}", {"GET", "DELETE", "PATCH"}),
            ("GET", "/v1/plans/replicas", {"POST"}),
            ("DELETE", "/v1/plans", {"GET"}),
            ("POST", f"/v1/plans/{UNKNOWN_ID}/export", {"GET"}),
            ("GET", "/v1/checks", {"POST"}),
            ("DELETE", "/v1/jobs", {"GET"}),
        ],
    )
    def test_405_says_what_the_path_takes(
        self, client: httpx.Client, method: str, path: str, allowed: set[str]
    ) -> None:
        response = client.request(method, path)
        assert method in problem(response, 405, "method_not_allowed")["detail"]
        assert set(response.headers["allow"].split(", ")) == allowed

    @pytest.mark.parametrize("path", ["/v1/plans/replicas", "/v1/checks", "/v1/snapshots"])
    @pytest.mark.parametrize("media_type", ["application/xml", "application/jsonx", ""])
    def test_415_says_what_is_taken(self, client: httpx.Client, path: str, media_type: str) -> None:
        response = client.post(path, content=b"{}", headers={"Content-Type": media_type})
        assert "application/json" in problem(response, 415, "unsupported_media_type")["offered"]

    @pytest.mark.parametrize("path", ["/v1/plans/replicas", "/v1/checks", "/v1/snapshots"])
    def test_a_compressed_body_is_named(self, client: httpx.Client, path: str) -> None:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        response = client.post(path, content=gzip.compress(b"{}"), headers=headers)
        assert "gzip" in problem(response, 415, "unsupported_media_type")["detail"]

    def test_a_charset_beside_json_is_no_other_media_type(self, client: httpx.Client) -> None:
        response = client.post("/v1/checks", content=b"{}", headers={"Content-Type": "Application/JSON; charset=utf-8"})
        problem(response, 422, "conflicting_fields")


class TestUnreadableBodies:
    """A body that cannot be parsed is the caller's fault, and never a 500."""

    @pytest.mark.parametrize("path", ["/v1/plans/replicas", "/v1/checks", "/v1/snapshots"])
    @pytest.mark.parametrize("body", [b"", b"{", b'{"a":}', b"\x00", b"[" * 100_000, b'{"a":' + b"9" * 5_000 + b"}"])
    def test_no_json(self, client: httpx.Client, path: str, body: bytes) -> None:
        response = client.post(path, content=body, headers=JSON)
        assert response.json()["code"] in {"malformed_body", "validation"}
        assert response.status_code in {400, 422}
        problem(response, response.status_code, response.json()["code"])

    @pytest.mark.parametrize("path", ["/v1/plans/replicas", "/v1/checks"])
    def test_json_that_breaks_off_says_where(self, client: httpx.Client, path: str) -> None:
        response = client.post(path, content=b'{"snapshot_id": ', headers=JSON)
        assert "at character 16" in problem(response, 400, "malformed_body")["detail"]

    def test_a_snapshot_that_breaks_off_says_where(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", content=b'{"cluster": ', headers=JSON)
        assert "at line 1 column 12" in problem(response, 400, "malformed_body")["detail"]

    @pytest.mark.parametrize("path", ["/v1/plans/replicas", "/v1/checks"])
    def test_invalid_utf8_says_at_which_byte(self, client: httpx.Client, path: str) -> None:
        response = client.post(path, content=b'{"a": "\xff"}', headers=JSON)
        assert "UTF-8 at byte 7" in problem(response, 400, "malformed_body")["detail"]

    def test_invalid_utf8_in_a_snapshot(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", content=b'{"cluster": "\xff", "brokers": []}', headers=JSON)
        assert "unicode" in problem(response, 400, "malformed_body")["detail"]

    @pytest.mark.parametrize("path", ["/v1/plans/replicas", "/v1/checks", "/v1/snapshots"])
    @pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"text"'])
    def test_json_that_is_no_object(self, client: httpx.Client, path: str, body: bytes) -> None:
        only_error(problem(client.post(path, content=body, headers=JSON), 422, "validation"), "")


class TestFields:
    """An invalid field: its place, its value and the violated limit."""

    def test_every_fault_is_named_at_once(self, client: httpx.Client) -> None:
        found = problem(place(client, topic(name="a b"), seed="x", rack_mode="strict"), 422, "validation")
        assert {error["pointer"] for error in found["errors"]} == {"/topics/0/name", "/seed", "/rack_mode"}
        assert "(and 2 more)" in found["detail"]

    def test_value_and_limit(self, client: httpx.Client) -> None:
        error = only_error(problem(place(client, topic(partitions=2**31)), 422, "validation"), "/topics/0/partitions")
        assert (error["value"], error["limits"]) == (2**31, {"le": 2**31 - 1})

    @pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**40])
    def test_numbers_past_64_bits(self, client: httpx.Client, value: int) -> None:
        error = only_error(problem(place(client, seed=value), 422, "validation"), "/seed")
        assert error["value"] == value

    def test_a_lone_surrogate(self, client: httpx.Client) -> None:
        """JSON can write it and UTF-8 cannot, so neither the fields nor the problem about them may stumble on it."""
        body = b'{"snapshot_id":"%s","topics":[{"name":"\\ud800","partitions":1,"replication_factor":1}]}'
        response = client.post("/v1/plans/replicas", content=body % SNAPSHOT_ID.encode(), headers=JSON)
        only_error(problem(response, 422, "validation"), "/topics/0/name")
        body = b'{"snapshot_id":"%s","labels":{"\\udfff":"x"},"topics":[]}'
        problem(client.post("/v1/plans/replicas", content=body % SNAPSHOT_ID.encode(), headers=JSON), 422, "validation")

    @pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e400"])
    def test_what_is_no_number(self, client: httpx.Client, number: bytes) -> None:
        body = b'{"brokers":[{"id":1}],"topics":[{"name":"t","partitions":%s,"replication_factor":1}]}' % number
        response = client.post("/v1/plans/replicas", content=body, headers=JSON)
        only_error(problem(response, 422, "validation"), "/topics/0/partitions")

    def test_unknown_fields_are_rejected_at_every_depth(self, client: httpx.Client) -> None:
        found = problem(
            place(client, topic(factor=3), brokers=[{"id": 1, "zone": "a"}], snapshots=1), 422, "validation"
        )
        pointers = {error["pointer"] for error in found["errors"]}
        assert pointers == {"/topics/0/factor", "/brokers/0/zone", "/snapshots"}

    @pytest.mark.parametrize(
        ("path", "body", "detail"),
        [
            ("/v1/snapshots", {"brokers": []}, "/cluster: cluster is required"),
            (
                "/v1/snapshots",
                {"clustr": "c", "brokers": []},
                "there is no field clustr here; 'c' given; did you mean 'cluster'?",
            ),
            ("/v1/plans/replicas", {"snapshot_id": SNAPSHOT_ID, "topcis": []}, "did you mean 'topics'?"),
            (
                "/v1/plans/replicas",
                {"snapshot_id": SNAPSHOT_ID, "topics": [{"name": "t", "partitions": 1, "replication_facter": 1}]},
                "did you mean 'replication_factor'?",
            ),
            ("/v1/plans/group", {"assignor": "unifrom"}, "did you mean 'uniform'?"),
            (
                "/v1/plans/reassignment",
                {"snapshot_id": SNAPSHOT_ID, "minimise": "byte"},
                "'byte' given; did you mean 'bytes'?",
            ),
            ("/v1/plans/reassignment", {"snapshot_id": SNAPSHOT_ID, "minimise": "colour"}, "'colour' given"),
            ("/v1/keys/partitions", {"keys": [], "partitions": 1, "partitioner": "murmur"}, "did you mean 'murmur2'?"),
        ],
    )
    def test_misspelt_and_missing_fields_and_values(
        self, client: httpx.Client, path: str, body: dict[str, Any], detail: str
    ) -> None:
        found = problem(client.post(path, json=body), 422, "validation")
        assert any(f"{error['pointer']}: {error['detail']}".endswith(detail) for error in found["errors"]), found

    @pytest.mark.parametrize("name", ["x" * 5000, "\x1b[31m", "", "😀" * 50])
    def test_a_misspelt_name_is_bounded_and_escaped(self, client: httpx.Client, name: str) -> None:
        found = problem(client.post("/v1/snapshots", json={"cluster": "c", "brokers": [], name: 1}), 422, "validation")
        assert len(found["detail"]) < 2_000
        assert "\x1b" not in found["detail"]

    def test_a_pointer_escapes_what_json_pointers_escape(self, client: httpx.Client) -> None:
        only_error(problem(place(client, **{"a/b~c": 1}), 422, "validation"), "/a~1b~0c")

    def test_query_and_header(self, client: httpx.Client) -> None:
        found = problem(client.get("/v1/plans", params={"page_size": 0}), 422, "validation")
        error = only_error(found, "#query/page_size")
        assert (error["value"], error["limits"]) == ("0", {"ge": 1})
        response = client.post("/v1/checks", json={}, headers={"Idempotency-Key": "a key"})
        found = problem(response, 422, "validation")
        assert "#header/idempotency-key" in {error["pointer"] for error in found["errors"]}


class TestLargeBodies:
    """The body limit is a setting; a body beyond it is rejected as early as that is known."""

    @pytest.mark.parametrize("path", ["/v1/snapshots", "/v1/plans/replicas", "/v1/checks"])
    def test_chunked(self, client: httpx.Client, path: str) -> None:
        """No length is announced, so the service counts."""
        chunks = (b" " * 65_536 for _ in range(ELEVEN_MB // 65_536))
        found = problem(client.post(path, content=chunks, headers=JSON), 413, "limit_exceeded")
        assert (found["limit_name"], found["limit"]) == ("max_body_bytes", 10 * 1024 * 1024)

    @pytest.mark.parametrize("media_type", ["text/plain", "multipart/form-data; boundary=b"])
    def test_chunked_text(self, client: httpx.Client, media_type: str) -> None:
        chunks = (b" " * 65_536 for _ in range(ELEVEN_MB // 65_536))
        response = client.post("/v1/snapshots", content=chunks, headers={"Content-Type": media_type})
        problem(response, 413, "limit_exceeded")

    @pytest.mark.parametrize("path", ["/v1/snapshots", "/v1/plans/replicas", "/v1/nothing"])
    def test_announced(self, client: httpx.Client, path: str) -> None:
        """The announcement is enough: the answer comes although not one byte of the body was sent."""
        where = urlsplit(str(client.base_url))
        assert where.hostname is not None
        assert where.port is not None
        with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
            head = (
                f"POST {path} HTTP/1.1",
                "Host: localhost",
                "Content-Type: application/json",
                f"Content-Length: {ELEVEN_MB}",
            )
            connection.sendall("\r\n".join((*head, "", "")).encode())
            answered = connection.recv(65_536)
        assert answered.startswith(b"HTTP/1.1 413 ")
        assert f'"detail":"the body has {ELEVEN_MB} bytes; the limit is 10485760 bytes"'.encode() in answered

    def test_the_limit_is_a_setting(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch, max_body_bytes=2048)
        problem(client.post("/v1/checks", content=b" " * 2049, headers=JSON), 413, "limit_exceeded")
        problem(client.post("/v1/checks", content=b" " * 2048, headers=JSON), 400, "malformed_body")


class TestBrokenDatabase:
    """A fault of the machine is a 500 problem without details."""

    @pytest.fixture
    def broken(self, scratch: Database, serve: Serve) -> httpx.Client:
        client = serve(scratch)
        for table in ("plan_topics", "jobs", "plans"):  # one lock at a time: no deadlock with the service's own
            self._execute(scratch, f"ALTER TABLE {table} RENAME TO {table}_elsewhere")
        return client

    @staticmethod
    def _execute(database: Database, *statements: str) -> None:
        with database.engine.begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement))

    def test_a_missing_table(self, broken: httpx.Client) -> None:
        for response in (broken.get("/v1/plans"), broken.get(f"/v1/jobs/{UNKNOWN_ID}"), place(broken)):
            found = problem(response, 500, "internal_error")
            assert found["errors"] == []
            assert "plans" not in found["detail"]
            assert "sqlalchemy" not in response.text.lower()

    def test_the_others_go_on(self, broken: httpx.Client) -> None:
        problem(broken.get("/v1/plans"), 500, "internal_error")
        assert broken.get("/v1/snapshots").status_code == 200

    def test_a_connection_that_was_cut_is_replaced(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        assert client.get("/v1/plans").status_code == 200
        with scratch.engine.begin() as connection:
            cut = "SELECT bool_and(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
            where = "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            assert connection.scalar(sa.text(cut + where))
        assert client.get("/v1/plans").status_code == 200

    @pytest.mark.parametrize("table", ["plans", "snapshots", "jobs", "answers"])
    def test_a_commit_that_fails_is_no_201(self, scratch: Database, serve: Serve, table: str) -> None:
        """A deferred constraint speaks up when the transaction commits, after the operation has made its answer."""
        client = serve(scratch)
        self._execute(
            scratch,
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'not this one'; END $$",
            f"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION refuse()",
        )
        if table == "snapshots":
            response = client.post("/v1/snapshots", json={"cluster": "c", "brokers": []})
        else:
            body = {"snapshot_id": SNAPSHOT_ID, "topics": [topic()]}
            headers = {"plans": {}, "jobs": {"Prefer": "respond-async"}, "answers": {"Idempotency-Key": "k"}}[table]
            response = client.post("/v1/plans/replicas", json=body, headers=headers)
        problem(response, 500, "internal_error")
        assert "location" not in response.headers
        assert "not this one" not in response.text
        listed = client.get("/v1/snapshots" if table == "snapshots" else "/v1/plans?kind=replicas").json()["items"]
        expected = 2 if table == "snapshots" else 1
        assert len(listed) == expected, "nothing but the examples is stored"


class _Counted(Mapping[str, object]):
    """An object of a million fields that may be looked up, and not walked through."""

    def __getitem__(self, name: str) -> object:
        if name == "topics":
            return []
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("every error of a field would walk through all fields")

    def __len__(self) -> int:
        return 1_000_000


def test_a_suggestion_for_one_of_many_unknown_fields_looks_at_that_field_alone() -> None:
    error = {"type": "extra_forbidden", "loc": ("body", "topic"), "msg": "", "input": 1}
    assert "topic" in str(field_errors([error], _Counted())[0]["detail"])


class _Balance(BaseModel):
    tolerance: float


class _Taken(BaseModel):
    names: Literal["all", "none"] | list[int] | None = None
    balance: _Balance | Literal["tight"] = "tight"


def _details_of(body: object) -> list[tuple[object, object]]:
    with pytest.raises(ValidationError) as invalid:
        _Taken.model_validate(body)
    return [(each["pointer"], each["detail"]) for each in field_errors(within_body(invalid.value), body)]


class TestAFieldOfSeveralTypes:
    def test_is_reported_once_if_one_of_them_has_the_type_of_the_value(self) -> None:
        (error,) = _details_of({"names": "al"})
        assert error == ("/names", "Input should be 'all' or 'none'; 'al' given; did you mean 'all'?")

    def test_is_reported_as_the_type_whose_item_is_wrong(self) -> None:
        assert ("/names/0", "Input should be a valid integer, unable to parse string as an integer; 'x' given") in (
            _details_of({"names": ["x"]})
        )

    @pytest.mark.parametrize("body", [{"balance": 7}, [1], "text"])
    def test_the_word_for_what_holds_fields_is_object(self, body: object) -> None:
        details = [str(detail) for _, detail in _details_of(body)]
        assert any(detail.startswith("Input should be an object") for detail in details)
        assert not any("dictionary" in detail for detail in details)

    @given(st.recursive(st.none() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
    def test_an_invalid_body_has_an_error(self, body: object) -> None:
        try:
            _Taken.model_validate(body)
        except ValidationError:
            event("invalid")
            assert _details_of(body)


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_a_target_that_is_no_path(client: httpx.Client, method: str) -> None:
    """`OPTIONS *` is about the server; clients that send it get an answer as for any path that is not there."""
    where = urlsplit(str(client.base_url))
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=20) as connection:
        connection.sendall(f"{method} * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 404 ")
