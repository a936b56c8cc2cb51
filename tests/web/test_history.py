"""The page of a cluster's history: what differs between two snapshots, in words."""

import re
from dataclasses import replace
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.model import Broker, Cluster
from app.services import snapshots
from app.store.database import Database
from app.store.transaction import uuid7
from app.web.clusters.states import differences
from tests.core.test_partition_table import topic
from tests.web.browser import Browser
from tests.web.test_clusters import keep, small

BROKERS = st.lists(st.integers(1, 5), min_size=3, max_size=5, unique=True)
LISTS = st.lists(st.permutations([1, 2, 3]).map(lambda ids: (list(ids), list(ids), ids[0])), min_size=1, max_size=4)


@st.composite
def states(draw: st.DrawFn) -> Cluster:
    """A state of one cluster: some of five brokers, and topics on the first three, which may not be listed."""
    brokers = tuple(Broker(each, draw(st.sampled_from("ab"))) for each in sorted(draw(BROKERS)))
    names = sorted(draw(st.sets(st.sampled_from("tuv"), min_size=1)))
    return Cluster("small", brokers, tuple(topic(name, draw(LISTS)) for name in names))


def stored(database: Database, cluster: Cluster) -> UUID:
    """The id of its snapshot, the only one of its name: of a later one the brokers of the one before are a part."""
    name = str(uuid7())
    keep(database, replace(cluster, name=name))
    with database.begin() as uow:
        return snapshots.newest(uow, name).id


def compared(database: Database, one: Cluster, other: Cluster) -> dict[str, list[object]]:
    """What came, went or is elsewhere from one state to the other, by the words of the page."""
    ids = [stored(database, each) for each in (one, other)]
    with database.begin() as uow:
        before, after = (uow.snapshots.get(each) for each in ids)
    found = differences(before, after, one, other)
    return {words: list(names) for words, names in found["named"]}


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(states(), states())
def test_what_came_in_one_direction_went_in_the_other(database: Database, one: Cluster, other: Cluster) -> None:
    """Nothing differs between a state and itself; brokers, topics and findings that came are those that had gone."""
    assert compared(database, one, one) == {}
    there, back = compared(database, one, other), compared(database, other, one)
    for came, went in (
        ("Brokers that came", "Brokers that went"),
        ("Topics that came", "Topics that went"),
        ("New findings", "Findings that are gone"),
    ):
        assert (there.get(came), there.get(went)) == (back.get(went), back.get(came))
    assert there.get("Brokers in another rack") == back.get("Brokers in another rack")
    assert set(there.get("Brokers that came", [])).isdisjoint(broker.id for broker in one.brokers)


def test_two_states_are_compared_in_one_click(browser: Browser, database: Database) -> None:
    """From a row to what differs since the one before, or since the shown one, the earlier state first."""
    keep(database, small())
    moved = topic("t", [([2, 4, 1], [2, 4, 1], 2)])
    keep(database, replace(small(), brokers=(*small().brokers[:2], Broker(4, "b")), topics=(moved, topic("v", []))))
    listed = browser.get("/clusters/small/history")
    assert "1 fewer partition" in listed.text
    links = set(re.findall(r'href="(/clusters/small/history\?[^"]*against=[^"]*)"', listed.source))
    assert len(links) == 2
    for link in links:
        shown = browser.get(link.replace("&amp;", "&"))
        facts = shown.text.partition("All snapshots")[2]
        assert "Partitions with other replicas 1 Replicas moved 1 100 B Preferred leaders changed 1" in facts
        assert "Brokers that came 4 Brokers that went 3 Topics that came v Topics that went u" in facts
        assert "partitions 2 → 1" in facts
        assert "2, 4, 1" in facts


def test_the_difference_to_a_snapshot_of_another_cluster_is_not_found(browser: Browser, database: Database) -> None:
    keep(database, small())
    keep(database, small(name="other"))
    with database.begin() as uow:
        other = snapshots.newest(uow, "other").id
    assert browser.get(f"/clusters/small/history?against={other}").status == 404
    assert browser.get("/clusters/small/history?against=none").status == 404
