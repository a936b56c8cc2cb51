"""Faults that were seen on pages, each so that it does not come back; those that need a layout are in a browser."""

from collections.abc import Iterator

import pytest

from app.web import charts
from app.web.sweeps.plots import words
from tests.web.browser import Browser
from tests.web.test_clusters import TEXT

POINTS = [{"x": 1.0, "y": 2.0, "series": name, "front": None} for name in ("not feasible", "feasible", "Pareto front")]


def colours(spec: charts.Spec) -> Iterator[tuple[str, str]]:
    scale = spec["layer"][1]["encoding"]["color"]["scale"]
    return zip(scale["domain"], scale["range"], strict=True)


def test_green_is_feasible_and_orange_is_not() -> None:
    """Whatever the order of the rows; a series that is not there is not in the legend."""
    of = dict(colours(charts.points(POINTS, x="x", y="y", tooltips={})))
    assert of == {"Pareto front": "#3b82d6", "feasible": "#2f9e6b", "not feasible": "#d9682a"}
    assert dict(colours(charts.points(POINTS[:1], x="x", y="y", tooltips={}))) == {"not feasible": "#d9682a"}


def test_a_history_has_steps_and_a_clock_of_24_hours() -> None:
    spec = charts.steps([], y="partitions")
    assert spec["mark"]["interpolate"] == "step-after"
    assert "%H:%M" in spec["encoding"]["x"]["axis"]["labelExpr"]
    assert "%p" not in spec["encoding"]["x"]["axis"]["labelExpr"]


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
        assert "Remove broker 105 from nine · replicas tight" in text
        assert "Remove broker 105 from nine · replicas keep" in text
