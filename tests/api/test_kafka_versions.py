"""`kafka_version` everywhere: stated or read in a snapshot, overridden by requests, and stated in answers."""

from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem

BROKERS = [{"id": broker, "rack": f"r{broker % 3}"} for broker in range(1, 7)]
TOPICS = [{"name": "t", "partitions": [{"partition": p, "replicas": [1 + p % 6, 1 + (p + 1) % 6]} for p in range(6)]}]
HOLDS = {"from": "4.0.0", "to": "4.4"}
FEATURES = (
    "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
    "FinalizedVersionLevel: 4.0-IV3\tEpoch: 7\n"
)


def snapshot(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    posted = client.post("/v1/snapshots", json={"cluster": "v", "brokers": BROKERS, "topics": TOPICS, **fields})
    assert posted.status_code == 201, posted.text
    answer: dict[str, Any] = posted.json()
    return answer


def codes(answer: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in answer["warnings"]]


class TestSnapshots:
    def test_a_stated_release_is_stored_with_three_numbers(self, client: httpx.Client) -> None:
        without = snapshot(client)
        stated = snapshot(client, kafka_version="4.1")
        assert (without["kafka_version"], stated["kafka_version"]) == (None, "4.1.0")
        assert without["content_hash"] != stated["content_hash"]
        assert stated["id"] == snapshot(client, kafka_version="4.1.0")["id"]
        read = client.get(f"/v1/snapshots/{stated['id']}").json()
        assert read["kafka_version"] == read["document"]["kafka_version"] == "4.1.0"

    @pytest.mark.parametrize("version", ["2.3", "0.11.0", "5.0", "", "four", "4"])
    def test_a_release_that_is_not_supported_is_rejected(self, client: httpx.Client, version: str) -> None:
        body = {"cluster": "v", "brokers": BROKERS, "kafka_version": version}
        rejected = problem(client.post("/v1/snapshots", json=body), 422, "unsupported_kafka_version")
        assert (rejected["minimum"], rejected["maximum"]) == ("2.4", "4.4")
        only_error(rejected, "/kafka_version")

    def test_it_is_read_from_the_features(self, client: httpx.Client) -> None:
        """As a part of a form, and in pasted texts; the brokers run 4.1 before the upgrade is finalized."""
        listed = "b1:9092 (id: 1 rack: a isFenced: false) -> (\n)\n"
        parts = {"cluster": (None, "v"), "brokers": (None, listed), "features": (None, FEATURES)}
        formed = client.post("/v1/snapshots", files=parts).json()
        pasted = client.post(
            "/v1/snapshots?cluster=v", content=listed + FEATURES, headers={"content-type": "text/plain"}
        ).json()
        assert formed["kafka_version"] == "4.1.0"
        assert codes(formed) == ["kafka_version_assumed", "upgrade_not_finalized"]
        assert pasted["id"] == formed["id"]

    def test_a_stated_release_overrides_the_texts(self, client: httpx.Client) -> None:
        parts = {"cluster": (None, "v"), "features": (None, FEATURES), "kafka_version": (None, "4.1.1")}
        answer = client.post("/v1/snapshots", files=parts).json()
        assert answer["kafka_version"] == "4.1.1"
        assert "kafka_version_assumed" not in codes(answer)
        pasted = client.post(
            "/v1/snapshots?cluster=v&kafka_version=4.1.1", content=FEATURES, headers={"content-type": "text/plain"}
        )
        assert pasted.json()["id"] == answer["id"]

    def test_brokers_of_a_release_that_is_not_supported_are_read_without_it(self, client: httpx.Client) -> None:
        logged = "[2019-01-02 12:00:00,000] INFO Kafka version: 2.1.0 (org.apache.kafka.common.utils.AppInfoParser)\n"
        answer = client.post("/v1/snapshots", files={"cluster": (None, "v"), "features": (None, logged)}).json()
        assert answer["kafka_version"] is None
        assert "kafka_version_unsupported" in codes(answer)


def requests_on(snapshot_id: str) -> dict[str, dict[str, Any]]:
    """A request of each kind, by the path that takes it."""
    return {
        "/v1/plans/replicas": {
            "snapshot_id": snapshot_id,
            "algorithm": "striped",
            "topics": [{"name": "new", "partitions": 2, "replication_factor": 2}],
            "seed": 1,
        },
        "/v1/plans/reassignment": {"snapshot_id": snapshot_id, "remove_brokers": [6]},
        "/v1/plans/group": {
            "snapshot_id": snapshot_id,
            "assignor": "range",
            "members": [{"member_id": "m", "topics": ["t"]}],
        },
        "/v1/plans/streams": {"snapshot_id": snapshot_id, "tasks": ["0_0"], "clients": [{"process_id": "p"}]},
        "/v1/checks": {
            "snapshot_id": snapshot_id,
            "reassignment": {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [3, 4]}]},
        },
        "/v1/keys/partitions": {"keys": ["k"], "partitions": 6},
        "/v1/sweeps": {
            "kind": "consumer_groups",
            "snapshot_id": snapshot_id,
            "assignors": ["range"],
            "groups": ["g"],
        },
    }


