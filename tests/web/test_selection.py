"""The changes of a reassignment that one broker, rack or topic has, and the picture that marks it."""

import json
from uuid import UUID

import pytest

from app.services import plans, reassignment
from app.store.database import Database
from app.web.plans.selection import Selection, distinctions, fields_of, select
from tests.web.browser import Browser
from tests.web.test_clusters import TEXT
from tests.web.test_plan_forms import EMPTY


@pytest.fixture
def plan(browser: Browser) -> str:
    """The address of a reassignment that removes a broker of nine."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    typed = {**EMPTY, "cluster": "nine", "remove_brokers": "105", "replicas": "tight"}
    return str(browser.ask("POST", "/plan/reassignment", data=typed).headers["location"])


def test_every_choice_selects_its_changes(database: Database, plan: str) -> None:
    """By hand, over all choices: a broker gains or loses a replica or the preferred leader; racks likewise."""
    with database.begin() as uow:
        loaded = plans.load(uow, UUID(plan.rpartition("/")[2]))
        cluster = plans.made_on(uow, loaded.head)
    transfers = reassignment.compared(loaded, cluster)
    every = transfers.partitions(0, transfers.movement.total)
    rack_of = {str(broker.id): broker.rack for broker in cluster.brokers}
    all_of_them = select(transfers, "", most=9_999)
    assert [row.partition for row in all_of_them.partitions] == [row.partition for row in every]
    for kind, names in all_of_them.choices:
        assert names
        for name in names:
            found = select(transfers, f"{kind}:{name}", most=9_999)

            def of(ids: tuple[int, ...] | None, kind: str = kind, name: str = name) -> list[int]:
                return [each for each in ids or () if name == (str(each) if kind == "broker" else rack_of[str(each)])]

            if kind == "topic":
                wanted = [row for row in every if row.topic == name]
            else:
                wanted = [
                    row
                    for row in every
                    if len(of(row.before)) != len(of(row.after))
                    or bool(of((row.before or ())[:1])) != bool(of(row.after[:1]))
                ]
            assert list(found.partitions) == wanted
            assert found.total == len(wanted)
    for unknown in ("broker:9", "nonsense", "topic:", "rack:105", ":"):
        assert select(transfers, unknown).value == ""
    assert len(select(transfers, "", most=3).partitions) == 3


def test_the_page_has_the_selection_in_its_address(browser: Browser, plan: str) -> None:
    page = browser.get(f"{plan}/changes?select=broker:105")
    assert "Differences of broker 105" in page.text
    assert page.source.count("data-chosen") > 1
    assert "data-chosen" not in browser.get(f"{plan}/changes?select=broker:9").source
    assert browser.get(f"{plan}/changes?select=topic:clicks").status == 200


def test_a_name_marks_itself_alone() -> None:
    picture = '<g data-item="1"/><g data-item="10"/><g data-rack="a &amp; b"/><g data-rack="a"/>'
    assert Selection("broker", "1", (), 0, ()).marked(picture).count("data-chosen") == 1
    assert Selection("rack", "a & b", (), 0, ()).marked(picture).count("data-chosen") == 1
    assert Selection("topic", "t", (), 0, ()).marked(picture) == picture


def test_twins_that_differ_by_their_seed_alone_state_it(browser: Browser, database: Database) -> None:
    """Also if one states the seed that the other got by default."""
    body = {"brokers": [{"id": broker} for broker in (1, 2, 3)], "algorithm": "striped"}
    body |= {"topics": [{"name": "new", "partitions": 2, "replication_factor": 2}]}
    made = browser.ask("POST", "/plan/replicas", data={"body": json.dumps(body)}).headers["location"]
    with database.begin() as uow:
        seed = uow.plans.get(UUID(made.rpartition("/")[2])).answer["seed"]
    for stated in (seed, 7):
        browser.ask("POST", "/plan/replicas", data={"body": json.dumps(body | {"seed": stated})})
    shown = browser.get("/plans").source
    for words in (f"seed {seed} by default", f"seed {seed}", "seed 7"):
        assert shown.count(f"<bdi>{words}</bdi>") == 1, words


def test_twins_are_told_apart_by_options_and_then_by_the_start_of_the_snapshots_hash() -> None:
    cluster = "prod-eu"
    with_ids = [
        {"cluster": cluster, "snapshot_content_hash": "0754" * 16, "balance": {"replicas": "tight"}},
        {"cluster": cluster, "snapshot_content_hash": "6c1f" * 16, "balance": {"replicas": "keep"}},
    ]
    assert distinctions([dict(fields_of("", request)) for request in with_ids]) == [
        "replicas balanced, of the snapshot 07540754",
        "replicas kept, of the snapshot 6c1f6c1f",
    ]
    clients = [{"clients": [{"id": "a", "tags": []}, {"id": "b", "capacity": capacity}]} for capacity in (1, 2)]
    assert distinctions([dict(fields_of("", each)) for each in clients]) == ["capacity 1", "capacity 2"]
    throttled = [dict(fields_of("", {"batches": {"throttle_bytes_per_s": rate}})) for rate in (100_000_000, 2_500_000)]
    assert distinctions(throttled) == ["throttle 100 MB/s", "throttle 2.5 MB/s"]
    soft = [dict(fields_of("", {"soft": value})) for value in (True, False)]
    assert distinctions(soft) == ["soft yes", "soft no"]
    assert distinctions([{"topics": "t" * 200}, {}]) == [f"topics {'t' * 93}…", "without further options"]
