"""Plans of consumers over time: series and their defects, schedules, files."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from app.cli.plan_options import OF_KIND, fields_of
from app.core.model import Broker, Cluster
from app.errors import Failure
from app.errors.reassignments import UnknownTopic
from app.errors.requests import AssignorUnavailable, ConflictingFields, LimitExceeded
from app.services.consumers import PLAN_KIND, PLANNER, READER
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.store.records import NewPlan
from app.web.forms.codecs import CODECS
from tests.services.reassignments import topic

MB = 10**6
HOURS: Mapping[str, Any] = {
    "start": "2026-11-27T06:00:00Z",
    "step_s": 3600,
    "bytes_per_s": {"orders": [[6 * MB, 5 * MB, 4 * MB], [9 * MB, 8 * MB, 4 * MB], [3 * MB, 2 * MB, 1 * MB]]},
}


RANGE = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}


def planned(of: Cluster | None = None, limits: Limits | None = None, **fields: Any) -> NewPlan:
    body = {"series": HOURS, "capacity_bytes_per_s": 10 * MB} | fields
    return draft_plan(PLANNER, READER.validate_python(body), of, limits or Limits())


def answer(of: Cluster | None = None, **fields: Any) -> Any:
    return planned(of, **fields).answer


def series(rates: Any, **fields: Any) -> dict[str, Any]:
    return {**HOURS, "bytes_per_s": rates, **fields}


def exported(plan: NewPlan, name: str) -> str:
    return PLAN_KIND.write(plan, name, lambda: None).decode()


def cluster(**partitions: int) -> Cluster:
    topics = [topic(name, [[0]] * count, [1] * count) for name, count in partitions.items()]
    return Cluster("prod-eu", (Broker(0, "a"), Broker(1, "b")), tuple(topics))


def counts(document: Any) -> list[int]:
    return [each["consumers"] for each in document["intervals"]]


class TestAnswer:
    def test_each_interval_has_the_fewest_consumers_and_moves_least(self) -> None:
        document = answer()
        assert counts(document) == [2, 3, 1]
        assert [each["lower_bound"] for each in document["intervals"]] == [2, 3, 1]
        assert document["intervals"][0]["moved_bytes_per_s"] == 0
        assert (document["proven_consumers"], document["proven_moves"]) == (3, 3)
        assert document["consumer_hours"] == 6
        assert document["cost"] is None
        assert document["intervals"][1]["from"] == "2026-11-27T07:00:00Z"
        assert {name: len(owners) for name, owners in document["intervals"][0]["assignment"].items()} == {"orders": 3}

    def test_more_consumers_are_ordered_before_they_are_needed(self) -> None:
        document = answer(start_s=300, price_per_consumer_hour=0.5)
        assert document["schedule"] == [
            {"from": "2026-11-27T05:55:00Z", "consumers": 2},
            {"from": "2026-11-27T06:55:00Z", "consumers": 3},
            {"from": "2026-11-27T08:00:00Z", "consumers": 1},
        ]
        assert document["cost"] == 3.0

    def test_a_peak_that_may_wait_needs_fewer_consumers(self) -> None:
        document = answer(delay_s=3600)
        assert max(counts(document)) == 2
        assert [each["backlog_bytes"] > 0 for each in document["intervals"]] == [True, True, False]

    def test_a_maximum_that_is_too_small_says_what_is_lost(self) -> None:
        document = answer(max=1)
        assert [each["lost_bytes_per_s"] for each in document["intervals"]] == [5 * MB, 11 * MB, 0]
        assert [warning["code"] for warning in document["warnings"]] == ["consumers_too_few"]

    def test_an_oversized_partition_is_named_with_what_helps(self) -> None:
        document = answer(capacity_bytes_per_s=8 * MB)
        assert document["oversized"] == [
            {"topic": "orders", "partition": 0, "bytes_per_s": 9 * MB, "intervals": 1, "partitions_needed": 4}
        ]
        assert document["intervals"][1]["lost_bytes_per_s"] == MB
        assert document["kafka"]["consumers_needed"] is None
        assert [warning["code"] for warning in document["warnings"]] == ["oversized_partitions"]

    def test_kafkas_assignor_needs_more_consumers(self) -> None:
        rates = [[6, 6, 3, 3, 1, 1]]
        document = answer(series=series({"a": rates}), capacity_bytes_per_s=10)
        assert counts(document) == [2]
        assert (
            document["kafka"].items()
            >= {"assignor": "uniform", "consumers_needed": 4, "intervals_above_capacity": 1}.items()
        )
        in_turn = answer(series=series({"a": rates}), capacity_bytes_per_s=10, assignor="roundrobin")
        assert in_turn["kafka"].items() >= {"assignor": "roundrobin", "consumers_needed": 2, "to": "4.4"}.items()

    def test_partitions_last_for_the_horizon_and_are_a_multiple_of_the_racks(self) -> None:
        growth = {"growth_per_month": 0.1, "horizon_months": 12}
        assert answer(cluster(orders=3), partitions=growth)["partitions"] == [
            {"topic": "orders", "partitions": 10, "current": 3, "lasts_months": 13}
        ]
        assert answer(partitions={})["partitions"] == [
            {"topic": "orders", "partitions": 3, "current": 3, "lasts_months": None}
        ]

    def test_the_front_begins_with_the_plan(self) -> None:
        document = answer()
        first = document["front"][0]
        assert (first["consumer_hours"], first["moved_bytes_per_s"]) == (6, document["moved_bytes_per_s"])

    def test_rows_are_the_consumers_of_each_partition(self) -> None:
        plan = planned()
        [rows] = plan.placements
        assert rows.topic == "orders"
        intervals: Any = plan.answer["intervals"]
        assert rows.replicas.T.tolist() == [each["assignment"]["orders"] for each in intervals]

    def test_the_rate_of_a_topic_is_shared_by_its_partitions(self) -> None:
        topics, rates = [{"name": "orders", "partitions": 3}], [["2 MB", "2 MB", "2 MB"], "9 MB", 1.5e6]
        equal = {"orders": [[2 * MB] * 3, [3 * MB] * 3, [MB / 2] * 3]}
        shared = {**series({}), "ingress_bytes_per_s": {"orders": rates}}
        del shared["bytes_per_s"]
        assert answer(topics=topics, series=shared) == answer(topics=topics, series=series(equal))

    def test_a_plan_is_the_same_again(self) -> None:
        one, other = planned(), planned()
        assert (one.hash, one.answer) == (other.hash, other.answer)
        assert planned(spare=1).hash != one.hash
        assert one.title == "Read orders with 1 to 3 consumers"
        assert one.summary == "6 consumer hours; 3 of 3 intervals proven fewest"


def prometheus(*series: Any) -> dict[str, Any]:
    return {"prometheus": {"status": "success", "data": {"resultType": "matrix", "result": list(series)}}}


def samples(partition: int | None, *values: int, times: Any = (0, 60, 120)) -> dict[str, Any]:
    metric = {"topic": "orders"} | ({} if partition is None else {"partition": str(partition)})
    return {"metric": metric, "values": [[at, str(value)] for at, value in zip(times, values, strict=True)]}


def test_a_job_plans_the_request_that_it_stored() -> None:
    for source in (HOURS, prometheus(samples(0, 7, 8, 3))):
        request = READER.validate_python({"series": source, "capacity_bytes_per_s": "10 MB", "partitions": {}})
        stored = json.loads(json.dumps(PLANNER.stored(request)))
        plans = [draft_plan(PLANNER, each, None, Limits()) for each in (request, PLANNER.restored(stored))]
        assert plans[0].hash == plans[1].hash
        assert plans[0].answer == plans[1].answer


class TestPrometheus:
    def test_an_answer_is_a_series(self) -> None:
        document = answer(series=prometheus(samples(1, 4, 5, 6), samples(0, 7, 8, 3)), capacity_bytes_per_s=10)
        assert counts(document) == [2, 2, 1]
        assert document["intervals"][1]["from"] == "1970-01-01T00:01:00Z"

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ((samples(0, 1, 2, 3), samples(1, 1, 2, times=(0, 120))), "orders-1 has 2 samples of 3"),
            ((samples(0, 1, 2, 3), samples(2, 1, 2, 3)), "orders-1 has no series"),
            ((samples(999_999_999, 1, 2, 3),), "orders-0 has no series"),
            ((samples(None, 1, 2, 3),), "topic orders has no series by partition"),
            ((samples(0, 1, times=(0,)),), "times of 1 moments"),
            ((samples(0, 1, 2, times=(-60, 0)),), "from 1970"),
            ((samples(0, 1, 2, times=(0, 1e300)),), "until 9000"),
            ((samples(0, 1, 2, times=(0, 0.5)),), "gap"),
        ],
    )
    def test_gaps_are_named(self, given: Any, words: str) -> None:
        with pytest.raises(ConflictingFields, match=words) as failure:
            answer(series=prometheus(*given))
        assert failure.value.path == ("series", "prometheus")


@pytest.mark.parametrize(
    ("fields", "error", "path", "words"),
    [
        (
            {"series": series({"a": [[1, 2], [1]]})},
            ConflictingFields,
            "series/ingress_bytes_per_s/a/1",
            "1 rates.* has 2",
        ),
        (
            {"series": series({"a": [[1]], "b": [[1], [1]]})},
            ConflictingFields,
            "series/ingress_bytes_per_s/b",
            "2 .* has 1",
        ),
        ({"series": series({"a": [1]})}, ConflictingFields, "series/ingress_bytes_per_s/a", "no number of partitions"),
        ({"series": series({"a": []})}, ConflictingFields, "series/ingress_bytes_per_s/a", "no rates"),
        ({"series": series({"a": [[]]})}, ConflictingFields, "series/ingress_bytes_per_s/a", "no rates"),
        ({"series": series({})}, ConflictingFields, "series/ingress_bytes_per_s", "no topic"),
        ({"series": series({"a": [[1]]}, step_s=None)}, ConflictingFields, "series/step_s", "step_s"),
        ({"series": series({"a": [[1]]}, start=None)}, ConflictingFields, "series/start", "start"),
        ({"series": {}}, ConflictingFields, "series", "one of"),
        ({"series": {"snapshots": RANGE}}, ConflictingFields, "series/snapshots", "only a service"),
        ({"series": series({"a": [[1] * 10_001]})}, ConflictingFields, "series", "10001 .* 10000"),
        ({"series": series({"a": [[1]]}, start="9999-12-31T23:59:59Z")}, ConflictingFields, "series", "until 9000"),
        ({"series": series({"a": [[1]]}, start="0001-01-01T00:00:00+05:00")}, ConflictingFields, "series", "from 1970"),
        ({"series": series({"a": [[1]] * 200}, step_s=31 * 86_400)}, ConflictingFields, "series", "535680000 s"),
        ({"topics": ["clicks"]}, UnknownTopic, "topics/0", "clicks"),
        (
            {"topics": [{"name": "orders", "partitions": 4}]},
            ConflictingFields,
            "topics/0/partitions",
            "3 .* the topic 4",
        ),
        ({"min": 3, "max": 2}, ConflictingFields, "max", "max is 2, and min is 3"),
        ({"start_s": 3601}, ConflictingFields, "start_s", "3601 s .* 3600 s"),
        ({"kafka_version": "3.9"}, AssignorUnavailable, "assignor", "4.0.0"),
    ],
)
def test_what_cannot_be_planned_is_named(fields: Any, error: type[Failure], path: str, words: str) -> None:
    with pytest.raises(error, match=words) as failure:
        answer(**fields)
    assert "/".join(map(str, failure.value.path)) == path


def test_a_topic_may_state_its_partitions() -> None:
    both = series({"orders": HOURS["bytes_per_s"]["orders"], "clicks": [[1], [1], [1]]})
    by_name = planned(series=both, topics=["orders"])
    assert planned(series=both, topics=[{"name": "orders", "partitions": 3}]).hash == by_name.hash
    assert planned(series=both).hash != by_name.hash


def test_a_rate_beyond_all_consumers_is_rejected() -> None:
    with pytest.raises(ConflictingFields, match=r"1e\+13 bytes/s; the most is 1e\+12"):
        answer(series=prometheus(samples(0, 1, 10**13, 2)))


def test_topics_are_those_of_the_cluster() -> None:
    assert counts(answer(cluster(orders=3))) == [2, 3, 1]
    with pytest.raises(UnknownTopic, match="orders"):
        answer(cluster(clicks=3))
    with pytest.raises(ConflictingFields, match=r"3 partitions .* has 4"):
        answer(cluster(orders=4))
    with pytest.raises(LimitExceeded):
        planned(limits=Limits(max_partitions=8))


class TestFiles:
    def test_a_table_has_a_line_for_each_interval(self) -> None:
        rows = list(csv.DictReader(exported(planned(), "csv").splitlines()))
        assert [row["consumers"] for row in rows] == ["2", "3", "1"]
        assert rows[0]["from"] == "2026-11-27T06:00:00Z"

    def test_a_schedule_has_a_line_for_each_change(self) -> None:
        text = exported(planned(start_s=60), "schedule")
        assert text == "2026-11-27T05:59:00Z 2\n2026-11-27T06:59:00Z 3\n2026-11-27T08:00:00Z 1\n"

    def test_keda_has_a_trigger_for_each_step(self) -> None:
        [document] = yaml.safe_load_all(exported(planned(start_s=30, workload="orders-reader"), "keda"))
        assert document["spec"]["scaleTargetRef"] == {"name": "orders-reader"}
        assert (document["spec"]["minReplicaCount"], document["spec"]["maxReplicaCount"]) == (1, 3)
        triggers = [trigger["metadata"] for trigger in document["spec"]["triggers"]]
        assert [(each["start"], each["end"], each["desiredReplicas"]) for each in triggers] == [
            ("59 5 * * *", "0 7 * * *", "2"),
            ("59 6 * * *", "0 8 * * *", "3"),
            ("0 8 * * *", "0 9 * * *", "1"),
        ]

    @pytest.mark.parametrize(("step", "cron"), [(86_400, "0 6 * * 5"), (10 * 86_400, "0 6 27 11 *")])
    def test_longer_plans_recur_by_week_or_year(self, step: int, cron: str) -> None:
        plan = planned(series={**HOURS, "step_s": step}, workload="true")
        [document] = yaml.safe_load_all(exported(plan, "keda"))
        assert document["spec"]["triggers"][0]["metadata"]["start"] == cron
        assert document["metadata"]["name"] == "true"

    def test_cron_jobs_set_the_minimum_of_an_autoscaler(self) -> None:
        jobs = list(yaml.safe_load_all(exported(planned(), "hpa")))
        assert [job["spec"]["schedule"] for job in jobs] == ["0 6 * * *", "0 7 * * *", "0 8 * * *"]
        pod = jobs[1]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        assert pod["containers"][0]["command"][-1] == '{"spec":{"minReplicas":3}}'


def test_a_large_group_is_planned_with_bounds() -> None:
    rates = np.random.default_rng(1).integers(0, 101, (3, 1_000)).tolist()
    document = answer(series=series({"a": rates}), capacity_bytes_per_s=1_000)
    assert all(each["lower_bound"] <= each["consumers"] <= 55 for each in document["intervals"])
    assert all(each["moved_lower_bound"] <= each["moved_bytes_per_s"] for each in document["intervals"])


@pytest.mark.parametrize("stated", [{"start": HOURS["start"]}, {"step_s": 60}])
def test_an_answer_of_prometheus_has_its_own_times(stated: Mapping[str, Any]) -> None:
    with pytest.raises(ConflictingFields, match="has its own times") as failure:
        answer(series=prometheus(samples(0, 7, 8, 3)) | dict(stated))
    assert failure.value.path == ("series", *stated)


def test_the_page_writes_a_series_under_either_name_of_its_rates() -> None:
    text = CODECS["series"].write(HOURS)
    assert CODECS["series"].write(CODECS["series"].read(text)) == text
    assert text.startswith("time,orders-0,orders-1,orders-2\n2026-11-27T06:00:00Z,6000000,")


def test_the_command_reads_a_series_or_an_answer_of_prometheus(tmp_path: Path) -> None:
    file = tmp_path / "rates.json"
    for document, field in ((HOURS, HOURS), (prometheus()["prometheus"], prometheus())):
        file.write_text(json.dumps(document), encoding="utf-8")
        options = dict.fromkeys(OF_KIND["consumers"]) | {
            "series": file,
            "capacity": "3 MB",
            "least": 2,
            "most": 4,
            "price": 0.5,
        }
        assert fields_of(options, OF_KIND["consumers"]) == {
            "series": field,
            "capacity_bytes_per_s": 3 * MB,
            "min": 2,
            "max": 4,
            "price_per_consumer_hour": 0.5,
        }
