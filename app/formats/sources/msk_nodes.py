"""What `aws kafka list-nodes` of Amazon MSK prints: JSON, or YAML with `--output yaml`.

    {"NodeInfoList": [{"NodeType": "BROKER", "InstanceType": "m5.large", "BrokerNodeInfo": {"BrokerId": 1.0,
    "ClientSubnet": "subnet-0a1b", "Endpoints": ["b-1.prod.kafka.eu-west-1.amazonaws.com"],
    "CurrentBrokerSoftwareInfo": {"KafkaVersion": "3.6.0"}}}]}

MSK sets `broker.rack` to the id of an availability zone (`euw1-az1`), which is not in this answer. The client subnets
of a cluster are in different zones, one each, so that brokers of one subnet are those of one rack: a broker that no
other text gives a rack has the subnet's id for it. A node of a controller, and `.kraft` in a version, tell KRaft; a
node of ZooKeeper tells ZooKeeper.

Source: the API reference of Amazon MSK, `NodeInfo`.
"""

import re

from app.core.kafka_versions import Controller
from app.core.model import INT32_MAX, Broker
from app.formats.sources import deciders
from app.formats.sources.contents import Contents, Note, Source, noted
from app.formats.syntax.loose_objects import LooseObject
from app.formats.syntax.yaml_documents import ROW, each_document

_NODES = "NodeInfoList"
SUBNET = "subnet-"
_NOTE = noted("msk nodes")


def read(text: str) -> Contents:
    """The brokers, from one or several pages of the answer.

    Raises
    ------
    MalformedText
        The text is neither JSON nor YAML, or a broker lacks its id or has one that is not valid.
    """
    brokers: dict[int, Broker] = {}
    versions: set[str] = set()
    controller: Controller | None = None
    is_express = False
    notes: tuple[Note, ...] = ()
    for document in each_document(text, "the nodes of MSK"):
        for node in LooseObject.of(document, document.root, ()).each(_NODES.lower()):
            if node.get("controllernodeinfo")[1]:
                controller = "kraft"
            elif node.get("zookeepernodeinfo")[1]:
                controller = controller or "zookeeper"
            elif node.get("brokernodeinfo")[1]:
                info = node.child("brokernodeinfo")
                broker = Broker(_broker_id(info), info.text("clientsubnet"))
                brokers[broker.id] = broker
                is_express |= str(node.text("instancetype")).startswith("express.")
                if info.get("currentbrokersoftwareinfo")[1]:
                    versions.add(info.child("currentbrokersoftwareinfo").text("kafkaversion") or "")
            else:
                notes = (Note("resources_not_read", "a node of MSK is neither a broker nor a controller"),)
    if any(version.endswith(".kraft") for version in versions):
        controller = "kraft"
    notes += (_NOTE,) * any(broker.rack is not None for broker in brokers.values()) + (deciders.EXPRESS,) * is_express
    version = max(versions, default="").removesuffix(".kraft").removesuffix(".tiered").removesuffix(".x")
    return Contents(tuple(brokers.values()), controller=controller, kafka_version=version or None, notes=notes)


def _broker_id(info: LooseObject) -> int:
    broker_id = info.number("brokerid")
    if broker_id > INT32_MAX or not broker_id.is_integer():
        expected = f"a whole number from 0 to {INT32_MAX}"
        raise info.document.reject(info.get("brokerid")[0], expected=expected, actual=str(broker_id))
    return int(broker_id)


SOURCE = Source(
    "aws kafka list-nodes",
    read,
    re.compile(rf"{_NODES}:\s*$"),
    ROW,
    lambda document: isinstance(document, dict) and _NODES in document,
)
