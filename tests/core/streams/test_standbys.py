"""The rules for standbys: laws, KIP-708's own examples, and choices that load alone decides."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from app.core.streams.assignors.high_availability import assign
from app.core.streams.model import Application, PartialAssignment, StreamsAssignment, StreamsClient, StreamsOptions
from app.core.streams.standbys import BY_LOAD, BY_TAGS, StandbyPolicy, policy_for, require_tags_within_limits
from app.errors.kafka import TagsBeyondLimits
from tests import draws as st
from tests.core.streams.small_applications import Given, applications, client, tasks, written
from tests.profiles import costly


def placed(
    policy: StandbyPolicy, clients: Sequence[StreamsClient], names: str, active: Sequence[int], options: StreamsOptions
) -> StreamsAssignment:
    """Standbys of tasks that are active on the clients at some places."""
    application = Application(clients, tasks(names))
    partial = PartialAssignment.empty(application)
    partial.active[list(active), np.arange(len(application.task_ids))] = True
    policy.place(application, partial, options)
    return application.answer(partial, probing_rebalance=False)


def grid(zones: str, clusters: str) -> list[StreamsClient]:
    """A client for each zone of each cluster, zones first: a1 b1 c1 a2 b2 c2."""
    return [
        client(number, client_tags={"zone": zone, "cluster": cluster}, default_lag=0)
        for number, (cluster, zone) in enumerate(product(clusters, zones))
    ]


def tags_of(answer: StreamsAssignment, clients: Sequence[StreamsClient], row: int, tag: str) -> list[str]:
    """The tag's values of the clients that hold a task."""
    hosts = answer.active[:, row] | answer.standby[:, row]
    return [clients[place].client_tags[tag] for place in np.flatnonzero(hosts).tolist()]


class TestPromises:
    """Laws of every application."""

    @costly()
    @given(applications())
    def test_the_listed_tags_choose_the_rule(self, application: Given) -> None:
        options = application[2]
        assert policy_for(options) is (BY_TAGS if options.rack_aware_assignment_tags else BY_LOAD)

    @given(st.integers(0, 12), st.integers(2, 3), st.integers(2, 4))
    def test_copies_are_apart_in_each_tag_where_every_combination_has_a_client(
        self, n_tasks: int, n_copies: int, n_values: int
    ) -> None:
        """With more values than copies no tag is ever given up, and of a full grid some client is always left."""
        clients = grid("abcde"[: n_values + 1], "12345"[: n_values + 1])
        options = StreamsOptions(min(n_copies, n_values) - 1, rack_aware_assignment_tags=("zone", "cluster"))
        answer = assign(clients, tasks(" ".join(f"0_{p}" for p in range(n_tasks))), options)
        for row, tag in product(range(n_tasks), ("zone", "cluster")):
            values = tags_of(answer, clients, row, tag)
            assert len(set(values)) == len(values) == options.num_standby_replicas + 1

    @given(st.integers(1, 20), st.integers(2, 6), st.integers(0, 5))
    def test_by_load_clients_of_equal_size_differ_by_one(self, n_tasks: int, n_clients: int, n_standbys: int) -> None:
        clients = [client(number, default_lag=0) for number in range(n_clients)]
        answer = assign(clients, tasks(" ".join(f"0_{p}" for p in range(n_tasks))), StreamsOptions(n_standbys))
        counts = (answer.active | answer.standby).sum(axis=1)
        assert counts.max() - counts.min() <= 1
        assert (answer.standby.sum(axis=0) == min(n_standbys, n_clients - 1)).all()


