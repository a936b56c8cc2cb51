"""Faults that were seen on pages, each so that it does not come back; those that need a layout are in a browser.

| fault | test |
|---|---|
| a lost zone without partitions that cannot be written | test_without_a_rack_leaders_are_elected_elsewhere |
| sizes and changes sorted as texts, no arrow | test_sizes_and_changes_are_sorted_by_value |
| green for what is not feasible | test_green_is_feasible_and_orange_is_not |
| a plan of log directories moves nothing | test_a_plan_of_log_directories_has_their_moves |
| 300 brokers with cut names | test_a_picture_of_racks_names_the_brokers_that_move_most_and_cuts_its_lines |
| pictures of 1,000 brokers as equal boxes | test_large_clusters_are_maps_that_fit |
| a sweep over growth has growth 0 as its best | test_growth_that_is_varied_is_survived_and_not_chosen |
| a history whose legend is cut on a phone | test_the_legend_of_a_history_is_whole_on_a_phone |
| the focus under the actions of a form | test_the_focus_is_seen_at_each_stop_of_the_keyboard |
| *Plan a change* in a row of its own on a phone | test_the_actions_of_a_cluster_are_one_row_on_a_phone |
| a history with a clock of 12 hours and slopes | test_a_history_has_steps_and_a_clock_of_24_hours |
| a broker missing from the list is without rack | test_a_broker_that_is_missing_from_a_list_keeps_its_rack |
| the alert of a failed paste below the fold | test_a_failed_paste_is_on_the_first_screen |
| the answer of a check below the fold | test_a_cluster_is_checked_on_one_screen |
| a list of topics with CRLF read as bytes | test_the_list_of_topics_is_recognized_with_both_ends_of_lines |
| 9 of 11 batches on paper | test_every_row_is_printed |
| a reference without a way back, light only | test_swagger_ui_is_readable_and_fits |
| a time left of 9 min, 5 min, 82 s, 10 s | test_the_time_left_is_shown_once_a_tenth_is_scored |
| proposed after 6 of 11 batches | test_a_plan_of_which_a_part_is_executed_is_marked_as_executing |
| "error None, binding None, feasible True" | test_a_scenario_has_no_value_of_python |
| a running job with the title Queued | test_a_sweep_is_followed_live_and_cancelled_on_its_page |
| jobs and studies listed by UUID | test_a_study_is_listed_by_its_name |
| ranges of axes blank in a comparison | test_ranges_of_axes_are_compared |
| an audit entry for each pause in typing | test_a_preview_is_no_entry_of_the_audit_log |
| examples in a new service | test_a_new_service_offers_a_form_and_an_example |
| a new topic asks to paste its brokers | test_a_topic_is_placed_on_a_stored_cluster |
| a stored request as 60 lines of JSON | test_a_plan_is_changed_and_planned_again_by_keyboard |
| forms of studies and groups as a text of {} | test_the_fields_of_other_studies_are_their_requests |
| findings and counts that are no links | test_a_finding_leads_to_its_partitions_and_to_a_plan_against_it |
| no page of a topic or a group | test_topics_brokers_and_groups_have_pages |
| the approval as a choice far below | test_the_next_status_is_a_button_at_the_top |
| two plans of one change with one title | test_plans_with_one_title_are_told_apart |
| a column of the picture changes a table far below | test_a_broker_is_chosen_in_the_picture |
| names of fields in place of words | test_axes_are_words |
| the focus falls to the body after a swap | test_a_loss_is_switched_in_place_and_has_an_address |
| 300 stops of the keyboard in a map | test_a_large_map_is_one_stop_of_the_keyboard_a_rack |
| no field has the focus | test_the_field_of_a_search_has_the_focus |
| a monthly cost without its currency | test_a_sweep_is_listed_and_has_a_page |
| "1 brokers hold" | test_numbers_have_thousands_and_nouns_their_plural |
| "1" as a finding of 1,407 partitions | test_a_finding_of_thousands_is_not_cut_at_its_comma |
| 300 brokers in the order of their ids, on 12 screens | test_the_page_of_brokers_begins_with_their_extremes |
| events and a comparison that are empty, with no next step | test_an_empty_tab_has_a_next_step |
| bytes of a scenario's limit without unit | test_a_limit_has_its_unit |
| ten results of a search, of an unknown number | test_a_search_states_the_number_of_all_results |
| five rows of a table on a phone | test_long_tables_fill_a_screen_of_a_phone |
| the state of a plan as PATCH in the audit log | test_a_change_of_a_plan_is_in_words_in_the_audit_log |
| a stored tolerance that is no choice of its field is lost | test_a_tolerance_that_is_no_choice_is_kept |
| bars of clients named by equal tails of ids | test_ids_with_common_zeros_are_named_by_what_differs |
| "404." as the number of a list | test_no_line_of_a_description_is_taken_for_an_item_of_a_list |
| a browser cannot start a study of capacity | test_a_form_takes_the_files_of_all_its_fields |
| one minute at each tick of a short history | test_the_axis_of_a_short_history_tells_its_times_apart |
| "topics -1" as all that a history says | test_two_states_are_compared_in_one_click |
| two lines for a key, addresses of snapshots in the audit log | test_a_key_that_a_page_creates_is_one_entry |
| eight boxes of notes above the certificate | test_the_notes_of_a_plan_are_one_box |
| "us-east-…" in a picture of three racks | test_the_names_of_a_few_racks_are_whole |
| "1 partitions exchange" | test_warnings_about_one_are_singular |
| a broker and its load read as one number | test_a_broker_and_its_value_are_two_words |
| a throttle of 100000000 | test_twins_are_told_apart_by_options_and_then_by_the_start_of_the_snapshots_hash |
| a comparison that asks for its other plan | test_plans_of_a_cluster_are_compared |
| words of a picture cut on a phone | test_on_a_page_facts_and_legend_are_the_caption |
| a legend that is black on black | test_two_studies_have_one_legend_in_the_colours_of_their_points |
| figures of a scenario in no order | test_a_study_without_objective_names_the_choice_with_the_least_of_each_figure |
| a tab of traffic without a next step | test_traffic_is_tabled_with_each_change |
| the first topics by name that a loss stops | test_the_topics_that_a_loss_stops_most_come_first |
| 0 partitions below an unknown min.insync.replicas | test_an_unknown_min_isr_is_not_taken_for_zero |
| "a broker has 1.35 times the mean" | test_findings_name_their_brokers |
| cordons of a release that has none | test_a_release_without_cordons_is_said_to_have_none |
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from app.api.sweeps.capacity import CapacitySweepRequest
from app.core.model import Broker, Cluster
from app.services import sweeps
from app.services.cautions import caution
from app.store.database import Database
from app.store.transaction import uuid7
from app.web import charts
from app.web.assets import ASSETS
from app.web.clusters.health import Finding
from app.web.pictures.rack_columns import short_names
from app.web.sweeps.plots import words
from tests.core.test_partition_table import topic
from tests.web.browser import Browser
from tests.web.test_clusters import SAMPLES, TEXT, keep, small
from tests.web.test_console_in_chromium import large
from tests.web.test_sweep_pages import DEFINITION

POINTS = [{"x": 1.0, "y": 2.0, "series": name, "front": None} for name in ("not feasible", "feasible", "Pareto front")]


def colours(spec: charts.Spec) -> Iterator[tuple[str, str]]:
    scale = spec["layer"][1]["encoding"]["color"]["scale"]
    return zip(scale["domain"], scale["range"], strict=True)


def test_green_is_feasible_and_orange_is_not() -> None:
    """Whatever the order of the rows; a series that is not there is not in the legend."""
    of = dict(colours(charts.points(POINTS, x="x", y="y", tooltips={})))
    assert of == {"Pareto front": "#3278c8", "feasible": "#23855a", "not feasible": "#c2551a"}
    assert dict(colours(charts.points(POINTS[:1], x="x", y="y", tooltips={}))) == {"not feasible": "#c2551a"}


def test_a_history_has_steps_and_a_clock_of_24_hours() -> None:
    spec = charts.steps([], y="partitions")
    assert spec["mark"]["interpolate"] == "step-after"
    assert "%H:%M" in spec["encoding"]["x"]["axis"]["labelExpr"]
    assert "%p" not in spec["encoding"]["x"]["axis"]["labelExpr"]


def test_the_legend_of_a_history_is_whole_on_a_phone() -> None:
    """Names in one column on a narrow chart, in a row on a wide one; none is cut."""
    names = ("not led by the preferred leader", "not rack-safe", "offline", "under-replicated")
    points = [{"x": f"2026-11-2{at}T00:00:00+00:00", "y": at, "series": name} for at in (1, 2) for name in names]
    heights = []
    for width in (300, 1000):
        picture = bytes(charts.response(charts.steps(points, y="partitions"), "svg", width=width).body).decode()
        assert all(f">{name}</text>" in picture for name in names)
        sized = re.search(r'<svg[^>]* width="([0-9]+)" height="([0-9]+)"', picture)
        assert sized is not None
        assert int(sized[1]) <= width
        heights.append(int(sized[2]))
    assert heights[0] > heights[1] + 30  # the three further rows of the legend


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("topology.brokers_per_rack", "brokers per rack"),
        ("topics.*.replication_factor", "replication factor of each topic"),
        ("bytes_in_per_s", "bytes in/s"),
    ],
)
def test_axes_are_words(name: str, plain: str) -> None:
    assert words(name) == plain


def test_the_field_of_a_search_has_the_focus(browser: Browser) -> None:
    """Until something is searched: then the results come first. The page says how much is searched."""
    assert " autofocus" in browser.get("/search").source
    found = browser.get("/search?q=nothing")
    assert " autofocus" not in found.source
    assert "the newest 300 plans and studies" in found.text


def test_the_list_of_topics_is_recognized_with_both_ends_of_lines(browser: Browser) -> None:
    for end in ("\n", "\r\n"):
        page = browser.post("/clusters", {"cluster": "c", "text": end.join(("orders", "payments", ""))})
        assert page.status == 422
        assert "this looks like kafka-topics --list; run kafka-topics --describe" in page.text


def test_a_failed_paste_is_said_first_and_in_the_title(browser: Browser) -> None:
    browser.ask("POST", "/clusters/example")
    page = browser.post("/clusters", {"cluster": "c", "text": "kubectl get pods\n"})
    assert next(page.all("title")).text == "Error: nothing was stored – Rackplan"
    assert page.source.index("Nothing was stored.") < page.source.index("example-shop")


def test_the_answer_of_a_check_is_first_and_in_the_title(browser: Browser) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    page = browser.post("/plan/check", {"cluster": "nine", "fail_on": "violations>100"})
    assert next(page.all("title")).text == "Passes: Check – Rackplan"
    assert page.source.index('id="answer"') < page.source.index('<form method="post" action="/plan/check"')


def test_plans_with_one_title_are_told_apart(browser: Browser) -> None:
    """By the fields of their requests that differ, in lists."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    for band in ("tight", "keep"):
        typed = {"cluster": "nine", "remove_brokers": "105", "replicas": band}
        assert browser.ask("POST", "/plan/reassignment", data=typed).status_code == 303
    for address in ("/plans", "/clusters/nine", "/clusters/nine/plans"):
        text = browser.get(address).text
        assert "Remove broker 105 from nine · replicas balanced" in text
        assert "Remove broker 105 from nine · replicas kept" in text


