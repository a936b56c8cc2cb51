"""A stranger's text stays data on every way through the service: stored, compared, escaped and cut, never run."""

import io
import json
import re
import shlex
import zipfile
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import httpx
import pytest

from app.api.examples import SWEEP_BASE
from app.api.problems.documents import MOST_FIELD_ERRORS
from app.core.model import control_in
from app.errors.quotation import CONTEXT_CHARACTERS, DETAIL_CHARACTERS, QUOTED_CHARACTERS
from app.store.database import Database
from app.web.assets import ASSETS
from tests.api.conftest import RunService
from tests.api.contract import brokers, place, problem, topic
from tests.api.test_sweeps import ask, swept

MODULE = f'<script type="module" src="{ASSETS["console.js"].address}"><'
"""The one script of a page, a file of the service, and the text after its tag."""
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "multipart/form-data; boundary=b"}
LONG = 50_000
ESCAPES = "\x1b]0;owned\x07\x9b31m\u202e\u2028"
INJECTIONS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE plans; --",
    "{{ 7 * 7 }}{% raw %}",
    "%s%d%n{0.__class__}",
    "$(touch /tmp/owned)`id`",
    "../../etc/passwd",
    "a,b}",
    "\u202egpj.exe",
    "]]>&lt;!--",
]


def part(name: bytes) -> bytes:
    """A form with one part of that name."""
    return b'--b\r\nContent-Disposition: form-data; name="' + name + b'"\r\n\r\nv\r\n--b--\r\n'


class TestErrors:
    """A problem repeats a stated number of characters, none of which acts on a terminal."""

    @pytest.mark.parametrize(
        ("method", "path", "options"),
        [
            ("GET", "/v2/" + "x" * LONG, {}),
            ("GET", "/v1/plans/" + "x" * LONG, {}),
            ("GET", "/v2/" + quote(ESCAPES), {}),
            ("POST", "/v1/snapshots", {"content": b"x", "headers": {"Content-Type": "y" * LONG}}),
            ("POST", "/v1/plans/replicas", {"content": b"x", "headers": {"Content-Type": "y" * LONG}}),
            ("POST", "/v1/snapshots", {"content": part(b"z" * 4_000), "headers": FORM}),
            ("POST", "/v1/snapshots", {"content": part(ESCAPES.encode()), "headers": FORM}),
            ("GET", "/v1/plans", {"params": {"page_token": ESCAPES}}),
            ("GET", "/v1/plans", {"params": {"kind": ESCAPES}}),
            ("POST", "/v1/plans/replicas", {"json": {"k" * LONG: 1}}),
            ("POST", "/v1/plans/replicas", {"json": {ESCAPES: ESCAPES}}),
            ("POST", "/v1/plans/group", {"json": {"assignor": "y" * LONG}}),
            ("POST", "/v1/plans/streams", {"json": {"clients": [{"client_tags": {"a" * LONG: 1}}]}}),
            ("POST", "/v1/sweeps", {"json": {"kind": ESCAPES}}),
            ("POST", "/v1/sweeps", {"json": {"base": SWEEP_BASE, "axes": {ESCAPES * 999: [1]}}}),
            ("POST", "/v1/sweeps", {"json": {"kind": "key_skew", "dataset": {"path": "/" + "x" * LONG}}}),
            ("POST", "/v1/plans/replicas", {"json": {}, "headers": {"Origin": "http://" + "x" * LONG}}),
            ("GET", "/v1/plans", {"headers": {"Host": "x" * LONG}}),
        ],
        ids=range(18),
    )
    def test_what_they_repeat_is_bounded_and_printable(
        self, client: httpx.Client, method: str, path: str, options: dict[str, Any]
    ) -> None:
        response = client.request(method, path, **options)
        assert 400 <= response.status_code < 500, response.text[:1_000]
        document = response.json()
        assert document["detail"].isprintable()
        assert document["instance"].isprintable()
        assert len(document["instance"]) <= QUOTED_CHARACTERS
        assert len(document["detail"]) <= DETAIL_CHARACTERS
        for error in document["errors"]:
            assert error["detail"].isprintable()
            assert len(error["detail"]) <= DETAIL_CHARACTERS
            assert len(error["pointer"]) <= CONTEXT_CHARACTERS
        assert len(response.content) < 20_000

    def test_of_many_faults_some_are_listed_and_all_are_counted(self, client: httpx.Client) -> None:
        """A body of 40 kB had an answer of 2.5 MB, one of 10 MB had 620 MB."""
        body = b'{"cluster":"a","brokers":[' + b",".join([b"1"] * 20_000) + b"]}"
        found = problem(client.post("/v1/snapshots", content=body, headers=JSON), 422, "validation")
        assert len(found["errors"]) == MOST_FIELD_ERRORS
        assert "(and 19999 more)" in found["detail"]


