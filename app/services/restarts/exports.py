"""A restart as files: a table, the script of its waves, and a ConfigMap with the script and the names of pods."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

from app.core.model import Cluster
from app.formats.tables import topic_tables
from app.services.plans import Write
from app.services.plans.exports import filled
from app.store.records import NewPlan, PlanHead

_SCRIPT, _CONFIG_MAP = map(Path(__file__).with_name, ("restart.sh", "config_map.yaml"))

EXPORTS: Mapping[str, Write] = {
    "script": lambda plan, _: _script(plan.head).encode(),
    "kubernetes": lambda plan, _: _config_map(plan.head).encode(),
    "csv": lambda plan, cluster_of: _csv(plan.head, cluster_of()),
}
"""The formats of a restart. It moves no replica, so that it cannot be a reassignment."""


def _waves(head: PlanHead | NewPlan) -> Any:
    return head.answer["waves"]


def _pod(head: PlanHead | NewPlan, broker: int) -> str:
    """Letters, digits, dots and hyphens, as the request's schema has it."""
    return str(head.request["pod_name"]).replace("{broker}", str(broker))


def _script(head: PlanHead | NewPlan) -> str:
    waves = "\n".join(" ".join(map(str, wave["brokers"])) for wave in _waves(head))
    return filled(_SCRIPT, pod_name=head.request["pod_name"], waves=waves)


def _config_map(head: PlanHead | NewPlan) -> str:
    pods = "\n".join(" ".join(_pod(head, broker) for broker in wave["brokers"]) for wave in _waves(head))
    return filled(_CONFIG_MAP, hash=head.hash[:12], pods=indent(pods, "    ")) + indent(_script(head), "    ")


def _csv(head: PlanHead | NewPlan, cluster: Cluster | None) -> bytes:
    rack_of = {broker.id: broker.rack or "" for broker in (cluster.brokers if cluster else ())}
    rows = (
        topic_tables.csv_row(
            str(number), str(broker), rack_of.get(broker, ""), _pod(head, broker), str(wave["seconds"])
        )
        for number, wave in enumerate(_waves(head), 1)
        for broker in wave["brokers"]
    )
    return topic_tables.write_csv(("wave", "broker", "rack", "pod", "seconds"), rows)
