"""The brokers that are added: their ids, and the racks that they are dealt to."""

from collections import Counter

from app.core.reassignment.what_if.standing import StandingBroker, Trial, WhatIfs
from app.errors import ImpossibleValue

LARGEST_ID = 2**31 - 1


def arrivals(what_ifs: WhatIfs, trial: Trial) -> tuple[StandingBroker, ...]:
    """The brokers that a scenario adds. Their ids follow the largest that there is.

    They are dealt to the racks that are named, in turn; where none is, each goes to the rack that has the fewest
    brokers by then, the removed one no longer counted, of equals the first by name. Where no broker has a rack they
    have none.

    Raises `ImpossibleValue` where there are no ids left.
    """
    brokers = what_ifs.standing.brokers
    first = max((broker.id for broker in brokers), default=-1) + 1
    if first + trial.added - 1 > LARGEST_ID:
        detail = f"{trial.added} brokers after id {first - 1} would pass {LARGEST_ID}, the largest id that there can be"
        raise ImpossibleValue(detail, path=("axes", "add_brokers"), value=trial.added, maximum=LARGEST_ID - first + 1)
    crowd = Counter({broker.rack: 0 for broker in brokers if broker.rack is not None})
    crowd.update(broker.rack for broker in brokers if broker.rack is not None and broker.id != trial.removed)
    found = []
    for number in range(trial.added):
        rack = _rack(what_ifs, crowd, number)
        if rack is not None:
            crowd[rack] += 1
        found.append(StandingBroker(first + number, rack))
    return tuple(found)


def _rack(what_ifs: WhatIfs, crowd: Counter[str], number: int) -> str | None:
    if what_ifs.racks_of_added is not None:
        return what_ifs.racks_of_added[number % len(what_ifs.racks_of_added)]
    return min(crowd, key=lambda rack: (crowd[rack], rack), default=None)
