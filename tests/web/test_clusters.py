"""The pages of clusters: adding one, its health, the map, and the state after a loss."""

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from app.core.model import NO_LEADER, Broker, BrokerCapacity, Cluster
from app.core.recorded import RecordedGroup, RecordedMember
from app.services import snapshots
from app.services.limits import Limits
from app.settings import Settings
from app.store.database import Database
from app.web import search
from app.web.clusters.directories import directories
from app.web.search import in_clusters
from tests.core.test_partition_table import topic
from tests.jbod import jbod
from tests.web.browser import Browser, Page

SAMPLES = Path(__file__).parents[1] / "samples"
TEXT = "\n".join(
    (SAMPLES / f"kafka-{name}.txt").read_text()
    for name in ("broker-api-versions", "topics-describe", "log-dirs-describe")
)


def keep(database: Database, cluster: Cluster) -> None:
    with database.begin() as uow:
        snapshots.store(uow, cluster, Limits())


def small(*, name: str = "small", leader: int = 1) -> Cluster:
    """Brokers 1 and 2 in rack a, 3 in rack b; t-0 is on all three, u-0 on broker 3 alone."""
    capacity = BrokerCapacity(disk_bytes=1000)
    brokers = (Broker(1, "a", capacity=capacity), Broker(2, "a", capacity=capacity), Broker(3, "b", capacity=capacity))
    topics = (topic("t", [([1, 2, 3], [1, 2, 3], leader)]), topic("u", [([3], [3], 3)]))
    return Cluster(name, brokers, topics)


def cells(page: Page) -> dict[str, str]:
    """Each broker in the map: its id, and the value that follows it."""
    titled = [link for link in page.all("a") if link.attributes.get("title", "").startswith("broker ")]
    return {link.attributes["title"].split(",")[0]: link.attributes["title"] for link in titled}


def test_a_new_service_offers_a_form_and_an_example(browser: Browser) -> None:
    """No start stores one unless the operator asks for those of the documentation; the button stores one, once."""
    assert Settings.model_fields["examples"].default is False
    page = browser.get("/")
    assert page.status == 200
    assert "No cluster yet" in page.text
    assert "before Kafka places it" in page.text
    added = browser.ask("POST", "/clusters/example")
    assert (added.status_code, added.headers["location"]) == (303, "/clusters/example-shop")
    assert browser.ask("POST", "/clusters/example").headers["location"] == "/clusters/example-shop"
    shown = browser.get("/clusters/example-shop").text
    for finding in (
        "1 partition below min.insync.replicas",
        "partitions not rack-safe",
        "times the mean of replicas",
        "losing rack az-a stops",
    ):
        assert finding in shown


@pytest.mark.parametrize("as_files", [False, True], ids=["pasted", "files"])
def test_texts_of_tools_become_a_cluster(browser: Browser, as_files: bool) -> None:
    if as_files:
        files = [("files", (f"{number}.txt", part.encode())) for number, part in enumerate([TEXT])]
        answer = browser.ask("POST", "/clusters", data={"cluster": "nine"}, files=files)
    else:
        answer = browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    assert answer.status_code == 303
    page = browser.get(answer.headers["location"])
    assert "Brokers 9" in page.text  # in the rail
    assert len(cells(page)) == 9


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"cluster": "", "text": TEXT}, "1 to 249 printable characters"),
        ({"cluster": "a\nb", "text": TEXT}, "1 to 249 printable characters"),
        ({"cluster": "c", "text": "kubectl get pods\nNAME READY STATUS\n"}, "kubectl"),
        ({"cluster": "c", "text": ""}, ""),
    ],
    ids=["no name", "line break", "another tool", "nothing"],
)
def test_what_cannot_be_read_is_said_and_stays_in_the_form(browser: Browser, sent: dict[str, str], words: str) -> None:
    page = browser.post("/clusters", sent)
    assert page.status == 422
    assert "Nothing was stored." in page.text
    assert words in page.text
    assert page.by_id("text").text.strip() == sent["text"].strip()


