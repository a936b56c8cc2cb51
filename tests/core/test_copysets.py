"""Replica sets and the odds of losing one, beside an enumeration of all choices of brokers."""

import math
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.copysets import Copysets, ScatterWidth, copysets
from app.core.model import padded

BROKERS = 7


def of_lists(lists: list[list[int]], brokers: int = BROKERS) -> Copysets:
    return copysets(padded(lists), brokers)


@given(
    st.lists(st.permutations(range(BROKERS)).flatmap(lambda order: st.integers(0, 4).map(lambda n: order[:n]))),
    st.integers(BROKERS, BROKERS + 3),
)
def test_the_figures_are_those_of_an_enumeration(lists: list[list[int]], brokers: int) -> None:
    found = of_lists(lists, brokers)
    sets = {frozenset(replicas) for replicas in lists if replicas}
    pairs = {pair for each in sets for pair in combinations(sorted(each), 2)}
    widths = [sum(broker in pair for pair in pairs) for broker in set().union(*sets)]
    assert (found.sets, found.pairs) == (len(sets), len(pairs))
    expected = ScatterWidth(min(widths), round(float(np.mean(widths)), 4), max(widths)) if widths else None
    assert found.scatter_width == (expected or ScatterWidth(0, 0.0, 0))
    for lost in (2, 3):
        fatal = sum(any(each <= set(chosen) for each in sets) for chosen in combinations(range(brokers), lost))
        assert found.loss_probability[lost] == pytest.approx(fatal / comb(brokers, lost), abs=1e-9)
    assert (found.method, found.standard_error) == ("exact", None)


@given(st.integers(3, 30), st.integers(0, 2**32 - 1))
def test_of_three_replicas_the_odds_are_sets_among_triples(brokers: int, seed: int) -> None:
    """K / C(N, 3) of Cidon et al.; no two losses lose data."""
    random = np.random.default_rng(seed)
    lists = np.stack([random.permutation(brokers)[:3] for _ in range(20)]).astype(np.int32)
    found = copysets(lists, brokers)
    assert found.loss_probability == {2: 0.0, 3: round(found.sets / comb(brokers, 3), 9)}


@pytest.mark.long
def test_wide_lists_on_many_brokers() -> None:
    """Sets whose numbers do not fit into one of 64 bits are found, too."""
    lists = [list(range(9)), list(range(8, -1, -1)), list(range(9_000, 9_009))]
    found = of_lists(lists, 10_000)
    assert (found.sets, found.pairs, found.scatter_width) == (2, 2 * comb(9, 2), ScatterWidth(8, 8.0, 8))


def test_fewer_brokers_than_losses() -> None:
    assert of_lists([[0, 1]], 2).loss_probability == {2: 1.0, 3: None}


def test_unknown_brokers_are_left_out() -> None:
    assert of_lists([[0, BROKERS], [0]]).sets == 1


def of_many_losses(sets: int, brokers: int, lost: int) -> float:
    """The probability that `lost` brokers contain a set of three, if the triples among them are independent."""
    each = copysets(np.arange(3, dtype=np.int32)[None], brokers).loss_probability[3]
    assert each is not None
    return -math.expm1(comb(lost, 3) * math.log1p(-sets / comb(brokers, 3)))


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        # Random replication of 8,000 chunks a node: nearly all are different sets.
        (5_000 * 8_000 // 3, 0.9999),
        # Copyset replication of the least scatter width: one permutation of the nodes.
        (5_000 // 3, 0.0015),
    ],
)
def test_the_odds_published_for_five_thousand_nodes_of_which_one_percent_fails(sets: int, expected: float) -> None:
    """Cidon et al.: three replicas lose data in 99.99 % of power losses, and in 0.15 % with copysets."""
    assert of_many_losses(sets, 5_000, 50) == pytest.approx(expected, rel=0.05)
