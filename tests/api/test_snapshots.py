"""`/v1/snapshots`: clusters as they were, from JSON and from the Kafka tools' output."""

import gzip
from codecs import BOM_UTF8
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_GROUPS_SNAPSHOT_ID, SNAPSHOT
from app.errors.requests import SnapshotNotFound
from app.formats.syntax.lines import MAX_DECOMPRESSED_BYTES
from app.services.limits import Limits
from app.store.database import Database
from app.store.records import NewPlan
from tests.api.conftest import Serve
from tests.api.contract import (
    PROBLEM,
    SNAPSHOT_ID,
    UNKNOWN_ID,
    brokers,
    is_utc,
    is_uuid7,
    only_error,
    place,
    problem,
    topic,
)
from tests.conftest import SAMPLES
from tests.profiles import costly

BROKERS = (SAMPLES / "kafka-broker-api-versions.txt").read_bytes()
TOPICS = (SAMPLES / "kafka-topics-describe.txt").read_bytes()
LOG_DIRS = (SAMPLES / "kafka-log-dirs-describe.txt").read_bytes()
TEXTS = (BROKERS, TOPICS, LOG_DIRS)
TEXT = {"Content-Type": "text/plain"}
EXAMPLES = [str(EXAMPLE_GROUPS_SNAPSHOT_ID), SNAPSHOT_ID]
"""The examples' snapshots, newest first."""


def _form(client: httpx.Client, cluster: str | None = "prod", /, **parts: bytes) -> httpx.Response:
    data = {} if cluster is None else {"cluster": cluster}
    return client.post("/v1/snapshots", data=data, files={name: (name, text) for name, text in parts.items()})


def _partition(**changed: Any) -> dict[str, Any]:
    return {"partition": 0, "replicas": [1, 2], "isr": [1], "leader": 1, "size_bytes": 7, **changed}


def _snapshot(*partitions: dict[str, Any], cluster: str = "c") -> dict[str, Any]:
    return {"cluster": cluster, "brokers": brokers(3, 3), "topics": [{"name": "t", "partitions": list(partitions)}]}