class TestNames:
    """Names of clusters, racks and labels come back as they were sent, in JSON, files, pictures and pages."""

    @pytest.mark.parametrize("name", INJECTIONS)
    def test_they_are_text_wherever_they_are_shown(self, client: httpx.Client, name: str) -> None:
        listed = [{"id": 1, "rack": name}, {"id": 2, "rack": name + "2"}, {"id": 3, "rack": "c"}]
        snapshot = client.post("/v1/snapshots", json={"cluster": name, "brokers": listed, "topics": []})
        assert snapshot.status_code == 201, snapshot.text
        assert snapshot.json()["cluster"] == name
        answer = place(client, snapshot_id=snapshot.json()["id"], labels={name: name})
        assert answer.status_code == 201, answer.text
        plan = answer.headers["location"]
        assert client.get("/v1/plans", params={"cluster": name}).json()["items"][0]["labels"] == {name: name}
        assert client.get("/v1/snapshots", params={"cluster": name}).json()["items"][0]["cluster"] == name
        assert client.get("/v1/plans", params={"cluster": name + "%"}).json()["items"] == []
        picture = client.get(f"{plan}/picture.svg")
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(picture.text).iter()}  # noqa: S314 — ours
        assert not tags & {"script", "foreignObject", "image", "a", "img", "animate", "set"}
        page = client.get(plan.replace("/v1", ""))
        assert page.status_code == 200
        assert re.findall(r"<script[^>]*>.", page.text) == [MODULE]
        assert "<img src=x" not in page.text
        assert "49" not in re.findall(r"<h1>.*?</h1>", page.text)[0]

    @pytest.mark.parametrize("name", ["...", "-rf", "--help", "a.b_c-d", "x" * 249])
    def test_a_topic_names_a_file_and_an_argument_and_nothing_else(self, client: httpx.Client, name: str) -> None:
        answer = place(client, topic(name), brokers=brokers(3, 3))
        assert answer.status_code == 201, answer.text
        exported = client.get(f"{answer.headers['location']}/export", params={"topic": name})
        disposition = exported.headers["content-disposition"]
        assert re.fullmatch(r'attachment; filename="[a-zA-Z0-9._-]+"', disposition)
        page = client.get(answer.headers["location"].replace("/v1", "")).text
        assert f"--topic {shlex.quote(name)} " in page

    @pytest.mark.parametrize("name", ["a b", 'a"b', "a\r\nX-Y: z", "a/b", "..", ".", "ä", "a;b", "$(id)", "a\x00", ""])
    def test_no_other_topic_is_taken(self, client: httpx.Client, name: str) -> None:
        problem(place(client, topic(name), brokers=brokers(3, 3)), 422, "validation")
        problem(client.get("/v1/plans", params={"topic": name}), 422, "validation")


class TestStoredRows:
    """A name that an array literal of Postgres would take for two is one key of a row."""

    @pytest.mark.parametrize("rack", ["a,b", "x}", '"q"', "{y", "back\\slash", "NULL", " z "])
    def test_an_axis_of_any_name_filters_its_rows(self, client: httpx.Client, database: Database, rack: str) -> None:
        topology = {"racks": [rack, "b", "c"], "brokers_per_rack": {rack: 2, "b": 2, "c": 2}}
        axis = f"topology.brokers_per_rack.{rack}"
        path = swept(client, database, base=SWEEP_BASE | {"topology": topology}, axes={axis: [2, 3]})
        for value in (2, 3):
            answer = client.get(f"{path}/scenarios", params={"axis": f"{axis}={value}"})
            assert answer.status_code == 200, answer.text
            assert [item["axes"] for item in answer.json()["items"]] == [{axis: value}]

    def test_a_name_that_no_row_can_hold_is_rejected_at_once(self, client: httpx.Client) -> None:
        """PostgreSQL stores no NUL in JSON: the worker failed where it stored the first row."""
        profile = SWEEP_BASE["broker_profile"] | {"name": "a\x00b"}
        for changed in ({"base": SWEEP_BASE | {"broker_profile": profile}}, {"axes": {"broker_profile": [profile]}}):
            found = problem(ask(client, **changed), 422, "impossible_value")
            assert "control characters" in found["detail"]
        problem(ask(client, axes={"broker_profile.name": ["a\x00b"]}), 422, "impossible_value")

    @pytest.mark.parametrize("field", ["group", "member_id", "client_id", "client_host"])
    def test_a_described_group_has_names_that_rows_can_hold(self, client: httpx.Client, field: str) -> None:
        member = {"member_id": "m", "client_id": "c", "client_host": "/h", "member_metadata": None}
        member |= {"member_assignment": None}
        name = "a\x00b" if field == "group" else "g"
        members = [member if field == "group" else member | {field: "a\x00b"}]
        described = {name: {"group_state": "Stable", "protocol_data": "range", "members": members}}
        texts = {"cluster": "c", "brokers": "h:1 (id: 1 rack: a) -> (\n)\n", "groups": json.dumps(described)}
        answer = client.post("/v1/snapshots", files={part: (None, text) for part, text in texts.items()})
        assert "without control characters" in problem(answer, 422, "malformed_text")["detail"]


