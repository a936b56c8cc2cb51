"""The rules of an aware placement: the policy, the attributes in their order, and forced values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.core.model import Broker
from app.errors import FieldPath
from app.errors.requests import AttributeMissing, ConflictingFields, DuplicateAttribute, ForcedAttributeNotListed


class Policy(StrEnum):
    """The policy of a placement."""

    SPREAD = "spread"
    FORCED = "forced"
    HDFS = "hdfs"
    REDIS = "redis"
    KAFKA = "kafka"


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy and its attributes.

    Parameters
    ----------
    attributes : distinct names, at least one, the most important first.
    forced : for `Policy.FORCED` alone: by attribute, the values that are expected, with live brokers or not.
    """

    policy: Policy = Policy.SPREAD
    attributes: tuple[str, ...] = ("rack",)
    forced: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def check(self) -> None:
        """Validate the rules by themselves.

        Raises
        ------
        DuplicateAttribute : an attribute, or one of its forced values, is listed twice.
        ForcedAttributeNotListed : values are forced of an attribute that is not listed.
        ConflictingFields : there is no attribute; or values are forced with another policy, or none with `forced`.
        """
        if not self.attributes:
            raise ConflictingFields("a policy needs an attribute or more; 0 given", path=("attributes",), value=0)
        _reject_repeated("attribute", self.attributes, ("attributes",))
        if bool(self.forced) != (self.policy is Policy.FORCED):
            requirement = "needs" if self.policy is Policy.FORCED else "has no"
            raise ConflictingFields(
                f"the policy {self.policy.value} {requirement} forced values; {len(self.forced)} attributes have some",
                path=("forced",),
                value=len(self.forced),
                policy=self.policy.value,
            )
        for name, values in self.forced.items():
            if name not in self.attributes:
                raise ForcedAttributeNotListed(
                    f"values of {name} are forced; the attributes are {', '.join(self.attributes)}",
                    path=("forced", name),
                    value=name,
                    attributes=list(self.attributes),
                )
            _reject_repeated(f"forced value of {name}", values, ("forced", name))

    def require_attributes(self, brokers: Sequence[Broker]) -> None:
        """Raise `AttributeMissing`, which names the brokers, if some lack an attribute."""
        for index, name in enumerate(self.attributes):
            without = [broker.id for broker in brokers if broker.value(name) is None]
            if without:
                named = ", ".join(map(str, without[:20])) + (f" and {len(without) - 20} more" if without[20:] else "")
                raise AttributeMissing(
                    f"{len(without)} of {len(brokers)} brokers have no attribute {name}: {named}; all need one",
                    path=("attributes", index),
                    value=name,
                    brokers=without,
                )


def _reject_repeated(item: str, names: Sequence[str], path: FieldPath) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise DuplicateAttribute(f"the {item} {name} is listed twice", path=(*path, index), value=name)
