"""Where Kafka's sticky assignors fail on claims, as refusals that name the claim."""

from app.core.groups.sticky_builders.group import StickyGroup
from app.errors import AssignorLosesCount, KafkaError, KafkaRefuses, OwnedPartitionMissing


def lost_count(group: StickyGroup, kafka: KafkaError) -> KafkaRefuses:
    """What to raise: with the first owned partition that its topic does not have, where there is one."""
    partitions, claims = group.partitions, group.claims
    beyond = claims.partitions[claims.partitions >= partitions.known]
    if not len(beyond):
        return AssignorLosesCount(
            f"Kafka's sticky assignor fails with {kafka.exception}, since a member that owned partitions in an older "
            "generation takes no part any more",
            kafka=kafka,
        )
    topic = int(partitions.topic_of[beyond[0]])
    partition = int(partitions.id_of[beyond[0]])
    count = int(partitions.offsets[topic + 1] - partitions.offsets[topic])
    member = group.ids[int(claims.members[claims.partitions >= partitions.known][0])]
    name = partitions.topics[topic]
    return OwnedPartitionMissing(
        f"member {member} owns partition {partition} of topic {name}, which has {count}; Kafka's sticky assignor fails "
        f"with {kafka.exception}",
        kafka=kafka,
        member=member,
        topic=name,
        partition=partition,
        partitions=count,
    )
