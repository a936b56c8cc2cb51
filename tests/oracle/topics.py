"""The law of the balance of single topics, without racks: the exact least excess, then the least movement."""

from math import ceil, floor
from typing import Any

from tests.oracle.bounds import cost_of
from tests.oracle.exact import Exact
from tests.oracle.examined import Examined
from tests.oracle.model import Model, Partition

_ALONE = {"balance", "rack_mode", "batches", "minimise"}


def topic_bands(examined: Examined, model: Model) -> None:
    """Replicas outside the bands of the named topics are the fewest possible, and the movement is then the least."""
    request = examined.instance.request
    balance = request.get("balance", {})
    per_topic = balance.get("per_topic", {})
    is_alone = request.keys() <= _ALONE and balance.keys() == {"per_topic"} and "leaders" not in per_topic
    if not is_alone or request.get("rack_mode") != "disabled" or model.brokers.down:
        return
    exact = Exact(model)
    excess: Any = 0
    for topic in per_topic.get("topics") or sorted({row.key[0] for row in model.partitions}):
        excess += _excess(exact, model, topic, per_topic["replicas"])
    document, least_excess = examined.answer.document, exact.minimised(excess)
    written, proof = document["balance"]["replicas"]["per_topic"]["excess"], document["certificate"]
    detail = f"excess {written}, exact {least_excess}"
    examined.hold("the excess of topics is the exact least", written == least_excess, detail)
    name = proof["minimised"]
    least = exact.minimised(exact.moved(cost_of(name)))
    detail = f"moved {proof[f'moved_{name}']}, exact {least}"
    examined.hold("moved is the exact least", proof[f"moved_{name}"] == least, detail)


def _excess(exact: Exact, model: Model, topic: str, evenness: Any) -> Any:
    """The replicas of a topic that are outside the band around its mean: the two whole numbers, or a tolerance."""
    total = sum(row.factor for row in model.partitions if row.key[0] == topic)
    mean = total / len(model.brokers.staying)
    tolerance = 0 if evenness == "tight" else evenness["tolerance"]
    low = min(floor(mean), ceil(mean * (1 - tolerance) - 1e-9))
    high = max(ceil(mean), floor(mean * (1 + tolerance) + 1e-9))

    def is_of_topic(row: Partition) -> int:
        return int(row.key[0] == topic)

    excess: Any = 0
    for broker in sorted(model.brokers.staying):
        count = exact.load(broker, is_of_topic, lambda _: 0)
        above, below = exact.bounded(0, total), exact.bounded(0, total)
        exact.require(above >= count - high)
        exact.require(below >= low - count)
        excess += above + below
    return excess
