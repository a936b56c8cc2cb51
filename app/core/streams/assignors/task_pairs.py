"""Which tasks have been on a client together while the sticky assignor hands them out."""

from app.core.jvm.hashes import int32
from app.errors import KafkaError, TooManyTasks


class TaskPairs:
    """Unordered pairs of tasks.

    Parameters
    ----------
    tasks : how many there are; when all of their pairs are known, none counts as new.

    Raises
    ------
    TooManyTasks : where their pairs overflow 32 bits to below zero.
    """

    def __init__(self, tasks: int) -> None:
        doubled = int32(tasks * (tasks - 1))
        self._most = -(-doubled // 2) if doubled < 0 else doubled // 2
        if self._most < 0:
            raise TooManyTasks(
                f"{tasks} tasks make more pairs than fit 32 bits", kafka=KafkaError("IllegalArgumentException")
            )
        self._known: dict[int, set[int]] = {}
        self._size = 0

    def add(self, task: int, others: set[int]) -> None:
        """A task joins others."""
        known = self._known.setdefault(task, set())
        new = others - known
        known |= new
        for other in new:
            if other != task:
                self._known.setdefault(other, set()).add(task)
        self._size += len(new)

    def has_new(self, task: int, others: set[int]) -> bool:
        """Whether a task has not been together with all of some others; never, when all pairs are known."""
        if self._size == self._most:
            return False
        return not others <= self._known.get(task, set())
