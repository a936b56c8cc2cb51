"""Scenarios of an estate, rebalanced one after another: what an executor runs."""

from app.core.groups.arrays.partition_table import owned_assignment
from app.core.groups.estate.estate import Estate, Trial
from app.core.groups.estate.members import survivors, with_added
from app.core.groups.lifecycle.rebalance import rebalance
from app.core.groups.measures.handover import handover
from app.core.groups.measures.locality import loads, locality
from app.core.groups.model import GroupMetadata, Member
from app.core.scenario_error import ScenarioError
from app.errors import Json

NUMBERS = (
    "members",
    "partitions",
    "in_rack",
    "cross_rack",
    "unknown",
    "in_rack_share",
    "moved",
    "taken_up",
    "dropped",
    "revoked",
    "phases",
    "spread",
)
"""The figures of a scenario, once its members have handed over.

`moved`, `taken_up` and `dropped` are those of `Handover`, from what the recorded members had, those that are lost
included; `revoked` is what members gave up on the way, over all phases. `in_rack_share` is None where nothing is known.
"""


def score_estate(estate: Estate, start: int, stop: int) -> list[dict[str, Json]]:
    """Rebalance the groups of scenarios start … stop − 1; one that fails becomes a row with its error."""
    rows: list[dict[str, Json]] = []
    for index in range(start, stop):
        trial = estate.trial(index)
        found: dict[str, Json] = {"index": index, "axes": trial.axes}
        try:
            rows.append(found | _figures(estate, trial) | {"error": None})
        except Exception as error:  # noqa: BLE001 — one scenario must not take the others of its range with it
            rows.append(found | {"error": ScenarioError.of(error).document()})
    return rows


def starting_members(estate: Estate, trial: Trial) -> tuple[Member, ...]:
    """The members as the rebalance finds them: those that are left, with what they own, and those that join."""
    recorded = trial.group.members
    left = survivors(recorded, trial.lost, group_id=trial.group.id, seed=estate.seed)
    return with_added(left, trial.added, recorded=recorded, metadata=estate.metadata)


def _figures(estate: Estate, trial: Trial) -> dict[str, Json]:
    metadata: GroupMetadata = trial.group.known_to(estate.metadata)
    members = tuple(trial.assignor.sees(member) for member in starting_members(estate, trial))
    done = rebalance(members, metadata, assign=trial.assignor.assign, protocol=trial.assignor.protocol)
    where = locality(members, metadata, done.assignment)
    even = loads(members, metadata, done.assignment)
    change = handover(metadata, owned_assignment(trial.group.members, metadata), done.assignment)
    return {
        "members": len(members),
        "partitions": even.total,
        "in_rack": where.in_rack,
        "cross_rack": where.cross_rack,
        "unknown": where.unknown,
        "in_rack_share": where.in_rack_share,
        "moved": change.moved,
        "taken_up": change.taken_up,
        "dropped": change.dropped,
        "revoked": sum(phase.revoked for phase in done.phases),
        "phases": len(done.phases),
        "settled": done.settled,
        "spread": even.spread,
    }
