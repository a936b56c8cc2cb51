"""The tools other than Kafka's own whose output describes a cluster, each recognized by its contents.

A source is a file with a `SOURCE` and an entry here; pasted.py hands it its lines and assembly.py joins what it reads.
"""

from app.formats.sources import (
    client_answers,
    cruise_control,
    kcat,
    metadata_quorum,
    msk_nodes,
    prometheus,
    reassignment_list,
    rpk,
    strimzi,
    zookeeper_topics,
)
from app.formats.sources.contents import Source

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        kcat.SOURCE,
        rpk.SOURCE,
        metadata_quorum.SOURCE,
        reassignment_list.SOURCE,
        strimzi.SOURCE,
        cruise_control.SOURCE,
        prometheus.SOURCE,
        zookeeper_topics.SOURCE,
        client_answers.SOURCE,
        # Its racks are stand-ins, so it comes after the others.
        msk_nodes.SOURCE,
    )
}
