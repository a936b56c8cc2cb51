"""Several assignors on one group, a line each."""

from app.core.groups.registry import Assignor
from app.errors import Failure, Json
from app.errors.kafka import KafkaRefuses
from app.services.groups import reports
from app.services.groups.predictions import Prediction, predict
from app.services.groups.sources import GroupSource


def compared(assignor: Assignor, source: GroupSource) -> dict[str, Json]:
    """What an assignor makes of the group; where Kafka's own code fails on it, that is what the line says."""
    try:
        return row(predict(assignor, source), source)
    except Failure as failure:
        error: dict[str, Json] = {"code": failure.code, "detail": failure.detail}
        if isinstance(failure, KafkaRefuses):
            error["kafka_exception"] = failure.kafka.exception
        unknown: dict[str, Json] = dict.fromkeys(
            ("in_rack", "cross_rack", "unknown", "in_rack_share", "moved", "revoked", "phases", "loads")
        )
        return _named(assignor) | unknown | {"error": error}


def row(prediction: Prediction, source: GroupSource) -> dict[str, Json]:
    """The line of an assignor that has answered."""
    loads = reports.loads_json(prediction.members, source, prediction.assignment)
    return (
        _named(prediction.assignor)
        | reports.locality_json(prediction.members, source, prediction.assignment)
        | {
            "moved": prediction.moved,
            "revoked": prediction.revoked,
            "phases": None if prediction.rebalance is None else len(prediction.rebalance.phases),
            "loads": {name: evenness for name, evenness in loads.items() if name != "per_member"},
            "error": None,
        }
    )


def _named(assignor: Assignor) -> dict[str, Json]:
    return {
        "assignor": assignor.name,
        "runs_on": assignor.runs_on,
        "protocol": assignor.protocol.value,
        "rack_aware": assignor.is_rack_aware,
    }
