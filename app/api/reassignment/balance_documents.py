"""What the balance of a reassignment looks like as JSON."""

from pydantic import BaseModel

from app.api.reassignment.load_documents import GoalDocument
from app.services.reassignment import LeadersBy, ReplicasBy


class Ends(BaseModel):
    """The smallest and the largest load of brokers that may receive replicas."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""


class TopicEnds(Ends):
    """Replicas of a topic on the brokers that may receive replicas."""

    topic: str
    """Name of the topic."""
    low: int
    """Lower end of the topic's band, in replicas."""
    high: int
    """Upper end of the topic's band, in replicas."""
    before: Ends
    """Extremes before the plan."""


class PerTopicBalance(BaseModel):
    """The balance of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of replicas by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of replicas after the plan, then before it; 20 at most."""


class BrokerWeight(BaseModel):
    """A broker that is balanced by its weight."""

    broker: int
    """Id of the broker."""
    weight: int
    """Weight of the broker, as a whole number without a factor that all have in common."""
    share: float
    """Share of the load of the brokers of its set that is in proportion to the weight, in the unit of `by`."""
    low: int | None
    """Lower end of the broker's band; null if the load is no count, or replicas stay on their brokers."""
    high: int | None
    """Upper end of the broker's band; null if the load is no count, or replicas stay on their brokers."""
    load: int
    """Load of the broker after the plan, in the unit of `by`."""


class ReplicasBalance(Ends):
    """The replica load of brokers after the plan. `low` and `high` are the load band; null without one."""

    by: ReplicasBy
    """Load that is balanced: `count` is replicas, other loads are sums over replicas."""
    low: int | None
    """Lower end of the load band, in the unit of `by`; null without a band."""
    high: int | None
    """Upper end of the load band, in the unit of `by`; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """By bytes or throughput: no plan has a smaller `largest`."""
    per_topic: PerTopicBalance | None
    """Balance of each topic; null if the request has none."""
    weights: list[BrokerWeight] | None = None
    """Brokers that are balanced, if their weights differ; `low` and `high` then are extremes."""


class PreferredRacksDocument(BaseModel):
    """Partitions with preferred racks, by the rack of their leader."""

    first: int
    """Number of partitions led in the first rack of their list."""
    other_listed: int
    """Number of partitions led in another rack of their list."""
    elsewhere: int
    """Number of partitions led in none of these racks."""


class PerTopicLeaders(BaseModel):
    """The balance of the leaders of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of leaders by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of leaders after the plan, then before it; 20 at most."""


class SpreadTopic(TopicEnds):
    """A topic whose leaders are spread, over the brokers with a replica that may lead."""

    brokers: list[int]
    """Ids of these brokers, ascending."""


class LeadersBalance(Ends):
    """The leader load of brokers after the plan, and the certificate of the number of leader changes."""

    by: LeadersBy
    """Load that is balanced: `count` is preferred leaders, other loads are sums over led partitions."""
    low: int | None
    """Lower end of the load band, in the unit of `by`; null without a band."""
    high: int | None
    """Upper end of the load band, in the unit of `by`; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int
    """Lower bound on `largest`, in the unit of `by`."""
    changes: int
    """Number of partitions whose preferred leader changes."""
    bound: int
    """Lower bound on `changes`."""
    optimal: bool
    """Whether `changes` reaches its lower bound."""
    gap: float
    """Relative optimality gap: (changes − bound) / changes; 0 if optimal."""
    preferred_racks: PreferredRacksDocument | None = None
    """With `preferred_racks`: where leaders are."""
    per_topic: PerTopicLeaders | None
    """Balance of the leaders of each topic; null if the request has none."""
    spread: list[SpreadTopic] | None = None
    """With `spread_leaders`: each of these topics, by name; by broker set if there are any."""
    weights: list[BrokerWeight] | None = None
    """Brokers whose leaders are balanced by count, if their weights differ; `low` and `high` then are extremes."""
    solver: str
    """The solver that computed the leaders."""


class Banded(Ends):
    """A load of the brokers of a set. `low` and `high` are the load band; null without one."""

    low: int | None
    """Lower end of the load band; null without a band."""
    high: int | None
    """Upper end of the load band; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """Lower bound on `largest`; null if the load is a count, whose band is exact."""


class BrokerSetBalance(BaseModel):
    """A broker set with its topics: moved, balanced and proven on its own."""

    set: str | None
    """Name of the broker set; null for the brokers and topics outside every set."""
    brokers: list[int]
    """Ids of the brokers that stay in the set, ascending."""
    topics: int
    """Number of topics of the set that may move."""
    partitions: int
    """Number of their partitions."""
    replicas: Banded
    """Load of the set's brokers by replicas, of what `balance.replicas.by` names."""
    leaders: Banded
    """Load of the set's brokers by preferred leaders, of what `balance.leaders.by` names."""
    moved_replicas: int
    """Number of replicas that are copied to the set's brokers."""
    moved_bytes: int
    """Bytes that are copied to the set's brokers, of replicas of known size."""
    moved: int
    """What is minimised: the bytes or the replicas that are moved."""
    lower_bound: int
    """Lower bound on `moved`."""
    gap: float
    """Relative optimality gap: (moved − lower_bound) / moved; 0 if optimal."""
    resources: list[GoalDocument] | None
    """What each goal over resources reached among the set's brokers; null if the request has none."""


class BalanceDocument(BaseModel):
    """The balance of brokers."""

    replicas: ReplicasBalance
    """Balance of replicas over brokers."""
    leaders: LeadersBalance
    """Balance of preferred leaders over brokers."""
    resources: list[GoalDocument] | None
    """What each goal over resources reached; null if the request has none."""
    sets: list[BrokerSetBalance] | None = None
    """With `broker_sets`: each set that has topics, by name; those outside every set come last."""
