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
    tool.SOURCE.name: tool.SOURCE
    for tool in (
        *(kcat, rpk, metadata_quorum, reassignment_list, strimzi, cruise_control, prometheus, zookeeper_topics),
        client_answers,
        msk_nodes,  # its racks are stand-ins
    )
}
