"""Tasks by their names, `<subtopology>_<partition>`."""

import re
from collections.abc import Sequence

from app.core.jvm.hashes import TaskId
from app.core.model import INT32_MAX
from app.errors import FieldPath
from app.errors.requests import ConflictingFields, ImpossibleValue
from app.services.snapshots import first_repeated

_TASK = re.compile(r"([0-9]{1,10})_([0-9]{1,10})")


def task_of(text: str, path: FieldPath) -> TaskId:
    """A task by its name. Raises `ImpossibleValue`."""
    match = _TASK.fullmatch(text)
    numbers = (-1, -1) if match is None else (int(match[1]), int(match[2]))
    if match is None or max(numbers) > INT32_MAX:
        shown = text if len(text) <= 80 else text[:80] + "…"
        detail = f"a task id is <subtopology>_<partition>, such as 0_3, with numbers up to {INT32_MAX}; {shown!r} given"
        raise ImpossibleValue(detail, path=path, value=shown)
    return numbers


def read_tasks(names: Sequence[str], *path: str | int) -> list[TaskId]:
    """Tasks by their names. Raises `ImpossibleValue`, and `ConflictingFields` if one is listed twice."""
    tasks = [task_of(name, (*path, place)) for place, name in enumerate(names)]
    if (twice := first_repeated(tasks)) is not None:
        detail = f"task {names[twice]} is listed twice"
        raise ConflictingFields(detail, path=(*path, twice), value=names[twice])
    return tasks