def test_every_fault_has_a_test() -> None:
    """The names of the table above are tests."""
    named = re.findall(r"\| (test_\w+) \|", str(__doc__))
    sources = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert len(named) > 25
    assert [name for name in named if f"def {name}(" not in sources] == []


def test_a_broker_that_is_missing_from_a_list_keeps_its_rack(browser: Browser) -> None:
    """It is down, and no partition is less rack-safe for that."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    before = browser.get("/clusters/nine").text
    listed = (SAMPLES / "kafka-broker-api-versions.txt").read_text()
    blocks = re.split(r"(?m)^(?=\S+ \(id: )", listed)
    rest = "".join(block for block in blocks if "(id: 105 " not in block)
    assert len(rest) < len(listed)
    topics = (SAMPLES / "kafka-topics-describe.txt").read_text()
    stored = browser.ask("POST", "/clusters", data={"cluster": "nine", "text": f"{rest}\n{topics}"})
    assert stored.status_code == 303, stored.text
    shown = " ".join(browser.get("/clusters/nine/brokers").text.split())
    assert "105 use1-az2 fenced" in shown
    after = browser.get("/clusters/nine").text
    assert "illegal replica list" not in after
    assert after.count("is not listed, as when down") == 1
    assert re.findall(r"(\d+) partitions? not rack-safe", after) == re.findall(
        r"(\d+) partitions? not rack-safe", before
    )
    assert "no rack" not in after


def scored(database: Database, **fields: Any) -> str:
    """The id of a scored sweep."""
    request = CapacitySweepRequest.model_validate(DEFINITION | fields).service()
    with database.begin() as uow:
        sweeps.store_scored(uow, request, principal="test", sweep_id=(sweep_id := uuid7()))
    return str(sweep_id)


def test_a_study_is_listed_by_its_name(browser: Browser, database: Database) -> None:
    sweep = scored(database, labels={"study": "Next year"})
    links = {link.attributes["href"]: link.text.strip() for link in browser.get("/sweeps").all("a")}
    assert links[f"/sweeps/{sweep}"] == "Next year"


def test_a_scenario_has_no_value_of_python(browser: Browser, database: Database) -> None:
    sweep = scored(database)
    for index in range(4):
        text = browser.get(f"/sweeps/{sweep}/scenarios/{index}").text
        assert "Feasible yes" in text or "Feasible no" in text
        assert not re.search("None|True|False", text)


def test_ranges_of_axes_are_compared(browser: Browser, database: Database) -> None:
    axis = "topology.brokers_per_rack"
    one, other = (scored(database, axes={axis: {"from": 1, "to": most}}) for most in (2, 3))
    assert "compared values brokers per rack 1 to 2" in browser.get(f"/sweeps/compare?a={one}&b={other}").text


def test_studies_that_vary_growth_are_compared_by_their_means(browser: Browser, database: Database) -> None:
    """The best scenario would be the one that grows least."""
    pages = []
    for growth in ({}, {"traffic.growth_per_month": [0, 0.1]}):
        one, other = (scored(database, axes={"topology.brokers_per_rack": few, **growth}) for few in ([1, 2], [3, 4]))
        pages.append(browser.get(f"/sweeps/compare?a={one}&b={other}").text)
    assert "The best scenario of B against that of A" in pages[0]
    assert "The mean of B against that of A" in pages[1]
    assert "est scenario" not in pages[1]


def test_a_preview_is_no_entry_of_the_audit_log(client: httpx.Client) -> None:
    """Content that a form shows during typing is requested by its address."""
    assert client.post("/clusters", data={"cluster": "nine", "text": TEXT}).status_code == 303
    before = client.get("/v1/audit").json()["items"]
    assert "105" in client.get("/plan/reassignment", params={"cluster": "nine", "remove_brokers": "105"}).text
    assert client.get("/v1/audit").json()["items"] == before


def test_a_large_map_is_one_stop_of_the_keyboard_a_rack(browser: Browser, database: Database) -> None:
    keep(database, large(120, 100))
    cells = [link for link in browser.get("/clusters/large").all("a") if "broker " in link.attributes.get("title", "")]
    assert len(cells) == 120
    assert sum(link.attributes.get("tabindex") != "-1" for link in cells) == 6


def test_a_finding_of_thousands_is_not_cut_at_its_comma() -> None:
    assert Finding("1,407 partitions not rack-safe", "bad").brief == "1,407 not rack-safe"
    assert Finding("2 partitions below min.insync.replicas, which acks=all", "bad").brief.endswith("in.insync.replicas")


def test_the_page_of_brokers_begins_with_their_extremes(browser: Browser, database: Database) -> None:
    """The brokers with most and least of each measure, as links, and a plan against it; the table scrolls in itself."""
    keep(database, large(300, 10_000))
    page = browser.get("/clusters/large/brokers")
    figures, table = page.source.split("</dl>", 1)
    replicas = [int(row) for row in re.findall(r'<td class="n" data-value="([0-9.]+)\.0">', table)[::3]]
    assert len(replicas) == 300
    shown = re.search(r"Replicas, 100 on average</dt><dd>.*?<small>([0-9,]+)</small>", figures, re.DOTALL)
    assert shown is not None
    assert int(shown[1]) == max(replicas)
    assert "/plan/reassignment?cluster=large&amp;replicas=tight" in page.source
    assert 'class="scroll tall" role="region" aria-label="Brokers"' in table
    assert "State" not in [each.text.strip() for each in page.all("th")]  # all of them are usual ones


@pytest.mark.parametrize(("brokers", "scrolls"), [(50, False), (51, True)])
def test_a_table_of_50_rows_does_not_scroll(browser: Browser, database: Database, brokers: int, scrolls: bool) -> None:
    """One of more rows scrolls in itself, so that what is beneath stays in reach."""
    keep(database, large(brokers, 500))
    for address, label in (("brokers", "Brokers"), ("what-if", "Loss of each broker")):
        source = browser.get(f"/clusters/large/{address}").source
        assert (f'class="scroll tall" role="region" aria-label="{label}"' in source) is scrolls
        assert source.count("<tr>") > brokers


def test_the_states_of_topics_are_in_view_on_a_phone(browser: Browser, database: Database) -> None:
    """They are the columns beside the name, before those that a narrow window cuts off."""
    keep(database, large(30, 500))
    columns = [each.text.strip() for each in browser.get("/clusters/large/topics").all("th")]
    assert columns.index("Partitions") < columns.index("Not rack-safe") < columns.index("Factor")


def test_fields_that_are_filled_in_do_not_open_their_group(browser: Browser) -> None:
    """The group says how many there are, and opens if one of them is wrong."""
    page = browser.get("/plan/sweep").source
    assert '<details><summary>Values to compare <span class="optional">1 filled in</span>' in page
    wrong = browser.ask("POST", "/plan/sweep", data={"brokers_per_rack": "2", "compared": "2 to many"}).text
    assert "<details open><summary>Values to compare" in wrong


def test_ids_with_common_zeros_are_named_by_what_differs() -> None:
    ids = [f"00000000-0000-0000-0000-{number:012d}" for number in (3, 11, 104)]
    assert short_names(ids) == ["…003", "…011", "…104"]


def test_a_search_states_the_number_of_all_results(browser: Browser, database: Database) -> None:
    keep(database, large(30, 2_000))
    text = browser.get("/search?q=topic-1").text
    assert "10 of 11 topics" in text
    assert "A longer part of the name leaves fewer." in text
    assert "1 of 1 topic." in browser.get("/search?q=topic-19").text


def test_an_empty_tab_has_a_next_step(browser: Browser) -> None:
    """The form of the plan's request, at the field of events, or to be changed to an alternative."""
    tasks = ["0_0", "0_1"]
    body = {"tasks": tasks, "assignor": "sticky", "clients": [{"process_id": "00000000-0000-0000-0000-00000000000a"}]}
    plan = browser.post("/plan/streams", {"body": orjson.dumps(body).decode()}).headers["location"]
    again = f"/plan/streams?again={plan.rpartition('/')[2]}"
    assert f'href="{again}#events">Add events</a>' in browser.get(f"{plan}/events").source
    assert (
        f'href="{again}">Plan an alternative</a>' in browser.get(f"/plans/compare?a={plan.rpartition('/')[2]}").source
    )