class TestArchive:
    """A command pasted into a shell has only its stated effect, whatever the cluster and its topics are called."""

    def test_a_dot_of_a_topic_is_no_pattern_and_a_cluster_is_one_line(self, client: httpx.Client) -> None:
        cluster = f"prod{''.join(c for c in ESCAPES if control_in(c) is None)}; rm -rf ~"
        replicas = [{"partition": 0, "replicas": [1, 2], "leader": 1, "isr": [1, 2]}]
        snapshot = client.post(
            "/v1/snapshots",
            json={
                "cluster": cluster,
                "brokers": brokers(3, 3),
                "topics": [{"name": "a.b", "partitions": replicas}, {"name": "axb", "partitions": replicas}],
            },
        )
        assert snapshot.status_code == 201, snapshot.text
        body = {"snapshot_id": snapshot.json()["id"], "partitions": {"a.b": 2}}
        plan = client.post("/v1/plans/reassignment", json=body)
        assert plan.status_code == 201, plan.text
        exported = client.get(f"{plan.headers['location']}/export", params={"format": "batches"})
        with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
            names, readme = archive.namelist(), archive.read("README.txt").decode()
        assert "new-partitions/a.b.txt" in names
        assert all(re.fullmatch(r"[a-zA-Z0-9._-]+(/[a-zA-Z0-9._-]+)?", name) for name in names)
        (command,) = [line for line in readme.splitlines() if "--alter" in line and "kafka-topics.sh" in line]
        pattern = shlex.split(command.removesuffix("\\"))[-1]
        assert re.fullmatch(pattern, "a.b")
        assert not re.fullmatch(pattern, "axb"), "kafka-topics --alter takes a regular expression"
        assert all(line.isprintable() for line in readme.splitlines())
        assert readme.splitlines()[0] == r"Reassignment of the cluster prod]0;owned31m\u202e; rm -rf ~"


class TestHeaders:
    """Text from a header goes out in a header only if it is short and printable."""

    def test_an_id_cannot_forge_a_line_of_the_log(self, scratch: Database, run_service: RunService) -> None:
        with run_service(scratch, RACKPLAN_LOG_LEVEL="info", RACKPLAN_LOG_FORMAT="console") as service:
            service.client.get("/v1/" + quote(f"a{ESCAPES}\nforged"), headers={"X-Request-ID": "mine"})
        # A line is written after its response: the log is complete once the service has ended.
        (line,) = [line for line in service.log.read_text().splitlines() if "forged" in line]
        assert "mine" in line
        assert r"\x1b]0;owned\x07\x9b31m\u202e\u2028\nforged" in line

    def test_a_label_of_metrics_is_no_path_and_no_method_of_a_caller(self, client: httpx.Client) -> None:
        for number in range(20):
            client.request(f"BREW{number}", f"/v1/nothing-{number}")
        text = client.get("/metrics").text
        assert "BREW" not in text
        assert "nothing-" not in text

    @pytest.mark.parametrize("key", ["a\tb", "ä".encode(), "x" * 256])
    def test_an_idempotency_key_is_short_and_printable(self, client: httpx.Client, key: str | bytes) -> None:
        headers = {
            b"Idempotency-Key": key.encode() if isinstance(key, str) else key,
            b"Content-Type": b"application/json",
        }
        response = client.post("/v1/snapshots", content=b"{}", headers=headers)
        assert response.status_code == 422
        assert len(json.dumps(response.json())) < 2_000
