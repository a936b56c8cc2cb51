"""The smallest addition against every addition there is, and on examples the eye can check."""

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, count, product

import pytest
from hypothesis import given

from app.core.streams import additions
from app.core.streams.additions import NewClient, smallest_addition
from app.core.streams.model import StreamsClient, StreamsOptions
from app.errors.requests import LimitExceeded
from tests import draws as st
from tests.core.streams.small_applications import client

VALUES = ("a", "b", "c")


def tagged(*vectors: str) -> list[StreamsClient]:
    """Clients by their values, `ab` for cluster a and zone b; `-` where one lacks the tag."""
    return [
        client(
            1 + at,
            client_tags={tag: value for tag, value in zip(("cluster", "zone"), vector, strict=False) if value != "-"},
        )
        for at, vector in enumerate(vectors)
    ]


def is_ideal_everywhere(vectors: Sequence[tuple[str, ...]], runs: Sequence[int], distinct: int) -> bool:
    """Whether each client that runs tasks is one of `distinct` that pairwise differ in everything."""
    others = [tuple(str(number) for number in range(len(vectors)) if number != at) for at in range(len(vectors))]
    return all(
        any(
            all(
                a != b
                for one, other in combinations([vectors[at], *(vectors[int(n)] for n in chosen)], 2)
                for a, b in zip(one, other, strict=True)
            )
            for chosen in combinations(others[at], distinct - 1)
        )
        for at in runs
    )


def fewest_by_hand(
    vectors: Sequence[tuple[str, ...]], runs: Sequence[int], distinct: int, tags: int
) -> tuple[int, int]:
    """The fewest clients, then the fewest new values, that make the ideal possible for all."""
    for n_added in count():
        best = None
        known = [[*sorted({vector[at] for vector in vectors}), None] for at in range(tags)]
        for added in combinations_with_replacement(product(*known), n_added):
            number = count()
            new = [tuple(f"new{next(number)}" if value is None else value for value in values) for values in added]
            every = [*vectors, *new]
            if is_ideal_everywhere(every, [*runs, *range(len(vectors), len(every))], distinct):
                n_new = next(number)
                best = n_new if best is None else min(best, n_new)
        if best is not None:
            return n_added, best
    raise AssertionError


class TestAgainstEveryAddition:
    """Up to four clients of one or two tags, and up to three copies."""

    @given(
        st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)), max_size=4),
        st.integers(0, 2),
        st.sampled_from([1, 2]),
    )
    def test_none_is_smaller(self, vectors: list[tuple[str, str]], standbys: int, tags: int) -> None:
        clients = tagged(*("".join(vector) for vector in vectors))
        options = StreamsOptions(standbys, rack_aware_assignment_tags=("cluster", "zone")[:tags])
        found = smallest_addition(clients, options)
        known = [vector[:tags] for vector in vectors]
        # Without clients nothing runs; then an added one runs tasks.
        n_added, n_new = fewest_by_hand(known, range(len(known)), standbys + 1, tags) if known else (standbys + 1, -1)
        assert len(found.clients) == n_added
        assert found.fewest_new_values
        assert n_new in (-1, sum(found.new_values.values()))
        assert found.lacking == ()

    @given(
        st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)), min_size=1, max_size=6),
        st.integers(0, 3),
    )
    def test_what_is_added_suffices(self, vectors: list[tuple[str, str]], standbys: int) -> None:
        options = StreamsOptions(standbys, rack_aware_assignment_tags=("cluster", "zone"))
        found = smallest_addition(tagged(*("".join(vector) for vector in vectors)), options)
        new = [tuple(str(its.values[tag]) for tag in options.rack_aware_assignment_tags) for its in found.clients]
        every = [*vectors, *new]
        assert is_ideal_everywhere(every, range(len(every)), standbys + 1)
        assert (found.apart == len(vectors)) == (not found.clients)


class TestExamples:
    """Clients that can be gone through by eye."""

    both = StreamsOptions(2, rack_aware_assignment_tags=("cluster", "zone"))

    def test_two_clusters_need_a_third_for_two_standbys(self) -> None:
        """KIP-708's two clusters of three zones: one more client needs a zone of its own.

        If it were in zone c, tasks in zone c could not have their copy there.
        """
        clients = tagged("aa", "ab", "ac", "ba", "bb", "bc")
        assert smallest_addition(clients, self.both).clients == (NewClient({"cluster": 0, "zone": 0}),)

    def test_a_client_in_what_is_there_may_suffice(self) -> None:
        found = smallest_addition(
            tagged("a", "a", "b"), StreamsOptions(1, rack_aware_assignment_tags=("cluster",)), running=[0, 1]
        )
        assert found.clients == ()
        found = smallest_addition(tagged("aa", "bb", "cc", "ac"), self.both)
        assert found.clients == (NewClient({"cluster": "c", "zone": "a"}),)
        assert found.apart == 3

    def test_without_tags_clients_are_counted(self) -> None:
        found = smallest_addition(tagged("a"), StreamsOptions(2))
        assert found.clients == (NewClient({}), NewClient({}))
        assert found.apart == 0

    def test_clients_that_lack_a_tag_are_named(self) -> None:
        clients = tagged("aa", "b-", "cc")
        found = smallest_addition(clients, StreamsOptions(1, rack_aware_assignment_tags=("cluster", "zone")))
        assert found.lacking == (clients[1].process_id,)
        assert found.clients == ()
        assert found.apart == 2

    def test_without_clients_every_value_is_new(self) -> None:
        found = smallest_addition([], self.both)
        assert [dict(its.values) for its in found.clients] == [{"cluster": n, "zone": n} for n in range(3)]
        assert found.new_values == {"cluster": 3, "zone": 3}

    def test_too_many_to_try(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """All values of added clients are new then: it suffices, and may ask for more new ones than it must."""
        monkeypatch.setattr(additions, "MOST_ADDITIONS", 1)
        found = smallest_addition(tagged("aa", "ab", "ac", "ba", "bb", "bc"), self.both)
        assert not found.fewest_new_values
        assert len(found.clients) == 1

    def test_too_many_kinds_of_clients(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(additions, "MOST_STEPS", 1)
        with pytest.raises(LimitExceeded, match="kinds of clients"):
            smallest_addition(tagged("aa", "ab", "ac", "ba", "bb", "bc"), self.both)
