"""A Streams plan in a few words."""

from typing import Any

from app.formats.syntax.quantities import counted
from app.store.records import NewPlan


def title(plan: NewPlan) -> str:
    """`Assign 12 tasks to 3 clients under high_availability`."""
    answer: Any = plan.answer
    tasks, clients = counted(len(answer["tasks"]), "task"), counted(len(answer["loads"]["per_client"]), "client")
    return f"Assign {tasks} to {clients} under {answer['assignor']}"


def summary(plan: NewPlan) -> str:
    """`4 active tasks move; 12 of 12 stateful tasks ideal`."""
    answer: Any = plan.answer
    moved = answer["movement"]["active_moved"]
    judged = [task["ideal"] for task in answer["tasks"] if task["ideal"] is not None]
    ideal = [f"{sum(judged):,} of {counted(len(judged), 'stateful task')} ideal"] if judged else []
    return "; ".join([f"{counted(moved, 'active task')} {'moves' if moved == 1 else 'move'}", *ideal])
