"""A law that most of its examples pass by, because its premise does not hold for them, fails: its strategy is at fault.

An example that does not meet a premise is given up by `hypothesis.assume`, never by a silent `return`: then it is
counted here, and Hypothesis draws another in its place. A law with two outcomes, such as a plan or a rejection, marks
the one that is worth more by `hypothesis.event`, and `reaches` states how many of its examples have to have it.
`filtered` marks tests whose cases a library generates: it discards many by itself. Costly laws are judged by
`make test-long`, which takes most of their examples.
"""

from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis.statistics import collector

from tests import profiles

LEAST_SHARE = 0.5
"""Of the examples of a law, those that have to reach its assertions."""
FEWEST_JUDGED = 40
"""Fewer examples say little about a share."""


def reaches(event: str, share: float) -> pytest.MarkDecorator:
    """Of the examples of a law, this share at least has to have the event."""
    return pytest.mark.reaches(event, share)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Count the examples of a test that is a law, and fail if too few of them tested it."""
    counts: Counter[str] = Counter()
    events: Counter[str] = Counter()
    report = collector.value

    def count(statistics: dict[str, Any]) -> None:
        cases = statistics.get("generate-phase", {}).get("test-cases", ())
        counts.update(case["status"] for case in cases)
        events.update(event for case in cases if case["status"] == "valid" for event in case["events"])
        if report is not None:
            report(statistics)

    with collector.with_value(count):  # type: ignore[arg-type] # its type is its first value's
        outcome = yield
    reached, passed_by = counts["valid"], counts["invalid"]
    if reached + passed_by < FEWEST_JUDGED or item.get_closest_marker("filtered") or profiles.is_shortened(item):
        return outcome
    if reached < LEAST_SHARE * (reached + passed_by):
        pytest.fail(f"{reached} of {reached + passed_by} examples met the premises of {item.name}")
    for marker in item.iter_markers("reaches"):
        event, share = marker.args
        if events[event] < share * reached:
            pytest.fail(f"{events[event]} of {reached} examples of {item.name} had the event {event!r}")
    return outcome
