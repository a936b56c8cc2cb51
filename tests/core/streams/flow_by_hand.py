"""KIP-925's flow as a plain reading of the proposal: every sweep over every arc, nothing left out."""

from collections import deque
from collections.abc import Sequence
from math import ceil

SOURCE = -1


class Flow:
    """Nodes by number; arcs of a node by where they lead. `room` is each direction's residual capacity."""

    def __init__(self) -> None:
        self.room: dict[tuple[int, int], int] = {}
        self.cost: dict[tuple[int, int], int] = {}

    def add(self, start: int, end: int, capacity: int, cost: int, flow: int) -> None:
        """An arc and the way back."""
        self.room[start, end], self.cost[start, end] = capacity - flow, cost
        self.room[end, start], self.cost[end, start] = flow, -cost

    def push(self, ways: Sequence[tuple[int, int]]) -> None:
        """As much as goes along all of some arcs."""
        flow = min(self.room[way] for way in ways)
        for start, end in ways:
            self.room[start, end] -= flow
            self.room[end, start] += flow

    def fill(self, sink: int) -> None:
        """Shortest ways from the source until none is left."""
        while True:
            parent: dict[int, int] = {SOURCE: SOURCE}
            queue = deque([SOURCE])
            while queue and sink not in parent:
                node = queue.popleft()
                for start, end in sorted(self.room):
                    if start == node and end not in parent and self.room[start, end]:
                        parent[end] = node
                        queue.append(end)
                        if end == sink:
                            break
            if sink not in parent:
                return
            ways, at = [], sink
            while at != SOURCE:
                ways.append((parent[at], at))
                at = parent[at]
            self.push(ways)

    def cancel_cycles(self) -> None:
        """One negative cycle after the other."""
        while (parent := self._parents_of_cycle()) is not None:
            at, seen = parent.pop(None), set[int]()
            while at not in seen:
                seen.add(at)
                at = parent[at]
            ways, end = [(parent[at], at)], parent[at]
            while end != at:
                ways.append((parent[end], end))
                end = parent[end]
            self.push(ways)

    def _parents_of_cycle(self) -> dict[int | None, int] | None:
        """Bellman-Ford from a node beside all others; under None, the end of the arc that shortens a way at last."""
        nodes = sorted({node for way in self.room for node in way})
        distance = dict.fromkeys(nodes, 0)
        parent: dict[int | None, int] = {}
        ways = sorted(self.room)
        for sweep in range(len(nodes) + 1):
            for start, end in ways:
                if self.room[start, end] and distance[end] > distance[start] + self.cost[start, end]:
                    distance[end] = distance[start] + self.cost[start, end]
                    parent[end] = start
                    if sweep == len(nodes):
                        parent[None] = end
                        return parent
        return None


def min_traffic(cost: Sequence[Sequence[int]], owners: Sequence[int]) -> list[int]:
    """The client of each task."""
    tasks, clients = len(cost), len(cost[0])
    flow = Flow()
    for task in range(tasks):
        for client in range(clients):
            flow.add(task, tasks + client, 1, cost[task][client], int(owners[task] == client))
        flow.add(SOURCE, task, 1, 0, 1)
    for client in range(clients):
        count = list(owners).count(client)
        flow.add(tasks + client, tasks + clients, count, 0, count)
    flow.cancel_cycles()
    return [next(c for c in range(clients) if not flow.room[task, tasks + c]) for task in range(tasks)]


def balance_subtopology(cost: Sequence[Sequence[int]], owners: Sequence[int], group: Sequence[int]) -> list[int]:
    """The client of each task, where groups are numbered from 0 and tasks sorted by them."""
    tasks, clients, groups = len(cost), len(cost[0]), max(group) + 1
    counts = [list(owners).count(client) for client in range(clients)]
    stage = tasks + clients * groups
    flow = Flow()
    for task in range(tasks):
        for client in range(clients):
            flow.add(task, tasks + clients * group[task] + client, 1, cost[task][client], 0)
        flow.add(SOURCE, task, 1, 0, 0)
    for client in range(clients):
        for number in range(groups):
            share = ceil(counts[client] * 1.0 / tasks * list(group).count(number))
            flow.add(tasks + clients * number + client, stage + client, share, 0, 0)
        flow.add(stage + client, stage + clients, counts[client], 0, 0)
    flow.fill(stage + clients)
    flow.cancel_cycles()
    return [
        next(c for c in range(clients) if not flow.room[task, tasks + clients * group[task] + c])
        for task in range(tasks)
    ]
