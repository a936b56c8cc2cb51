"""Broker sets: `brokerSets.json` of Cruise Control, or an object of ids by name.

    {"brokerSets": [{"brokerSetId": "blue", "brokerIds": [0, 1], "doc": "…"}]}
    {"blue": [0, 1]}

Topics are in neither: Cruise Control maps them by a policy (`replica.to.broker.set.mapping.policy.class`).

Source: `BrokerSetFileResolver` of Cruise Control.
"""

from collections.abc import Mapping

from app.formats.syntax.documents import Document


def read(text: str) -> Mapping[str, tuple[int, ...]]:
    """Read the brokers of each set, in the order of the text.

    Raises
    ------
    MalformedText
        The text is no JSON, of another shape, or names a set twice.
    """
    document = Document.parse(text, "broker sets")
    members = document.mapping(document.root, ())
    if not isinstance(members.get("brokerSets"), list) or not _are_objects(members["brokerSets"]):
        return {name: document.replicas(ids, (name,)) for name, ids in members.items()}
    document.members(members, (), required=("brokerSets",))
    sets: dict[str, tuple[int, ...]] = {}
    for place, value in enumerate(document.array(members["brokerSets"], ("brokerSets",))):
        path = ("brokerSets", place)
        each = document.members(value, path, required=("brokerSetId", "brokerIds"), optional=("doc",))
        name = document.string(each["brokerSetId"], (*path, "brokerSetId"))
        if name in sets:
            raise document.reject(path, expected="each set once", actual=f"the set {name!r} again")
        sets[name] = document.replicas(each["brokerIds"], (*path, "brokerIds"))
    return sets


def _are_objects(values: object) -> bool:
    """Whether these are sets, and not the brokers of a set whose name is the key."""
    return isinstance(values, list) and not any(type(value) is int for value in values)
