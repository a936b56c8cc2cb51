"""The rules of an aware placement: the policy, the attributes in their order, and forced values.

The policies of awareness: the cost of each replica of a partition, by value of each attribute.

`spread`  Replicas are balanced over the values of the first attribute; among rows that are balanced there, over the
          second, and so on. A value with fewer brokers than its share has as many as it can, and the others the rest.
          Source: Elasticsearch, "Shard allocation awareness", which leaves that rest unassigned.
`forced`  As `spread`, but no value of an attribute with forced values has more than ⌈factor / values⌉ replicas, where
          the values are the listed ones and live brokers'. The rest is not placed, so that the surviving
          brokers are not overloaded and have capacity when the others return.
          Source: Elasticsearch, "Forced awareness"; `AwarenessAllocationDecider`.
`hdfs`    The rack is the first attribute. With three replicas or more, the leader and the first follower share a rack,
          which has no third one; the others are spread over the other racks, at most two in each. Two replicas are in
          two racks. A rack with one broker leads nothing. If no rack has two brokers, the policy is `spread`; if racks
          are too few or too small for two each, the limit is the smallest with which all replicas are placed.
          Source: HDFS, "Replica Placement"; `BlockPlacementPolicyDefault`, which limits a rack to
          (copies − 1) / racks + 2 and today puts the second and the third copy in one rack. KIP-708 names the rule.
`redis`   The zone is the first attribute. The leader is alone in its zone, and the followers are spread over the other
          zones. So the loss of a zone takes the leader or followers of a partition, never both.
          Source: Redis Enterprise Software, "Rack-zone awareness in Redis Enterprise".
`kafka`   The first attribute alone counts. A partition spans min(factor, values) of its values; further replicas may be
          anywhere, so that brokers are used by weight. Further attributes are only measured.
          Source: KIP-36, "Proposed Changes". Kafka's own placers deal replicas to racks in turn, whatever brokers the
          racks have; this policy keeps the guarantee and balances the brokers instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from app.core.model import Broker
from app.core.replicas.awareness.layout import WANTED, Layout, RowDemand
from app.errors import FieldPath, requests


class Policy(StrEnum):
    """The policy of a placement."""

    SPREAD = "spread"
    FORCED = "forced"
    HDFS = "hdfs"
    REDIS = "redis"
    KAFKA = "kafka"


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy and its attributes.

    Parameters
    ----------
    attributes : distinct names, at least one, the most important first.
    forced : for `Policy.FORCED` alone: by attribute, the values that are expected, with live brokers or not.
    load : the existing load that is balanced with the new replicas: `replicas` or `bytes`; None for none.
    """

    policy: Policy = Policy.SPREAD
    attributes: tuple[str, ...] = ("rack",)
    forced: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    load: str | None = None

    def check(self) -> None:
        """Validate the rules by themselves.

        Raises
        ------
        DuplicateAttribute : an attribute, or one of its forced values, is listed twice.
        ForcedAttributeNotListed : values are forced of an attribute that is not listed.
        ConflictingFields : there is no attribute; or values are forced with another policy, or none with `forced`.
        """
        if not self.attributes:
            raise requests.ConflictingFields(
                "a policy needs an attribute or more; 0 given", path=("attributes",), value=0
            )
        _reject_repeated("attribute", self.attributes, ("attributes",))
        if bool(self.forced) != (self.policy is Policy.FORCED):
            requirement = "needs" if self.policy is Policy.FORCED else "has no"
            raise requests.ConflictingFields(
                f"the policy {self.policy.value} {requirement} forced values; {len(self.forced)} attributes have some",
                path=("forced",),
                value=len(self.forced),
                policy=self.policy.value,
            )
        for name, values in self.forced.items():
            if name not in self.attributes:
                raise requests.ForcedAttributeNotListed(
                    f"values of {name} are forced; the attributes are {', '.join(self.attributes)}",
                    path=("forced", name),
                    value=name,
                    attributes=list(self.attributes),
                )
            _reject_repeated(f"forced value of {name}", values, ("forced", name))

    def require_attributes(self, brokers: Sequence[Broker]) -> None:
        """Raise `AttributeMissing`, which names the brokers, if some lack an attribute."""
        for index, name in enumerate(self.attributes):
            without = [broker.id for broker in brokers if broker.value(name) is None]
            if without:
                named = ", ".join(map(str, without[:20])) + (f" and {len(without) - 20} more" if without[20:] else "")
                raise requests.AttributeMissing(
                    f"{len(without)} of {len(brokers)} brokers have no attribute {name}: {named}; all need one",
                    path=("attributes", index),
                    value=name,
                    brokers=without,
                )


