"""What tells plans with the same title apart."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from app.store.database import UnitOfWork
from app.store.records import ListedPlan

_LONGEST = 100


def twins(uow: UnitOfWork, listed: Sequence[ListedPlan]) -> Mapping[UUID, str]:
    """Of each plan whose title another plan of the list has, the fields of its request that differ, in words."""
    alike: dict[tuple[str, str | None], list[UUID]] = defaultdict(list)
    for plan in listed:
        alike[plan.title, plan.cluster].append(plan.id)
    told_apart: dict[UUID, str] = {}
    for ids in alike.values():
        if len(ids) > 1:
            fields = [dict(_fields("", uow.plans.get(plan_id).request)) for plan_id in ids]
            told_apart |= zip(ids, distinctions(fields), strict=True)
    return told_apart


def distinctions(requests: Sequence[Mapping[str, str]]) -> list[str]:
    """For each request, as fields with their values, those that not all requests have alike."""
    paths = dict.fromkeys(path for fields in requests for path in fields)
    differing = [path for path in paths if len({fields.get(path) for fields in requests}) > 1]
    texts = [
        ", ".join(f"{path.rpartition('.')[2].replace('_', ' ')} {fields[path]}" for path in differing if path in fields)
        for fields in requests
    ]
    return [text[:_LONGEST] or "without further options" for text in texts]


def _fields(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _fields(f"{path}.{name}" if path else str(name), each)
    elif value is not None:
        yield path, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