def test_the_fleet_has_findings_and_the_overview_changes(browser: Browser, database: Database) -> None:
    keep(database, small())
    keep(database, Cluster("small", small().brokers, (topic("t", [([1, 2], [1], NO_LEADER)]),)))
    fleet = browser.get("/")
    assert "1 offline, 1 under-replicated, 1 not rack-safe" in " ".join(fleet.text.split())
    assert "1 partition under-replicated" in fleet.source
    overview = browser.get("/clusters/small")
    assert "1 fewer topic, 1 fewer partition, 1 more offline, 1 more under-replicated" in overview.text
    listed = overview.source.partition('id="findings"')[2].partition("</ul>")[0].count("<li")
    assert f"{listed} findings" in overview.text, "the bar counts the findings of the list"


def test_the_overview_has_the_newest_open_plans_and_their_number(browser: Browser) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    for broker in ("101", "102", "103", "104"):
        typed = {"cluster": "nine", "remove_brokers": broker}
        assert browser.ask("POST", "/plan/reassignment", data=typed).status_code == 303
    text = browser.get("/clusters/nine").text
    assert [broker for broker in ("101", "102", "103", "104") if f"Remove broker {broker}" in text] == [
        "102",
        "103",
        "104",
    ]
    assert "3 of 4 open. All plans" in text


def test_changes_are_since_the_state_before_also_if_it_returned(browser: Browser, database: Database) -> None:
    one = small()
    three = replace(one, topics=(*one.topics, topic("v", [([3], [3], 3)])))
    for state in (one, replace(one, topics=one.topics[:1]), one, three):  # the last but one was created first
        keep(database, state)
    text = browser.get("/clusters/small").text
    assert "1 more topic, 1 more partition" in text
    assert "2 more topics" not in text


def test_each_cluster_has_a_row_from_its_own_newest_snapshot(browser: Browser, database: Database) -> None:
    for name in ("b", "a"):
        for count in (1, 2):
            keep(database, replace(small(name=name), topics=small().topics[:count]))
    with database.begin() as uow:
        listed = [(each.cluster, each.summary["topics"]) for each in uow.snapshots.newest_of_all(most=9)]
        assert listed == [("a", 2), ("b", 2)]
        assert [each.cluster for each in uow.snapshots.newest_of_all(most=1)] == ["a"]
    assert [link.text for link in browser.get("/").all("a") if link.text in ("a", "b")] == ["a", "b"]


def test_the_map_shows_each_measure(browser: Browser, database: Database) -> None:
    keep(database, small())
    assert cells(browser.get("/clusters/small"))["broker 3"] == "broker 3, replicas 2"
    assert cells(browser.get("/clusters/small?measure=leaders"))["broker 1"] == "broker 1, leaders 1"
    assert cells(browser.get("/clusters/small?measure=disk"))["broker 3"] == "broker 3, disk used 20 %, replicas 2"
    assert cells(browser.get("/clusters/small?measure=ingress"))["broker 3"].startswith("broker 3, replicas 2")


def test_without_a_rack_leaders_are_elected_elsewhere(browser: Browser, database: Database) -> None:
    keep(database, small())
    lost = browser.get("/clusters/small?measure=leaders&lose=rack:a")
    assert "offline 0 cannot be written unknown leaders elected elsewhere 1 fewer replicas 1" in lost.text
    assert "most leaders of a broker 1 → 2" in lost.text
    assert cells(lost)["broker 3"] == "broker 3, leaders 2"
    assert cells(lost)["broker 1"].startswith("broker 1, lost")
    topics = tuple([replace(each, configs={"min.insync.replicas": "2"}) for each in small().topics])
    keep(database, replace(small(), topics=topics))
    known = browser.get("/clusters/small?measure=leaders&lose=rack:a")
    assert "offline 0 cannot be written 1 leaders elected elsewhere 1" in known.text
    both = browser.get("/clusters/small?lose=rack:a&lose=broker:3")
    assert "offline 2 cannot be written" in both.text
    assert "Offline: t 1, u 1." in both.text
    assert "leaders elected" not in browser.get("/clusters/small?lose=rack:x&lose=broker:9&lose=nonsense").text