def _reject_repeated(item: str, names: Sequence[str], path: FieldPath) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise requests.DuplicateAttribute(f"the {item} {name} is listed twice", path=(*path, index), value=name)


HDFS_REPLICAS_IN_ONE_RACK = 2

Demands: TypeAlias = Callable[[Layout, Rules, int], tuple[RowDemand, ...]]
"""The demands of a policy, one for each value that may lead, or one for all partitions."""


def _even(most: int) -> tuple[int, ...]:
    """Costs with which replicas are balanced: the sum of the first c is c²."""
    return tuple(2 * count + 1 for count in range(most))


def _evenly(layout: Layout, factor: int) -> list[tuple[tuple[int, ...], ...]]:
    """Costs with which replicas are balanced over each attribute."""
    return [
        tuple(_even(min(factor, size)) for size in layout.sizes(attribute))
        for attribute in range(len(layout.attributes))
    ]


def _spread(layout: Layout, _: Rules, factor: int) -> tuple[RowDemand, ...]:
    return (RowDemand(factor, tuple(_evenly(layout, factor))),)


def _forced(layout: Layout, rules: Rules, factor: int) -> tuple[RowDemand, ...]:
    costs = _evenly(layout, factor)
    for attribute, name in enumerate(layout.attributes):
        if name in rules.forced:
            most = -(-factor // len({*layout.values[attribute], *rules.forced[name]}))
            costs[attribute] = tuple(_even(min(most, size)) for size in layout.sizes(attribute))
    return (RowDemand(factor, tuple(costs)),)


def _hdfs(layout: Layout, rules: Rules, factor: int) -> tuple[RowDemand, ...]:
    sizes, pair = layout.sizes(0), HDFS_REPLICAS_IN_ONE_RACK
    racks = [rack for rack, size in enumerate(sizes) if size >= pair]
    if factor <= pair or not racks:
        return _spread(layout, rules, factor)
    most = next(n for n in range(pair, factor + 1) if n == factor or sum(min(size, n) for size in sizes) >= factor)
    others = [_even(min(size, most)) for size in sizes]
    further = _evenly(layout, factor)[1:]

    def led_by(rack: int) -> RowDemand:
        # Two replicas come before any other cost; a third one costs more than a replica in any other rack.
        dear = (2 * factor + 1,) * max(0, min(sizes[rack], factor) - pair)
        first = (*others[:rack], (WANTED,) * pair + dear, *others[rack + 1 :])
        return RowDemand(factor, (first, *further), rack)

    return tuple(led_by(rack) for rack in racks)


def _redis(layout: Layout, rules: Rules, factor: int) -> tuple[RowDemand, ...]:
    """Raises `TooFewValues` if no zone has enough brokers outside it."""
    if factor == 1:
        return _spread(layout, rules, factor)
    sizes = layout.sizes(0)
    zones = [zone for zone, size in enumerate(sizes) if sum(sizes) - size >= factor - 1]
    if not zones:
        outside = sum(sizes) - min(sizes)
        raise requests.TooFewValues(
            f"replication factor {factor} needs {factor - 1} outside the leader's {layout.attributes[0]}; of "
            f"{sum(sizes)} brokers over {len(sizes)} values at most {outside} are",
            path=("replication_factor",),
            value=factor,
            maximum=1 + outside,
            attribute=layout.attributes[0],
            values=len(sizes),
        )
    first, *further = _evenly(layout, factor)
    return tuple(RowDemand(factor, ((*first[:zone], (WANTED,), *first[zone + 1 :]), *further), zone) for zone in zones)


def _kafka(layout: Layout, _: Rules, factor: int) -> tuple[RowDemand, ...]:
    first_costs = [WANTED, *[0] * (len(layout.attributes) - 1)]
    costs = (
        tuple((first, *(0,) * (min(factor, size) - 1)) for size in layout.sizes(attribute))
        for attribute, first in enumerate(first_costs)
    )
    return (RowDemand(factor, tuple(costs)),)


POLICIES: Mapping[Policy, Demands] = {
    Policy.SPREAD: _spread,
    Policy.FORCED: _forced,
    Policy.HDFS: _hdfs,
    Policy.REDIS: _redis,
    Policy.KAFKA: _kafka,
}
"""Every policy. To add one: its demands, a name in `Policy` and in `placements.json`, an entry here and its tests."""