def test_a_limit_has_its_unit(browser: Browser, database: Database) -> None:
    """Of a disk in bytes, of a network in bytes a second."""
    small = DEFINITION["base"]["broker_profile"] | {"disk_bytes": 1e9}
    sweep = scored(database, base=DEFINITION["base"] | {"broker_profile": small})
    page = browser.get(f"/sweeps/{sweep}/scenarios/0").text
    assert re.search(r"The first limit that breaks is [a-z_]+ of broker \d+ with", page)
    assert re.search(r"[0-9.]+ [KMGT]iB(/s)? of [0-9.]+ [KMGT]iB(/s)?\.", page)


def test_long_tables_fill_a_screen_of_a_phone() -> None:
    """They scroll in themselves, at three fifths of the window, and are printed whole."""
    style = ASSETS["style.css"].content.decode()
    narrow = r"@media \(max-width: 44rem\).*?\.scroll:is\(\.tall, \.long\) \{ max-height: 60vh; overflow-y: auto; \}"
    assert re.search(narrow, style, re.DOTALL)
    assert (
        ".scroll, .scroll:is(.tall, .long), figure.scroll, .cells, .racks.many, .many > div { max-height: none;"
        in style
    )


def test_a_change_of_a_plan_is_in_words_in_the_audit_log(client: httpx.Client) -> None:
    body = {"brokers": [{"id": 1}], "algorithm": "striped", "seed": 1}
    topics = [{"name": "t", "partitions": 1, "replication_factor": 1}]
    plan = client.post("/v1/plans/replicas", json={**body, "topics": topics}).json()["id"]
    assert client.patch(f"/v1/plans/{plan}", json={"status": "approved"}).status_code == 200
    assert "Changed status, notes or labels" in client.get("/audit", headers={"Accept": "text/html"}).text


