"""A Streams plan as a file: the clients of each task."""

from collections.abc import Mapping
from typing import Any

from app.formats.tables import task_tables
from app.formats.tables.task_tables import TaskRow
from app.services.plans import MARKDOWN_ROWS, Plan, Write
from app.store.records import NewPlan

EXPORTS: Mapping[str, Write] = {
    "csv": lambda plan, _: task_tables.write_csv(_rows(plan)),
    "markdown": lambda plan, _: task_tables.write_markdown(_rows(plan), limit=MARKDOWN_ROWS).encode(),
}
"""The formats of a Streams plan. It has no replicas, so that it cannot be a reassignment."""


def _rows(plan: Plan | NewPlan) -> list[TaskRow]:
    answer: Any = plan.head.answer
    return [TaskRow(task["task"], task["active"], task["standby"], task["warmup"]) for task in answer["tasks"]]
