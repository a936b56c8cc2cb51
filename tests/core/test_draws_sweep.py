"""Many draws of one placement: each is the placement of its seed, whoever scores it and in which range."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom, independent_seed
from app.core.measures.placement import measure
from app.core.measures.tally import tally
from app.core.model import Broker, NewTopic
from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENTS, place_topics
from app.core.replicas.sweep import DrawsSweep, read_sweep
from app.core.sweeps import score
from app.errors import Failure, Json
from tests.profiles import costly

clusters = st.lists(
    st.builds(Broker, st.integers(0, 30), st.sampled_from([None, "a", "b", "c"]), st.booleans()),
    min_size=1,
    max_size=9,
    unique_by=lambda broker: broker.id,
).map(tuple)
topics = st.lists(
    st.builds(NewTopic, st.sampled_from(["t", "u", "v"]), st.integers(1, 20), st.integers(1, 3)),
    min_size=1,
    max_size=2,
    unique_by=lambda topic: topic.name,
).map(tuple)
draws = st.builds(
    DrawsSweep,
    brokers=clusters,
    topics=topics,
    algorithm=st.sampled_from(list(PLACEMENTS.values())),
    rack_mode=st.sampled_from([None, *RackMode]),
    first_seed=st.integers(-(2**63), 2**63 - 9),
    count=st.just(8),
)


def rows(sweep: DrawsSweep, start: int, stop: int) -> list[dict[str, Json]]:
    """The rows of a range as JSON."""
    return [row.document for row in score(sweep, start, stop)]


@costly()
@given(draws, st.integers(0, 7))
def test_a_scenario_is_the_placement_of_its_seed(sweep: DrawsSweep, index: int) -> None:
    [row] = rows(sweep, index, index + 1)
    seed = independent_seed(sweep.first_seed, index)
    assert (row["index"], row["axes"]) == (index, {"seed": seed})
    in_play = sweep.algorithm.in_play(sweep.brokers, sweep.rack_mode)
    if row["error"] is not None:
        error: Any = row["error"]
        with pytest.raises(Failure) as raised:
            place_topics(sweep.algorithm, in_play, sweep.topics, random=JavaRandom(seed))
        refusal = raised.value
        assert (error["code"], error["detail"], error["path"]) == (refusal.code, refusal.detail, list(refusal.path))
        return
    placed = place_topics(sweep.algorithm, in_play, sweep.topics, random=JavaRandom(seed))
    actual = measure(tally({its.topic: its.assignment for its in placed}, sweep.brokers))
    assert row == {
        "index": index,
        "axes": {"seed": seed},
        "leader_spread": actual.leaders.spread,
        "replica_spread": actual.replicas.spread,
        "most_leaders": actual.leaders.max,
        "most_replicas": actual.replicas.max,
        "rack_safe_share": actual.rack_safe_share,
        "error": None,
    }


@given(draws, st.integers(0, 8))
def test_rows_are_equal_however_a_range_is_divided(sweep: DrawsSweep, cut: int) -> None:
    """Executors take whatever range they are given; a chunk that is scored again is the same."""
    assert rows(sweep, 0, cut) + rows(sweep, cut, 8) == rows(sweep, 0, 8)


@given(draws, st.integers(31, 40))
def test_brokers_without_replicas_count(sweep: DrawsSweep, fenced_id: int) -> None:
    """A fenced broker that AdminUtils leaves out leads nothing, and that is the smallest load there is."""
    brokers = (*sweep.brokers, Broker(fenced_id, "a", fenced=True))
    [row] = rows(replace(sweep, brokers=brokers, algorithm=PLACEMENTS["admin_utils"]), 0, 1)
    if row["error"] is None:
        assert row["replica_spread"] == row["most_replicas"]


def test_a_definition_is_sufficient() -> None:
    """Three brokers, one a rack, three partitions: whatever striped draws, each leads one and holds three."""
    read = read_sweep(
        {
            "topics": [{"name": "t", "partitions": 3, "replication_factor": 3, "start_partition_id": 0}],
            "algorithm": "striped",
            "seeds": {"first": 5, "count": 40},
            "resolved": {"brokers": [{"id": i, "rack": f"r{i}", "fenced": False} for i in range(3)]},
        }
    )
    assert (read.first_seed, read.count) == (5, 40)
    for row in rows(read, 0, 40):
        assert (row["leader_spread"], row["replica_spread"], row["most_replicas"]) == (0, 0, 3)
        assert row["rack_safe_share"] == 1.0


@pytest.mark.parametrize(
    ("racks", "placements", "spreads"), [("aabc", 4, (8, 9)), ("aaaabbcc", 56, (4, 7))], ids=["4 brokers", "8 brokers"]
)
def test_every_placement_of_a_controller_is_sampled(racks: str, placements: int, spreads: tuple[int, int]) -> None:
    """AdminUtils draws a start and a shift below the number of brokers. If that is a power of two, consecutive
    seeds give half of the placements of the first cluster, and a quarter of the second's.
    """
    brokers = tuple(Broker(id_, rack) for id_, rack in enumerate(racks))
    topic = (NewTopic("t", 11, 3),)
    sweep = DrawsSweep(brokers, topic, PLACEMENTS["admin_utils"], None, first_seed=0, count=600)
    seeds = [sweep.seed(index) for index in range(sweep.count)]
    placed = [place_topics(sweep.algorithm, brokers, topic, random=JavaRandom(seed)) for seed in seeds]
    spread: list[Any] = [row["replica_spread"] for row in rows(sweep, 0, sweep.count)]
    assert len({placement.assignment.replicas.tobytes() for [placement] in placed}) == placements
    assert (min(spread), max(spread)) == spreads


def test_a_sweep_of_a_former_release_keeps_its_seeds() -> None:
    """Its stored rows, and the plans that are made of them, have the axis `seed` that it had."""
    definition = {
        "topics": [{"name": "t", "partitions": 3, "replication_factor": 1}],
        "algorithm": "striped",
        "seeds": {"first": 7, "count": 3},
        "resolved": {"brokers": [{"id": 1, "rack": None, "fenced": False}]},
    }
    assert [read_sweep(definition).seed(index) for index in range(3)] == [7, 8, 9]