class TestCreateFromJson:
    """`POST /v1/snapshots` with `application/json`."""

    def test_what_is_answered(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", json=SNAPSHOT | {"cluster": "mine"})
        assert response.status_code == 201
        document = response.json()
        created_at, snapshot_id = document.pop("created_at"), document.pop("id")
        assert is_utc(created_at)
        assert is_uuid7(snapshot_id)
        content_hash = document.pop("content_hash")
        health = document.pop("health")
        assert (health["replicas"], health["offline"], health["not_rack_safe"]) == (6, 0, 0)
        counts = {"brokers": 6, "racks": 3, "topics": 1, "partitions": 2, "groups": 0}
        assert document == {"cluster": "mine", **counts, "kafka_version": None, "controller": None, "warnings": []}
        assert response.headers["location"] == f"/v1/snapshots/{snapshot_id}"
        assert response.headers["etag"] == f'"{content_hash}"'
        assert client.get(response.headers["location"]).json()["id"] == snapshot_id

    def test_warnings_name_the_brokers(self, client: httpx.Client) -> None:
        listed = [{"id": 1, "rack": "a"}, {"id": 3}, {"id": 2, "rack": None}, {"id": 4, "rack": ""}]
        body = {
            "cluster": "c",
            "brokers": listed,
            "topics": [{"name": "t", "partitions": [_partition(replicas=[1, 9])]}],
        }
        warnings = {w["code"]: w for w in client.post("/v1/snapshots", json=body).json()["warnings"]}
        assert warnings["brokers_without_rack"]["brokers"] == [2, 3]
        assert "2 of 4" in warnings["brokers_without_rack"]["detail"]
        assert warnings["unlisted_brokers"]["brokers"] == [9]

    def test_cordoned_brokers_and_log_directories(self, client: httpx.Client) -> None:
        """As JSON and as `kafka-log-dirs` text; the document of the snapshot has both (KIP-1066)."""
        listed: list[dict[str, Any]] = [
            {"id": 1, "rack": "a", "cordoned": True, "cordoned_log_dirs": ["/d"]},
            {"id": 2, "rack": "a", "cordoned_log_dirs": ["/e"]},
            {"id": 3, "rack": "a"},
        ]
        posted = client.post("/v1/snapshots", json={"cluster": "cordoned", "brokers": listed})
        document = client.get(posted.headers["location"]).json()["document"]
        assert document["brokers"] == listed
        assert [(w["code"], w["brokers"]) for w in posted.json()["warnings"]] == [
            ("cordoned_brokers", [1]),
            ("cordoned_log_dirs", [2]),
        ]
        text = '{"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","partitions":[],"isCordoned":true}]}]}'
        parts = {"cluster": (None, "cordoned"), "log_dirs": (None, text)}
        read = client.get(client.post("/v1/snapshots", files=parts).headers["location"]).json()["document"]
        assert read["brokers"] == [{"id": 1, "cordoned": True, "cordoned_log_dirs": ["/d"]}]

    def test_log_directories(self, client: httpx.Client) -> None:
        """Of brokers and of replicas; the document of the snapshot has them as they were posted."""
        log_dirs = [{"path": "/d1", "total_bytes": 100, "usable_bytes": 40}, {"path": "/d2", "offline": True}]
        listed = [{"id": 1, "log_dirs": log_dirs}, {"id": 2}]
        placed = _partition(replicas=[2, 1], isr=[2, 1], log_dirs=[None, "/d2"], future_log_dirs=[None, "/d1"])
        body = _snapshot(placed) | {"cluster": "jbod", "brokers": listed}
        posted = client.post("/v1/snapshots", json=body)
        document = client.get(posted.headers["location"]).json()["document"]
        assert document["brokers"] == listed
        [partition] = document["topics"][0]["partitions"]
        assert (partition["log_dirs"], partition["future_log_dirs"]) == ([None, "/d2"], [None, "/d1"])
        codes = [warning["code"] for warning in posted.json()["warnings"]]
        assert {"offline_log_dirs", "log_dir_moves_in_progress"} <= set(codes)
        assert client.post("/v1/snapshots", json=document).json()["id"] == posted.json()["id"]

    @pytest.mark.parametrize(
        ("log_dirs", "code", "pointer", "words"),
        [
            (
                ["/d2", None],
                "unknown_log_dir",
                "/topics/0/partitions/0/log_dirs/0",
                "broker 2 has no log directory",
            ),
            ([None, "/x"], "unknown_log_dir", "/topics/0/partitions/0/log_dirs/1", "it has /d1, /d2"),
            (["/d1"], "conflicting_fields", "/topics/0/partitions/0/log_dirs", "2 replicas and 1 log_dirs"),
        ],
    )
    def test_log_directories_that_do_not_exist(
        self, client: httpx.Client, log_dirs: list[str | None], code: str, pointer: str, words: str
    ) -> None:
        """Of another broker, of none, and another number of them than of replicas."""
        listed = [{"id": 1, "log_dirs": [{"path": "/d2"}, {"path": "/d1"}]}, {"id": 2}]
        placed = _partition(replicas=[2, 1], isr=[2, 1], log_dirs=log_dirs)
        problem = client.post("/v1/snapshots", json=_snapshot(placed) | {"brokers": listed})
        assert problem.status_code == 422
        assert problem.json()["code"] == code
        assert problem.json()["errors"][0]["pointer"] == pointer
        assert words in problem.json()["detail"]

    def test_a_log_directory_twice(self, client: httpx.Client) -> None:
        listed = [{"id": 1, "log_dirs": [{"path": "/d1"}, {"path": "/d1"}]}]
        problem = client.post("/v1/snapshots", json={"cluster": "c", "brokers": listed}).json()
        assert (problem["code"], problem["errors"][0]["pointer"]) == ("duplicate_log_dir", "/brokers/0/log_dirs/1/path")

    def test_no_rack_anywhere(self, client: httpx.Client) -> None:
        warning = client.post("/v1/snapshots", json={"cluster": "c", "brokers": brokers(3, 0)}).json()["warnings"][0]
        assert (warning["code"], warning["brokers"]) == ("brokers_without_rack", [1, 2, 3])

    def test_the_same_content_is_the_same_snapshot(self, client: httpx.Client) -> None:
        """Whatever the order of brokers, topics, partitions and keys, and whatever is said that is the default."""
        body = _snapshot(_partition(), _partition(partition=1, isr=[1, 2]))
        body["topics"].append({"name": "a", "partitions": [_partition()]})
        again = deepcopy(body)
        again["brokers"].reverse()
        again["topics"].reverse()
        again["topics"][1]["partitions"].reverse()
        again = {name: again[name] for name in reversed(again)}
        again["brokers"][0] |= {"fenced": False, "capacity": None}
        del again["topics"][1]["partitions"][0]["isr"]
        first, second = client.post("/v1/snapshots", json=body), client.post("/v1/snapshots", json=again)
        assert first.json()["id"] == second.json()["id"]
        assert first.content == second.content

    @pytest.mark.parametrize(
        "changed", [{"leader": 2}, {"isr": [1, 2]}, {"size_bytes": 8}, {"replicas": [2, 1]}, {"removing_replicas": [2]}]
    )
    def test_other_content_is_another_snapshot(self, client: httpx.Client, changed: dict[str, Any]) -> None:
        first = client.post("/v1/snapshots", json=_snapshot(_partition())).json()
        second = client.post("/v1/snapshots", json=_snapshot(_partition(**changed))).json()
        assert first["id"] != second["id"]
        assert first["content_hash"] != second["content_hash"]

    def test_another_cluster_is_another_snapshot(self, client: httpx.Client) -> None:
        ids = {client.post("/v1/snapshots", json=_snapshot(cluster=name)).json()["id"] for name in ("a", "b")}
        assert len(ids) == 2

    @pytest.mark.parametrize(
        ("changed", "pointer"),
        [
            ({"cluster": ""}, "/cluster"),
            ({"cluster": "a\u0000"}, "/cluster"),
            ({"cluster": 1}, "/cluster"),
            ({"cluster": "c" * 250}, "/cluster"),
            ({"brokers": [{"id": -1}]}, "/brokers/0/id"),
            ({"brokers": [{"id": 2**31}]}, "/brokers/0/id"),
            ({"brokers": [{"id": "1"}]}, "/brokers/0/id"),
            ({"brokers": [{"id": True}]}, "/brokers/0/id"),
            ({"brokers": [{"rack": "a"}]}, "/brokers/0/id"),
            ({"brokers": [{"id": 1, "rack": 7}]}, "/brokers/0/rack"),
            ({"brokers": [{"id": 1, "capacity": {"disk_bytes": -1}}]}, "/brokers/0/capacity/disk_bytes"),
            ({"brokers": [{"id": 1, "capacity": {"disk_bytes": 2**63}}]}, "/brokers/0/capacity/disk_bytes"),
            ({"brokers": [{"id": 1, "ip": "::"}]}, "/brokers/0/ip"),
            ({"topics": [{"name": "a b", "partitions": []}]}, "/topics/0/name"),
            ({"topics": [{"name": "..", "partitions": []}]}, "/topics/0/name"),
            ({"topics": [{"name": "t", "topic_id": "A" * 21, "partitions": []}]}, "/topics/0/topic_id"),
            ({"topics": [{"name": "t", "topic_id": "A" * 23, "partitions": []}]}, "/topics/0/topic_id"),
            ({"topics": [{"name": "t", "topic_id": "A" * 21 + "=", "partitions": []}]}, "/topics/0/topic_id"),
            ({"topics": [{"name": "t", "topic_id": "A" * 21 + "B", "partitions": []}]}, "/topics/0/topic_id"),
            ({"topics": [{"name": "t", "topic_id": "+" * 22, "partitions": []}]}, "/topics/0/topic_id"),
            ({"topics": [{"name": "t", "partitions": [_partition(replicas=[])]}]}, "/topics/0/partitions/0/replicas"),
            ({"topics": [{"name": "t", "partitions": [_partition(partition=-1)]}]}, "/topics/0/partitions/0/partition"),
            ({"region": "eu"}, "/region"),
        ],
    )
    def test_bad_fields(self, client: httpx.Client, changed: dict[str, Any], pointer: str) -> None:
        response = client.post("/v1/snapshots", json={"cluster": "c", "brokers": []} | changed)
        only_error(problem(response, 422, "validation"), pointer)

    def test_a_broker_twice(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", json={"cluster": "c", "brokers": [{"id": 1}, {"id": 2}, {"id": 1}]})
        error = only_error(problem(response, 422, "duplicate_broker"), "/brokers/2/id")
        assert error["value"] == 1

    def test_a_topic_twice(self, client: httpx.Client) -> None:
        topics = [{"name": "t", "partitions": []}, {"name": "t", "partitions": []}]
        response = client.post("/v1/snapshots", json={"cluster": "c", "brokers": [], "topics": topics})
        assert only_error(problem(response, 422, "duplicate_topic"), "/topics/1/name")["value"] == "t"

    def test_a_topic_id_twice(self, client: httpx.Client) -> None:
        topic_id = "qZugq_NJRUyvZZHyC6trPg"
        topics: list[dict[str, Any]] = [{"name": name, "topic_id": topic_id, "partitions": []} for name in ("a", "b")]
        body = {"cluster": "c", "brokers": [], "topics": [{"name": "0", "partitions": []}, *topics]}
        error = only_error(
            problem(client.post("/v1/snapshots", json=body), 422, "duplicate_topic"), "/topics/2/topic_id"
        )
        assert error["value"] == topic_id

    @pytest.mark.parametrize(
        ("partitions", "value"),
        [([_partition(), _partition(partition=3), _partition()], 0), ([_partition(replicas=[1, 2, 1])], [1, 2, 1])],
    )
    def test_a_partition_or_a_replica_twice(
        self, client: httpx.Client, partitions: list[dict[str, Any]], value: Any
    ) -> None:
        response = client.post("/v1/snapshots", json=_snapshot(*partitions))
        assert only_error(problem(response, 422, "duplicate_partition"), "/topics/0/partitions")["value"] == value

    def test_too_many_brokers(self, scratch: Database, serve: Serve) -> None:
        response = serve(scratch, max_brokers=6).post("/v1/snapshots", json={"cluster": "c", "brokers": brokers(7, 0)})
        error = only_error(problem(response, 413, "limit_exceeded"), "/brokers")
        assert (error["value"], error["limit"], error["limit_name"]) == (7, 6, "max_brokers")


class TestCreateFromTexts:
    """`POST /v1/snapshots` with the tools' output on a real cluster."""

    def test_the_real_cluster(self, client: httpx.Client) -> None:
        response = _form(client, brokers=BROKERS, topics=TOPICS, log_dirs=LOG_DIRS)
        assert response.status_code == 201
        found = response.json()
        assert {name: found[name] for name in ("brokers", "racks", "topics", "partitions")} == {
            "brokers": 9,
            "racks": 3,
            "topics": 6,
            "partitions": 117,
        }
        assert [warning["code"] for warning in found["warnings"]] in ([], ["partitions_without_topic"])
        document = client.get(response.headers["location"]).json()["document"]
        orders = next(topic for topic in document["topics"] if topic["name"] == "orders")
        assert {broker["id"]: broker["rack"] for broker in document["brokers"]}[108] == "use1-az4"
        assert all(partition["size_bytes"] > 0 for partition in orders["partitions"])

    def test_pasted_in_any_order_it_is_the_same_snapshot(self, client: httpx.Client) -> None:
        wanted = _form(client, brokers=BROKERS, topics=TOPICS, log_dirs=LOG_DIRS).json()["id"]
        for texts in ((BROKERS, TOPICS, LOG_DIRS), (LOG_DIRS, TOPICS, BROKERS)):
            response = client.post("/v1/snapshots?cluster=prod", content=b"\n".join(texts), headers=TEXT)
            assert response.status_code == 201
            assert response.json()["id"] == wanted

    def test_fields_and_files_are_the_same(self, client: httpx.Client) -> None:
        """`curl -F topics=<file` sends a field, `-F topics=@file` a file."""
        wanted = _form(client, topics=TOPICS).json()["id"]
        files = {"cluster": (None, b"prod"), "topics": (None, TOPICS)}
        assert client.post("/v1/snapshots", files=files).json()["id"] == wanted

    def test_two_brokers_down(self, client: httpx.Client) -> None:
        names = ("kafka-broker-api-versions-two-brokers-down.txt", "kafka-topics-describe-two-brokers-down.txt")
        listed, described = ((SAMPLES / name).read_bytes() for name in names)
        warnings = {w["code"]: w for w in _form(client, brokers=listed, topics=described).json()["warnings"]}
        assert warnings["unlisted_brokers"]["brokers"] == [105, 108]

    def test_brokers_that_are_down_stay_in_their_racks(self, client: httpx.Client) -> None:
        """Those of the newest snapshot before; without one their racks are unknown, which counts for nothing."""
        names = ("kafka-broker-api-versions-two-brokers-down.txt", "kafka-topics-describe-two-brokers-down.txt")
        listed, described = ((SAMPLES / name).read_bytes() for name in names)

        def posted(cluster: str, brokers: bytes, topics: bytes) -> dict[str, Any]:
            form = {"brokers": brokers, "topics": topics}
            response = client.post("/v1/snapshots", data={"cluster": cluster}, files=form)
            document: dict[str, Any] = response.json()
            return document

        healthy = posted("falling", BROKERS, TOPICS)
        for cluster, count, is_known in (("falling", 9, True), ("fallen", 7, False)):
            fallen = posted(cluster, listed, described)
            warnings = {w["code"]: w for w in fallen["warnings"]}
            assert warnings["unlisted_brokers"]["brokers"] == [105, 108]
            earlier = warnings.get("brokers_of_earlier_snapshot", {"detail": ""})
            assert (healthy["id"] in earlier["detail"]) == is_known
            assert (fallen["brokers"], fallen["health"]["illegal"]) == (count, 0)
            assert fallen["health"]["not_rack_safe"] == healthy["health"]["not_rack_safe"]
            assert posted(cluster, listed, described)["id"] == fallen["id"]

    def test_topics_alone_have_brokers_without_racks(self, client: httpx.Client) -> None:
        (warning,) = _form(client, topics=TOPICS).json()["warnings"]
        assert (warning["code"], warning["brokers"]) == ("brokers_without_rack", list(range(101, 110)))

    def test_a_text_cut_in_the_middle_of_a_line(self, client: httpx.Client) -> None:
        """It names the line and the expected text."""
        lines = TOPICS.splitlines()
        cut = TOPICS[: TOPICS.index(lines[4]) + 40]
        for response in (
            _form(client, topics=cut),
            client.post("/v1/snapshots?cluster=c", content=cut, headers=TEXT),
        ):
            found = problem(response, 422, "malformed_text")
            assert found["line"] == 5
            only_error(found, "/topics")
            assert found["detail"].startswith(("line 5: expected ", "line 5 of topics: expected "))
            assert found["expected"]

    @given(st.integers(1, len(TOPICS) - 1))
    @costly(40)
    def test_a_text_cut_anywhere_is_no_500(self, address: str, at: int) -> None:
        response = httpx.post(f"{address}/v1/snapshots?cluster=cut", content=TOPICS[:at], headers=TEXT, timeout=60)
        assert response.status_code in {201, 422}
        if response.status_code == 422:
            assert response.headers["content-type"] == PROBLEM
            assert response.json()["line"] <= TOPICS[:at].count(b"\n") + 1

    @pytest.mark.parametrize("part", ["brokers", "topics", "log_dirs", "groups"])
    def test_invalid_utf8_in_a_part(self, client: httpx.Client, part: str) -> None:
        broken = BROKERS.replace(b"rack: use1", b"rack: \xff", 1)
        found = problem(_form(client, "prod", **{part: b"\xc3 before\n" + broken}), 422, "malformed_text")
        assert found["line"] == 2
        assert "byte 0xff" in found["detail"]
        only_error(found, f"/{part}")

    def test_a_harmless_line_in_another_encoding(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots?cluster=c", content=BROKERS + b"that\x92s all", headers=TEXT)
        details = {one["code"]: one["detail"] for one in response.json()["warnings"]}
        assert r"'that\udc92s all'" in details["lines_skipped"]

    @pytest.mark.parametrize("number", [b"2147483648", b"99999999999999999999"])
    def test_a_number_past_32_bits_in_a_text(self, client: httpx.Client, number: bytes) -> None:
        found = problem(_form(client, brokers=BROKERS.replace(b"id: 108", b"id: " + number)), 422, "malformed_text")
        assert found["line"] == 2
        only_error(found, "/brokers")

    @pytest.mark.parametrize("text", [b"", b"\n \n", b"no tool prints this", b"{}"])
    def test_a_paste_that_no_tool_prints(self, client: httpx.Client, text: bytes) -> None:
        response = client.post("/v1/snapshots?cluster=c", content=text, headers=TEXT)
        assert problem(response, 422, "malformed_text")["expected"]

    def test_no_text_at_all(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", files={"cluster": (None, b"c")})
        problem(response, 422, "malformed_text")

    def test_no_cluster(self, client: httpx.Client) -> None:
        for response in (
            _form(client, None, topics=TOPICS),
            client.post("/v1/snapshots", content=TOPICS, headers=TEXT),
        ):
            only_error(problem(response, 422, "validation"), "/cluster")

    def test_the_names_of_parts_do_not_matter(self, client: httpx.Client) -> None:
        """Nor whether brokers and topics are swapped, a part has several texts or comes several times."""
        wanted = _form(client, brokers=BROKERS, topics=TOPICS, log_dirs=LOG_DIRS).json()["id"]
        for parts in (
            {"brokers": TOPICS, "topics": BROKERS, "log_dirs": LOG_DIRS},
            {"one": BROKERS + TOPICS, "two": LOG_DIRS},
            {"groups": LOG_DIRS + TOPICS + BROKERS},
        ):
            assert _form(client, "prod", **parts).json()["id"] == wanted
        files = [("cluster", (None, b"prod"))] + [("file", (f"{i}.txt", one)) for i, one in enumerate(TEXTS)]
        assert client.post("/v1/snapshots", files=files).json()["id"] == wanted

    def test_a_text_that_is_not_recognized_names_its_part(self, client: httpx.Client) -> None:
        found = problem(_form(client, topics=TOPICS, racks=b"rack a\n"), 422, "malformed_text")
        only_error(found, "/racks")
        assert found["detail"].startswith("line 1 of racks: expected what kafka-topics --describe")

    def test_the_cluster_twice(self, client: httpx.Client) -> None:
        files = [("cluster", (None, b"c")), ("cluster", (None, b"d")), ("topics", ("b", TOPICS))]
        only_error(problem(client.post("/v1/snapshots", files=files), 422, "conflicting_fields"), "/cluster")

    @pytest.mark.parametrize(
        "encode",
        [
            gzip.compress,
            lambda text: text.decode().encode("utf-16"),
            lambda text: gzip.compress(BOM_UTF8 + text),
            lambda text: text.replace(b"\n", b"\r\n"),
        ],
    )
    def test_encodings_of_an_upload(self, client: httpx.Client, encode: Callable[[bytes], bytes]) -> None:
        wanted = _form(client, brokers=BROKERS, topics=TOPICS).json()["id"]
        assert _form(client, brokers=encode(BROKERS), topics=encode(TOPICS)).json()["id"] == wanted

    def test_a_compressed_text_that_is_too_long_or_cut_off(self, client: httpx.Client) -> None:
        bomb = gzip.compress(b"\n" * (MAX_DECOMPRESSED_BYTES + 2**21))
        found = problem(_form(client, topics=bomb), 422, "malformed_text")
        assert found["limit"] > MAX_DECOMPRESSED_BYTES
        only_error(found, "/topics")
        half = problem(_form(client, topics=gzip.compress(TOPICS)[:200]), 422, "malformed_text")
        assert "a whole gzip file" in half["detail"]

    def test_skipped_lines_are_a_warning(self, client: httpx.Client) -> None:
        text = b"```\nroot@kafka-0:/# kafka-topics.sh --describe\n" + TOPICS + b"```\n"
        (skipped,) = [
            warning for warning in _form(client, topics=text).json()["warnings"] if warning["code"] == "lines_skipped"
        ]
        assert "3 lines" in skipped["detail"]
        last = text.count(b"\n")
        assert f"1 to 2 of 'topics', {last} of 'topics'" in skipped["detail"]

    @pytest.mark.parametrize(
        "content_type", ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=x"]
    )
    def test_a_form_that_is_none(self, client: httpx.Client, content_type: str) -> None:
        response = client.post("/v1/snapshots", content=b"--y\r\nno form", headers={"Content-Type": content_type})
        assert 400 <= response.status_code < 500
        problem(response, response.status_code, response.json()["code"])


class TestGet:
    """`GET /v1/snapshots/{id}`."""

    def test_what_was_posted_is_in_it(self, client: httpx.Client) -> None:
        document = client.get(f"/v1/snapshots/{SNAPSHOT_ID}").json()["document"]
        assert [(broker["id"], broker["rack"]) for broker in document["brokers"]] == [
            (broker["id"], broker["rack"]) for broker in SNAPSHOT["brokers"]
        ]
        partitions = document["topics"][0]["partitions"]
        assert [partition["replicas"] for partition in partitions] == [[101, 103, 105], [104, 106, 102]]

    def test_etag(self, client: httpx.Client) -> None:
        response = client.get(f"/v1/snapshots/{SNAPSHOT_ID}")
        etag = response.headers["etag"]
        assert etag == f'"{response.json()["content_hash"]}"'
        for condition in (etag, f'"other", {etag}', f"W/{etag}", "*"):
            again = client.get(f"/v1/snapshots/{SNAPSHOT_ID}", headers={"If-None-Match": condition})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        other = client.get(f"/v1/snapshots/{SNAPSHOT_ID}", headers={"If-None-Match": '"other"'})
        assert (other.status_code, other.content) == (200, response.content)

    def test_unknown(self, client: httpx.Client) -> None:
        assert UNKNOWN_ID in problem(client.get(f"/v1/snapshots/{UNKNOWN_ID}"), 404, "snapshot_not_found")["detail"]

    def test_no_id(self, client: httpx.Client) -> None:
        only_error(problem(client.get("/v1/snapshots/abc"), 422, "validation"), "#path/snapshot_id")


class TestList:
    """`GET /v1/snapshots`."""

    @pytest.fixture
    def ids(self, client: httpx.Client) -> list[str]:
        """Seven snapshots of two clusters, oldest first."""
        return [
            client.post("/v1/snapshots", json={"cluster": f"c{i % 2}", "brokers": brokers(i, 0)}).json()["id"]
            for i in range(7)
        ]

    def test_newest_first(self, client: httpx.Client, ids: list[str]) -> None:
        page = client.get("/v1/snapshots").json()
        assert [item["id"] for item in page["items"]] == [*reversed(ids), *EXAMPLES]
        assert page["next_page_token"] is None
        assert "document" not in page["items"][0]

    def test_of_one_cluster(self, client: httpx.Client, ids: list[str]) -> None:
        page = client.get("/v1/snapshots", params={"cluster": "c1"}).json()
        assert [item["id"] for item in page["items"]] == ids[1::2][::-1]
        assert client.get("/v1/snapshots", params={"cluster": "none"}).json() == {"items": [], "next_page_token": None}

    @pytest.mark.parametrize("size", [1, 3, 4, 8, 9, 10])
    def test_pages_are_complete_and_disjoint(self, client: httpx.Client, ids: list[str], size: int) -> None:
        seen: list[str] = []
        token: dict[str, str] = {}
        while True:
            page = client.get("/v1/snapshots", params={"page_size": size, **token}).json()
            assert 0 < len(page["items"]) <= size
            seen += [item["id"] for item in page["items"]]
            if page["next_page_token"] is None:
                break
            token = {"page_token": page["next_page_token"]}
        assert seen == [*reversed(ids), *EXAMPLES]

    @pytest.mark.parametrize("token", ["", "x", "AAAA", "é", "a" * 22, "=" * 24])
    def test_a_token_that_no_page_gave(self, client: httpx.Client, token: str) -> None:
        response = client.get("/v1/snapshots", params={"page_token": token})
        if response.status_code == 200:  # sixteen bytes of anything are an id, and nothing is older than it
            assert len(token) == 22
            return
        only_error(problem(response, 422, "invalid_page_token"), "#query/page_token")

    @pytest.mark.parametrize("size", [0, -1, 1001, "x"])
    def test_page_size(self, client: httpx.Client, size: object) -> None:
        response = client.get("/v1/snapshots", params={"page_size": str(size)})
        only_error(problem(response, 422, "validation"), "#query/page_size")


class TestDelete:
    """`DELETE /v1/snapshots/{id}`."""

    @pytest.fixture
    def snapshot(self, client: httpx.Client) -> str:
        """A snapshot that nothing reads."""
        body = {**SNAPSHOT, "cluster": "short-lived"}
        location: str = client.post("/v1/snapshots", json=body).headers["location"]
        return location

    def test_unused(self, client: httpx.Client, snapshot: str) -> None:
        assert client.delete(snapshot).status_code == 204
        problem(client.get(snapshot), 404, "snapshot_not_found")
        problem(client.delete(snapshot), 404, "snapshot_not_found")

    def test_read_by_plans(self, client: httpx.Client, snapshot: str) -> None:
        """Until the last of them is deleted; each can be drawn as long as it is there."""
        snapshot_id = snapshot.rpartition("/")[2]
        plans = [place(client, snapshot_id=snapshot_id, seed=seed).headers["location"] for seed in (1, 2)]
        found = problem(client.delete(snapshot), 409, "snapshot_in_use")
        assert (found["plans"], found["sweeps"], found["jobs"]) == (2, 0, 0)
        client.delete(plans[0])
        assert problem(client.delete(snapshot), 409, "snapshot_in_use")["plans"] == 1
        assert client.get(f"{plans[1]}/picture.svg").status_code == 200
        client.delete(plans[1])
        assert client.delete(snapshot).status_code == 204

    def test_read_by_a_job_that_has_not_ended(self, client: httpx.Client, snapshot: str) -> None:
        body = {"snapshot_id": snapshot.rpartition("/")[2], "topics": [topic()]}
        job = client.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"}).headers["location"]
        assert problem(client.delete(snapshot), 409, "snapshot_in_use")["jobs"] == 1
        client.delete(job)
        assert client.delete(snapshot).status_code == 204

    def test_read_by_a_sweep(self, client: httpx.Client, snapshot: str) -> None:
        """Its scenarios become plans on the snapshot."""
        draws = {
            "kind": "placement_draws",
            "snapshot_id": snapshot.rpartition("/")[2],
            "topics": [topic()],
            "seeds": {"first": 1, "count": 3},
        }
        assert client.post("/v1/sweeps", json=draws).status_code == 202
        assert problem(client.delete(snapshot), 409, "snapshot_in_use")["sweeps"] == 1

    def test_deleted_while_a_plan_is_made(self, database: Database) -> None:
        """The plan is then a problem about the snapshot, and not a failure of the service."""
        with database.begin() as uow:
            snapshot = uow.snapshots.store(cluster="c", content_hash="h", document=b"{}", summary={})
        with database.begin() as uow:
            uow.snapshots.delete(snapshot.id)
        new = NewPlan("replicas", "hash", "c", snapshot.id, {}, {}, {}, ())
        with pytest.raises(SnapshotNotFound), database.begin() as uow:
            uow.plans.store(new)


def test_the_example_keeps_within_the_default_limits() -> None:
    """Or the first try of the documentation would fail."""
    assert len(SNAPSHOT["brokers"]) <= Limits().max_brokers
