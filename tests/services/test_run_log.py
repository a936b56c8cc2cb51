"""The log of `run.sh` is read as it was written: a line that was cut off, or is of another plan, counts for nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.reassignments import LogOfAnotherPlan
from app.errors.requests import MalformedText
from app.services.reassignment.progress.ledger import ExecutedBatch, executed_batches

OURS, OTHERS = "a" * 64, "b" * 64
LOG = f"""\
2026-11-26T10:00:00Z plan {OURS}
2026-11-26T10:00:01Z throttled 01-execute.json 1000 bytes/s
2026-11-26T10:00:01Z executing 01-execute.json
2026-11-26T10:00:04Z begun 01-execute.json
2026-11-26T10:01:44Z complete 01-execute.json 90000 bytes 10 s
2026-11-26T10:01:50Z executing 02-execute.json
2026-11-26T10:01:53Z begun 02-execute.json
2026-11-26T10:01:59Z interrupted 02-execute.json
2026-11-26T10:30:00Z plan {OURS}
2026-11-26T10:30:05Z complete 02-execute.json unknown bytes 0 s
2026-11-26T10:30:06Z finished execute
"""


def at(minutes: int, seconds: int) -> datetime:
    return datetime(2026, 11, 26, 10, minutes, seconds, tzinfo=UTC)


def test_two_runs_of_a_plan() -> None:
    """A batch is complete at some time in the last 10 s; one that an interrupted run has begun goes on."""
    assert executed_batches(LOG, OURS, 2) == {
        1: ExecutedBatch(at(0, 4), at(1, 44), 95.0, 90_000, 1000),
        2: ExecutedBatch(at(1, 53), at(30, 5), 1692.0, None, None),
    }


def test_the_last_throttle_of_a_batch_counts() -> None:
    """A run that goes on with another one, or with none, changes it."""
    begun = "2026-11-26T10:00:04Z begun 01"
    for rate, throttle in (("500", 500), ("0", None)):
        changed = LOG.replace(begun, f"2026-11-26T10:00:04Z throttled 01-execute.json {rate} bytes/s\n{begun}")
        assert executed_batches(changed, OURS, 2)[1].throttle == throttle


def test_a_rollback_takes_back_what_was_executed() -> None:
    rolled_back = LOG + (
        f"2026-11-26T11:00:00Z plan {OURS}\n"
        "2026-11-26T11:00:01Z executing 02-rollback.json\n"
        "2026-11-26T11:00:09Z complete 02-rollback.json unknown bytes 2 s\n"
    )
    assert set(executed_batches(rolled_back, OURS, 2)) == {1}
    again = rolled_back + (
        "2026-11-26T11:01:00Z begun 02-execute.json\n2026-11-26T11:01:20Z complete 02-execute.json 7 bytes 4 s\n"
    )
    assert executed_batches(again, OURS, 2)[2] == ExecutedBatch(
        datetime(2026, 11, 26, 11, 1, tzinfo=UTC), datetime(2026, 11, 26, 11, 1, 20, tzinfo=UTC), 18.0, 7, None
    )


def test_runs_of_other_plans_are_left_out() -> None:
    both = LOG.replace(f"10:30:00Z plan {OURS}", f"10:30:00Z plan {OTHERS}")
    assert set(executed_batches(both, OURS, 2)) == {1}
    with pytest.raises(LogOfAnotherPlan, match=OTHERS):
        executed_batches(LOG.replace(OURS, OTHERS), OURS, 2)
    for empty in ("", "\n \n", "2026-11-26T10:00:00Z failed localhost:9092 does not answer as a broker: \n"):
        with pytest.raises(LogOfAnotherPlan, match="it names no plan"):
            executed_batches(empty, OURS, 2)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2026-11-26T10:30:06Z complete 01-execute.json -5 bytes 0 s", "line 12: 2026"),
        ("2026-11-26T10:30:06Z complete 01-execute.json 5 bytes -1 s", "line 12: 2026"),
        ("2026-11-26T10:30:06Z complete 01-execute.json 5 bytes 1", "line 12: 2026"),
        ("2026-11-26T10:30:05Z begun 01-execute.json", "line 12: 2026-11-26T10:30:05Z is before 2026-11-26T10:30:06Z"),
        ("2026-13-26T10:30:06Z begun 01-execute.json", "line 12: 2026-13"),
        ("2026-11-26T10:30:06Z begun 03-execute.json", "line 12: there is no batch 03; the plan has 2"),
        ("2026-11-26T10:30:06Z begun 00-execute.json", "line 12: there is no batch 00; the plan has 2"),
        ("2026-11-26T10:30:06Z deleted 01-execute.json", "line 12: 2026"),
        ("hello", "line 12: hello"),
    ],
)
def test_bad_lines_are_named(line: str, reason: str) -> None:
    with pytest.raises(MalformedText) as refused:
        executed_batches(LOG + line, OURS, 2)
    assert refused.value.detail.startswith(reason)
    assert (refused.value.line, refused.value.path) == (12, ("log",))


def test_some_of_many_bad_lines_are_named() -> None:
    with pytest.raises(MalformedText) as refused:
        executed_batches("\n".join(["x"] * 9), OURS, 2)
    assert refused.value.detail == "line 1: x; line 2: x; line 3: x; line 4: x; line 5: x; 4 more"


@given(length=st.integers(0, len(LOG)))
def test_a_log_that_was_cut_off_has_no_other_batches(length: int) -> None:
    """Any rest is either rejected or agrees with the whole for each batch."""
    try:
        found = executed_batches(LOG[:length], OURS, 2)
    except (MalformedText, LogOfAnotherPlan):
        return
    whole = executed_batches(LOG, OURS, 2)
    assert {number: whole[number] for number in found} == found


@given(
    durations=st.lists(st.integers(1, 10_000), min_size=1, max_size=30),
    poll_s=st.integers(1, 60),
    copied=st.integers(0, 10**18 - 1),
)
def test_durations_are_known_up_to_half_of_the_time_between_two_looks(
    durations: list[int], poll_s: int, copied: int
) -> None:
    """The script sees the end at the first look after it."""
    now, lines = at(0, 0), [f"2026-11-26T10:00:00Z plan {OURS}"]
    for number, seconds in enumerate(durations, start=1):
        begun, seen = now, now + timedelta(seconds=-(-seconds // poll_s) * poll_s)
        lines.append(f"{begun:%Y-%m-%dT%H:%M:%SZ} begun {number:02d}-execute.json")
        lines.append(f"{seen:%Y-%m-%dT%H:%M:%SZ} complete {number:02d}-execute.json {copied} bytes {poll_s} s")
        now = seen
    found = executed_batches("\n".join(lines), OURS, len(durations))
    for number, seconds in enumerate(durations, start=1):
        assert abs(found[number].seconds - seconds) <= poll_s / 2
        assert found[number].copied_bytes == copied
