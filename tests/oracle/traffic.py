"""The law of reads: bytes/s that brokers receive and send, and those between racks, computed for each partition."""

from collections import defaultdict

from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.examined import Examined
from tests.oracle.model import Model

_ALONE = {"consumers", "follower_fetching", "growth", "balance", "rack_mode"}
_ROUNDED = 1.0
"""Bytes/s of a figure; what the consumers of a rack read of a partition is rounded as well."""


def traffic(examined: Examined, model: Model, after: Replicas) -> None:
    """Loads and bytes between racks are those of the documentation, if every rack, rate and broker is known.

    Several replicas of a rack may serve its consumers, so that sent bytes are compared by rack.
    """
    request, snapshot = examined.instance.request, examined.instance.snapshot
    rack_of = model.brokers.rack_of
    has_rates = all("ingress_bytes_per_s" in row for topic in snapshot["topics"] for row in topic["partitions"])
    if "consumers" not in request or not request.keys() <= _ALONE or not has_rates:
        return
    if model.brokers.down or None in rack_of.values() or not rack_of or not model.has_known_sizes:
        return
    received: defaultdict[int, float] = defaultdict(float)
    sent: defaultdict[str | None, float] = defaultdict(float)
    crossing: defaultdict[str, float] = defaultdict(float)
    racks = sorted({rack for rack in rack_of.values() if rack is not None})
    for row in model.partitions:
        rate = row.rate * _of_topic(request.get("growth", {}), row.key[0], 1)
        reads = rate * _of_topic(request["consumers"], row.key[0], 0) / len(racks)
        leader, *followers = after[row.key]
        for broker in after[row.key]:
            received[broker] += rate
        sent[rack_of[leader]] += rate * len(followers)
        crossing["producers"] += rate * (len(racks) - 1) / len(racks)
        crossing["replication"] += rate * sum(rack_of[broker] != rack_of[leader] for broker in followers)
        near = {rack_of[broker] for broker in followers} if request.get("follower_fetching") else set()
        for rack in racks:
            sent[rack if rack in near else rack_of[leader]] += reads
            crossing["consumers"] += reads * (rack not in {*near, rack_of[leader]})
    document = examined.answer.document
    loads = {int(broker): load for broker, load in document["loads"].items()}
    in_racks: defaultdict[str | None, float] = defaultdict(float)
    for broker, load in loads.items():
        in_racks[rack_of[broker]] += load["nic_out"]["after"]
        detail = f"broker {broker} receives {load['nic_in']}, {received[broker]} by the model"
        is_right = abs(load["nic_in"]["after"] - received[broker]) <= _ROUNDED
        examined.hold("received bytes are right", is_right, detail)
    is_right = all(abs(in_racks[rack] - sent[rack]) <= _ROUNDED * len(model.partitions) for rack in racks)
    examined.hold("sent bytes are right", is_right, f"{in_racks}, {sent} by the model")
    if len(racks) < 2:
        return
    parts = {name: document["cross_rack"][name]["after_bytes_per_s"] for name in crossing}
    is_right = all(abs(parts[name] - crossing[name]) <= _ROUNDED for name in parts)
    examined.hold("bytes between racks are right", is_right, f"{parts}, {crossing} by the model")


def _of_topic(stated: Document, topic: str, usual: float) -> float:
    return float(stated[topic] if topic in stated else stated.get("*", usual))