def test_the_notes_of_a_plan_are_one_box(browser: Browser, database: Database) -> None:
    """Violations and notes are a list, with the violations after the third in a fold; the certificate is beneath."""
    keep(database, replace(small(), topics=tuple(topic(f"t{at}", [([1, 2], [1, 2], 1)]) for at in range(5))))
    body = '{"cluster": "small", "leaders_only": true}'
    page = browser.get(browser.ask("POST", "/plan/reassignment", data={"body": body}).headers["location"])
    notes = page.by_id("notes").text
    assert notes.count("fewer racks than they could") == 5
    assert "2 more violations" in notes
    assert page.source.count('class="notice') == 1


def test_a_broker_and_its_value_are_two_words(browser: Browser, database: Database) -> None:
    """A screen reader reads the text of a cell of the map; without a blank between it is one number."""
    keep(database, small())
    [cell] = [link for link in browser.get("/clusters/small").all("a") if link.text.split() == ["3", "2"]]
    assert cell.attributes["title"] == "broker 3, replicas 2"


def test_warnings_about_one_are_singular() -> None:
    for count, begin in ((1, "1 partition exchanges several"), (2, "2 partitions exchange several")):
        assert caution("replicas_leave_at_once", partitions=count, since="4.3.2").detail.startswith(begin)
    assert caution("cordoned_brokers", brokers=[7]).detail.startswith("1 broker is cordoned")


