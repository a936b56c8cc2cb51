"""A restart as files: a table, the script of its waves, and a ConfigMap with the script and the names of pods."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

from app.core.model import Cluster
from app.formats.tables import topic_tables
from app.services.plans import Write
from app.store.records import NewPlan, PlanHead

_SCRIPT = Path(__file__).with_name("restart.sh")

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
    lines = (" ".join(map(str, wave["brokers"])) for wave in _waves(head))
    text = _SCRIPT.read_text("utf-8").replace("@POD_NAME@", str(head.request["pod_name"]))
    return text.replace("@WAVES@", "\n".join(lines))


def _config_map(head: PlanHead | NewPlan) -> str:
    pods = "".join(" ".join(_pod(head, broker) for broker in wave["brokers"]) + "\n" for wave in _waves(head))
    return (
        "# waves.txt has the pods of a wave in each line. restart.sh restarts them, in a container with Kafka's tools\n"
        "# and kubectl: bash restart.sh 'kubectl delete pod \"$POD\"'\n"
        "apiVersion: v1\nkind: ConfigMap\n"
        f"metadata:\n  name: rackplan-restart-{head.hash[:12]}\n"
        f"data:\n  waves.txt: |\n{indent(pods, '    ')}  restart.sh: |\n{indent(_script(head), '    ')}"
    )


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
