"""The smallest addition of clients that lets every stateful task have its copies apart in every listed tag.

A task is ideal if its `num_standby_replicas + 1` copies are on clients that pairwise differ in all listed tags, and all
have them (KIP-708). This is possible for the tasks of a client if the client belongs to a set of that many clients that
are pairwise apart.

Number of clients to add: let `m` be the size of the largest such set with the client, and `copies` the requested size.
Each added client enlarges the set by at most one, and a client with only new values is apart from all others, so that
`copies − m` are necessary and sufficient; for all clients, as many as for the client that needs the most. A tag with
fewer than `copies` values needs new ones; otherwise existing values are preferred, since a new zone costs more than a
client in an existing one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, count, product
from math import comb, prod
from typing import TypeAlias
from uuid import UUID

from app.core.streams.model import StreamsClient, StreamsOptions
from app.errors.requests import LimitExceeded

MOST_STEPS = 2_000_000
"""Limit of the search for clients that are apart."""
MOST_ADDITIONS = 20_000
"""Limit of additions that are tried for the fewest new values."""

Value: TypeAlias = str | int
"""A value of a tag; an integer numbers a new value, which no client has, from 0."""
Vector: TypeAlias = tuple[Value, ...]
"""A client's values of the listed tags."""


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client to add, by its value of each listed tag; equal integers are equal new values."""

    values: Mapping[str, Value] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Addition:
    """The clients that make the ideal possible for every stateful task.

    Parameters
    ----------
    clients : to add.
    new_values : by tag, the number of new values.
    fewest_new_values : whether no addition of as few clients needs fewer new values; False if there were more than
        `MOST_ADDITIONS` to try.
    apart : number of clients with tasks for which the ideal is possible without an addition.
    lacking : clients that lack a listed tag: their tasks are never ideal.
    """

    clients: tuple[NewClient, ...]
    new_values: Mapping[str, int] = field(hash=False)
    fewest_new_values: bool
    apart: int
    lacking: tuple[UUID, ...]


def smallest_addition(
    clients: Sequence[StreamsClient], options: StreamsOptions, *, running: Sequence[int] | None = None
) -> Addition:
    """The clients to add: as few as possible, and of those additions one with the fewest new values.

    Parameters
    ----------
    running : positions of the clients that run stateful tasks; None for all, as Kafka's assignor spreads them. Added
        clients run tasks too, and their tasks can be ideal as well.

    Raises
    ------
    LimitExceeded : if the search for clients that are apart takes more than `MOST_STEPS` steps.

    Examples
    --------
    >>> from uuid import UUID
    >>> from app.core.streams.model import StreamsClient, StreamsOptions
    >>> clients = [StreamsClient(UUID(int=number), client_tags={"zone": "a"}) for number in range(2)]
    >>> options = StreamsOptions(num_standby_replicas=1, rack_aware_assignment_tags=("zone",))
    >>> smallest_addition(clients, options).new_values
    {'zone': 1}
    """
    problem = _AdditionProblem.of(clients, options, running)
    return problem.answer(*_smallest(problem))


@dataclass(frozen=True, slots=True, eq=False)
class _AdditionProblem:
    """The requirement: `copies` clients that are apart, for each of the clients `runs`.

    Parameters
    ----------
    known : the distinct vectors of all clients that lack no tag.
    runs : the vectors of the clients that run tasks.
    most : by vector of these, the size of the largest set of clients that are apart.
    """

    tags: tuple[str, ...]
    copies: int
    additional: int
    known: Sequence[Vector]
    runs: Sequence[Vector]
    most: Mapping[Vector, int]
    lacking: tuple[UUID, ...]

    @classmethod
    def of(
        cls, clients: Sequence[StreamsClient], options: StreamsOptions, running: Sequence[int] | None
    ) -> "_AdditionProblem":
        tags = tuple(dict.fromkeys(options.rack_aware_assignment_tags))
        copies = max(options.num_standby_replicas, 0) + 1
        vectors = [_vector(client, tags) for client in clients]
        places = range(len(clients)) if running is None else running
        lacking = tuple(clients[place].process_id for place in places if vectors[place] is None)
        known = sorted({vector for vector in vectors if vector is not None}, key=str)
        runs = [vector for place in places if (vector := vectors[place]) is not None]
        if tags:
            most = {vector: _most_apart(vector, known, copies) for vector in sorted(set(runs), key=str)}
        else:
            most = {(): min(copies, len(clients))}
        # If no client runs tasks that could be ideal, added clients do, beside the largest set that is apart.
        fewest = min(most.values()) if most else _most_apart(None, known, copies)
        return cls(tags, copies, copies - fewest, known, runs, most, lacking)

    def lacking_values(self) -> list[int]:
        """The number of values that each tag lacks: it needs one for each copy."""
        return [max(self.copies - len({vector[at] for vector in self.known}), 0) for at in range(len(self.tags))]

    def suffices(self, added: Sequence[Vector]) -> bool:
        """Whether every client with tasks, an added one too, belongs to a set of `copies` clients that are apart."""
        starts = (*sorted(self.most, key=lambda vector: self.most[vector]), *added)
        vectors = list(dict.fromkeys((*self.known, *added)))
        return all(_most_apart(start, vectors, self.copies) >= self.copies for start in starts)

    def answer(self, added: Sequence[Vector], fewest_new_values: bool) -> Addition:
        """The addition of clients with these values."""
        return Addition(
            clients=tuple(NewClient(dict(zip(self.tags, values, strict=True))) for values in added),
            new_values={
                tag: len({values[at] for values in added if isinstance(values[at], int)})
                for at, tag in enumerate(self.tags)
            },
            fewest_new_values=fewest_new_values,
            apart=sum(self.most[vector] >= self.copies for vector in self.runs),
            lacking=self.lacking,
        )


def _vector(client: StreamsClient, tags: Sequence[str]) -> Vector | None:
    """A client's values of all tags, or None if it lacks one."""
    values = tuple(client.client_tags[tag] for tag in tags if tag in client.client_tags)
    return values if len(values) == len(tags) else None