def test_the_topics_that_a_loss_stops_most_come_first(browser: Browser) -> None:
    text = "\n".join(
        f"Topic: {topic}\tPartition: {partition}\tLeader: 1\tReplicas: 1\tIsr: 1"
        for topic, partitions in (("few", 1), ("many", 3))
        for partition in range(partitions)
    )
    assert browser.ask("POST", "/clusters", data={"cluster": "stopped", "text": text}).status_code == 303
    assert "Offline: many 3, few 1." in browser.get("/clusters/stopped/what-if?lose=broker:1").text


def test_growth_that_is_varied_is_survived_and_not_chosen(browser: Browser, database: Database) -> None:
    """Sizes are compared at the largest growth of its axis; no scenario without growth is the best."""
    profile = {"disk_bytes": 2e11, "nic_in_bytes_per_s": 1e9, "price_per_month": 400}
    base = DEFINITION["base"] | {"traffic": {"horizon_months": 12}, "broker_profile": profile}
    axes = {"traffic.growth_per_month": [0, 0.1, 0.2], "topology.brokers_per_rack": [1, 2, 4]}
    page = browser.get(f"/sweeps/{scored(database, base=base, axes=axes)}")
    answer = next(each for each in page.all("p") if each.attributes.get("class") == "answer")
    assert " ".join(answer.text.split()) == (
        "12 brokers last the 12 months at up to 20 % growth a month, for 4,800 a month (currency of the prices). "
        "3 reach a limit in month 5; 6 reach a limit in month 9."
    )
    assert "growth per month 0" not in page.text


