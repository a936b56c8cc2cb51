"""What a request says about the balance of brokers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from app.services.bodies import ListOf, Read, RequestRecord, word_or_object
from app.services.fields import TopicName
from app.services.reassignment.requests.resources import BrokerOrAll, MoreThanZero, Resource, ShareOrZero


@dataclass(frozen=True)
class _OneTolerance(RequestRecord, schema="ToleranceRequest"):
    """A band around the brokers' mean, mean × (1 − tolerance) to mean × (1 + tolerance), joined with the narrowest
    feasible band.
    """

    tolerance: ShareOrZero
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""


@dataclass(frozen=True)
class Tolerance(RequestRecord, schema="LeadersToleranceRequest"):
    """The same of leaders, which may be further below the mean than above it."""

    tolerance: ShareOrZero
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""
    below: ShareOrZero | None = None
    """Share by which the band extends below the mean, by count; null is `tolerance`. If brokers joined late, a wider
    one takes fewer leader changes."""


_Share: TypeAlias = Annotated[Tolerance, Read(_OneTolerance, lambda given: Tolerance(given.tolerance)), Tag("share")]
_Tight = Annotated[Annotated[Literal["tight"], Tag("word")] | _Share, Discriminator(word_or_object)]
Evenness: TypeAlias = Literal["tight", "keep"] | Tolerance
ReplicasBy = Literal["count", "bytes", "throughput"]
"""The objectives that replicas can be balanced by; `loads.py` has the load of each."""
LeadersBy = Literal["count", "ingress"]
"""The objectives that leaders can be balanced by."""
_EVEN = "`tight`: as balanced as possible; `keep`: only necessary changes; a tolerance: in between. "
_EVEN_TOPICS = (
    "`tight`: brokers differ by one {0} of the topic at most; a tolerance is of the topic's "
    "mean. If the bands of all topics cannot hold together with the band of the cluster, the excess is minimal."
)


@dataclass(frozen=True)
class PerTopicRequest(RequestRecord, schema="PerTopicFields"):
    """The balance of each topic over brokers, together with that of the whole cluster: of replicas, leaders or both."""

    replicas: Annotated[_Tight | None, Field(description=_EVEN_TOPICS.format("replica"))] = None
    leaders: Annotated[
        _Tight | None,
        Field(description=_EVEN_TOPICS.format("leader") + " The default of `balance.leaders` then is `tight`."),
    ] = None
    topics: Annotated[ListOf[TopicName], Field(min_length=1)] | None = None
    """Names of the topics that are balanced; null is all that may move."""


@dataclass(frozen=True)
class BalanceRequest(RequestRecord, schema="BalanceFields"):
    """The balance constraints of brokers."""

    replicas: Annotated[
        Annotated[Annotated[Literal["tight", "keep"], Tag("word")] | _Share, Discriminator(word_or_object)] | None,
        Field(description=_EVEN + "The default is `tight` if brokers are added or a budget is set, `keep` otherwise."),
    ] = None
    replicas_by: ReplicasBy = "count"
    """The load that is balanced."""
    leaders: Annotated[
        Annotated[
            Annotated[Literal["tight", "keep", "moved", "preferred"], Tag("word")] | Annotated[Tolerance, Tag("share")],
            Discriminator(word_or_object),
        ]
        | None,
        Field(
            description=_EVEN
            + "`moved`: as `keep`, but leaders of partitions of which replicas move change if that makes the largest "
            "number of leaders of a broker smaller; "
            "`preferred`: replica lists keep their order, and the first replica leads. The default is `tight` with "
            "leaders_only, `moved` if brokers are removed or with fix_offline_replicas, `keep` otherwise."
        ),
    ] = None
    leaders_by: LeadersBy = "count"
    """The load that is balanced."""
    leaders_move_replicas: bool = False
    """Whether replicas may move to reach the band of leaders, by count, with the fewest bytes: a broker gets a replica
    of a partition that it is to lead, in place of one in the same rack if there is one. The default of `leaders` then
    is `tight`. `max_moved_bytes` is the most that moves: the band then is the narrowest within it."""
    resources: Annotated[ListOf[Resource], Field(max_length=4)] = field(default_factory=list)
    """Resources that are balanced jointly, each by the capacity of each broker, together with `replicas` and `leaders`
    if these are `tight` or have a tolerance."""
    per_topic: PerTopicRequest | None = None
    """The balance of each topic, by count; of replicas without a budget or a trade-off."""
    weights: Literal["capacity"] | Mapping[BrokerOrAll, MoreThanZero] | None = None
    """By broker id, or `*` for all others, the weight of a broker: its bands of replicas, of leaders by count and of
    each topic are in proportion to it. `capacity`: disk_bytes is the weight, with `throughput` nic_in_bytes_per_s. By
    default the weights are those of the snapshot, which are 1 if it states none; if it does not, the capacities of all
    brokers are known and differ, and `add_brokers` states some, it is `capacity`."""