GROUP = {
    "group_id": "g",
    "members": [{"member_id": "m", "topics": ["t"], "assigned_partitions": {"t": [0, 1, 2, 3, 4, 5]}}],
}
PATHS = list(requests_on(""))
PLANS = [path for path in PATHS if path.startswith("/v1/plans")]


@pytest.mark.parametrize("path", PLANS)
def test_a_plan_is_made_for_the_release_of_its_request_or_its_snapshot(client: httpx.Client, path: str) -> None:
    body = requests_on(snapshot(client, kafka_version="4.2")["id"])[path]
    recorded = client.post(path, json=body).json()
    requested = client.post(path, json=body | {"kafka_version": "3.9.1"}).json()
    assert (recorded["request"]["kafka_version"], requested["request"]["kafka_version"]) == ("4.2.0", "3.9.1")
    assert recorded["kafka"] == (None if path.endswith("reassignment") else HOLDS)
    assert requested["kafka"] is None
    assert recorded["hash"] != requested["hash"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("version", ["2.3", "5.0", "newest"])
def test_every_request_rejects_a_release_that_is_not_supported(client: httpx.Client, path: str, version: str) -> None:
    body = requests_on(snapshot(client, groups=[GROUP])["id"])[path] | {"kafka_version": version}
    rejected = problem(client.post(path, json=body), 422, "unsupported_kafka_version")
    assert (rejected["minimum"], rejected["maximum"]) == ("2.4", "4.4")
    only_error(rejected, "/kafka_version")


@pytest.mark.parametrize("path", PLANS)
def test_a_job_is_rejected_at_once_as_well(client: httpx.Client, path: str) -> None:
    body = requests_on(snapshot(client)["id"])[path] | {"kafka_version": "2.3"}
    answer = client.post(path, json=body, headers={"prefer": "respond-async"})
    problem(answer, 422, "unsupported_kafka_version")


def test_a_check_states_the_release_that_it_is_for(client: httpx.Client) -> None:
    body = requests_on(snapshot(client, kafka_version="4.2")["id"])["/v1/checks"]
    assert client.post("/v1/checks", json=body).json()["kafka_version"] == "4.2.0"
    assert client.post("/v1/checks", json=body | {"kafka_version": "4.3"}).json()["kafka_version"] == "4.3.0"


def test_a_partitioner_states_the_releases_whose_default_it_is(client: httpx.Client) -> None:
    body = {"keys": ["k"], "partitions": 6, "partitioner": ["murmur2_sticky", "murmur2_adaptive", "crc32_random"]}
    old, new = (
        client.post("/v1/keys/partitions", json=body | {"kafka_version": version}).json()["partitioners"]
        for version in ("2.8", "4.1")
    )
    assert [placed["kafka"] for placed in old] == [{"from": "2.4", "to": "3.2"}, None, None]
    assert [placed["kafka"] for placed in new] == [None, {"from": "3.3", "to": "4.4"}, None]


def test_a_sweep_has_the_assignors_of_its_release(client: httpx.Client) -> None:
    body = requests_on(snapshot(client, groups=[GROUP], kafka_version="3.9")["id"])["/v1/sweeps"]
    unavailable = problem(
        client.post("/v1/sweeps", json=body | {"assignors": ["uniform"]}), 422, "assignor_unavailable"
    )
    assert (unavailable["value"], unavailable["minimum"]) == ("uniform", "4.0.0")
    only_error(unavailable, "/assignors/0")
    accepted = client.post("/v1/sweeps", json=body | {"assignors": ["uniform"], "kafka_version": "4.0.1"})
    sweep = client.get(accepted.headers["location"]).json()
    assert sweep["definition"]["kafka_version"] == "4.0.1"


class TestComparisons:
    """`compare_kafka_versions` in the requests whose kinds have code of several releases."""

    @pytest.mark.parametrize("path", [path for path in PLANS if not path.endswith("reassignment")])
    def test_one_release_or_several(self, client: httpx.Client, path: str) -> None:
        body = requests_on(snapshot(client)["id"])[path]
        one, several = (
            client.post(path, json=body | {"compare_kafka_versions": listed}).json()
            for listed in ("4.0", ["4.0.0", "4.3"])
        )
        assert "compared_kafka_versions" not in client.post(path, json=body).json()
        assert [entry["kafka_version"] for entry in one["compared_kafka_versions"]] == ["4.0.0"]
        assert [entry["kafka_version"] for entry in several["compared_kafka_versions"]] == ["4.0.0", "4.3.0"]
        assert [entry["differing"] for entry in several["compared_kafka_versions"]] == [0, 0]
        assert several["request"]["compare_kafka_versions"] == ["4.0.0", "4.3.0"]

    def test_what_uniform_decides_otherwise(self, client: httpx.Client) -> None:
        topics = [{"name": "t", "partitions": 7}]
        members = [
            {"member_id": name, "topics": ["t"], "owned_partitions": {"t": owned}}
            for name, owned in (("a", [0, 1]), ("b", [2, 3]), ("c", [4, 5, 6]))
        ]
        body = {"assignor": "uniform", "brokers": BROKERS, "topics": topics, "members": members}
        plan = client.post("/v1/plans/group", json=body | {"kafka_version": "4.0.0", "compare_kafka_versions": "4.3"})
        (entry,) = plan.json()["compared_kafka_versions"]
        assert entry == {
            "kafka_version": "4.3.0",
            "kafka": {"from": "4.0.1", "to": "4.4"},
            "differing": 1,
            "rows": [
                {
                    "before": {"topic": "t", "partition": 6, "members": ["a"]},
                    "after": {"topic": "t", "partition": 6, "members": ["c"]},
                }
            ],
            "error": None,
        }
        (warning,) = [one for one in plan.json()["warnings"] if one["code"] == "differs_after_upgrade"]
        assert warning["kafka_version"] == "4.0.1"
        assert "1 of 7 rows" in warning["detail"]

    @pytest.mark.parametrize("listed", [["4.0", "2.3"], ["4.0", "newest"]])
    def test_a_release_that_is_not_supported(self, client: httpx.Client, listed: list[str]) -> None:
        body = requests_on(snapshot(client)["id"])["/v1/plans/group"] | {"compare_kafka_versions": listed}
        for prefer in ({}, {"prefer": "respond-async"}):
            rejected = problem(
                client.post("/v1/plans/group", json=body, headers=prefer), 422, "unsupported_kafka_version"
            )
            only_error(rejected, "/compare_kafka_versions/1")

    def test_too_many_releases(self, client: httpx.Client) -> None:
        body = requests_on(snapshot(client)["id"])["/v1/plans/group"] | {"compare_kafka_versions": ["4.0"] * 9}
        only_error(problem(client.post("/v1/plans/group", json=body), 422, "validation"), "/compare_kafka_versions")


class TestPlacements:
    @pytest.mark.parametrize(("version", "has"), [("3.9", True), ("4.0.1", True), ("4.1", False), (None, True)])
    def test_a_release_without_admin_utils_is_named(
        self, client: httpx.Client, version: str | None, *, has: bool
    ) -> None:
        """Its placement is still answered: a cluster may have been placed so."""
        body = requests_on(snapshot(client)["id"])["/v1/plans/replicas"] | {"algorithm": "admin_utils"}
        plan = client.post("/v1/plans/replicas", json=body | {"kafka_version": version}).json()
        assert ("algorithm_not_in_version" in codes(plan)) is not has
        assert plan["kafka"] == ({"from": "4.0", "to": "4.0"} if version == "4.0.1" else None)

    @pytest.mark.parametrize(
        ("version", "words"), [("4.2", "are currently fenced."), ("4.3", "or have all their log directories cordoned.")]
    )
    def test_the_striped_placer_rejects_in_the_words_of_the_release(
        self, client: httpx.Client, version: str, words: str
    ) -> None:
        body = {
            "brokers": [{"id": 1, "fenced": True}],
            "algorithm": "striped",
            "topics": [{"name": "t", "partitions": 1, "replication_factor": 1}],
            "kafka_version": version,
        }
        rejected = problem(client.post("/v1/plans/replicas", json=body), 422, "invalid_replication_factor")
        assert words in rejected["kafka_message"]