def test_an_unknown_min_isr_is_not_taken_for_zero(browser: Browser, database: Database) -> None:
    """The tile states that it is unknown, of all partitions or of some, and leads to the form that makes it known."""
    keep(database, small())
    page = browser.get("/clusters/small")
    assert "Below min ISR unknown add min.insync.replicas" in page.text
    assert 'href="/clusters/small/history#add">add min.insync.replicas</a>' in page.source
    assert "kafka-configs --describe --entity-type topics --all" in browser.get("/clusters/small/history").text
    first, second = small().topics
    for known, text in (
        ((replace(first, configs={"min.insync.replicas": "2"}), second), "0 1 unknown: add min.insync.replicas"),
        ([replace(each, configs={"min.insync.replicas": "1"}) for each in small().topics], "0 Not rack-safe"),
    ):
        keep(database, replace(small(), topics=tuple(known)))
        assert f"Below min ISR {text}" in browser.get("/clusters/small").text


def test_findings_name_their_brokers(browser: Browser, database: Database) -> None:
    """Those with most replicas and most preferred leaders, with a link to each, and the fenced ones."""
    brokers = tuple(Broker(each, f"r{each}", fenced=each > 2) for each in (1, 2, 3, 4))
    lists = [[1, 2]] * 12 + [[2, 3]] * 6 + [[4, 2]] * 6
    keep(database, Cluster("skewed", brokers, (topic("t", [(each, each, each[0]) for each in lists]),)))
    page = browser.get("/clusters/skewed")
    for finding in (
        "2 brokers fenced: 3, 4",
        "broker 2 has 2.00 times the mean of replicas",
        "broker 1 has 2.00 times the mean of preferred leaders",
    ):
        assert finding in page.text
    shown = page.source.partition('id="findings"')[2].partition("</ul>")[0]
    for broker in (1, 2):
        assert f'<a href="/clusters/skewed/brokers/{broker}">Show</a>' in shown


@pytest.mark.parametrize(("version", "has_cordons"), [("4.1.0", False), ("4.3.0", True), ("4.4.0", True)])
def test_a_release_without_cordons_is_said_to_have_none(
    browser: Browser, database: Database, version: str, has_cordons: bool
) -> None:
    """By the field of the form, and beside the files of a plan that removes a broker."""
    none = f"Kafka {version} has no cordons"
    keep(database, replace(large(6, 100), kafka_version=version))
    for kind in ("reassignment", "replicas"):
        hint = browser.get(f"/plan/{kind}?cluster=large").by_id("cordoned_brokers-hint").text
        assert "(KIP-1066, since" in hint
        assert hint.startswith(none) is not has_cordons
    plan = browser.ask("POST", "/plan/reassignment", data={"cluster": "large", "remove_brokers": "3"})
    execute = browser.get(f"{plan.headers['location']}/execute").text
    assert (none in execute) is not has_cordons
    assert ("Cordon 1 broker: 3" in execute) is has_cordons
