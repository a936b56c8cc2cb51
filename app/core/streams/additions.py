"""The smallest addition of clients that lets every stateful task have its copies apart in every listed tag.

A task is ideal where its `num_standby_replicas + 1` copies are on clients that pairwise differ in all listed tags, and
all have them (KIP-708). It is possible for the tasks of a client if the client is one of so many that are apart.

How many are to be added: let `m` be the most clients apart among which the client is, `asked` the copies. Each client
that is added makes the set larger by one at most, and one whose values are all new is apart from everybody, so that
`asked − m` are needed and suffice; for all clients, as many as for the one that needs the most. Where a tag has fewer
than `asked` values, some must be new; and existing ones are better where they do, since a new zone is dearer than a
client in one that is there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, count, product
from math import comb, prod
from typing import TypeAlias
from uuid import UUID

from app.core.streams.model import StreamsClient, StreamsOptions
from app.errors import LimitExceeded

MOST_STEPS = 2_000_000
"""Of the search for clients that are apart."""
MOST_ADDITIONS = 20_000
"""Different additions that are tried for the fewest new values."""

Value: TypeAlias = str | int
"""A value of a tag; an integer is one that no client has yet, and numbers those of a tag from 0."""
Vector: TypeAlias = tuple[Value, ...]
"""A client's values of the listed tags."""


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client to be added, by its value of each listed tag. Where two have the same new value, it is the same."""

    values: Mapping[str, Value] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Addition:
    """What makes the ideal possible for every stateful task.

    Parameters
    ----------
    clients : to be added.
    new_values : by tag, how many values that no client has yet; fewest_new_values : whether no addition of so few
        clients needs fewer in all; False where there were too many to try.
    apart : how many clients that run tasks are one of so many as asked without any addition.
    lacking : clients that lack a listed tag: what runs there is never ideal, whatever is added.
    """

    clients: tuple[NewClient, ...]
    new_values: Mapping[str, int] = field(hash=False)
    fewest_new_values: bool
    apart: int
    lacking: tuple[UUID, ...]


def smallest_addition(
    clients: Sequence[StreamsClient], options: StreamsOptions, *, running: Sequence[int] | None = None
) -> Addition:
    """Say which clients to add: as few as can be, and of those additions one of the fewest new values.

    Parameters
    ----------
    running : places of the clients that run stateful tasks; None: all, as Kafka's assignor spreads them. What is added
        runs tasks too, and its tasks can be ideal as well.

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
    asked = _Asked.of(clients, options, running)
    return asked.answer(*_smallest(asked))


