"""Objects of JSON whose keys count without case, `_` and `-`: clients write `nodeId`, `node_id` and `NodeID` alike."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.core.model import INT64_MAX
from app.errors import FieldPath
from app.formats.syntax.documents import Document


@lru_cache(maxsize=256)
def _normal(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


@dataclass(frozen=True, slots=True)
class LooseObject:
    """An object of a document with its place.

    Parameters
    ----------
    keys : its keys by their names in lower case, without `_` and `-`. Methods take several names of a field, in any
        spelling; the first that is there counts, and a rejection of a missing field has the last as it is spelled.
    """

    document: Document
    path: FieldPath
    members: Mapping[str, object]
    keys: Mapping[str, str]

    @classmethod
    def of(cls, document: Document, value: object, path: FieldPath) -> "LooseObject":
        """The object at a path. Raises `MalformedText` if the value is no object."""
        members = document.mapping(value, path)
        return cls(document, path, members, {_normal(key): key for key in members})

    def get(self, *names: str) -> tuple[FieldPath, object]:
        """The path and the value of a field; the value is None if it is missing."""
        for name in map(_normal, names):
            if name in self.keys:
                key = self.keys[name]
                return (*self.path, key), self.members[key]
        return (*self.path, names[-1]), None

    def has(self, *names: str) -> bool:
        """Whether the field is there."""
        return not self.keys.keys().isdisjoint(map(_normal, names))

    def has_all(self, *names: str) -> bool:
        """Whether all of these fields are there."""
        return all(_normal(name) in self.keys for name in names)

    def integer(self, *names: str) -> int:
        """The whole number of a field, from 0."""
        path, value = self.get(*names)
        return self.document.integer(value, path)

    def number(self, *names: str) -> float:
        """The finite number of a field, from 0."""
        path, value = self.get(*names)
        return self.document.number(value, path)

    def text(self, *names: str) -> str | None:
        """The text of a field; None if it is missing, null or empty."""
        path, value = self.get(*names)
        return None if value is None else self.document.string(value, path) or None

    def topic(self, *names: str) -> str | None:
        """The name of a topic; None if it is missing or null."""
        path, value = self.get(*names)
        return None if value is None else self.document.topic_name(value, path)

    def numbers(self, *names: str) -> tuple[int, ...]:
        """The whole numbers of a list, from 0; none if it is missing or null."""
        path, values = self.get(*names)
        listed = self.document.array([] if values is None else values, path)
        return tuple([self.document.integer(value, (*path, i)) for i, value in enumerate(listed)])

    def required_topic(self, *names: str) -> str:
        """The name of a topic, which has to be there."""
        path, value = self.get(*names)
        return self.document.topic_name(value, path)

    def child(self, *names: str) -> "LooseObject":
        """The object of a field, which has to be there."""
        path, value = self.get(*names)
        return LooseObject.of(self.document, value, path)

    def each(self, *names: str) -> Iterator["LooseObject"]:
        """The objects of a list; none if it is missing or null."""
        path, values = self.get(*names)
        for i, value in enumerate(self.document.array([] if values is None else values, path)):
            yield LooseObject.of(self.document, value, (*path, i))

    def required_each(self, *names: str) -> list["LooseObject"]:
        """The objects of a list, which has to be there."""
        path, values = self.get(*names)
        self.document.array(values, path)
        return list(self.each(*names))

    def amount(self, *names: str) -> int | None:
        """A whole number of 64 bits; None if it is missing, or −1, which stands for none."""
        path, value = self.get(*names)
        amount = -1 if value is None else self.document.integer(value, path, least=-1, most=INT64_MAX)
        return None if amount < 0 else amount