def _smallest(problem: _AdditionProblem) -> tuple[Sequence[Vector], bool]:
    """The values of the added clients, and whether no fewer new values suffice."""
    # The client that needs the most requires all additions at once, so that no two share a new value.
    all_new = [(number,) * len(problem.tags) for number in range(problem.additional)]
    fewest = sum(problem.lacking_values())
    if fewest >= problem.additional * len(problem.tags):
        return all_new, True
    values: list[list[Value]] = [
        [_NEW, *sorted({str(vector[at]) for vector in problem.known})] for at in range(len(problem.tags))
    ]
    if comb(prod(map(len, values)) + problem.additional - 1, problem.additional) > MOST_ADDITIONS:
        return all_new, False
    candidates = [_numbered(added) for added in combinations_with_replacement(product(*values), problem.additional)]
    for added in sorted(candidates, key=_n_new):
        if _n_new(added) >= fewest and problem.suffices(added):
            return added, True
    return all_new, True


_NEW = 0


def _numbered(added: Sequence[Vector]) -> tuple[Vector, ...]:
    """The vectors with a distinct new value for each client."""
    return tuple(
        tuple(number if isinstance(value, int) else value for value in values) for number, values in enumerate(added)
    )


def _n_new(added: Sequence[Vector]) -> int:
    return sum(isinstance(value, int) for values in added for value in values)


def _are_apart(vector: Vector, other: Vector) -> bool:
    return all(value != other_value for value, other_value in zip(vector, other, strict=True))


def _most_apart(start: Vector | None, vectors: Sequence[Vector], copies: int) -> int:
    """The size of the largest set of vectors that are pairwise apart, up to `copies`, with the start if any."""
    steps = count()

    def grown(candidates: Sequence[Vector], limit: int) -> int:
        if next(steps) > MOST_STEPS:
            detail = f"{len(vectors)} kinds of clients: the most that are apart are not found in {MOST_STEPS} steps"
            raise LimitExceeded(detail, kinds=len(vectors), limit=MOST_STEPS)
        best = 0
        for at, vector in enumerate(candidates):
            possible = min(len(set(column)) for column in zip(*candidates[at:], strict=True))
            if best >= min(limit, possible):
                break
            apart = [other for other in candidates[at + 1 :] if _are_apart(vector, other)]
            best = max(best, 1 + (grown(apart, limit - 1) if limit > 1 else 0))
        return best

    if start is None:
        return grown(vectors, copies)
    return 1 + (grown([other for other in vectors if _are_apart(start, other)], copies - 1) if copies > 1 else 0)
