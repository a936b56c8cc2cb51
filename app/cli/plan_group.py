"""`rackplan plan group`: the assignments of a group that files describe."""

from collections.abc import Sequence

from app.cli.offline import Texts, printed, require
from app.core.groups.registry import ASSIGNORS
from app.errors.requests import ConflictingFields
from app.services.groups import PLAN_KIND, PLANNER
from app.services.plans import draft_plan
from app.settings import Settings


def predict_group(
    group: str,
    *,
    texts: Texts,
    cluster: str,
    assignors: Sequence[str],
    events: Sequence[str],
    kafka_version: str | None = None,
) -> bytes:
    """Predict a group that the files describe; the plan as the API writes it.

    Raises what the service does, and `ConflictingFields` if the value of an option is unknown.
    """
    for name in assignors:
        require("assignor", name, tuple(ASSIGNORS))
    happening = [_event(text) for text in events]
    request = PLANNER.restored(
        {
            "assignors": list(dict.fromkeys(assignors)),
            "group": group,
            "events": happening,
            "kafka_version": kafka_version,
        }
    )
    plan = draft_plan(PLANNER, request, texts.cluster(cluster), Settings().limits)
    return printed(PLAN_KIND.to_json(plan))


def _event(text: str) -> dict[str, str | bool]:
    name, _, value = text.partition("=")
    if name == "rolling_restart" and not value:
        return {name: True}
    if name in ("leave", "lose_rack") and value:
        return {name: value}
    detail = f"--event is {text}; it has to be leave=MEMBER, lose_rack=RACK or rolling_restart"
    raise ConflictingFields(detail, path=("event",))