def test_partitions_that_were_offline_before_are_not_counted_as_lost(browser: Browser, database: Database) -> None:
    """Neither over all topics nor for one of them."""
    keep(database, small(leader=NO_LEADER))
    for address in ("/clusters/small?lose=rack:a", "/clusters/small/topics/t?lose=rack:a"):
        assert "offline 0 cannot" in browser.get(address).text


def test_topics_brokers_and_groups_have_pages(browser: Browser, database: Database) -> None:
    """Lists lead to each of them."""
    groups = (RecordedGroup("readers", "Stable", "range", (RecordedMember("reader-1", topics=("t",)),)),)
    keep(database, replace(small(), groups=groups))
    topic_page = browser.get("/clusters/small/topics/u")
    assert cells(topic_page)["broker 1"] == "broker 1, replicas 0"
    assert "Topics / u" in topic_page.text
    assert "1 of 1 partition." in topic_page.text
    broker = browser.get("/clusters/small/brokers/3")
    assert "Topics of broker 3" in broker.source
    assert "Its loss 1 offline" in broker.text
    group = browser.get("/clusters/small/groups/readers")
    assert "reader-1" in group.text
    for room, item in (("topics", "u"), ("brokers", "3"), ("groups", "readers")):
        links = [link.attributes.get("href") for link in browser.get(f"/clusters/small/{room}").all("a")]
        assert f"/clusters/small/{room}/{item}" in links
        assert browser.get(f"/clusters/small/{room}/none").status == 404


def test_a_tiered_topic_says_what_a_move_copies(browser: Browser, database: Database) -> None:
    """Its size is the one on disks; its own configurations are on its page, and no other topic's."""
    tiered = replace(small().topics[0], configs={"remote.storage.enable": "true", "local.retention.ms": "3600000"})
    keep(database, replace(small(), topics=(tiered, small().topics[1])))
    text = browser.get("/clusters/small/topics/t").text
    for words in ("Bytes of one copy on disk", "in remote storage", "2 configurations", "local.retention.ms 3600000"):
        assert words in text
    assert "remote storage" not in browser.get("/clusters/small/topics/u").text


def test_a_finding_leads_to_its_partitions_and_to_a_plan_against_it(browser: Browser, database: Database) -> None:
    """Every number of a finding is a link; repairable ones have a link to the form of that plan."""
    brokers = (Broker(1, "a"), Broker(2, "a"), Broker(3, "b"))
    topics = (topic("t", [([1, 2], [1], 1), ([1, 3], [1, 3], 3)]),)
    keep(database, Cluster("unsafe", brokers, topics))
    page = browser.get("/clusters/unsafe")
    links = [link.attributes.get("href") for link in page.all("a")]
    assert "/plan/reassignment?cluster=unsafe" in links
    for state, rows in (("not_rack_safe", "0 1 1, 2"), ("under_replicated", "0 1 1, 2"), ("not_preferred", "1 3 1, 3")):
        assert f"/clusters/unsafe/topics?state={state}" in links
        listed = browser.get(f"/clusters/unsafe/topics?state={state}")
        assert "1 of 1 partition." in listed.text
        assert f"t {rows}" in listed.text
    assert "kafka-leader-election.sh" in browser.get("/clusters/unsafe/topics?state=not_preferred").text


def test_names_with_slashes_have_rooms(browser: Browser, database: Database) -> None:
    """A cluster named like a room, and a topic's page of a cluster with slashes in its name."""
    for name in ("topics", "a/topics"):
        keep(database, small(name=name))
        address = f"/clusters/{quote(name, safe='')}"
        assert "Worst loss of a rack" in browser.get(address).text
        assert "Topics / u" in browser.get(f"{address}/topics/u").text


