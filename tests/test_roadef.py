"""Instances of machine reassignment: read from their files, and relieved, against every assignment of a tiny one."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from app.core.reassignment.goals.budget import relieve
from benchmarks.roadef import facts_of, problem_of, run
from benchmarks.roadef_instances import Instance, MalformedInstance, read_instance

MODEL = """2
1 10
0 1
3
0 0 10 20 6 9 0 1 2
0 0 10 20 6 9 1 0 2
1 1 10 20 6 9 2 2 0
2
1 0
1 1 0
4
0 5 4 3
0 4 3 2
1 3 2 1
1 2 2 4
1
0 1 2
7
5 1 1
"""
"""Two resources, of which the first is transient; three machines; two services; four processes. By hand."""
ASSIGNMENT = "0 0 1 1\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    model, assignment = tmp_path / "model_t_1.txt", tmp_path / "assignment_t_1.txt"
    model.write_text(MODEL)
    assignment.write_text(ASSIGNMENT)
    return model, assignment


@pytest.fixture
def tiny(files: tuple[Path, Path]) -> Instance:
    return read_instance(*files)


def test_what_the_files_say(tiny: Instance) -> None:
    assert (tiny.is_transient.tolist(), tiny.load_weight.tolist()) == ([True, False], [10, 1])
    assert (tiny.location.tolist(), tiny.service.tolist()) == ([0, 0, 1], [0, 0, 1, 1])
    assert (tiny.capacity[2].tolist(), tiny.safety[2].tolist()) == ([10, 20], [6, 9])
    assert (tiny.requirement.tolist(), tiny.move_cost.tolist()) == ([[5, 4], [4, 3], [3, 2], [2, 2]], [3, 2, 1, 4])
    assert (tiny.move_weight, tiny.assigned.tolist()) == (5, [0, 0, 1, 1])


def test_costs_worked_by_hand(tiny: Instance) -> None:
    """Machine 0 has 9 of the first resource, 3 above the safety capacity, at a weight of 10. Process 1 moves for 2 · 5,
    and leaves 4 on machine 0 meanwhile.
    """
    moved = np.array([0, 2, 1, 1])
    assert (tiny.load_cost(tiny.assigned), tiny.load_cost(moved), tiny.load_cost_bound()) == (30, 0, 0)
    assert (tiny.process_move_cost(moved), tiny.capacity_violations(moved), tiny.conflicts(moved)) == (10, 0, 1)
    assert tiny.capacity_violations(np.array([1, 2, 0, 1])) == 1 * (9 + 3 > 10)


def test_the_least_movement_without_load_cost(tiny: Instance) -> None:
    """Of all 81 assignments, none without load cost moves for less; the bound is over parts of processes."""
    facts = facts_of(tiny, relieve(problem_of(tiny), lambda: False))
    every = [np.array(assigned) for assigned in product(range(3), repeat=4)]
    least = min(tiny.process_move_cost(one) for one in every if tiny.load_cost(one) == 0)
    assert (facts["load_cost"], facts["move_cost"], facts["above_capacity"]) == (0, least, 0)
    assert facts["batches"] == 1
    assert 0 < int(str(facts["move_cost_bound"])) <= least


def test_a_line_of_the_benchmark(files: tuple[Path, Path]) -> None:
    [result] = run(files)
    assert '"load_cost_before":30,"load_cost":0,"load_cost_bound":0,"move_cost":10' in result.line()


@pytest.mark.parametrize(
    ("model", "assignment", "match"),
    [
        (MODEL.replace("\n3\n0 0", "\n0\n0 0"), ASSIGNMENT, "the number of machines is at least 1"),
        (MODEL.removesuffix("1 1\n"), ASSIGNMENT, "the weights of move costs needs 3 more numbers, and the file has 1"),
        (MODEL + "9", ASSIGNMENT, "1 numbers are left"),
        (MODEL.replace("0 5 4 3", "7 5 4 3"), ASSIGNMENT, "service 7; there are 2"),
        (MODEL.replace("0 5 4 3", "0 x 4 3"), ASSIGNMENT, "no whole number"),
        (MODEL.replace("0 5 4 3", "0 -5 4 3"), ASSIGNMENT, "has -5"),
        (MODEL.replace("0 5 4 3", f"0 {2**63} 4 3"), ASSIGNMENT, "64 bits"),
        (MODEL, "0 0 1", "4 more numbers, and the file has 3"),
        (MODEL, "0 0 1 3", "machine 3; there are 3"),
        (MODEL.replace("\n4\n0 5", "\n999999999999\n0 5"), ASSIGNMENT, "more numbers"),
    ],
)
def test_what_is_no_instance(files: tuple[Path, Path], model: str, assignment: str, match: str) -> None:
    files[0].write_text(model)
    files[1].write_text(assignment)
    with pytest.raises(MalformedInstance, match=match):
        read_instance(*files)


def test_files_are_named_in_pairs(files: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match="pairs of files"):
        list(run(files[:1]))