class TestExamples:
    """KIP-708's examples, and where they end."""

    def test_three_clusters_and_three_zones_keep_three_copies_apart_in_both(self) -> None:
        """KIP-708, "multi-dimension": two standbys, none in the cluster or the zone of another copy."""
        clients = grid("abc", "123")
        options = StreamsOptions(2, rack_aware_assignment_tags=("cluster", "zone"))
        answer = assign(clients, tasks(" ".join(f"0_{p}" for p in range(9))), options)
        for row in range(9):
            assert sorted(tags_of(answer, clients, row, "zone")) == ["a", "b", "c"]
            assert sorted(tags_of(answer, clients, row, "cluster")) == ["1", "2", "3"]

    def test_two_clusters_and_three_zones_give_up_the_cluster_for_the_second_standby(self) -> None:
        """KIP-708, "partially preferred": the first standby is in the other cluster, the second in the third zone."""
        clients = grid("abc", "12")
        options = StreamsOptions(2, rack_aware_assignment_tags=("cluster", "zone"))
        answer = placed(BY_TAGS, clients, "0_0", [0], options)
        # 0_0 runs in a1: b2 is first of those in other zone and cluster; then, clusters given up, c1 is before c2.
        assert written(answer) == ["0_0 |  | ", " |  | ", " | 0_0 | ", " |  | ", " | 0_0 | ", " |  | "]

    def test_what_tags_do_not_allow_goes_to_the_least_loaded_in_the_end(self) -> None:
        """One zone: it has no more values than there are copies, and so is no constraint from the start."""
        clients = [client(number, client_tags={"zone": "a"}) for number in range(3)]
        options = StreamsOptions(1, rack_aware_assignment_tags=("zone",))
        assert written(placed(BY_TAGS, clients, "0_0 0_1", [0, 0], options)) == [
            "0_0 0_1 |  | ",
            " | 0_0 | ",
            " | 0_1 | ",
        ]

    def test_a_value_stays_blocked_until_a_client_with_that_tag_gives_it_up(self) -> None:
        """The client without a zone takes the first standby, so that the zone is not used again; only b is left."""
        zones = ("a", None, "a", "b")
        clients = [client(n, client_tags={} if zone is None else {"zone": zone}) for n, zone in enumerate(zones)]
        options = StreamsOptions(3, rack_aware_assignment_tags=("zone",))
        answer = placed(BY_TAGS, clients, "0_0", [0], options)
        # The third standby finds no client by tags; it is placed by load in the end.
        assert written(answer) == ["0_0 |  | ", " | 0_0 | ", " | 0_0 | ", " | 0_0 | "]

    def test_if_none_are_requested_the_rule_by_tags_still_places_one(self) -> None:
        """Kafka's loop asks how many are left only after the first. The assignor does not come here then."""
        clients = grid("ab", "1")
        options = StreamsOptions(0, rack_aware_assignment_tags=("zone",))
        assert written(placed(BY_TAGS, clients, "0_0", [0], options)) == ["0_0 |  | ", " | 0_0 | "]
        assert written(placed(BY_LOAD, clients, "0_0", [0], options)) == ["0_0 |  | ", " |  | "]
        assert written(assign(clients, tasks("0_0"), options)) == ["0_0 |  | ", " |  | "]

    def test_a_standby_moves_only_to_a_client_with_all_tags_of_the_one_it_leaves(self) -> None:
        clients = [
            client(0, client_tags={"zone": "a", "owner": "x"}),
            client(1, client_tags={"zone": "a"}),
            client(2, client_tags={"zone": "b"}),
        ]
        may_move = BY_TAGS.may_move(Application(clients, tasks("0_0")))
        assert may_move.tolist() == [[True, False, False], [True, True, False], [False, False, True]]


class TestLimits:
    """Tags that a client does not start with."""

    def test_as_many_and_as_long_as_allowed(self) -> None:
        tags = {f"{key}" * 20: "v" * 30 for key in "abcde"}
        require_tags_within_limits(
            [client(1, client_tags=tags)], StreamsOptions(rack_aware_assignment_tags=tuple(tags))
        )

    def test_one_more_tag_is_rejected(self) -> None:
        listed = StreamsOptions(rack_aware_assignment_tags=tuple("abcdef"))
        with pytest.raises(TagsBeyondLimits, match="6 tags in rack") as raised:
            require_tags_within_limits([], listed)
        assert raised.value.kafka.exception == "ConfigException"
        for tags, what in (
            (dict.fromkeys("abcdef", "v"), "has 6 tags"),
            ({"k" * 21: "v"}, "has 21 characters"),
            ({"k": "\U0001f600" * 16}, "has 32 characters"),
        ):
            with pytest.raises(TagsBeyondLimits, match=what):
                require_tags_within_limits([client(1), client(2, client_tags=tags)], StreamsOptions())
