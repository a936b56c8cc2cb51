"""Output of `--verify` of every release: texts of random states are read back exactly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.kafka_files.reassignment_output import State, VerifiedPartition, VerifiedReplica, read
from tests.profiles import costly

REPORTS = Path(__file__).parents[1] / "reports"
IDS = st.integers(0, 2**31 - 1)
LISTS = st.lists(IDS, min_size=1, max_size=4, unique=True)
TOPICS = st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,20}", fullmatch=True)
DIRECTORIES = st.from_regex(r"/[a-z0-9 _-]{0,12}[a-z0-9]", fullmatch=True)
SUCCESS = "completed successfully"
OLD: Mapping[State, str] = {"complete": SUCCESS, "in_progress": "is still in progress", "failed": "failed"}


@dataclass(frozen=True)
class Move:
    """A replica that is to move to another log directory, and how a failed move failed."""

    broker: int
    state: State
    cause: str
    now: str
    planned: str


@dataclass(frozen=True)
class Planned:
    """A partition, its lists, and its moves between log directories."""

    topic: str
    partition: int
    state: State
    now: list[int]
    planned: list[int]
    moves: list[Move]


STATES: st.SearchStrategy[State] = st.sampled_from(["complete", "in_progress", "failed"])
CAUSES = st.sampled_from(["elsewhere", "not moved", "no directory", "no replica"])
MOVES = st.lists(
    st.builds(Move, IDS, STATES, CAUSES, DIRECTORIES, DIRECTORIES), max_size=3, unique_by=lambda move: move.broker
)
PLANS = st.lists(
    st.builds(Planned, TOPICS, IDS, STATES, LISTS, LISTS, MOVES),
    min_size=1,
    max_size=6,
    unique_by=lambda one: (one.topic, one.partition),
)


def joined(ids: list[int]) -> str:
    """Ids as the tool prints them."""
    return ",".join(map(str, ids))


def before_2_6(plan: list[Planned], name: str, line: str, *, heading: str, prints_lists: bool) -> list[str]:
    """The lines of a release before 2.6, without log directories."""
    errors = [
        f"ERROR: Assigned replicas ({joined(one.now)}) don't match the list of replicas for reassignment "
        f"({joined(one.planned)}) for partition {name.format(one.topic, one.partition)}"
        for one in plan
        if one.state == "failed" and prints_lists
    ]
    return [heading, *errors, *(line.format(name.format(one.topic, one.partition), OLD[one.state]) for one in plan)]


def old_moves(plan: list[Planned]) -> tuple[list[str], list[str]]:
    """The lines of log directories of 1.0 to 2.5: the causes of failures, and the states."""
    causes, states = [], []
    for one in plan:
        for move in one.moves:
            partition = f"Partition {one.topic}-{one.partition}"
            if move.state == "failed":
                on = f"{partition} on broker {move.broker} is"
                missing = f"{partition} is not found in any live log dir on broker {move.broker}."
                causes.append(
                    {
                        "elsewhere": f"{on} being moved to log dir {move.now} instead of {move.planned}",
                        "not moved": f"{on} not being moved from log dir {move.now} to {move.planned}",
                        "no directory": f"{missing} There is likely offline log directory on the broker.",
                        "no replica": missing,
                    }[move.cause]
                )
            states.append(f"Reassignment of replica {one.topic}-{one.partition}-{move.broker} {OLD[move.state]}")
    return causes, states


def to_0_8_0(plan: list[Planned]) -> list[str]:
    """`CheckReassignmentStatus` of 0.8.0."""
    states = {"complete": SUCCESS, "in_progress": "in progress", "failed": "failed"}
    return [f"Partition [{one.topic},{one.partition}] reassignment {states[one.state]}" for one in plan]


def to_0_11(plan: list[Planned]) -> list[str]:
    """0.8.1 to 0.11."""
    heading, line = "Status of partition reassignment: ", "Reassignment of partition {} {}"
    return before_2_6(plan, "[{},{}]", line, heading=heading, prints_lists=True)


def to_1_0(plan: list[Planned]) -> list[str]:
    """1.0."""
    heading, line = "Status of partition reassignment: ", "Reassignment of partition {} {}"
    partitions = before_2_6(plan, "{}-{}", line, heading=heading, prints_lists=True)
    causes, states = old_moves(plan)
    return [partitions[0], *causes, *partitions[1:], *states]


def to_2_5(plan: list[Planned]) -> list[str]:
    """Releases up to 2.5, which do not print the lists of failures."""
    heading, line = "Status of partition reassignment: ", "Reassignment of partition {} {}"
    partitions = before_2_6(plan, "{}-{}", line, heading=heading, prints_lists=False)
    causes, states = old_moves(plan)
    return [heading, *causes, *partitions[1:], *states, "Throttle was removed."]


def since_2_6(plan: list[Planned], completed: str) -> list[str]:
    """2.6 and later: partitions, an empty line, moves, and the throttles that are removed."""
    lines = ["Status of partition reassignment:"]
    for one in plan:
        name = f"{one.topic}-{one.partition}"
        lines.append(
            {
                "complete": f"Reassignment of partition {name} {completed}.",
                "in_progress": f"Reassignment of partition {name} is still in progress.",
                "failed": f"There is no active reassignment of partition {name}, but replica set is "
                f"{joined(one.now)} rather than {joined(one.planned)}.",
            }[one.state]
        )
    lines.append("")
    for one in plan:
        for move in one.moves:
            partition, on = f"Partition {one.topic}-{one.partition}", f"on broker {move.broker}"
            lines.append(
                {
                    "complete": f"Reassignment of replica {one.topic}-{one.partition}-{move.broker} {SUCCESS}.",
                    "in_progress": f"Reassignment of replica {one.topic}-{one.partition}-{move.broker} "
                    "is still in progress.",
                    "elsewhere": f"{partition} {on} is being moved to log dir {move.now} instead of {move.planned}.",
                    "not moved": f"{partition} {on} is not being moved from log dir {move.now} to {move.planned}.",
                    "no directory": f"{partition} is not found in any live log dir {on}. There is likely an offline "
                    "log directory on the broker.",
                    "no replica": f"{partition} cannot be found in any live log directory {on}.",
                }[move.cause if move.state == "failed" else move.state]
            )
    return [*lines, "Clearing broker-level throttles on brokers 1,2", "Clearing topic-level throttles on topic t"]


def to_3_2(plan: list[Planned]) -> list[str]:
    """2.6 to 3.2."""
    return since_2_6(plan, "is complete")


def to_4(plan: list[Planned]) -> list[str]:
    """3.3 to 4.x."""
    return since_2_6(plan, "is completed")


RELEASES = [to_0_8_0, to_0_11, to_1_0, to_2_5, to_3_2, to_4]
PRINT_LISTS = {to_0_11, to_1_0, to_3_2, to_4}
PRINT_MOVES = {to_1_0, to_2_5, to_3_2, to_4}


@pytest.mark.parametrize("release", RELEASES)
@costly()
@given(plan=PLANS, end=st.sampled_from(["\n", "\r\n"]))
def test_each_release_is_read_back(
    release: Callable[[list[Planned]], list[str]], plan: list[Planned], end: str
) -> None:
    output = read(end.join([*release(plan), ""]))
    expected = {
        VerifiedPartition(
            one.topic,
            one.partition,
            one.state,
            tuple(one.planned) if one.state == "failed" and release in PRINT_LISTS else None,
            tuple(
                VerifiedReplica(
                    move.broker,
                    move.state,
                    move.planned if move.state == "failed" and move.cause in ("elsewhere", "not moved") else None,
                )
                for move in sorted(one.moves, key=lambda move: move.broker)
                if release in PRINT_MOVES
            ),
        )
        for one in plan
    }
    assert (output.source, output.skipped) == ("verify", ())
    assert len(output.verified) == len(plan)
    assert set(output.verified) == expected


@costly()
@given(plan=PLANS)
def test_the_last_of_several_outputs_decides(plan: list[Planned]) -> None:
    """Repeating the command leads to several outputs in one paste."""
    earlier = [Planned(one.topic, one.partition, "in_progress", one.now, one.planned, []) for one in plan]
    both = read("\n".join([*to_4(earlier), *to_4(plan)]))
    assert set(both.verified) == set(read("\n".join(to_4(plan))).verified)


@pytest.mark.parametrize(
    ("name", "states", "planned"),
    [
        ("2.6-to-3.2-is-complete", ("complete", "failed", "in_progress"), (None, (0, 1, 3), None)),
        ("0.8-to-0.11-brackets", ("complete", "in_progress", "failed"), (None, None, (1, 2, 0))),
        ("failed-with-planned-list", ("complete", "in_progress", "failed"), (None, None, (1, 2, 0))),
        ("log-dir-moves", ("failed",), (None,)),
    ],
)
def test_outputs_as_people_pasted_them(name: str, states: tuple[State, ...], planned: tuple[object, ...]) -> None:
    output = read((REPORTS / f"verify-{name}.txt").read_text())
    partitions = sorted(output.verified, key=lambda one: one.partition)
    assert tuple(one.overall for one in partitions) == states
    assert tuple(one.planned for one in partitions) == planned
    assert output.skipped == ()