def addition_of_fewest_values(
    clients: Sequence[StreamsClient], options: StreamsOptions, *, running: Sequence[int] | None = None
) -> Addition:
    """Say which clients to add: with no more new values than a tag lacks, and of those additions a smallest.

    It may need more clients than `smallest_addition`, such as two in a third cluster and in zones that are there, where
    a single one would need a zone of its own.

    Parameters
    ----------
    running : as above.

    Raises
    ------
    LimitExceeded : as above, or there are too many additions to try.
    """
    asked = _Asked.of(clients, options, running)
    values: list[list[Value]] = [
        [*range(lacking), *sorted({str(vector[at]) for vector in asked.known})]
        for at, lacking in enumerate(asked.lacking_values())
    ]
    tried = 0
    for additional in count(asked.additional):
        tried += comb(prod(map(len, values)) + additional - 1, additional) if additional else 1
        if tried > MOST_ADDITIONS:
            detail = f"additions of {additional} clients are more than can be tried: {tried} with smaller ones"
            raise LimitExceeded(detail, additions=tried, limit=MOST_ADDITIONS)
        if not asked.tags:
            return asked.answer([()] * additional, True)
        for added in combinations_with_replacement(product(*values), additional):
            if asked.suffices(added):
                return asked.answer(added, True)
    raise AssertionError  # `count` does not end


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What is asked: `copies` that are apart for each of the clients `runs`.

    known : the different vectors of all clients that lack no tag. most : of those that run tasks, how many are apart.
    """

    tags: tuple[str, ...]
    copies: int
    additional: int
    known: Sequence[Vector]
    runs: Sequence[Vector]
    most: Mapping[Vector, int]
    lacking: tuple[UUID, ...]

    @classmethod
    def of(cls, clients: Sequence[StreamsClient], options: StreamsOptions, running: Sequence[int] | None) -> "_Asked":
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
        # Where no client runs tasks that could be ideal, those that are added do, beside the most that are apart.
        fewest = min(most.values()) if most else _most_apart(None, known, copies)
        return cls(tags, copies, copies - fewest, known, runs, most, lacking)

    def lacking_values(self) -> list[int]:
        """How many values each tag lacks: it needs as many as there are copies."""
        return [max(self.copies - len({vector[at] for vector in self.known}), 0) for at in range(len(self.tags))]

    def suffices(self, added: Sequence[Vector]) -> bool:
        """Whether every client that runs tasks, an added one too, is one of so many as asked that are apart."""
        starts = (*sorted(self.most, key=lambda vector: self.most[vector]), *added)
        every = list(dict.fromkeys((*self.known, *added)))
        return all(_most_apart(start, every, self.copies) >= self.copies for start in starts)

    def answer(self, added: Sequence[Vector], fewest_new_values: bool) -> Addition:
        """The addition of so many clients of such values."""
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
    """A client's values of all tags, or None where it lacks one."""
    values = tuple(client.client_tags[tag] for tag in tags if tag in client.client_tags)
    return values if len(values) == len(tags) else None


def _smallest(asked: _Asked) -> tuple[Sequence[Vector], bool]:
    """The values of the clients with the fewest new ones among them, and whether fewer are known not to do."""
    # All that are added are needed at once for the client in the most need, so that no two share a new value.
    all_new = [(number,) * len(asked.tags) for number in range(asked.additional)]
    fewest = sum(asked.lacking_values())
    if fewest >= asked.additional * len(asked.tags):
        return all_new, True
    values: list[list[Value]] = [
        [_NEW, *sorted({str(vector[at]) for vector in asked.known})] for at in range(len(asked.tags))
    ]
    if comb(prod(map(len, values)) + asked.additional - 1, asked.additional) > MOST_ADDITIONS:
        return all_new, False
    every = [_numbered(added) for added in combinations_with_replacement(product(*values), asked.additional)]
    for added in sorted(every, key=_n_new):
        if _n_new(added) >= fewest and asked.suffices(added):
            return added, True
    return all_new, True


_NEW = 0


def _numbered(added: Sequence[Vector]) -> tuple[Vector, ...]:
    """The same with another new value for each client."""
    return tuple(
        tuple(number if isinstance(value, int) else value for value in values) for number, values in enumerate(added)
    )


def _n_new(added: Sequence[Vector]) -> int:
    return sum(isinstance(value, int) for values in added for value in values)


def _are_apart(one: Vector, other: Vector) -> bool:
    return all(own != its for own, its in zip(one, other, strict=True))


def _most_apart(start: Vector | None, vectors: Sequence[Vector], asked: int) -> int:
    """How many vectors, up to as many as asked, are pairwise apart, the start among them where there is one."""
    steps = count()

    def grown(rest: Sequence[Vector], wanted: int) -> int:
        if next(steps) > MOST_STEPS:
            detail = f"{len(vectors)} kinds of clients: the most that are apart are not found in {MOST_STEPS} steps"
            raise LimitExceeded(detail, kinds=len(vectors), limit=MOST_STEPS)
        best = 0
        for at, vector in enumerate(rest):
            possible = min(len(set(column)) for column in zip(*rest[at:], strict=True))
            if best >= min(wanted, possible):
                break
            apart = [other for other in rest[at + 1 :] if _are_apart(vector, other)]
            best = max(best, 1 + (grown(apart, wanted - 1) if wanted > 1 else 0))
        return best

    if start is None:
        return grown(vectors, asked)
    return 1 + (grown([other for other in vectors if _are_apart(start, other)], asked - 1) if asked > 1 else 0)