def test_hostile_names_stay_text_and_find_their_cluster(browser: Browser, database: Database) -> None:
    name = 'a/b "<script>alert(1)</script>" \u202e?#&x=1'
    rack = "r:1 <b>&"
    brokers = (Broker(1, rack), Broker(2, "c"))
    keep(database, Cluster(name, brokers, (topic("t", [([1, 2], [1, 2], 1)]),)))
    [card] = [link for link in browser.get("/").all("a") if link.text == name]
    page = browser.get(card.attributes["href"])
    assert page.status == 200
    assert not page.inline_scripts
    what_if = browser.get(f"{card.attributes['href']}/what-if")
    lose, listed = [link.attributes["href"] for link in what_if.all("a") if link.text == rack]
    assert listed == lose  # on the map, and in the table of losses
    lost = browser.get(lose.partition("#")[0])
    assert "leaders elected elsewhere 1" in lost.text
    picture = browser.ask("GET", f"/pictures/cluster-map.svg?cluster={quote(name)}")
    assert picture.status_code == 200
    assert "<script>" not in picture.text


@pytest.mark.parametrize("query", ["", "?snapshot=none", "?snapshot=01890a5d-ac96-774b-bcce-b302099a8057"])
def test_what_is_not_there_is_a_friendly_404(browser: Browser, database: Database, query: str) -> None:
    if query:
        keep(database, small())
    page = browser.get(f"/clusters/small{query}")
    assert page.status == 404
    assert "Snapshot not found" in page.text


def test_the_map_is_a_picture_in_both_formats_and_themes(browser: Browser, database: Database) -> None:
    keep(database, small())
    light = browser.ask("GET", "/pictures/cluster-map.svg?cluster=small&theme=light&width=480")
    assert light.headers["content-type"] == "image/svg+xml"
    assert "prefers-color-scheme" not in light.text
    assert 'width="480"' in light.text
    dark = browser.ask("GET", "/pictures/cluster-map.svg?cluster=small&theme=dark")
    assert "prefers-color-scheme" not in dark.text
    assert dark.text != light.text
    assert "prefers-color-scheme" in browser.ask("GET", "/pictures/cluster-map.svg?cluster=small").text
    png = browser.ask("GET", "/pictures/cluster-map.png?cluster=small")
    assert png.content.startswith(b"\x89PNG")
    assert browser.ask("GET", "/pictures/cluster-map.png?cluster=none").status_code == 404


def test_the_history_states_its_zone_and_counts_its_snapshots(browser: Browser, database: Database) -> None:
    keep(database, small())
    page = browser.get("/clusters/small/history")
    assert re.search(r"<td[^>]*><a [^>]*><time [^>]*>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC</time></a>", page.source)
    assert "1 snapshot." in page.text


@pytest.mark.long
def test_the_history_is_a_chart(browser: Browser, database: Database) -> None:
    keep(database, small())
    keep(database, small(leader=2))
    page = browser.get("/clusters/small/history")
    [chart] = [element for element in page.elements if "data-chart" in element.attributes]
    spec = browser.ask("GET", chart.attributes["data-chart"]).json()
    assert {row["series"] for row in spec["data"]["values"]} >= {"offline", "not rack-safe"}
    assert [row["y"] for row in spec["data"]["values"] if row["series"].startswith("not led")] == [0, 1]
    for suffix, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        assert browser.ask("GET", f"/pictures/cluster-history.{suffix}?cluster=small").content.startswith(start)


def test_embedded_pages_have_neither_header_nor_footer(browser: Browser, database: Database) -> None:
    keep(database, small())
    page = browser.get("/clusters/small?embed=1")
    assert not list(page.all("header"))
    assert not list(page.all("footer"))
    assert len(cells(page)) == 3


def test_a_broker_has_its_log_directories(browser: Browser, database: Database) -> None:
    """With the content of each: all replicas of the broker, and their bytes."""
    cluster = jbod(3)
    keep(database, cluster)
    page = browser.get("/clusters/nine/brokers/105")
    rows = directories(cluster, 105)
    assert [directory.path for directory, _, _ in rows] == [each.path for each in cluster.log_dirs[105]]
    on_broker = [(topic, topic.replicas == 105) for topic in cluster.topics]
    assert sum(count for _, count, _ in rows) == sum(int(is_on.sum()) for _, is_on in on_broker)
    assert sum(size for _, _, size in rows) == sum(
        int(topic.size_bytes[is_on.any(1)].sum()) for topic, is_on in on_broker
    )
    for directory, count, _ in rows:
        assert f"{directory.path} {count}" in page.text
    assert browser.get("/clusters/nine/brokers/999").status == 404


def test_the_loss_of_each_rack_and_broker_is_listed_the_worst_first(browser: Browser, database: Database) -> None:
    """u-0 is on broker 3 alone, in rack b alone; a name shows that loss alone on the map."""
    keep(database, small())
    page = browser.get("/clusters/small/what-if?lose=rack:a")
    assert "Rack Offline Not writable New leader Fewer replicas b 1 – 0 2 a 0 – 1 1" in page.text
    assert "Broker Offline Not writable New leader Fewer replicas 3 1 – 0 2 1 0 – 1 1 2 0 – 0 1" in page.text
    assert "min.insync.replicas is unknown for 2 partitions" in page.text
    topics = tuple([replace(each, configs={"min.insync.replicas": "2"}) for each in small().topics])
    keep(database, replace(small(), topics=topics))
    known = browser.get("/clusters/small/what-if").text
    assert "Rack Offline Not writable New leader Fewer replicas b 1 0 0 2 a 0 1 1 1" in known
    overview = browser.get("/clusters/small").text
    assert "1 partition below min.insync.replicas, which acks=all cannot write" in overview
    assert "losing rack b stops 1 partition" in overview
    assert "/clusters/small/what-if?lose=rack%3Ab#map" in [link.attributes.get("href") for link in page.all("a")]


def test_a_search_finds_what_has_a_part_of_the_name(browser: Browser) -> None:
    """Of every kind, the equal name and the cluster in context first; each result leads to its page."""
    browser.ask("POST", "/clusters/example")
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    planned = browser.ask("POST", "/plan/reassignment", data={"cluster": "nine", "remove_brokers": "105"})
    page = browser.get("/search?q=Orders&cluster=nine")
    links = [link for link in page.all("a") if link.text.casefold() == "orders"]
    assert [link.attributes["href"] for link in links] == [
        "/clusters/nine/topics/orders",
        "/clusters/example-shop/topics/orders",
    ]
    assert "Update snapshot" in page.text
    assert page.form()["cluster"] == "nine"
    assert [mark.text for mark in page.all("mark")] == ["orders", "orders"]
    for query, address in (
        ("shop", "/clusters/example-shop"),
        ("105", "/clusters/nine/brokers/105"),
        ("billing", "/clusters/example-shop/groups/billing"),
        ("remove broker", planned.headers["location"]),
        (planned.headers["location"].rpartition("/")[2][:13], planned.headers["location"]),
    ):
        found = browser.get(f"/search?q={query}")
        assert address in [link.attributes["href"] for link in found.all("a")], query
        assert browser.get(address).status == 200
    assert "No cluster, broker" in browser.get("/search?q=xyzzy").text
    assert browser.get("/search").form() == {"q": ""}


def test_large_clusters_are_searched_in_their_context_alone(browser: Browser, database: Database) -> None:
    keep(database, small())
    browser.ask("POST", "/clusters/example")
    with database.begin() as uow:
        found, totals, left_out = in_clusters(uow, "orders", first="example-shop", most_partitions=1)
    assert [each.cluster for each in found] == ["example-shop"]
    assert totals == {"broker": 0, "topic": 1, "group": 0}
    assert left_out == ["small"]


def test_a_cluster_that_is_not_searched_leads_to_a_search_in_it(
    browser: Browser, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_CLUSTERS", 1)
    keep(database, small())
    keep(database, replace(small(), name="other"))
    page = browser.get("/search?q=a%26b")
    assert "were not searched" in page.text
    assert "/search?q=a%26b&cluster=small" in [link.attributes["href"] for link in page.all("a")]
